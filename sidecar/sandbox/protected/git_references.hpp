#pragma once
// `find_git_references` finds the paths that a repository's files make git read: the folder that a file `.git` names,
// the one that it shares with other worktrees, and the files, folders and programs that its configuration names. All of
// these may be outside of `.git`, and git obeys them without being asked.

#include <string>
#include <vector>

namespace cellgate::sandbox {

// A path as it is written in a file, and the folder that it is relative to.
struct GitReference {
    std::string folder;
    std::string path;
    bool file_only = false; // a word of any value: it counts where it is a file
};

// `place` is the file or folder with the name `.git`, without links; `worktree` the folder that contains it. A file
// that cannot be read has no references. Nothing is executed, no variables are expanded, and paths below "~/" are left
// out.
std::vector<GitReference> find_git_references(const std::string& place, const std::string& worktree);

} // namespace cellgate::sandbox
