#pragma once
// `GroupUsage` is what the processes of a control group use, as the system counts it. What it does not count there is
// nothing: version 1 counts processor time in folders of its own.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::sandbox {

struct GroupUsage {
    std::optional<std::uint64_t> memory_bytes; // with caches that are in use, and scratch files
    std::optional<double> processor_seconds;   // also of processes that have ended
};

// Blocks. `folders`: ControlGroup::folders(), which may be gone.
GroupUsage read_group_usage(const std::vector<std::string>& folders);

} // namespace cellgate::sandbox
