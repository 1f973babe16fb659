#pragma once
// `JournalFiles` creates and removes the files of a sidecar's journals. Creating or removing a file takes a hundred
// times as long as writing a line, so both run on the thread pool: some files are created ahead, and unused files are
// removed later, in batches. Files are named by numbers; none is used twice.

#include "base/run_blocking.hpp"
#include "base/task.hpp"
#include "base/unique_fd.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace cellgate::store {

class JournalFiles {
  public:
    struct File {
        std::string path;
        UniqueFd fd;   // for appending
        int error = 0; // errno if there is no file
    };

    JournalFiles(std::string directory, RunBlocking run_blocking);
    JournalFiles(const JournalFiles&) = delete;
    JournalFiles& operator=(const JournalFiles&) = delete;

    const std::string& directory() const { return directory_; }

    // A new, empty file, readable by this user only.
    File take();
    // A path that no file has yet; callers append a '.' and a suffix.
    std::string new_stem();
    // Removes the file later, which frees `bytes` of disk space.
    void remove(std::string path, std::uint64_t bytes);
    // Removes `<stem>.0`, `<stem>.1` … later, up to the first that does not exist.
    void remove_numbered(std::string stem);
    // Removes everything, including the directory. Only the destructor may follow.
    Task<void> close();

  private:
    struct Removal {
        std::string path;
        bool numbered = false;
    };
    struct Batch;

    bool much_to_remove() const;
    void work_if_worthwhile();
    Task<void> work();

    std::string directory_;
    RunBlocking run_blocking_;
    std::uint64_t next_number_ = 0;
    std::deque<File> ahead_;
    std::vector<Removal> removals_;
    std::uint64_t removable_bytes_ = 0;
    bool working_ = false;
    bool closed_ = false;
    TaskScope tasks_;
};

} // namespace cellgate::store
