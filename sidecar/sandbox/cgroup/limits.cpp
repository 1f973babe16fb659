#include "sandbox/limits.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace cellgate::sandbox {

namespace {

// bubblewrap's own two, which are in the group and not within.
constexpr std::uint64_t processes_around = 2;

bool counts_processes_by_user() {
    return ::geteuid() != 0;
}

} // namespace

std::uint64_t default_memory_bytes() {
    const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
    const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return pages * page_bytes / 4 * 3;
}

GroupLimits group_limits(const Limits& limits) {
    return {limits.memory_bytes.value_or(default_memory_bytes()),
            limits.process_count.value_or(default_process_count) + processes_around, limits.cpu_cores};
}

Limits limits_of_each(const Limits& limits, const ControlGroup* group) {
    Limits each = limits;
    if (!each.memory_bytes && (group == nullptr || !group->holds().memory_bytes)) {
        each.memory_bytes = default_memory_bytes();
    }
    return each;
}

std::vector<std::string> limit_arguments(const Limits& limits) {
    std::vector<std::string> arguments;
    const auto add = [&arguments](const char* name, const std::optional<std::uint64_t>& value) {
        if (value) {
            arguments.push_back(fmt::format("{}={}", name, *value));
        }
    };
    add("memory", limits.memory_bytes);
    if (counts_processes_by_user()) {
        add("processes", limits.process_count.value_or(default_process_count));
    }
    add("open-files", limits.open_files);
    add("file-size", limits.file_bytes);
    add("cpu", limits.cpu_seconds);
    return arguments;
}

std::vector<std::string> limit_layers(const Limits& limits) {
    std::vector<std::string> layers;
    const auto add = [&layers](const char* name, bool holds) {
        if (holds) {
            layers.emplace_back(name);
        }
    };
    add("process-limit", counts_processes_by_user());
    add("cpu-limit", limits.cpu_seconds.has_value());
    add("open-files-limit", limits.open_files.has_value());
    add("file-size-limit", limits.file_bytes.has_value());
    add("disk-limit", limits.disk_bytes.has_value());
    add("memory-limit", limits.memory_bytes.has_value());
    return layers;
}

void require_enforceable(const Limits& limits, const ControlGroup* group, const std::string& problem) {
    const bool counted = counts_processes_by_user() || (group != nullptr && group->holds().process_count);
    if (limits.process_count && !counted) {
        throw Error(ErrorCode::sandbox_unavailable,
                    fmt::format("a limit of processes was asked for, and the system does not count those of root "
                                "without a control group: {}",
                                problem),
                    "Run cellgate as an ordinary user, or leave out limits.processCount.");
    }
    if (limits.cpu_cores && (group == nullptr || !group->holds().cpu_cores)) {
        throw Error(ErrorCode::sandbox_unavailable,
                    fmt::format("a limit of processors was asked for, and there is no control group for them{}{}",
                                problem.empty() ? "" : ": ", problem),
                    "See `cellgate doctor`, or leave out limits.cpuCores.");
    }
}

} // namespace cellgate::sandbox
