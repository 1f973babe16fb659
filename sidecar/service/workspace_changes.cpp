#include "workspace_changes.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellgate::service {

namespace {

constexpr Duration patience = std::chrono::seconds(2); // of an execution that waits for a snapshot
constexpr std::size_t max_listed = 10'000;
constexpr std::size_t max_file_bytes = std::size_t{10} << 20;
constexpr std::size_t max_sets = 200; // of which the snapshots are kept
constexpr std::size_t sets_between_cleanings = 16;
constexpr std::size_t sets_when_full = 20;
constexpr const char* too_slow_why = "looking at the workspace's files takes longer than two seconds";

Error not_kept(const std::string& id) {
    return {ErrorCode::execution_not_found, fmt::format("no changes of \"{}\" are kept", id),
            "they are when `execute` asks for it, and for what agents run; the record has the newest 200"};
}

Error not_changed(const std::string& path) {
    return {ErrorCode::execution_not_found, fmt::format("\"{}\" is not among the files that it changed", path),
            "the list of its changes names them"};
}

void mark_overlap(ChangeSet& one, ChangeSet& other) {
    one.overlapping.push_back(other.id);
    other.overlapping.push_back(one.id);
}

void fail(ChangeSet& set, const std::string& why) {
    set.complete = false;
    add_not_covered({{"", why}}, set.not_covered);
}

void add_ids(const ChangeSet& set, std::vector<std::string>& ids) {
    for (const std::string& id : {set.before, set.after}) {
        if (!id.empty()) {
            ids.push_back(id);
        }
    }
}

// Of an undo's changes, those that are asked for: others between its snapshots are not its own.
std::optional<std::vector<std::string>> chosen_paths(const ChangeSet& set,
                                                     const std::optional<std::vector<std::string>>& paths) {
    if (!set.paths || !paths) {
        return paths ? paths : set.paths;
    }
    std::vector<std::string> chosen;
    for (const std::string& path : *paths) {
        if (std::find(set.paths->begin(), set.paths->end(), path) == set.paths->end()) {
            throw not_changed(path);
        }
        chosen.push_back(path);
    }
    return chosen;
}

// As it is in a message.
protocol::ChangesReadResult content_result(std::optional<std::string> content) {
    protocol::ChangesReadResult result;
    if (content && is_utf8(*content) && content->find('\0') == std::string::npos) {
        result.text = std::move(*content);
    } else if (content) {
        result.base64 = encode_base64(*content);
    }
    return result;
}

} // namespace

WorkspaceChanges::WorkspaceChanges(Clock& clock, RunBlocking run_blocking, changes::Options options,
                                   ActivityRecord& activity, OnFound on_found)
    : clock_(clock), run_blocking_(std::move(run_blocking)),
      snapshots_(std::make_unique<changes::Snapshots>(std::move(options))), activity_(activity),
      on_found_(std::move(on_found)) {}

WorkspaceChanges::~WorkspaceChanges() = default;

Task<void> WorkspaceChanges::run(Work work) {
    const Mutex::Lock turn = co_await turn_.lock();
    std::function<void()> job = [this, &work] {
        if (!recovered_) {
            snapshots_->recover();
            recovered_ = true;
        }
        work(*snapshots_);
    };
    co_await run_blocking_(std::move(job));
}

// ---- Around an execution --------------------------------------------------------------------------------------------

Task<void> WorkspaceChanges::before_execution(std::shared_ptr<const session::Execution> execution) {
    if (!execution->agent && !execution->params.changes.value_or(false)) {
        co_return;
    }
    const auto set = std::make_shared<ChangeSet>();
    set->id = execution->id;
    set->session_id = execution->session_id;
    set->agent = gate::name_of(execution->agent);
    if (const auto earlier = going_on_.extract(set->id)) { // its kernel died before it began
        earlier.mapped()->compared.set();
    }
    for (const auto& [id, other] : going_on_) {
        mark_overlap(*set, *other);
    }
    going_on_[set->id] = set;
    remember(set);
    if (too_slow_) {
        fail(*set, too_slow_why);
        co_return;
    }
    tasks_.spawn(take_before(set));
    const bool in_time = co_await wait_until(clock_, set->before_taken, clock_.now() + patience);
    if (!in_time) {
        too_slow_ = true;
        set->is_late = true;
        log_warning("changes of files are not kept: {}", too_slow_why);
    }
}

Task<void> WorkspaceChanges::take_before(SetPtr set) {
    changes::Snapshot snapshot;
    try {
        snapshot = co_await take();
    } catch (const Error& error) {
        fail(*set, error.message);
    }
    add_not_covered(snapshot.not_covered, set->not_covered);
    if (set->is_late) {
        fail(*set, too_slow_why);
    } else {
        set->before = snapshot.id;
    }
    set->before_taken.set();
}

void WorkspaceChanges::execution_finished(const session::Execution& execution) {
    const auto found = going_on_.find(execution.id);
    if (found != going_on_.end()) {
        tasks_.spawn(take_after(found->second));
        going_on_.erase(found);
    }
}

Task<void> WorkspaceChanges::take_after(SetPtr set) {
    if (!set->before.empty()) {
        try {
            const changes::Snapshot snapshot = co_await take();
            add_not_covered(snapshot.not_covered, set->not_covered);
            set->after = snapshot.id;
            co_await compare(set);
        } catch (const Error& error) {
            fail(*set, error.message);
        }
    }
    set->compared.set();
}

Task<changes::Snapshot> WorkspaceChanges::take() {
    changes::Snapshot snapshot;
    Work work = [&snapshot](changes::Snapshots& snapshots) { snapshot = snapshots.take(); };
    co_await run(work);
    if (snapshot.store_is_full) {
        co_await forget_old(sets_when_full);
        co_await run(std::move(work));
    }
    co_return snapshot;
}

Task<void> WorkspaceChanges::compare(SetPtr set) {
    changes::ChangeList list;
    Work work = [&set, &list](changes::Snapshots& snapshots) { list = differing_files(snapshots, *set); };
    co_await run(std::move(work));
    set->complete = list.complete;
    add_not_covered(list.unknown, set->not_covered);
    set->files = list.changes.size();
    if (set->files > 0) {
        co_await record_set(set, list);
    }
}

// Before users hear of it.
Task<void> WorkspaceChanges::record_set(SetPtr set, const changes::ChangeList& list) {
    activity_.files_changed(set->undo_of.has_value(), set->session_id, set->id, record_data(*set, list));
    protocol::ChangesFoundParams found;
    found.execution_id = set->id;
    found.session_id = set->session_id;
    found.agent = set->agent;
    found.files = static_cast<std::int64_t>(set->files);
    found.complete = set->complete;
    found.undo_of = set->undo_of;
    on_found_(found);
    if (++since_cleaning_ == sets_between_cleanings) {
        since_cleaning_ = 0;
        co_await forget_old(max_sets);
    }
}

// ---- What is kept ---------------------------------------------------------------------------------------------------

void WorkspaceChanges::remember(const SetPtr& set) {
    sets_[set->id] = set;
    newest_last_.push_back(set);
    if (newest_last_.size() > max_sets && newest_last_.front()->compared.is_set()) {
        const auto oldest = sets_.find(newest_last_.front()->id);
        if (oldest != sets_.end() && oldest->second == newest_last_.front()) {
            sets_.erase(oldest);
        }
        newest_last_.pop_front();
    }
}

// Other sidecars of the workspace keep theirs, too.
Task<void> WorkspaceChanges::forget_old(std::size_t kept) {
    std::vector<std::string> ids;
    for (const auto& [id, set] : going_on_) {
        add_ids(*set, ids);
    }
    const std::size_t of_these = std::min(kept, newest_last_.size());
    for (std::size_t i = newest_last_.size() - of_these; i < newest_last_.size(); ++i) {
        add_ids(*newest_last_[i], ids);
    }
    protocol::RecordQueryParams params;
    params.types = {files_changed_type, files_restored_type};
    params.limit = static_cast<std::int64_t>(kept);
    const protocol::RecordQueryResult recorded = co_await activity_.query(std::move(params));
    for (const protocol::RecordEntry& entry : recorded.entries) {
        ChangeSet set;
        read_record_entry(entry, set);
        add_ids(set, ids);
    }
    const bool at_once = kept == sets_when_full;
    Work work = [&ids, at_once](changes::Snapshots& snapshots) { snapshots.keep(ids, at_once); };
    try {
        co_await run(std::move(work));
    } catch (const Error& error) { // what changed is known all the same
        log_warning("old states of files are not forgotten: {}", error.message);
    }
}

Task<WorkspaceChanges::SetPtr> WorkspaceChanges::settled(std::string id) {
    const auto found = sets_.find(id);
    if (found == sets_.end()) {
        co_return co_await of_the_record(std::move(id));
    }
    SetPtr set = found->second;
    co_await set->compared.wait();
    co_return set;
}

Task<WorkspaceChanges::SetPtr> WorkspaceChanges::of_the_record(std::string id) {
    protocol::RecordQueryParams params;
    params.types = {files_changed_type, files_restored_type};
    params.execution_id = id;
    params.limit = 1;
    const protocol::RecordQueryResult recorded = co_await activity_.query(std::move(params));
    if (recorded.entries.empty()) {
        throw not_kept(id);
    }
    auto set = std::make_shared<ChangeSet>();
    set->id = std::move(id);
    read_record_entry(recorded.entries.front(), *set);
    co_return set;
}

// ---- What users ask for ---------------------------------------------------------------------------------------------

Task<protocol::ChangesListResult> WorkspaceChanges::list(protocol::ChangesParams params) {
    const SetPtr set = co_await settled(std::move(params.execution_id));
    changes::ChangeList found;
    if (!set->before.empty() && !set->after.empty()) {
        Work work = [&set, &found](changes::Snapshots& snapshots) { found = differing_files(snapshots, *set); };
        co_await run(std::move(work));
    }
    protocol::ChangesListResult result;
    result.execution_id = set->id;
    result.files = to_protocol(found, max_listed);
    if (found.changes.size() > max_listed) {
        result.count = static_cast<std::int64_t>(found.changes.size());
    }
    result.complete = set->complete;
    if (!set->complete) {
        result.not_covered = set->not_covered;
    }
    if (!set->overlapping.empty()) {
        result.overlapping = set->overlapping;
    }
    result.undone_by = set->undone_by;
    co_return result;
}

Task<protocol::ChangesReadResult> WorkspaceChanges::read(protocol::ChangesReadParams params) {
    const SetPtr set = co_await settled(std::move(params.execution_id));
    const std::string& id = params.side == protocol::ChangeSide::before ? set->before : set->after;
    if (id.empty()) {
        throw Error(ErrorCode::store_failed, set->not_covered.empty() ? "nothing is kept" : set->not_covered[0].why);
    }
    std::optional<std::string> content;
    Work work = [&](changes::Snapshots& snapshots) { content = snapshots.read(id, params.path, max_file_bytes); };
    co_await run(std::move(work));
    co_return content_result(std::move(content));
}

Task<protocol::ChangesUndoResult> WorkspaceChanges::undo(protocol::ChangesUndoParams params) {
    const SetPtr set = co_await settled(std::move(params.execution_id));
    protocol::ChangesUndoResult result;
    if (set->before.empty() || set->after.empty()) {
        for (const protocol::PathProblem& problem : set->not_covered) {
            result.refused.push_back(problem);
        }
        co_return result;
    }
    changes::UndoResult undone;
    changes::ChangeList list;
    const auto undo_set = std::make_shared<ChangeSet>();
    undo_set->id = "undo-" + random_id();
    undo_set->session_id = set->session_id;
    undo_set->undo_of = set->id;
    undo_set->before = set->after;
    undo_set->after = set->before;
    Work work = [&](changes::Snapshots& snapshots) {
        undone = snapshots.undo(set->before, set->after, chosen_paths(*set, params.paths));
        undo_set->paths = undone.restored;
        if (!undone.restored.empty()) {
            list = differing_files(snapshots, *undo_set);
        }
    };
    co_await shielded(run(std::move(work)));
    add_not_covered(undone.refused, result.refused);
    if (!undone.restored.empty()) {
        result.undo_id = undo_set->id;
        co_await shielded(keep_undo(set, undo_set, list));
    }
    result.restored = std::move(undone.restored);
    co_return result;
}

Task<void> WorkspaceChanges::keep_undo(SetPtr of, SetPtr undo, const changes::ChangeList& list) {
    for (const auto& [id, other] : going_on_) {
        mark_overlap(*undo, *other);
    }
    undo->files = list.changes.size();
    undo->complete = of->complete;
    undo->not_covered = of->not_covered;
    undo->before_taken.set();
    undo->compared.set();
    remember(undo);
    of->undone_by = undo->id;
    if (const auto undone_undo = sets_.find(of->undo_of.value_or("")); undone_undo != sets_.end()) {
        undone_undo->second->undone_by = std::nullopt; // it holds again
    }
    co_await record_set(undo, list);
    co_await activity_.stored();
}

Task<void> WorkspaceChanges::close() {
    co_await tasks_.join();
}

} // namespace cellgate::service
