#pragma once
// The files of a sidecar's journals. To create or to remove one takes a file system a hundred times as long as to write
// a line, so both are done off the loop: some files are made before they are needed, and what is not needed any more
// is removed a little later, in batches. Files have numbers for names; none is used twice.

#include "base/off_loop.hpp"
#include "base/task.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace cellgate::store {

class JournalFiles {
  public:
    struct File {
        std::string path;
        int fd = -1;   // for reading and writing; its taker closes it
        int error = 0; // the errno, when there is no file
    };

    JournalFiles(std::string directory, OffLoop off_loop);
    JournalFiles(const JournalFiles&) = delete;
    JournalFiles& operator=(const JournalFiles&) = delete;
    ~JournalFiles();

    const std::string& directory() const { return directory_; }

    // A new, empty file, readable by this user only.
    File take();
    // A path that no file has yet: what is to be named after it may append a '.' and more.
    std::string new_stem();
    // The file of that name goes, and `bytes` of the disk are free again.
    void remove(std::string path, std::uint64_t bytes);
    // So do `<stem>.0`, `<stem>.1` … as far as there are any.
    void remove_numbered(std::string stem);
    // Removes everything, the directory too. Only the destructor may follow.
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
    OffLoop off_loop_;
    std::uint64_t next_number_ = 0;
    std::deque<File> ahead_;
    std::vector<Removal> removals_;
    std::uint64_t removable_bytes_ = 0;
    bool working_ = false;
    bool closed_ = false;
    TaskScope tasks_;
};

} // namespace cellgate::store
