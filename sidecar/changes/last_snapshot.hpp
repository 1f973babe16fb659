#pragma once
// `LastSnapshot` is what the next snapshot need not find out again: the state of each file of the last one, as lstat
// reports it, and of what its list of files depends on. It is kept in a file of the repository, for the next process; a
// file that is not whole counts as none. Blocks.

#include "coverage.hpp"
#include "workspace_files.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::changes {

struct KeptFile {
    std::string path;
    FileStat stat; // inode 0: it may have changed in the same tick of the clock after it was read
};

struct LastSnapshot {
    std::string id;
    Coverage coverage;
    std::vector<KeptFile> files;   // those that the snapshot has, sorted by path
    std::vector<KeptFile> watched; // while none of these changes, no other file is covered (folder_watch.hpp)
};

std::optional<LastSnapshot> load_last_snapshot(const std::string& path);
// Throws Error{store_failed}.
void save_last_snapshot(const std::string& path, const LastSnapshot& snapshot);

} // namespace cellgate::changes
