#include "changes/snapshots.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json_codec.hpp"
#include "change_list.hpp"
#include "folder_watch.hpp"
#include "last_snapshot.hpp"
#include "object_reader.hpp"
#include "object_store.hpp"
#include "snapshot_writer.hpp"
#include "undo.hpp"
#include "undo_plan.hpp"
#include "workspace_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <sys/stat.h>
#include <utility>

namespace cellgate::changes {

namespace {

constexpr unsigned keeps_between_prunes = 16;

// The clock that the kernel stamps files with. In nanoseconds.
std::int64_t file_clock() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// What one snapshot needs of the last one and of a scan.
struct SnapshotWork {
    std::vector<std::string> removed;
    std::vector<ScannedFile> changed;
    LastSnapshot next; // the unchanged files
    std::uint64_t changed_bytes = 0;
};

SnapshotWork plan_snapshot(WorkspaceScan& scan, const LastSnapshot& last) {
    SnapshotWork work;
    work.next.coverage = std::move(scan.coverage);
    auto kept = last.files.begin();
    for (ScannedFile& file : scan.files) {
        for (; kept != last.files.end() && kept->path < file.path; ++kept) {
            work.removed.push_back(kept->path);
        }
        const bool known = kept != last.files.end() && kept->path == file.path;
        if (known && kept->stat == file.stat) {
            work.next.files.push_back(*kept);
        } else {
            work.changed_bytes += file.stat.size;
            work.changed.push_back(std::move(file));
        }
        kept += known ? 1 : 0;
    }
    for (; kept != last.files.end(); ++kept) {
        work.removed.push_back(kept->path);
    }
    return work;
}

Snapshot nothing_covered(const std::string& why) {
    Snapshot snapshot;
    snapshot.complete = false;
    snapshot.not_covered = {{"", why}};
    snapshot.not_covered_count = 1;
    return snapshot;
}

Snapshot summary(const LastSnapshot& last) {
    const std::vector<LeftOut>& left_out = last.coverage.left_out;
    return {last.id, left_out.empty(), listed_left_out(left_out), left_out.size(), false};
}

FileStat stat_of(const std::string& path) {
    struct stat status{};
    ::lstat(path.c_str(), &status);
    return file_stat(status);
}

// Why a file that was just read is not covered; empty if it is.
std::string why_not_kept(const FileContent& content, std::uint64_t max_bytes) {
    if (content.kind == Kind::unreadable) {
        return std::string("it cannot be read: ") + std::strerror(content.error);
    }
    return content.too_large ? fmt::format("it is larger than {} bytes", max_bytes) : "";
}

} // namespace

struct Snapshots::State {
    explicit State(Options given)
        : options(std::move(given)), store(GitFolders{options.directory + "/repository", options.workspace}),
          last_path(options.directory + "/repository/cellgate-last"), plan_path(options.directory + "/undo.json") {}

    // Until the descriptor is closed. The directory is there then.
    UniqueFd lock() const;
    const LastSnapshot& load_last();
    void store_last(LastSnapshot snapshot);
    void read_changed(SnapshotWork& work, const WorkspaceFiles& workspace, std::int64_t started);

    Options options;
    ObjectStore store;
    std::string last_path;
    std::string plan_path;
    std::optional<LastSnapshot> last;
    FileStat last_file; // of the file that it was read from, or written to
    unsigned keeps = 0;
};

UniqueFd Snapshots::State::lock() const {
    store.prepare();
    UniqueFd locked = lock_directory(options.directory);
    if (!locked.valid()) {
        throw system_error(ErrorCode::store_failed, "cannot lock " + options.directory, errno);
    }
    return locked;
}

const LastSnapshot& Snapshots::State::load_last() {
    const FileStat file = stat_of(last_path);
    if (!last || !(file == last_file)) { // another process has taken one
        last = load_last_snapshot(last_path).value_or(LastSnapshot{});
        last_file = file;
    }
    return *last;
}

void Snapshots::State::store_last(LastSnapshot snapshot) {
    save_last_snapshot(last_path, snapshot);
    last = std::move(snapshot);
    last_file = stat_of(last_path);
}

// Writes the tree, and completes `work.next`.
void Snapshots::State::read_changed(SnapshotWork& work, const WorkspaceFiles& workspace, std::int64_t started) {
    SnapshotWriter writer(store.folders(), load_last().id);
    LastSnapshot& next = work.next;
    for (const std::string& path : work.removed) {
        writer.remove(path);
    }
    for (ScannedFile& file : work.changed) {
        FileContent content = workspace.read(file.path, options.max_file_bytes);
        const bool has_content = content.kind == Kind::regular || content.kind == Kind::link;
        if (std::string why = why_not_kept(content, options.max_file_bytes); !why.empty()) {
            writer.remove(file.path);
            next.coverage.left_out.push_back({file.path, std::move(why)});
        } else if (!has_content) {
            writer.remove(file.path); // it is gone meanwhile
        } else {
            writer.put(file.path, content);
            content.stat.inode = content.stat.changed < started ? content.stat.inode : 0;
            next.files.push_back({std::move(file.path), content.stat});
        }
    }
    std::ranges::sort(next.files, {}, &KeptFile::path);
    next.id = writer.finish(to_json(next.coverage));
}

Snapshots::Snapshots(Options options) : state_(std::make_unique<State>(std::move(options))) {}
Snapshots::~Snapshots() = default;

Snapshot Snapshots::take() {
    const UniqueFd locked = state_->lock();
    const WorkspaceFiles workspace(state_->options.workspace);
    const std::int64_t started = file_clock();
    const LastSnapshot& last = state_->load_last();
    std::optional<WorkspaceScan> known = scan_unchanged_folders(last, workspace, state_->options);
    WorkspaceScan scan =
        known ? std::move(*known) : scan_workspace(state_->store.folders(), workspace, state_->options);
    if (!scan.why_nothing.empty()) {
        return nothing_covered(scan.why_nothing);
    }
    SnapshotWork work = plan_snapshot(scan, last);
    if (work.removed.empty() && work.changed.empty() && work.next.coverage == last.coverage && !last.id.empty()) {
        if (!known) {
            LastSnapshot same = last;
            same.watched = watch_folders(same, workspace, started);
            state_->store_last(std::move(same));
        }
        return summary(*state_->last);
    }
    if (work.changed_bytes > 0 && state_->store.bytes() + work.changed_bytes > state_->options.max_total_bytes) {
        Snapshot none = nothing_covered(
            fmt::format("the snapshots would have more than {} bytes", state_->options.max_total_bytes));
        none.store_is_full = true;
        return none;
    }
    state_->read_changed(work, workspace, started);
    const bool same_list = known && work.next.files.size() == last.files.size() && work.next.coverage == last.coverage;
    work.next.watched = same_list ? last.watched : watch_folders(work.next, workspace, started);
    state_->store_last(std::move(work.next));
    return summary(*state_->last);
}

ChangeList Snapshots::compare(const std::string& before, const std::string& after) const {
    ObjectReader reader(state_->store.folders());
    return describe(reader, difference(reader, before, after));
}

std::optional<std::string> Snapshots::read(const std::string& id, const std::string& path, std::size_t limit) const {
    ObjectReader reader(state_->store.folders());
    const std::optional<TreeNode> node = reader.find(reader.snapshot(id).files, path);
    if (!node || node->is_folder()) {
        return std::nullopt;
    }
    return reader.blob(node->id, limit);
}

UndoResult Snapshots::undo(const std::string& before, const std::string& after,
                           const std::optional<std::vector<std::string>>& paths) {
    const UniqueFd locked = state_->lock();
    const WorkspaceFiles workspace(state_->options.workspace);
    ObjectReader reader(state_->store.folders());
    const Undo undo(reader, workspace, state_->plan_path);
    undo.recover(); // what could not be reverted, because a disk was full
    UndoOutcome outcome = undo.run(before, after, paths);
    return {std::move(outcome.refused), std::move(outcome.restored)};
}

std::optional<UndoResult> Snapshots::recover() {
    if (!load_plan(state_->plan_path)) {
        return std::nullopt;
    }
    const UniqueFd locked = state_->lock();
    const WorkspaceFiles workspace(state_->options.workspace);
    ObjectReader reader(state_->store.folders());
    std::optional<UndoOutcome> outcome = Undo(reader, workspace, state_->plan_path).recover();
    if (!outcome) {
        return std::nullopt;
    }
    return UndoResult{std::move(outcome->refused), std::move(outcome->restored)};
}

void Snapshots::keep(const std::vector<std::string>& ids, bool at_once) {
    const UniqueFd locked = state_->lock();
    std::vector<std::string> kept = ids;
    if (const std::optional<UndoPlan> plan = load_plan(state_->plan_path)) {
        kept.insert(kept.end(), {plan->before, plan->after});
    }
    state_->store.keep(kept);
    if (state_->keeps++ % keeps_between_prunes == 0 || at_once) {
        state_->store.prune(at_once);
    }
}

} // namespace cellgate::changes
