// `cellgate stats`: figures of the workspace's sidecar.

#include "protocol/messages/stats.hpp"

#include "base/enum_name.hpp"
#include "base/escape_unprintable.hpp"
#include "record_text.hpp"
#include "running_sidecar.hpp"

#include <fmt/format.h>

#include <memory>

namespace cellgate::cli {

namespace {

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
    if (stats.spare_kernel) {
        fmt::print("a kernel that is ready for the next session: {} of memory\n",
                   mebibytes(stats.spare_kernel->memory_bytes));
    }
    if (stats.sessions.empty()) {
        return;
    }
    fmt::print("{:<20} {:<10} {:>7} {:>9} {:>10} {:>12}\n", "SESSION", "STATUS", "WAITING", "PROCESSES", "PROCESSOR",
               "MEMORY");
    for (const protocol::SessionStats& session : stats.sessions) {
        fmt::print("{:<20} {:<10} {:>7} {:>9} {:>10} {:>12}\n", escape_unprintable(session.session_id),
                   enum_name(session.status), session.queue_length,
                   session.processes ? std::to_string(*session.processes) : "-",
                   session.processor_seconds ? fmt::format("{:.2f} s", *session.processor_seconds) : "-",
                   session.memory_bytes ? mebibytes(*session.memory_bytes) : "-");
    }
}

Task<void> show_stats(WorkspaceClient* client, StatsArguments* arguments) {
    const protocol::StatsResult stats = co_await client->call<protocol::Stats>();
    if (arguments->json) {
        fmt::print("{}\n", to_json(stats));
    } else {
        print(stats);
    }
}

} // namespace

void add_stats(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<StatsArguments>();
    CLI::App* command = app.add_subcommand(
        "stats", "Figures of the workspace's sidecar: what ran, how long it took, what each session uses");
    run_beside_sidecar(*command, invocation, std::move(arguments), show_stats);
}

} // namespace cellgate::cli
