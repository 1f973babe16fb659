#pragma once
// `MerkleTree` is a hash tree over a list that only grows (RFC 6962, section 2.1, with SHA-256): it keeps the roots of
// the complete subtrees that the list divides into, which are at most one for each bit of its size. A subtree of height
// h covers 2^h leaves; the n-th of them begins at leaf n · 2^h. The functions beside it check inclusion proofs.

#include "base/hash.hpp"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace cellgate::record {

using Hash = Sha256Digest;

Hash leaf_hash(std::string_view entry);
Hash node_hash(const Hash& left, const Hash& right);

class MerkleTree {
  public:
    // Gets each subtree that became complete, from the lowest up: its height, and which of that height it is.
    using OnComplete = std::function<void(int height, std::int64_t index, const Hash& root)>;

    std::int64_t size() const { return size_; }
    void append(const Hash& leaf, const OnComplete& on_complete = {}) { append_subtree(0, leaf, on_complete); }
    // Appends 2^height leaves at once, of which only the root is known. The size must be a multiple of 2^height.
    void append_subtree(int height, const Hash& root, const OnComplete& on_complete = {});
    Hash root() const;

  private:
    struct Subtree {
        int height;
        Hash root;
    };

    std::vector<Subtree> subtrees_; // the highest first
    std::int64_t size_ = 0;
};

// The hashes beside the way from a leaf to the root, the lowest first: PATH of RFC 6962, for a tree of `size` leaves.
// `root_of(begin, end)` gives the root of the tree over those leaves.
std::vector<Hash> inclusion_path(std::int64_t leaf, std::int64_t size,
                                 const std::function<Hash(std::int64_t begin, std::int64_t end)>& root_of);

// Whether the path proves that the leaf is at `index` in the tree of `size` leaves that has this root (RFC 9162,
// section 2.1.3.2).
bool is_included(const Hash& leaf, std::int64_t index, std::int64_t size, const std::vector<Hash>& path,
                 const Hash& root);

// The leaves of the left subtree of a tree of `size` leaves, at least two: the largest power of two below the size.
std::int64_t left_size(std::int64_t size);

} // namespace cellgate::record
