#pragma once
// `ObjectReader` is one `git cat-file` that gives contents and trees of the snapshots, one after the other. Trees are
// kept, so that it is as fast as the folders are few. `SnapshotTree` is a snapshot taken apart. Blocks; throws
// Error{store_failed}, and Error{invalid_params} for what is not there.

#include "coverage.hpp"
#include "git_process.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::changes {

// Something in one folder of a tree. A default one is for nothing.
struct TreeNode {
    std::string name;
    std::uint32_t mode = 0; // git's: a folder, or a file of 644 or 755, or a link
    std::string id;         // git's

    bool is_folder() const;
};

// A file of a snapshot.
struct TreeEntry {
    std::string path;
    std::uint32_t mode = 0; // all twelve bits, with the type
    std::string blob;       // git's id of the content
    bool operator==(const TreeEntry&) const = default;
};

struct SnapshotTree {
    TreeNode files; // folders, as is `modes`
    TreeNode modes;
    Coverage coverage;
};

class ObjectReader {
  public:
    explicit ObjectReader(const GitFolders& folders);

    // Throws Error{limit_exceeded} if it has more than `limit` bytes; the reader is of no use then.
    std::string blob(const std::string& id, std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());
    // Sorted by name. None for a node that is no folder.
    const std::vector<TreeNode>& folder(const TreeNode& node);
    SnapshotTree snapshot(const std::string& id);
    // What is at the path; nothing if there is nothing.
    std::optional<TreeNode> find(const TreeNode& root, std::string_view path);
    // The twelve bits that a node below `modes` is for.
    std::uint32_t mode_bits(const TreeNode& node);

  private:
    std::string object(const std::string& id, const char* type, std::uint64_t limit);

    GitProcess git_;
    std::map<std::string, std::vector<TreeNode>> folders_;
    std::map<std::string, std::uint32_t> modes_;
};

} // namespace cellgate::changes
