#include "record/merkle_tree.hpp"

#include <algorithm>
#include <bit>

namespace cellgate::record {

namespace {

std::string_view bytes_of_hash(const Hash& hash) {
    return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

} // namespace

Hash leaf_hash(std::string_view entry) {
    return sha256_bytes({std::string_view("\0", 1), entry});
}

Hash node_hash(const Hash& left, const Hash& right) {
    return sha256_bytes({"\x01", bytes_of_hash(left), bytes_of_hash(right)});
}

void MerkleTree::append_subtree(int height, const Hash& root, const OnComplete& on_complete) {
    Subtree added{height, root};
    size_ += std::int64_t{1} << height;
    while (true) {
        if (on_complete) {
            on_complete(added.height, (size_ >> added.height) - 1, added.root);
        }
        if (subtrees_.empty() || subtrees_.back().height != added.height) {
            subtrees_.push_back(added);
            return;
        }
        added = {added.height + 1, node_hash(subtrees_.back().root, added.root)};
        subtrees_.pop_back();
    }
}

Hash MerkleTree::root() const {
    if (subtrees_.empty()) {
        return sha256_bytes({});
    }
    Hash root = subtrees_.back().root;
    for (auto each = subtrees_.rbegin() + 1; each != subtrees_.rend(); ++each) {
        root = node_hash(each->root, root);
    }
    return root;
}

std::int64_t left_size(std::int64_t size) {
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size) - 1));
}

std::vector<Hash> inclusion_path(std::int64_t leaf, std::int64_t size,
                                 const std::function<Hash(std::int64_t, std::int64_t)>& root_of) {
    std::vector<Hash> path;
    std::int64_t begin = 0;
    std::int64_t end = size;
    while (end - begin > 1) {
        const std::int64_t middle = begin + left_size(end - begin);
        if (leaf < middle) {
            path.push_back(root_of(middle, end));
            end = middle;
        } else {
            path.push_back(root_of(begin, middle));
            begin = middle;
        }
    }
    std::reverse(path.begin(), path.end());
    return path;
}

bool is_included(const Hash& leaf, std::int64_t index, std::int64_t size, const std::vector<Hash>& path,
                 const Hash& root) {
    if (index < 0 || index >= size) {
        return false;
    }
    std::int64_t at = index;
    std::int64_t last = size - 1;
    Hash hash = leaf;
    for (const Hash& beside : path) {
        if (last == 0) {
            return false;
        }
        if ((at & 1) != 0 || at == last) {
            hash = node_hash(beside, hash);
            while ((at & 1) == 0 && at != 0) {
                at >>= 1;
                last >>= 1;
            }
        } else {
            hash = node_hash(hash, beside);
        }
        at >>= 1;
        last >>= 1;
    }
    return last == 0 && hash == root;
}

} // namespace cellgate::record
