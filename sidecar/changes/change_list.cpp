#include "change_list.hpp"

#include "base/hash.hpp"

#include <algorithm>

namespace cellgate::changes {

namespace {

// The file is in one of the snapshots; `other` is the coverage of the one that does not have it.
void add_one_sided(TreeChange change, const CoverageIndex& other, TreeDifference& result) {
    if (const std::string_view why = other.why_left_out(change.path()); !why.empty()) {
        result.unknown.push_back({change.path(), std::string(why)});
    } else {
        result.changes.push_back(std::move(change));
    }
}

std::optional<FileState> file_state(const std::optional<TreeEntry>& entry, BlobReader& blobs) {
    if (!entry) {
        return std::nullopt;
    }
    const std::string bytes = blobs.read(entry->blob);
    return FileState{sha256(bytes), bytes.size(), entry->mode};
}

} // namespace

TreeDifference difference(const ObjectStore& store, const std::string& before, const std::string& after) {
    TreeDifference result;
    if (before == after) {
        result.complete = !before.empty() && store.coverage(before).left_out.empty();
        return result;
    }
    if (before.empty() || after.empty()) { // one covers nothing
        result.complete = false;
        return result;
    }
    const Coverage coverage_before = store.coverage(before);
    const Coverage coverage_after = store.coverage(after);
    const CoverageIndex index_before(coverage_before);
    const CoverageIndex index_after(coverage_after);
    std::vector<TreeEntry> old_files = store.tree(before);
    std::vector<TreeEntry> new_files = store.tree(after);
    auto old_file = old_files.begin();
    auto new_file = new_files.begin();
    while (old_file != old_files.end() || new_file != new_files.end()) {
        const int order = old_file == old_files.end()   ? 1
                          : new_file == new_files.end() ? -1
                                                        : old_file->path.compare(new_file->path);
        if (order < 0) {
            add_one_sided({std::move(*old_file++), std::nullopt}, index_after, result);
        } else if (order > 0) {
            add_one_sided({std::nullopt, std::move(*new_file++)}, index_before, result);
        } else {
            if (*old_file != *new_file) {
                result.changes.push_back({std::move(*old_file), std::move(*new_file)});
            }
            ++old_file;
            ++new_file;
        }
    }
    result.complete = coverage_before.left_out.empty() && coverage_after.left_out.empty() && result.unknown.empty();
    return result;
}

ChangeList describe(const ObjectStore& store, const TreeDifference& difference) {
    ChangeList list;
    list.complete = difference.complete;
    list.unknown = listed_left_out(difference.unknown);
    if (difference.changes.empty()) {
        return list;
    }
    BlobReader blobs(store.folders());
    for (const TreeChange& change : difference.changes) {
        list.changes.push_back({change.path(), file_state(change.before, blobs), file_state(change.after, blobs)});
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
