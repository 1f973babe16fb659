#pragma once
// `Limits` are the resources that a kernel, and the processes that it starts, may use. Most are the system's own limits
// of a process (setrlimit), set inside of the sandbox, so that nothing outside is counted and nothing inside can raise
// them. Where a control group is available (control_group.hpp), it also limits memory and processes: of all together,
// every kind of memory, and root's too.

#include "sandbox/control_group.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::sandbox {

struct Limits {
    std::optional<std::uint64_t> memory_bytes;  // private memory of each process: beyond it, Python has a MemoryError
    std::optional<std::uint64_t> process_count; // processes and threads together, the kernel's own included
    std::optional<std::uint64_t> cpu_seconds;   // of each process: beyond it, the process ends by SIGXCPU
    std::optional<std::uint64_t> open_files;    // of each process
    std::optional<std::uint64_t> file_bytes;    // of each file
    std::optional<std::uint64_t> disk_bytes;    // in each of /tmp, /dev/shm and the private home
    std::optional<double> cpu_cores;            // how many processors all processes together may keep busy

    bool operator==(const Limits&) const = default;
    bool any() const {
        return memory_bytes || process_count || cpu_seconds || open_files || file_bytes || disk_bytes || cpu_cores;
    }
};

// What holds without being asked for: most of the machine's memory, and more processes than any cell needs. They are
// there so that the machine, and with it the user, can go on.
std::uint64_t default_memory_bytes();
inline constexpr std::uint64_t default_process_count = 4096;
inline constexpr std::uint64_t default_home_bytes = 512ULL << 20;
inline constexpr std::uint64_t default_tmp_bytes = 1ULL << 30;
inline constexpr std::uint64_t default_shared_memory_bytes = 512ULL << 20;

// The limits of a control group: those that were asked for, else the defaults.
GroupLimits group_limits(const Limits& limits);
// The limits of each process: those that were asked for; and where no group bounds the memory of all together, as a
// floor, the default for each.
Limits limits_of_each(const Limits& limits, const ControlGroup* group);
// As the helper takes them (helper/enter.hpp): "memory=1073741824". One of processes also without being asked for, save
// for root, whose processes the system does not count so.
std::vector<std::string> limit_arguments(const Limits& limits);
// "memory-limit" and so on: the layers that hold with them.
std::vector<std::string> limit_layers(const Limits& limits);
// `group` has what a control group holds. Throws Error{sandbox_unavailable} for what the system would not enforce here;
// `problem` says why the group does not.
void require_enforceable(const Limits& limits, const ControlGroup* group, const std::string& problem);

} // namespace cellgate::sandbox
