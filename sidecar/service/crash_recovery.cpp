#include "crash_recovery.hpp"

#include "base/encoding.hpp"
#include "base/json_codec.hpp"
#include "base/log.hpp"
#include "store/journals.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace cellgate::service {

namespace {

protocol::LostExecution lost_execution(const store::LedgerEntry& entry) {
    protocol::LostExecution lost;
    lost.execution_id = entry.execution_id;
    lost.session_id = entry.session_id;
    lost.state = entry.started ? protocol::ExecutionState::running : protocol::ExecutionState::queued;
    if (entry.cell) {
        lost.cell = from_json<protocol::CellPosition>(*entry.cell, "ledger.cell");
    }
    return lost;
}

protocol::LostWork lost_work(const store::OrphanedRun& run) {
    protocol::LostWork lost;
    lost.ended_at = to_rfc3339(run.ended_at);
    lost.sessions = run.sessions;
    for (const store::LedgerEntry& entry : run.executions) {
        lost.executions.push_back(lost_execution(entry));
    }
    return lost;
}

} // namespace

CrashRecovery::CrashRecovery(async::Loop& loop, Directories directories)
    : loop_(loop), directories_(std::move(directories)) {}

void CrashRecovery::scan() {
    if (!std::exchange(scanned_, true)) {
        tasks_.spawn(scan_and_clean());
    }
}

Task<void> CrashRecovery::scan_and_clean() {
    std::function<void()> scan = [this] { unreported_ = store::find_unreported_runs(directories_.workspace); };
    co_await loop_.run_blocking(std::move(scan));
    for (const store::OrphanedRun& run : unreported_) {
        log_warning("an earlier cellgate of this workspace ended unexpectedly at {}, with {} sessions; {} executions "
                    "had not finished",
                    to_rfc3339(run.ended_at), run.sessions.size(), run.executions.size());
    }
    scan_done_.set();
    std::function<void()> remove_stale = [this] { store::remove_stale_journals(directories_.all); };
    co_await loop_.run_blocking(std::move(remove_stale));
}

Task<std::vector<protocol::LostWork>> CrashRecovery::lost() {
    co_await scan_done_.wait();
    std::vector<protocol::LostWork> all;
    for (const store::OrphanedRun& run : unreported_) {
        all.push_back(lost_work(run));
    }
    if (!all.empty() && !std::exchange(reported_, true)) {
        std::function<void()> mark = [this] {
            for (const store::OrphanedRun& run : unreported_) {
                store::mark_reported(run.directory);
            }
        };
        co_await loop_.run_blocking(std::move(mark));
    }
    co_return all;
}

Task<store::OrphanedExecution> CrashRecovery::find(std::string execution_id) {
    std::optional<store::OrphanedExecution> found;
    std::function<void()> work = [&] { found = store::find_orphaned_execution(directories_.workspace, execution_id); };
    co_await loop_.run_blocking(std::move(work));
    if (!found) {
        throw Error(ErrorCode::execution_not_found, fmt::format("there is no execution \"{}\"", execution_id));
    }
    co_return std::move(*found);
}

Task<std::shared_ptr<const store::RecoveredJournal>> CrashRecovery::journal(store::OrphanedExecution execution) {
    const std::string name = execution.directory + "/" + execution.entry.execution_id;
    if (cached_name_ == name) {
        co_return cached_journal_;
    }
    std::shared_ptr<const store::RecoveredJournal> journal;
    std::function<void()> work = [&] {
        journal = std::make_shared<const store::RecoveredJournal>(execution.directory, execution.entry.execution_id);
    };
    co_await loop_.run_blocking(std::move(work));
    cached_name_ = name;
    cached_journal_ = journal;
    co_return journal;
}

} // namespace cellgate::service
