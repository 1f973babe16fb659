#include "kernel_limits.hpp"

#include "memory_kills.hpp"

#include <fmt/format.h>

#include <csignal>

namespace cellgate::session {

namespace {

constexpr Duration inspection_interval = std::chrono::seconds(1);

// "512 MiB"
std::string describe_bytes(std::uint64_t bytes) {
    constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
    return bytes % mebibyte == 0 ? fmt::format("{} MiB", bytes / mebibyte) : fmt::format("{} bytes", bytes);
}

} // namespace

void KernelLimits::restart(const sandbox::ControlGroup* group) {
    inspected_at_.reset();
    kills_ = kills(group);
}

void KernelLimits::inspect(const sandbox::ControlGroup* group) {
    if (!inspected_at_ || clock_.now() - *inspected_at_ > inspection_interval) {
        inspected_at_ = clock_.now();
        kills_ = kills(group);
    }
}

std::uint64_t KernelLimits::kills(const sandbox::ControlGroup* group) const {
    const bool counts = group != nullptr && group->holds().memory_bytes;
    return counts ? group->memory_kills() : memory_kills(vmstat_);
}

std::optional<LimitExceeded> KernelLimits::exceeded(const sandbox::ControlGroup* group,
                                                    const jupyter::KernelExit& kernel_exit) const {
    if (kernel_exit.status.signal == SIGXCPU && limits_.cpu_seconds) {
        return LimitExceeded{
            protocol::ExecutionStatus::killed,
            fmt::format("the kernel exceeded the limit of processor time, {} s, and the system ended it",
                        *limits_.cpu_seconds)};
    }
    if (kernel_exit.status.signal != SIGKILL || kills(group) <= kills_) {
        return std::nullopt;
    }
    std::string reason = "the memory ran out, and the system ended the kernel";
    if (group != nullptr && group->memory_limit_was_met()) {
        reason = fmt::format("the kernel and its processes exceeded the limit of memory, {}, and the system ended the "
                             "kernel",
                             describe_bytes(*group->holds().memory_bytes));
    }
    return LimitExceeded{protocol::ExecutionStatus::oom, std::move(reason)};
}

} // namespace cellgate::session
