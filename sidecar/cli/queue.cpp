// `cellgate queue`: what runs and waits in the sessions of the workspace's sidecar.

#include "base/enum_name.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "chosen_id.hpp"
#include "duration_text.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/sessions.hpp"
#include "running_sidecar.hpp"
#include "text_table.hpp"
#include "value_checks.hpp"

#include <fmt/format.h>

#include <memory>

namespace cellgate::cli {

namespace {

struct QueueArguments {
    std::string workspace = ".";
    protocol::ExecuteCancelParams cancel;
    bool json = false;
    int exit_code = 1;
};

// In the order in which they run, session by session.
Task<std::vector<protocol::ExecutionInfo>> find_unfinished(WorkspaceClient* client) {
    std::vector<protocol::ExecutionInfo> unfinished;
    const protocol::SessionListResult list = co_await client->call<protocol::SessionList>();
    for (const protocol::SessionInfo& session : list.sessions) {
        protocol::SessionParams params{session.session_id};
        const protocol::SessionAttachResult attached =
            co_await client->call<protocol::SessionAttach>(std::move(params));
        for (const protocol::AttachedExecution& execution : attached.executions) {
            if (execution.state != protocol::ExecutionState::finished) {
                protocol::ExecutionParams asked{execution.execution_id};
                protocol::ExecutionInfo info = co_await client->call<protocol::ExecutionGet>(std::move(asked));
                unfinished.push_back(std::move(info));
            }
        }
    }
    co_return std::move(unfinished);
}

std::string state_words(const protocol::ExecutionInfo& execution) {
    if (execution.pending_approvals) {
        return "waits for you";
    }
    if (execution.waits_behind) {
        return fmt::format("behind {} of other sessions", *execution.waits_behind);
    }
    if (execution.position) {
        return fmt::format("behind {}", *execution.position);
    }
    return std::string(enum_name(execution.state));
}

Task<void> list_queue(WorkspaceClient* client, QueueArguments* arguments) {
    const std::vector<protocol::ExecutionInfo> unfinished = co_await find_unfinished(client);
    std::vector<std::vector<std::string>> rows{{"EXECUTION", "SESSION", "STATE", "TIME", "OF", "CODE"}};
    for (const protocol::ExecutionInfo& each : unfinished) {
        if (arguments->json) {
            fmt::print("{}\n", to_json(each));
            continue;
        }
        const std::string code = each.code.value_or("");
        const std::optional<double> seconds = each.duration_seconds;
        rows.push_back({each.execution_id, each.session_id, state_words(each),
                        seconds ? duration_text(static_cast<std::int64_t>(*seconds)) : "-",
                        each.agent ? "agent " + *each.agent : "the user", code.substr(0, code.find('\n'))});
    }
    if (!arguments->json) {
        fmt::print("{}", unfinished.empty() ? "nothing runs\n" : text_table(rows));
    }
}

Task<void> cancel(WorkspaceClient* client, QueueArguments* arguments) {
    std::vector<std::string> ids;
    const std::vector<protocol::ExecutionInfo> unfinished = co_await find_unfinished(client);
    for (const protocol::ExecutionInfo& each : unfinished) {
        ids.push_back(each.execution_id);
    }
    protocol::ExecuteCancelParams params = arguments->cancel;
    params.execution_id = chosen_id(ids, params.execution_id, "executions", ErrorCode::execution_not_found);
    const protocol::ExecuteCancelResult result = co_await client->call<protocol::ExecuteCancel>(std::move(params));
    if (arguments->json) {
        fmt::print("{}\n", to_json(result));
    } else if (result.kernel_busy) {
        fmt::print(stderr, "cellgate: it was interrupted, and still runs; --force ends its kernel\n");
    }
    arguments->exit_code = result.kernel_busy ? 1 : 0;
}

} // namespace

void add_queue(CLI::App& app, Invocation& invocation) {
    CLI::App* command = app.add_subcommand("queue", "What runs and waits in all sessions; cancel it");
    Parts<QueueArguments> parts(*command, invocation, beside_sidecar(list_queue));
    parts.add("list", "List what runs and waits", beside_sidecar(list_queue));
    protocol::ExecuteCancelParams& params = parts.arguments().cancel;
    CLI::App& cancelling = parts.add("cancel", "Take it out of the queue; interrupt it if it runs",
                                     beside_sidecar(cancel), "EXECUTION", params.execution_id);
    cancelling.get_option("EXECUTION")->description("As `list` shows it, or a beginning of it that no other has");
    cancelling.add_flag_callback(
        "--force", [&params] { params.force = true; }, "If it does not stop, start its kernel again");
    cancelling.add_option("--grace", params.grace_seconds, "How long it has to stop; default: 5")
        ->check(number_of_seconds())
        ->type_name("SECONDS");
}

} // namespace cellgate::cli
