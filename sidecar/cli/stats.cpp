// `cellgate stats`: figures of the workspace's sidecar. It comes as a user, who alone may ask, and only to a sidecar of
// its own version: an older one would end for it.

#include "protocol/messages/stats.hpp"

#include "base/environment.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_scan.hpp"
#include "commands.hpp"
#include "daemon/connect.hpp"
#include "record_text.hpp"
#include "workspace_client.hpp"

#include <fmt/format.h>

#include <memory>

namespace cellgate::cli {

namespace {

constexpr Duration answer_timeout = std::chrono::seconds(5);

struct StatsArguments {
    std::string workspace = ".";
    bool json = false;
    int exit_code = 1;
};

std::string mebibytes(std::uint64_t bytes) {
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string latencies(const protocol::Latencies& of) {
    if (!of.p50_seconds || !of.p95_seconds) {
        return std::to_string(of.count);
    }
    return fmt::format("{}, half of them within {:.3f} s, 95 % within {:.3f} s", of.count, *of.p50_seconds,
                       *of.p95_seconds);
}

void print(const protocol::StatsResult& stats) {
    fmt::print("since {}Z, {} of memory\n", short_time(stats.started_at), mebibytes(stats.memory_bytes));
    fmt::print("executions: {} running, {} waiting, {} ended\n", stats.executions.running, stats.executions.queued,
               stats.executions.finished);
    fmt::print("tool calls: {}\n", latencies(stats.tool_calls));
    fmt::print("answers: {}; {} waiting\n", latencies(stats.approvals), stats.pending_approvals);
    if (stats.sessions.empty()) {
        return;
    }
    fmt::print("{:<20} {:<10} {:>7} {:>9} {:>10} {:>12}\n", "SESSION", "STATUS", "WAITING", "PROCESSES", "PROCESSOR",
               "MEMORY");
    for (const protocol::SessionStats& session : stats.sessions) {
        fmt::print("{:<20} {:<10} {:>7} {:>9} {:>10} {:>12}\n", escape_unprintable(session.session_id),
                   decode_json_string(to_json(session.status)), session.queue_length,
                   session.processes ? std::to_string(*session.processes) : "-",
                   session.processor_seconds ? fmt::format("{:.2f} s", *session.processor_seconds) : "-",
                   session.memory_bytes ? mebibytes(*session.memory_bytes) : "-");
    }
}

Task<void> show_stats(async::Loop* loop, daemon::InstancePaths paths, StatsArguments* arguments) {
    const std::string workspace = escape_unprintable(paths.workspace);
    std::optional<daemon::SidecarConnection> found =
        co_await daemon::join_workspace(*loop, paths, protocol::Role::agent, answer_timeout);
    if (found && found->silent) {
        throw daemon::no_answer(paths, found->sidecar.pid);
    }
    if (found && found->stream && found->sidecar.version != CELLGATE_VERSION) {
        throw Error(ErrorCode::internal_error,
                    fmt::format("cellgate {} runs for {}, and this is {}", escape_unprintable(found->sidecar.version),
                                workspace, CELLGATE_VERSION),
                    "ask with that version");
    }
    if (found && found->stream) {
        found = co_await daemon::join_workspace(*loop, paths, protocol::Role::user, answer_timeout);
    }
    if (!found || !found->stream) {
        fmt::print("no sidecar runs for {}\n", workspace);
        co_return;
    }
    WorkspaceClient client(std::move(found->stream));
    const protocol::StatsResult stats = co_await client.call<protocol::Stats>();
    if (arguments->json) {
        fmt::print("{}\n", to_json(stats));
    } else {
        print(stats);
    }
    arguments->exit_code = 0;
}

} // namespace

void add_stats(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<StatsArguments>();
    CLI::App* command = app.add_subcommand(
        "stats", "Figures of the workspace's sidecar: what ran, how long it took, what each session uses");
    command->add_option("--root", arguments->workspace, "The workspace; default: the current directory")
        ->check(CLI::ExistingDirectory.description({}))
        ->type_name("DIR");
    command->add_flag("--json", arguments->json, "As JSON");
    command->callback([arguments, &invocation] {
        invocation.run = [arguments] {
            daemon::InstancePaths paths = daemon::find_instance_paths(arguments->workspace, process_environment());
            async::Loop loop;
            loop.run(show_stats(&loop, std::move(paths), arguments.get()));
            return arguments->exit_code;
        };
    });
}

} // namespace cellgate::cli
