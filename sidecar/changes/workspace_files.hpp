#pragma once
// `WorkspaceFiles` is the way to the files below one folder: no symbolic link is followed on it, so nothing outside is
// read or written. A file is replaced, never written to, so its other names (hard links) keep their content. Blocks.
// Paths are relative, without "." and ".."; they are those that a scan found.

#include "base/unique_fd.hpp"

#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace cellgate::changes {

// What tells one state of a file from another without reading it.
struct FileStat {
    std::uint64_t device = 0;
    std::uint64_t inode = 0; // 0: none, different from every file
    std::uint64_t mode = 0;
    std::uint64_t size = 0;
    std::int64_t modified = 0; // nanoseconds
    std::int64_t changed = 0;  // nanoseconds
    bool operator==(const FileStat&) const = default;
};
FileStat file_stat(const struct stat& status);

enum class Kind : std::uint8_t { absent, regular, link, folder, special, unreadable };
Kind kind_of(mode_t mode);

struct FileContent {
    Kind kind = Kind::absent;
    std::uint32_t mode = 0; // with its type
    FileStat stat;          // from before it was read
    std::string bytes;      // a link's target; empty for a regular file over the limit
    bool too_large = false;
    int error = 0; // if unreadable
};

class WorkspaceFiles {
  public:
    // Throws Error{store_failed}.
    explicit WorkspaceFiles(const std::string& workspace);

    // Absent, too, if its folder is none.
    FileContent read(const std::string& path, std::uint64_t max_bytes) const;
    // st_mode is 0 if there is none. By name alone, so that many are fast: the path's folders may be links.
    struct stat status(const std::string& path) const;
    // Names in `folder`, which is empty (the workspace) or ends in a slash, as do those of folders. None if it cannot
    // be read.
    std::vector<std::string> names(const std::string& folder) const;
    // Whether files can be made in and removed from the folder that the path is in, or, where that is missing, from the
    // next one that is there; if not, why.
    std::string why_not_writable(const std::string& path) const;

    // The following return 0 or an errno.
    int remove_file(const std::string& path) const;
    int remove_folder(const std::string& path) const; // if it is empty
    int make_folders_of(const std::string& path) const;
    // Makes `temporary` beside `path`, with this content and mode, and renames it to it.
    int replace(const std::string& path, const std::string& temporary, std::uint32_t mode,
                const std::string& bytes) const;
    // Waits until the names in all folders of these paths are on the disk. Contents are when they get their names.
    void flush_folders_of(const std::vector<std::string>& paths) const;

  private:
    struct Located {
        UniqueFd folder; // not valid: errno says why
        std::string name;
    };
    Located locate(const std::string& path) const;

    std::string workspace_;
    UniqueFd root_;
};

// `path` in the folder of `beside`: "a/b" and "c" make "a/c".
std::string sibling(const std::string& beside, const std::string& name);

} // namespace cellgate::changes
