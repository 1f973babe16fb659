#include "change_list.hpp"

#include "base/hash.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <utility>

namespace cellgate::changes {

namespace {

// A file or folder of one snapshot, with the node of the same path below `modes`.
struct Node {
    TreeNode file;
    TreeNode mode;
    bool operator==(const Node& other) const { return file.id == other.file.id && mode.id == other.mode.id; }
};

// One walk over the two trees.
class Comparison {
  public:
    Comparison(ObjectReader& reader, const Coverage& before, const Coverage& after, TreeDifference& result)
        : reader_(reader), index_before_(before), index_after_(after), result_(result) {}

    void compare(const std::string& path, const Node& before, const Node& after) {
        if (before == after && before.file.mode == after.file.mode) {
            return;
        }
        add({entry(path, before), entry(path, after)});
        const std::string prefix = path.empty() ? "" : path + "/";
        const std::map<std::string, Node> old_nodes = nodes_in(before);
        const std::map<std::string, Node> new_nodes = nodes_in(after);
        std::set<std::string> names;
        for (const auto* nodes : {&old_nodes, &new_nodes}) {
            std::ranges::copy(*nodes | std::views::keys, std::inserter(names, names.end()));
        }
        for (const std::string& name : names) {
            const auto old_node = old_nodes.find(name);
            const auto new_node = new_nodes.find(name);
            compare(prefix + name, old_node == old_nodes.end() ? Node{} : old_node->second,
                    new_node == new_nodes.end() ? Node{} : new_node->second);
        }
    }

  private:
    std::map<std::string, Node> nodes_in(const Node& folder) {
        std::map<std::string, Node> nodes;
        for (const TreeNode& file : reader_.folder(folder.file)) {
            nodes[file.name].file = file;
        }
        for (const TreeNode& mode : reader_.folder(folder.mode)) {
            nodes[mode.name].mode = mode;
        }
        return nodes;
    }

    std::optional<TreeEntry> entry(const std::string& path, const Node& node) {
        if (node.file.id.empty() || node.file.is_folder()) {
            return std::nullopt;
        }
        std::uint32_t mode = S_ISLNK(node.file.mode) ? node.file.mode | 0777U : node.file.mode;
        if (!node.mode.id.empty()) {
            mode = S_IFREG | reader_.mode_bits(node.mode);
        }
        return TreeEntry{path, mode, node.file.id};
    }

    void add(TreeChange change) {
        if (!change.before && !change.after) { // folders
            return;
        }
        std::string_view why; // the one that does not have it leaves it out
        if (!change.before || !change.after) {
            why = (change.before ? index_after_ : index_before_).why_left_out(change.path());
        }
        if (!why.empty()) {
            result_.unknown.push_back({change.path(), std::string(why)});
        } else {
            result_.changes.push_back(std::move(change));
        }
    }

    ObjectReader& reader_;
    CoverageIndex index_before_;
    CoverageIndex index_after_;
    TreeDifference& result_;
};

std::optional<FileState> file_state(const std::optional<TreeEntry>& entry, ObjectReader& reader) {
    if (!entry) {
        return std::nullopt;
    }
    const std::string bytes = reader.blob(entry->blob);
    return FileState{sha256(bytes), bytes.size(), entry->mode};
}

} // namespace

TreeDifference difference(ObjectReader& reader, const std::string& before, const std::string& after) {
    TreeDifference result;
    if (before.empty() || after.empty()) { // one covers nothing
        result.complete = false;
        return result;
    }
    const SnapshotTree old_tree = reader.snapshot(before);
    const SnapshotTree new_tree = reader.snapshot(after);
    Comparison(reader, old_tree.coverage, new_tree.coverage, result)
        .compare("", {old_tree.files, old_tree.modes}, {new_tree.files, new_tree.modes});
    std::ranges::sort(result.changes, {}, &TreeChange::path);
    result.complete =
        old_tree.coverage.left_out.empty() && new_tree.coverage.left_out.empty() && result.unknown.empty();
    return result;
}

ChangeList describe(ObjectReader& reader, const TreeDifference& difference) {
    ChangeList list;
    list.complete = difference.complete;
    list.unknown = listed_left_out(difference.unknown);
    for (const TreeChange& change : difference.changes) {
        list.changes.push_back({change.path(), file_state(change.before, reader), file_state(change.after, reader)});
    }
    return list;
}

std::vector<NotCovered> listed_left_out(const std::vector<LeftOut>& left_out) {
    std::vector<NotCovered> listed;
    for (std::size_t i = 0; i < std::min(left_out.size(), max_listed_left_out); ++i) {
        listed.push_back({left_out[i].path, left_out[i].why});
    }
    return listed;
}

} // namespace cellgate::changes
