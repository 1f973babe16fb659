#include "base/encoding.hpp"
#include "record/merkle_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

using namespace cellgate;
using namespace cellgate::record;

namespace {

std::string hex(const Hash& hash) {
    return to_hex(std::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
}

// The leaves of Certificate Transparency's tests, and the root of so many of them.
const std::vector<std::string> inputs = {"",
                                         std::string(1, '\0'),
                                         "\x10",
                                         "\x20\x21",
                                         "\x30\x31",
                                         "\x40\x41\x42\x43",
                                         "\x50\x51\x52\x53\x54\x55\x56\x57",
                                         "\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f"};
const std::vector<std::string> roots = {"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                                        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                                        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
                                        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
                                        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                                        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
                                        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
                                        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
                                        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};

std::vector<Hash> numbered_leaves(int count) {
    std::vector<Hash> leaves;
    for (int i = 0; i < count; ++i) {
        leaves.push_back(leaf_hash(std::to_string(i)));
    }
    return leaves;
}

// The definition in RFC 6962, section 2.1.
Hash root_of_range(const std::vector<Hash>& leaves, std::int64_t begin, std::int64_t end) {
    if (end - begin == 1) {
        return leaves[static_cast<std::size_t>(begin)];
    }
    const std::int64_t middle = begin + left_size(end - begin);
    return node_hash(root_of_range(leaves, begin, middle), root_of_range(leaves, middle, end));
}

std::vector<Hash> path_of(const std::vector<Hash>& leaves, std::int64_t leaf, std::int64_t size) {
    return inclusion_path(leaf, size,
                          [&](std::int64_t begin, std::int64_t end) { return root_of_range(leaves, begin, end); });
}

} // namespace

TEST_CASE("the roots are those of Certificate Transparency") {
    MerkleTree tree;
    for (std::size_t size = 0;; ++size) {
        CHECK(hex(tree.root()) == roots[size]);
        if (size == inputs.size()) {
            break;
        }
        tree.append(leaf_hash(inputs[size]));
    }
}

TEST_CASE("the inclusion proofs are those of Certificate Transparency") {
    std::vector<Hash> leaves;
    for (const std::string& input : inputs) {
        leaves.push_back(leaf_hash(input));
    }
    const auto path = [&](std::int64_t leaf, std::int64_t size) {
        std::vector<std::string> texts;
        for (const Hash& hash : path_of(leaves, leaf, size)) {
            texts.push_back(hex(hash));
        }
        return texts;
    };
    using Texts = std::vector<std::string>;
    CHECK(path(0, 1).empty());
    CHECK(path(0, 8) == Texts{"96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                              "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                              "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"});
    CHECK(path(5, 8) == Texts{"bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                              "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0", roots[4]});
    CHECK(path(2, 3) == Texts{roots[2]});
    CHECK(path(1, 5) == Texts{roots[1], "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                              "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"});
}

TEST_CASE("a tree that grows has the root of the definition, and reports each complete subtree once") {
    const std::vector<Hash> leaves = numbered_leaves(70);
    MerkleTree tree;
    std::map<std::pair<int, std::int64_t>, Hash> complete;
    for (std::size_t size = 1; size <= leaves.size(); ++size) {
        tree.append(leaves[size - 1], [&](int height, std::int64_t index, const Hash& root) {
            CHECK(complete.emplace(std::pair(height, index), root).second);
        });
        CHECK(tree.root() == root_of_range(leaves, 0, static_cast<std::int64_t>(size)));
    }
    CHECK(complete.size() == 70 + 35 + 17 + 8 + 4 + 2 + 1);
    for (const auto& [which, root] : complete) {
        const std::int64_t begin = which.second << which.first;
        CHECK(root == root_of_range(leaves, begin, begin + (std::int64_t{1} << which.first)));
    }
    MerkleTree again;
    again.append_subtree(6, complete.at({6, 0}));
    again.append_subtree(2, complete.at({2, 16}));
    again.append_subtree(1, complete.at({1, 34}));
    CHECK(again.root() == tree.root());
    CHECK(again.size() == 70);
}

TEST_CASE("a proof holds for its leaf, place and size, and for no other") {
    const std::vector<Hash> leaves = numbered_leaves(35);
    for (std::int64_t size = 1; size <= 35; ++size) {
        const Hash root = root_of_range(leaves, 0, size);
        for (std::int64_t leaf = 0; leaf < size; ++leaf) {
            const Hash& hash = leaves[static_cast<std::size_t>(leaf)];
            const std::vector<Hash> path = path_of(leaves, leaf, size);
            REQUIRE(is_included(hash, leaf, size, path, root));
            for (std::int64_t other = -1; other <= size; ++other) {
                const bool held = is_included(hash, other, size, path, root);
                CHECK(held == (other == leaf));
            }
            CHECK_FALSE(is_included(leaf_hash("another"), leaf, size, path, root));
            CHECK_FALSE(is_included(hash, leaf, size, path, leaf_hash("another")));
            for (std::size_t i = 0; i < path.size(); ++i) {
                std::vector<Hash> changed = path;
                changed[i][7] ^= 1;
                CHECK_FALSE(is_included(hash, leaf, size, changed, root));
            }
            std::vector<Hash> other_length = path;
            other_length.push_back(root);
            CHECK_FALSE(is_included(hash, leaf, size, other_length, root));
            if (!path.empty()) {
                other_length.resize(path.size() - 1);
                CHECK_FALSE(is_included(hash, leaf, size, other_length, root));
            }
        }
    }
}
