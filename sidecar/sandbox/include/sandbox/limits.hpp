#pragma once
// What a kernel, and what it starts, may use. Each is the system's own limit of a process (setrlimit), set inside of
// the sandbox, so that nothing outside is counted and nothing inside can raise it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::sandbox {

struct Limits {
    std::optional<std::uint64_t> memory_bytes;  // private memory of each process: beyond it, Python has a MemoryError
    std::optional<std::uint64_t> process_count; // processes and threads together, the kernel's own included
    std::optional<std::uint64_t> cpu_seconds;   // of each process: beyond it, the process ends by SIGXCPU

    bool any() const { return memory_bytes || process_count || cpu_seconds; }
};

// As the helper takes them (helper/enter.hpp): "memory=1073741824".
std::vector<std::string> limit_arguments(const Limits& limits);
// "memory-limit" and so on: the layers that hold with them.
std::vector<std::string> limit_layers(const Limits& limits);
// Throws Error{sandbox_unavailable} for what the system would not enforce here.
void require_enforceable(const Limits& limits);

} // namespace cellgate::sandbox
