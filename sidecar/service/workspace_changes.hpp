#pragma once
// `WorkspaceChanges` is what executions changed in the files of the workspace: it takes a snapshot before and after
// each whose changes are kept, tells users when they differ, lists and reads what differs, and undoes it. Snapshots are
// taken off the loop, one at a time; that the files changed is in the record, where the changes of earlier sidecars are
// found. Without git, or where the workspace is too large, an execution runs all the same, and its list says why it is
// empty.

#include "activity_record.hpp"
#include "base/run_blocking.hpp"
#include "base/sync.hpp"
#include "change_set.hpp"
#include "changes/snapshots.hpp"
#include "protocol/messages/changes.hpp"
#include "session/execution.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cellgate::service {

class WorkspaceChanges {
  public:
    using OnFound = std::function<void(const protocol::ChangesFoundParams&)>;

    // All must outlive it.
    WorkspaceChanges(Clock& clock, RunBlocking run_blocking, changes::Options options, ActivityRecord& activity,
                     OnFound on_found);
    ~WorkspaceChanges();
    WorkspaceChanges(const WorkspaceChanges&) = delete;
    WorkspaceChanges& operator=(const WorkspaceChanges&) = delete;

    // To be awaited before the execution starts, which may then not happen. Takes two seconds at most.
    Task<void> before_execution(std::shared_ptr<const session::Execution> execution);
    void execution_finished(const session::Execution& execution);

    // These throw Error{execution_not_found} if no changes of it are kept, and Error{store_failed}.
    Task<protocol::ChangesListResult> list(protocol::ChangesParams params);
    Task<protocol::ChangesReadResult> read(protocol::ChangesReadParams params);
    Task<protocol::ChangesUndoResult> undo(protocol::ChangesUndoParams params);

    // Must be awaited, after the sessions are closed.
    Task<void> close();

  private:
    using SetPtr = std::shared_ptr<ChangeSet>;
    using Work = std::function<void(changes::Snapshots&)>;

    // One at a time, off the loop.
    Task<void> run(Work work);
    Task<changes::Snapshot> take();
    Task<void> take_before(SetPtr set);
    Task<void> take_after(SetPtr set);
    Task<void> compare(SetPtr set);
    Task<void> record_set(SetPtr set, const changes::ChangeList& list);
    Task<void> keep_undo(SetPtr of, SetPtr undo, const changes::ChangeList& list);
    void remember(const SetPtr& set);
    // Forgets the snapshots of all but the newest.
    Task<void> forget_old(std::size_t kept);
    // Once its files are compared.
    Task<SetPtr> settled(std::string id);
    Task<SetPtr> of_the_record(std::string id);

    Clock& clock_;
    RunBlocking run_blocking_;
    std::unique_ptr<changes::Snapshots> snapshots_;
    bool recovered_ = false;
    ActivityRecord& activity_;
    OnFound on_found_;
    Mutex turn_;
    std::map<std::string, SetPtr> sets_; // by the id of the execution or the undo
    std::deque<SetPtr> newest_last_;
    std::map<std::string, SetPtr> going_on_; // of executions that run
    bool too_slow_ = false;                  // to look at the files again
    std::size_t since_cleaning_ = 0;
    TaskScope tasks_;
};

} // namespace cellgate::service
