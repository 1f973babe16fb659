#include "session/session_limits.hpp"

#include <cmath>
#include <limits>

namespace cellgate::session {

bool any_of(const protocol::Limits& limits) {
    return limits_of_sandbox(limits).any() || limits.wall_seconds;
}

sandbox::Limits limits_of_sandbox(const protocol::Limits& limits) {
    sandbox::Limits enforced;
    enforced.memory_bytes = limits.memory_bytes;
    enforced.process_count = limits.process_count;
    if (limits.cpu_seconds) { // the system counts whole ones
        enforced.cpu_seconds = static_cast<std::uint64_t>(std::ceil(*limits.cpu_seconds));
    }
    enforced.cpu_cores = limits.cpu_cores;
    enforced.open_files = limits.open_files;
    enforced.file_bytes = limits.file_size_bytes;
    enforced.disk_bytes = limits.disk_bytes;
    return enforced;
}

protocol::Limits with_changed(protocol::Limits limits, const protocol::Limits& change) {
    const auto take = [](auto& value, const auto& changed) {
        if (changed) {
            value = changed;
        }
    };
    take(limits.memory_bytes, change.memory_bytes);
    take(limits.process_count, change.process_count);
    take(limits.cpu_cores, change.cpu_cores);
    take(limits.cpu_seconds, change.cpu_seconds);
    take(limits.open_files, change.open_files);
    take(limits.file_size_bytes, change.file_size_bytes);
    take(limits.disk_bytes, change.disk_bytes);
    take(limits.wall_seconds, change.wall_seconds);
    return limits;
}

std::vector<protocol::LimitName> after_restart(const protocol::Limits& change, const sandbox::Limits& started,
                                               const sandbox::GroupLimits& group) {
    using Name = protocol::LimitName;
    constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    const sandbox::Limits wanted = limits_of_sandbox(change);
    const bool memory = group.memory_bytes && wanted.memory_bytes <= started.memory_bytes.value_or(none);
    const bool processes =
        group.process_count && wanted.process_count <= started.process_count.value_or(sandbox::default_process_count);
    std::vector<Name> later;
    const auto add = [&later](Name name, bool is_changed, bool at_once) {
        if (is_changed && !at_once) {
            later.push_back(name);
        }
    };
    add(Name::memory_bytes, wanted.memory_bytes.has_value(), memory);
    add(Name::process_count, wanted.process_count.has_value(), processes);
    add(Name::cpu_cores, wanted.cpu_cores.has_value(), group.cpu_cores.has_value());
    add(Name::cpu_seconds, wanted.cpu_seconds.has_value(), false);
    add(Name::open_files, wanted.open_files.has_value(), false);
    add(Name::file_size_bytes, wanted.file_bytes.has_value(), false);
    add(Name::disk_bytes, wanted.disk_bytes.has_value(), false);
    return later;
}

} // namespace cellgate::session
