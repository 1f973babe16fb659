// execute, execute/cancel, execution/get, output/read.

#include "base/sync.hpp"
#include "handlers.hpp"
#include "journal_records.hpp"
#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace cellgate::service {

namespace {

constexpr Duration cancel_grace = std::chrono::seconds(5);
constexpr std::uint64_t default_read_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t max_read_bytes = std::uint64_t{8} << 20;
// A client that asks for more than it reads waits.
constexpr std::size_t read_below = std::size_t{4} << 20;

struct Executions {
    Executions(SidecarServices& sidecar_, Client& client_) : sidecar(sidecar_), client(client_) {}

    SidecarServices& sidecar;
    Client& client;
    Mutex reading; // one page at a time: a page stays in memory until the client reads it

    Task<protocol::ExecuteResult> execute(protocol::ExecuteParams params) {
        const std::shared_ptr<session::Session> session = co_await started_session(params);
        require_open_to(*session);
        if (client.role != protocol::Role::user) {
            const bool of_a_user = !session->options().agent;
            params.timeout_seconds = sidecar.agents.limits_of(gate::name_of(client.agent))
                                         .timeout_of("timeoutSeconds", params.timeout_seconds,
                                                     of_a_user ? session->options().limits.wall_seconds : std::nullopt);
        }
        if (params.execution_id) {
            sidecar.sessions.require_new_execution(*params.execution_id);
        }
        if (sidecar.checks.is_strict(*session)) {
            co_await sidecar.checks.require_allowed(session, params.code);
        }
        const std::shared_ptr<session::Execution> execution =
            session->enqueue(std::move(params), client.id, client.agent);
        bool cancelled = false;
        try {
            co_await execution->finished.wait();
        } catch (const Cancelled&) {
            if (client.peer.closed()) {
                throw; // the client disconnected; the execution continues into its journal
            }
            cancelled = true;
        }
        if (cancelled) {
            sidecar.review.abandon(*execution);
            const bool still_runs = co_await shielded(session->cancel(execution, cancel_grace, false));
            if (still_runs) {
                throw Error(ErrorCode::request_cancelled, "it was interrupted and still runs",
                            "cancel it with force, which ends its kernel");
            }
        }
        co_await client.outputs.flushed(execution->id);
        co_return co_await sidecar.review.result_for(&client, execution);
    }

    Task<std::shared_ptr<session::Session>> started_session(protocol::ExecuteParams params) {
        Progress progress(client.peer, params.work_done_token, "Starting the kernel");
        co_return co_await sidecar.sessions.find_or_start(std::move(params.session_id),
                                                          limits_of_agent(sidecar, client));
    }

    Task<protocol::ExecuteCancelResult> cancel(protocol::ExecuteCancelParams params) {
        const auto [session, execution] = find_own(params.execution_id);
        const Duration grace = params.grace_seconds ? from_seconds(*params.grace_seconds) : cancel_grace;
        const bool still_runs = co_await session->cancel(execution, grace, params.force.value_or(false));
        co_return protocol::ExecuteCancelResult{still_runs};
    }

    Task<protocol::ExecutionInfo> get(protocol::ExecutionParams params) {
        const std::optional<SessionTable::Found> found = look_for_readable(params.execution_id);
        if (!found) {
            co_return co_await get_left(std::move(params.execution_id));
        }
        const session::Execution& execution = *found->second;
        protocol::ExecutionInfo info;
        info.execution_id = execution.id;
        info.session_id = execution.session_id;
        info.state = execution.state;
        info.position = found->first->position(execution);
        info.waits_behind = execution.waits_behind();
        info.code = execution.params.code;
        info.agent = gate::name_of(execution.agent);
        if (execution.state == protocol::ExecutionState::running) {
            info.duration_seconds = to_seconds(execution.clock.total());
        }
        if (execution.state == protocol::ExecutionState::finished) {
            info.result = execution.result;
        } else if (const std::size_t pending = execution.clock.pending(); pending > 0) {
            info.pending_approvals = static_cast<std::int64_t>(pending);
        }
        if (client.agent) {
            co_return sidecar.review.shown_info(std::move(info), execution, *client.agent);
        }
        co_return info;
    }

    Task<protocol::ExecutionInfo> get_left(std::string execution_id) {
        const store::OrphanedExecution left = co_await sidecar.crash_recovery.find(std::move(execution_id));
        protocol::ExecutionInfo info;
        info.execution_id = left.entry.execution_id;
        info.session_id = left.entry.session_id;
        info.state = protocol::ExecutionState::finished;
        if (left.entry.result) {
            info.result = from_json<protocol::ExecuteResult>(*left.entry.result, "ledger.result");
            co_return info;
        }
        const std::shared_ptr<const store::RecoveredJournal> journal = co_await sidecar.crash_recovery.journal(left);
        protocol::ExecuteResult result;
        result.execution_id = left.entry.execution_id;
        result.status = left.entry.started ? protocol::ExecutionStatus::killed : protocol::ExecutionStatus::cancelled;
        result.reason = left.entry.started ? "the cellgate that ran it ended unexpectedly, and its kernel with it"
                                           : "the cellgate that it waited in ended unexpectedly: it did not run";
        result.output_bytes = journal->output_bytes();
        result.layers = {"unknown"};
        info.result = std::move(result);
        co_return info;
    }

    Task<protocol::OutputReadResult> read(protocol::OutputReadParams params) {
        const std::int64_t from = params.from_seq.value_or(0);
        const Mutex::Lock turn = co_await reading.lock();
        co_await client.peer.connection().drained(read_below);

        Readable readable =
            co_await find_readable(std::move(params.execution_id), from,
                                   std::min(params.max_bytes.value_or(default_read_bytes), max_read_bytes));
        protocol::OutputReadResult result;
        result.dropped_bytes = readable.dropped_bytes;
        result.problem = std::move(readable.problem);
        std::function<void()> work = [&readable, &result, limit = client.outputs.inline_limit()] {
            result.records = read_records(readable.page, limit);
        };
        co_await sidecar.loop.run_blocking(std::move(work));
        std::erase_if(result.records, [&](const auto& record) { return record.seq >= readable.readable_end; });
        const bool skipped = std::any_of(result.records.begin(), result.records.end(),
                                         [](const auto& record) { return record.skipped_bytes.has_value(); });
        if (skipped && !result.problem) {
            result.problem = "some of it cannot be read back from the disk, or is too large for a message";
        }
        result.next_seq = result.records.empty() ? from : result.records.back().seq + result.records.back().count;
        result.complete = readable.finished && result.next_seq >= readable.end;
        co_return result;
    }

    struct Readable {
        store::JournalPage page;
        bool finished = true;
        std::int64_t end = 0; // of the numbers of its records
        std::int64_t readable_end = std::numeric_limits<std::int64_t>::max();
        std::uint64_t dropped_bytes = 0;
        std::optional<std::string> problem;
    };

    Task<Readable> find_readable(std::string execution_id, std::int64_t from, std::uint64_t max_bytes) {
        Readable readable;
        const std::optional<SessionTable::Found> found = look_for_readable(execution_id);
        if (found) {
            if (client.agent) {
                readable.readable_end = sidecar.review.readable_end(*found->second, from, *client.agent);
            }
            const store::Journal& journal = found->second->journal;
            readable.page = journal.page(from, max_bytes);
            readable.finished = found->second->state == protocol::ExecutionState::finished;
            readable.end = journal.next_seq();
            readable.dropped_bytes = journal.dropped_bytes();
            if (!journal.problem().empty()) {
                readable.problem = journal.problem();
            }
            co_return readable;
        }
        const store::OrphanedExecution left = co_await sidecar.crash_recovery.find(std::move(execution_id));
        const std::shared_ptr<const store::RecoveredJournal> journal = co_await sidecar.crash_recovery.journal(left);
        readable.page = journal->page(from, max_bytes);
        readable.end = journal->next_seq();
        if (!left.entry.result) {
            readable.problem = "the cellgate that ran it ended unexpectedly: this is what it had written";
        }
        co_return readable;
    }

    // An agent in a user's session shares its variables, not its grants.
    void require_open_to(const session::Session& session) {
        if (client.role == protocol::Role::user || session.belongs_to(client.id)) {
            return;
        }
        if (session.options().agent) {
            client.refuse(fmt::format("the session \"{}\" is another agent's", session.id()));
        }
        const sandbox::IsolationTraits& traits = sandbox::traits_of(session.options().isolation);
        if (!traits.agents) {
            const std::string which = traits.isolates ? fmt::format("whose sandbox is the weaker one ({})", traits.name)
                                                      : "which has no sandbox";
            client.refuse(
                fmt::format("running code in the session \"{}\", {}, is for users, and this client is an agent",
                            session.id(), which));
        }
    }

    // Nothing when it may be the work of a sidecar that ended, which is for users to look at.
    std::optional<SessionTable::Found> look_for_readable(const std::string& execution_id) {
        std::optional<SessionTable::Found> found = sidecar.sessions.try_find_execution(execution_id);
        if (client.role != protocol::Role::user &&
            (!found || (found->second->client != client.id && !found->first->belongs_to(client.id)))) {
            client.refuse(fmt::format("the execution \"{}\" is none of this agent's", execution_id));
        }
        return found;
    }

    std::pair<std::shared_ptr<session::Session>, std::shared_ptr<session::Execution>>
    find_own(const std::string& execution_id) {
        auto found = sidecar.sessions.find_execution(execution_id);
        if (client.role != protocol::Role::user && found.second->client != client.id) {
            client.refuse("an agent can cancel only what it runs itself");
        }
        return found;
    }
};

} // namespace

void add_execution_handlers(SidecarServices& sidecar, Client& client) {
    const auto handlers = std::make_shared<Executions>(sidecar, client);
    client.peer.on_request<protocol::Execute>(
        [handlers](protocol::ExecuteParams params) { return handlers->execute(std::move(params)); });
    client.peer.on_request<protocol::ExecuteCancel>(
        [handlers](protocol::ExecuteCancelParams params) { return handlers->cancel(std::move(params)); });
    client.peer.on_request<protocol::ExecutionGet>(
        [handlers](protocol::ExecutionParams params) { return handlers->get(std::move(params)); });
    client.peer.on_request<protocol::OutputRead>(
        [handlers](protocol::OutputReadParams params) { return handlers->read(std::move(params)); });
}

} // namespace cellgate::service
