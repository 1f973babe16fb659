#pragma once
// `WorkspaceFiles` is the files of a workspace, for a program outside the sandbox that acts for code inside it. A path
// is resolved by the system beneath the workspace and nowhere else; the file that was opened is then judged by the
// place where it really is, so that no symbolic link, race or `..` makes it another one. It is judged by the names in
// its own path, whatever else is in the workspace: that another name (a hard link, a link called `.env`) makes it a
// secret is not looked for, since a cell can remove that name first. Everything here may block.
//
// What must not be touched is refused with Error{denied}; what fails in the world throws Error{internal_error}.

#include "base/unique_fd.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::tools {

struct DirectoryEntry {
    std::string name;
    std::string_view type;            // "file", "directory", "symlink", "other"
    std::optional<std::int64_t> size; // of a file
};

class WorkspaceFiles {
  public:
    static constexpr std::size_t max_file_bytes = std::size_t{4} << 20;
    static constexpr std::size_t max_entries = 10'000;

    // `workspace`: a canonical path.
    explicit WorkspaceFiles(const std::string& workspace);

    // Throw as read_text() and write() would, as far as that is known beforehand.
    void check_read(const std::string& path) const;
    void check_write(const std::string& path) const;

    // UTF-8 only.
    std::string read_text(const std::string& path) const;
    // Sorted by name.
    std::vector<DirectoryEntry> list(const std::string& path) const;
    // Replaces the file in one step, or makes it; true when it was made. The directory has to be there.
    bool write(const std::string& path, std::string_view content) const;
    // Of a directory to work in.
    UniqueFd open_directory(const std::string& path) const;

  private:
    struct Target;

    std::string relative(const std::string& path) const;
    UniqueFd open(const std::string& path, int flags) const;
    std::string place_of(int fd) const;
    UniqueFd open_readable(const std::string& path) const;
    Target open_target(const std::string& path) const;

    std::string workspace_;
    UniqueFd root_;
    std::string root_place_;
};

} // namespace cellgate::tools
