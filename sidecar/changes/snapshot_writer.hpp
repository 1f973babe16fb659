#pragma once
// `SnapshotWriter` is one `git fast-import` that makes a snapshot's tree from the last one's and what differs. The tree
// has `files/PATH` for each file; `modes/PATH`, its twelve bits in octal, for each regular file whose mode is neither
// 644 nor 755; and `about`, the Coverage. Only the folders that differ are written again. Blocks; throws
// Error{store_failed}.

#include "git_process.hpp"
#include "workspace_files.hpp"

#include <string>
#include <string_view>

namespace cellgate::changes {

inline constexpr const char* files_folder = "files";
inline constexpr const char* modes_folder = "modes";
inline constexpr const char* about_name = "about";
// A commit of the last snapshot, which git keeps for it.
inline constexpr const char* last_ref = "refs/cellgate/last";

class SnapshotWriter {
  public:
    // `base` is the id of the last snapshot, or empty.
    SnapshotWriter(const GitFolders& folders, const std::string& base);

    // First what is removed: a path of a new file may be its folder.
    void remove(const std::string& path);
    // A regular file or a link.
    void put(const std::string& path, const FileContent& content);
    // Returns the id.
    std::string finish(std::string_view about);

  private:
    // `path` as fast-import reads it.
    void write_file(const char* mode, const std::string& path, std::string_view bytes);

    GitProcess git_;
};

} // namespace cellgate::changes
