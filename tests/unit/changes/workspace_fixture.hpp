#pragma once
// `WorkspaceFixture` is a workspace in a temporary folder with its Snapshots. `scan_tree` is a second, independent
// description of a tree, by which tests judge what the module says and does.

#include "base/hash.hpp"
#include "changes/snapshots.hpp"
#include "temp_folder.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/stat.h>

namespace cellgate::changes {

namespace fs = std::filesystem;

inline std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline void write(const fs::path& path, const std::string& bytes) {
    fs::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << bytes;
    if (!file.flush()) {
        throw std::runtime_error("cannot write " + path.string());
    }
}

// A shell command in a folder, with a HOME of its own; its output is dropped.
inline void run(const fs::path& folder, const std::string& command) {
    const std::string line =
        "cd '" + folder.string() + "' && HOME=/nonexistent && export HOME && { " + command + "; } >/dev/null 2>&1";
    if (std::system(line.c_str()) != 0) {
        throw std::runtime_error("failed: " + command);
    }
}

// {path: "MODE DIGEST"} of all files and links below, and of empty folders, whose paths end in a slash.
using TreeText = std::map<std::string, std::string>;

inline std::string describe_file(const fs::path& path) {
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0) {
        return "";
    }
    const std::string content = S_ISLNK(status.st_mode)   ? sha256(fs::read_symlink(path).string())
                                : S_ISREG(status.st_mode) ? sha256(bytes_of(path))
                                                          : "other";
    return std::to_string(status.st_mode) + " " + content;
}

inline TreeText scan_tree(const fs::path& root) {
    TreeText tree;
    for (const auto& each : fs::recursive_directory_iterator(root)) {
        if (each.is_symlink() || !each.is_directory()) {
            tree[each.path().lexically_relative(root).string()] = describe_file(each.path());
        } else if (fs::is_empty(each.path())) {
            tree[each.path().lexically_relative(root).string() + "/"] = "empty";
        }
    }
    return tree;
}

struct WorkspaceFixture {
    WorkspaceFixture() { fs::create_directories(workspace); }

    Options options() const { return {(folder.path / "private").string(), workspace.string()}; }
    fs::path at(const std::string& path) const { return workspace / path; }

    TempFolder folder;
    fs::path workspace = folder.path / "workspace";
};

} // namespace cellgate::changes
