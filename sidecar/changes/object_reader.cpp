#include "object_reader.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/json_codec.hpp"
#include "snapshot_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sys/stat.h>

namespace cellgate::changes {

namespace {

constexpr std::size_t raw_id_bytes = 20;

template <class Number>
Number parse_number(std::string_view text, int base) {
    Number number{};
    std::from_chars(text.data(), text.data() + text.size(), number, base);
    return number;
}

// A tree as git keeps it: "MODE NAME", a zero byte, and the id's 20 bytes, for each.
std::vector<TreeNode> parse_tree(std::string_view bytes) {
    std::vector<TreeNode> nodes;
    while (!bytes.empty()) {
        const std::size_t space = bytes.find(' ');
        const std::size_t end = bytes.find('\0');
        nodes.push_back({std::string(bytes.substr(space + 1, end - space - 1)),
                         parse_number<std::uint32_t>(bytes.substr(0, space), 8),
                         to_hex(bytes.substr(end + 1, raw_id_bytes))});
        bytes.remove_prefix(end + 1 + raw_id_bytes);
    }
    std::ranges::sort(nodes, {}, &TreeNode::name); // git sorts a folder as if its name ended in a slash
    return nodes;
}

void require_snapshot_id(const std::string& id) {
    if (id.size() != 2 * raw_id_bytes || id.find_first_not_of("0123456789abcdef") != std::string::npos) {
        throw Error(ErrorCode::invalid_params, "expected the id of a snapshot: 40 hexadecimal digits");
    }
}

} // namespace

bool TreeNode::is_folder() const {
    return S_ISDIR(mode);
}

ObjectReader::ObjectReader(const GitFolders& folders) : git_(folders, {"cat-file", "--batch"}) {}

std::string ObjectReader::object(const std::string& id, const char* type, std::uint64_t limit) {
    git_.write(id + "\n");
    const std::optional<std::string> header = git_.read_until('\n'); // "ID blob SIZE", or "ID missing"
    if (!header) {
        git_.finish();
        throw Error(ErrorCode::store_failed, "git cat-file ended early");
    }
    const std::string expected = fmt::format("{} {} ", id, type);
    if (!header->starts_with(expected)) {
        throw Error(ErrorCode::invalid_params, "there is no snapshot, or no part of one, with the id " + id,
                    "It may have been forgotten, as the oldest are.");
    }
    const auto size = parse_number<std::uint64_t>(std::string_view(*header).substr(expected.size()), 10);
    if (size > limit) {
        throw Error(ErrorCode::limit_exceeded, fmt::format("the file has {} bytes, {} are the most", size, limit));
    }
    std::string bytes = git_.read(size);
    if (bytes.size() != size || git_.read(1) != "\n") {
        throw Error(ErrorCode::store_failed, "git cat-file ended within " + id);
    }
    return bytes;
}

std::string ObjectReader::blob(const std::string& id, std::uint64_t limit) {
    return object(id, "blob", limit);
}

const std::vector<TreeNode>& ObjectReader::folder(const TreeNode& node) {
    const auto [known, added] = folders_.try_emplace(node.is_folder() ? node.id : "");
    if (added && node.is_folder()) {
        known->second = parse_tree(object(node.id, "tree", std::numeric_limits<std::uint64_t>::max()));
    }
    return known->second;
}

SnapshotTree ObjectReader::snapshot(const std::string& id) {
    require_snapshot_id(id);
    const TreeNode root{"", S_IFDIR, id};
    SnapshotTree tree;
    tree.files = find(root, files_folder).value_or(TreeNode{});
    tree.modes = find(root, modes_folder).value_or(TreeNode{});
    const std::optional<TreeNode> about = find(root, about_name);
    if (!about) {
        throw Error(ErrorCode::invalid_params, id + " is not the id of a snapshot");
    }
    tree.coverage = from_json<Coverage>(blob(about->id), "coverage");
    return tree;
}

std::optional<TreeNode> ObjectReader::find(const TreeNode& root, std::string_view path) {
    TreeNode node = root;
    while (!path.empty()) {
        const std::string_view name = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(name.size() + 1, path.size()));
        const std::vector<TreeNode>& nodes = folder(node);
        const auto found = std::ranges::lower_bound(nodes, name, {},
                                                    [](const TreeNode& each) -> std::string_view { return each.name; });
        if (found == nodes.end() || found->name != name) {
            return std::nullopt;
        }
        TreeNode next = *found;
        node = std::move(next);
    }
    return node;
}

std::uint32_t ObjectReader::mode_bits(const TreeNode& node) {
    const auto [known, added] = modes_.try_emplace(node.id);
    if (added) {
        known->second = parse_number<std::uint32_t>(blob(node.id), 8);
    }
    return known->second;
}

} // namespace cellgate::changes
