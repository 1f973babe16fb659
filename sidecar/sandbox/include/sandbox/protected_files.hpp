#pragma once
// `ProtectedFiles` are the files of a workspace that a cell must not reach: secrets (unreadable) and files that a
// program outside the sandbox would run or obey later (read-only). The names are the same for every enforcement point;
// find_protected_files() says which of them exist.

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::sandbox {

// `name` is one component of a path. ".env", ".env.local", "id_ed25519", "server.key"; not ".env.example".
bool is_secret_name(std::string_view name);
// ".git", ".vscode", ".envrc", ".mcp.json", "any.code-workspace" …
bool is_auto_run_name(std::string_view name);
// All of them, in lower case; one that begins with "*" stands for all that end in what follows.
std::span<const std::string_view> auto_run_names();

struct ProtectedFiles {
    std::vector<std::string> secret_files;
    std::vector<std::string> secret_directories;
    std::vector<std::string> read_only; // also every virtual environment: its python is run outside too
    // The targets of protected names, by links and by git's references, and each link on the way: nothing is to be made
    // in these places, or moved there. They may hold nothing yet, or be outside of the workspace.
    std::set<std::string> places = {};
    // For users to read: repositories whose files name what has no protected name.
    std::vector<std::string> notices = {};
};

// `workspace` is canonical, and so are the results; all but `places` are inside it. Breadth first, symlinks to
// directories are not followed; the target of a protected name that is a symlink is protected, as are those of links in
// protected folders, and the paths that a repository's files name (git_references.hpp). Other names (hard links) of
// protected files are protected too, and those of secrets right in `homes`. `also_obeyed` are paths that count as
// protected names. Throws Error{sandbox_unavailable} for a workspace too large to be searched: a cell can make it so,
// and what is not found is not protected. A mount cannot protect what does not exist (create_guard.hpp), nor a file
// that a program outside replaces by renaming while a kernel runs.
ProtectedFiles find_protected_files(const std::string& workspace, const std::vector<std::string>& homes = {},
                                    const std::vector<std::string>& also_obeyed = {});

} // namespace cellgate::sandbox
