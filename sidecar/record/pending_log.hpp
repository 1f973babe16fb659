#pragma once
// `PendingLog` is the entries that were appended and are not in the database yet, as JSON lines in files of the
// record's directory: one write() an entry, so that it survives a kill of the process at once, and the database is
// written in batches. A file is locked as long as its process lives; one that is left over is imported by the next
// writer. All functions block, for no longer than writing into the page cache takes. Private to the module.

#include "base/unique_fd.hpp"
#include "record/entry.hpp"

#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace cellgate::record {

struct PendingFile {
    std::string name; // in the record's directory; empty: there is none
    UniqueFd file;    // holds the lock
};

class PendingLog {
  public:
    explicit PendingLog(std::string directory) : directory_(std::move(directory)) {}

    // False if it cannot be written: then nothing of it is there.
    bool append(const NewEntry& entry);
    // The present file, which gets no more entries.
    PendingFile take() { return std::exchange(present_, {}); }

  private:
    std::string directory_;
    PendingFile present_;
    off_t size_ = 0; // of that
    bool is_broken_ = false;
};

// Of processes that have ended, and what a writer could not write. In the order in which they were begun.
std::vector<PendingFile> find_left_over(const std::string& directory);
// The complete lines. Throws Error{store_failed}.
std::vector<NewEntry> read_pending(const PendingFile& file);
void remove_pending(const std::string& directory, const std::string& name);

} // namespace cellgate::record
