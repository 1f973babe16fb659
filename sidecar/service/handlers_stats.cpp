// stats.

#include "handlers.hpp"
#include "session/process_usage.hpp"

#include <optional>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cellgate::service {

namespace {

using KernelUsages = std::vector<std::optional<session::KernelProcesses>>; // of each session

void add_session(const session::Session& session, protocol::StatsResult& result) {
    const protocol::SessionInfo info = session.info();
    protocol::SessionStats stats;
    stats.session_id = info.session_id;
    stats.agent = info.agent;
    stats.status = info.status;
    stats.queue_length = info.queue_length;
    result.sessions.push_back(std::move(stats));
    result.executions.queued += info.queue_length;
    result.executions.running += session.is_running() ? 1 : 0;
}

// Off the loop. `spare`: the kernel that is kept ready.
void add_usage(const KernelUsages& kernels, const std::optional<session::KernelProcesses>& spare,
               protocol::StatsResult& result) {
    const session::ProcessTable table = session::ProcessTable::read();
    result.memory_bytes = table.memory_of(::getpid());
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (kernels[i]) {
            const session::ProcessUsage usage = table.of_kernel(*kernels[i]);
            result.sessions[i].processes = usage.processes;
            result.sessions[i].processor_seconds = usage.processor_seconds;
            result.sessions[i].memory_bytes = usage.memory_bytes;
        }
    }
    if (spare) {
        const session::ProcessUsage usage = table.of_kernel(*spare);
        protocol::SpareKernelStats figures;
        figures.processes = usage.processes;
        figures.processor_seconds = usage.processor_seconds;
        figures.memory_bytes = usage.memory_bytes;
        result.spare_kernel = figures;
    }
}

Task<protocol::StatsResult> stats(SidecarServices* sidecar) {
    protocol::StatsResult result = sidecar->stats.counted();
    KernelUsages kernels;
    for (const SessionTable::SessionPtr& session : sidecar->sessions.all()) {
        add_session(*session, result);
        kernels.push_back(session->kernel_processes());
    }
    const std::optional<session::KernelProcesses> spare = sidecar->spares.processes();
    std::function<void()> work = [&kernels, &spare, &result] { add_usage(kernels, spare, result); };
    co_await sidecar->loop.run_blocking(std::move(work));
    co_return result;
}

} // namespace

void add_stats_handlers(SidecarServices& sidecar, Client& client) {
    client.peer.on_request<protocol::Stats>([&sidecar](Empty) { return stats(&sidecar); });
}

} // namespace cellgate::service
