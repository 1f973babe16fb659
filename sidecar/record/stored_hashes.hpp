#pragma once
// `StoredHashes` is the tree of a record as its database has it: the leaves, and the roots of complete subtrees of 256,
// 65,536 and so on of them (as the tiles of C2SP tlog-tiles), so that nothing needs all leaves. Throws
// Error{store_failed}, also for a hash that is not there. Private to the module.

#include "database.hpp"

#include <optional>

namespace cellgate::record {

inline constexpr int tile_height = 8;
inline constexpr std::int64_t block_size = std::int64_t{1} << tile_height; // entries that are removed together

class StoredHashes {
  public:
    explicit StoredHashes(Database& database);

    // `level` 0 are the leaves; `n` is which of that level. Nothing when it is not there.
    std::optional<Hash> find(std::int64_t level, std::int64_t n);
    // The root over the leaves from `begin` to `end`, as it occurs in a tree: `begin` is a multiple of the power of two
    // that is not below `end - begin`.
    Hash root_of(std::int64_t begin, std::int64_t end);
    // A tree of the first `size` leaves, to go on with.
    MerkleTree tree(std::int64_t size);

  private:
    Hash subtree(int height, std::int64_t index);

    Statement leaf_;
    Statement node_;
};

} // namespace cellgate::record
