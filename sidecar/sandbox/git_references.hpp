#pragma once
// What git is led to by the files of a repository: the folder that a file `.git` names, the one that it shares with
// other worktrees, and the files, folders and programs that its configuration names. Of what git obeys without being
// asked, nothing lies in `.git` only.

#include <string>
#include <vector>

namespace cellgate::sandbox {

// A path as it stands in a file, and the folder that it is taken from.
struct GitReference {
    std::string folder;
    std::string path;
    bool file_only = false; // a word of a command: it counts where it is a file
};

// `place` is what stands under the name `.git`, a file or a folder, without links; `worktree` the folder that it lies
// in. What cannot be read leads nowhere. Nothing is executed, no variables are expanded; "~/" leads to none here.
std::vector<GitReference> find_git_references(const std::string& place, const std::string& worktree);

} // namespace cellgate::sandbox
