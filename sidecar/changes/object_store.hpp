#pragma once
// `ObjectStore` is cellgate's own git repository with the snapshots: made, measured and pruned. A SnapshotWriter adds
// to it, an ObjectReader reads it. Blocks; throws Error{store_failed}.

#include "git_process.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cellgate::changes {

class ObjectStore {
  public:
    explicit ObjectStore(GitFolders folders) : folders_(std::move(folders)) {}

    const GitFolders& folders() const { return folders_; }
    // Makes the repository unless it is there.
    void prepare() const;
    // In its files.
    std::uint64_t bytes() const;
    // Git keeps what these, as far as they exist, and the last snapshot have; what only others have is removed by the
    // next prune().
    void keep(const std::vector<std::string>& ids) const;
    // Leaves what is newer than an hour, and what is in packs while there are few; `all`: nothing.
    void prune(bool all) const;

  private:
    std::vector<std::string> existing(const std::vector<std::string>& ids) const;

    GitFolders folders_;
};

} // namespace cellgate::changes
