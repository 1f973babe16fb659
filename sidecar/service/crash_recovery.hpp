#pragma once
// `CrashRecovery` is the access to the work of earlier sidecars of this workspace that ended unexpectedly (a crash, a
// kill): what was lost with them, and the output and results that can still be read.

#include "async/loop.hpp"
#include "base/task.hpp"
#include "protocol/messages/lifecycle.hpp"
#include "store/orphaned_runs.hpp"
#include "store/recovered_journal.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cellgate::service {

class CrashRecovery {
  public:
    struct Directories {
        std::string workspace; // the journals of this workspace's sidecars
        std::string all;       // of all roots
    };

    CrashRecovery(async::Loop& loop, Directories directories);

    // Finds lost work and removes old journals, in the background; repeated calls do nothing.
    void scan();
    // After scan(). For users: reported to each user of this sidecar, and to none of the next.
    Task<std::vector<protocol::LostWork>> lost();
    // Throws Error{execution_not_found}.
    Task<store::OrphanedExecution> find(std::string execution_id);
    Task<std::shared_ptr<const store::RecoveredJournal>> journal(store::OrphanedExecution execution);
    // Waits for the tasks in progress.
    Task<void> close() { return tasks_.join(); }

  private:
    Task<void> scan_and_clean();

    async::Loop& loop_;
    Directories directories_;
    bool scanned_ = false;
    std::vector<store::OrphanedRun> unreported_;
    Event scan_done_;
    bool reported_ = false;
    std::string cached_name_; // a client that reads one page of a journal reads the next
    std::shared_ptr<const store::RecoveredJournal> cached_journal_;
    TaskScope tasks_;
};

} // namespace cellgate::service
