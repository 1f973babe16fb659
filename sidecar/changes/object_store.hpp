#pragma once
// `ObjectStore` is cellgate's own git repository with the snapshots, for reading, making it and forgetting; a
// SnapshotWriter adds to it. `BlobReader` is one `git cat-file` that gives contents one after the other. Both block and
// throw Error{store_failed}, and Error{invalid_params} for an id that is none or is not kept.

#include "coverage.hpp"
#include "git_process.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cellgate::changes {

struct TreeEntry {
    std::string path;
    std::uint32_t mode = 0; // all twelve bits, with the type
    std::string blob;       // git's id of the content
    bool operator==(const TreeEntry&) const = default;
};

class BlobReader {
  public:
    explicit BlobReader(const GitFolders& folders);

    // `name` is what git calls it: its id, or ID:NAME in a tree.
    std::string read(const std::string& name);

  private:
    GitProcess git_;
};

class ObjectStore {
  public:
    explicit ObjectStore(GitFolders folders) : folders_(std::move(folders)) {}

    const GitFolders& folders() const { return folders_; }
    // Makes the repository unless it is there.
    void prepare() const;
    // In its files.
    std::uint64_t bytes() const;
    // Sorted by path.
    std::vector<TreeEntry> tree(const std::string& id) const;
    Coverage coverage(const std::string& id) const;
    // As Snapshots::read().
    std::string read(const std::string& id, const std::string& path, std::size_t limit) const;
    // Git keeps what these and the last snapshot have; what only others have goes with the next prune().
    void keep(const std::vector<std::string>& ids) const;
    void prune() const;

  private:
    GitFolders folders_;
};

// Throws Error{invalid_params} unless it looks like one.
void require_snapshot_id(const std::string& id);

} // namespace cellgate::changes
