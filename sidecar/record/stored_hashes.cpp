#include "stored_hashes.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <bit>

namespace cellgate::record {

StoredHashes::StoredHashes(Database& database)
    : leaf_(database, "SELECT leaf FROM entries WHERE seq = ?"),
      node_(database, "SELECT hash FROM nodes WHERE level = ? AND n = ?") {}

std::optional<Hash> StoredHashes::find(std::int64_t level, std::int64_t n) {
    Statement& statement = level == 0 ? leaf_.bind(n) : node_.bind(level).bind(n);
    const std::optional<Hash> hash = statement.step() ? std::optional(statement.hash(0)) : std::nullopt;
    statement.run();
    return hash;
}

Hash StoredHashes::subtree(int height, std::int64_t index) {
    if (height % tile_height != 0) {
        const Hash left = subtree(height - 1, 2 * index);
        return node_hash(left, subtree(height - 1, 2 * index + 1));
    }
    const std::optional<Hash> hash = find(height / tile_height, index);
    if (!hash) {
        throw Error(ErrorCode::store_failed, fmt::format("the record has no hash of the {} entries from {} on",
                                                         std::int64_t{1} << height, index << height));
    }
    return *hash;
}

Hash StoredHashes::root_of(std::int64_t begin, std::int64_t end) {
    const auto size = static_cast<std::uint64_t>(end - begin);
    if (std::has_single_bit(size)) {
        const int height = std::countr_zero(size);
        return subtree(height, begin >> height);
    }
    const std::int64_t middle = begin + left_size(end - begin);
    const Hash left = root_of(begin, middle);
    return node_hash(left, root_of(middle, end));
}

MerkleTree StoredHashes::tree(std::int64_t size) {
    constexpr int max_height = 5 * tile_height;
    MerkleTree tree;
    for (int height = max_height; height >= 0; height -= tile_height) {
        for (std::int64_t n = tree.size() >> height; n < size >> height; ++n) {
            tree.append_subtree(height, subtree(height, n));
        }
    }
    return tree;
}

} // namespace cellgate::record
