#include "left_work.hpp"

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

protocol::LostWork lost_work(const store::LeftRun& run) {
    protocol::LostWork lost;
    lost.ended_at = to_rfc3339(run.ended_at);
    lost.sessions = run.sessions;
    for (const store::LedgerEntry& entry : run.executions) {
        lost.executions.push_back(lost_execution(entry));
    }
    return lost;
}

} // namespace

LeftWork::LeftWork(async::Loop& loop, Directories directories) : loop_(loop), directories_(std::move(directories)) {}

void LeftWork::look() {
    if (!std::exchange(looked_, true)) {
        tasks_.spawn(look_and_sweep());
    }
}

Task<void> LeftWork::look_and_sweep() {
    std::function<void()> look = [this] { untold_ = store::find_untold_runs(directories_.of_root); };
    co_await loop_.off_loop(std::move(look));
    for (const store::LeftRun& run : untold_) {
        log_warning("an earlier cellgate of this workspace ended unexpectedly at {}, with {} sessions; {} executions "
                    "had not finished",
                    to_rfc3339(run.ended_at), run.sessions.size(), run.executions.size());
    }
    untold_known_.set();
    std::function<void()> sweep = [this] { store::sweep_journals(directories_.of_all); };
    co_await loop_.off_loop(std::move(sweep));
}

Task<std::vector<protocol::LostWork>> LeftWork::lost() {
    co_await untold_known_.wait();
    std::vector<protocol::LostWork> all;
    for (const store::LeftRun& run : untold_) {
        all.push_back(lost_work(run));
    }
    if (!all.empty() && !std::exchange(told_, true)) {
        std::function<void()> mark = [this] {
            for (const store::LeftRun& run : untold_) {
                store::mark_told(run.directory);
            }
        };
        co_await loop_.off_loop(std::move(mark));
    }
    co_return all;
}

Task<store::LeftExecution> LeftWork::find(std::string execution_id) {
    std::optional<store::LeftExecution> found;
    std::function<void()> work = [&] { found = store::find_left_execution(directories_.of_root, execution_id); };
    co_await loop_.off_loop(std::move(work));
    if (!found) {
        throw Error(ErrorCode::execution_not_found, fmt::format("there is no execution \"{}\"", execution_id));
    }
    co_return std::move(*found);
}

Task<std::shared_ptr<const store::LeftJournal>> LeftWork::journal(store::LeftExecution execution) {
    const std::string name = execution.directory + "/" + execution.entry.execution_id;
    if (latest_ == name) {
        co_return latest_journal_;
    }
    std::shared_ptr<const store::LeftJournal> journal;
    std::function<void()> work = [&] {
        journal = std::make_shared<const store::LeftJournal>(execution.directory, execution.entry.execution_id);
    };
    co_await loop_.off_loop(std::move(work));
    latest_ = name;
    latest_journal_ = journal;
    co_return journal;
}

} // namespace cellgate::service
