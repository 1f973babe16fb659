#pragma once
// Why a process was killed is told to nobody; the system only counts, for the whole machine and for each control group,
// how often it ended one for want of memory. A kernel that dies of SIGKILL, sent by nobody here, while that count
// rises, died of it. This is the count of the machine, for kernels without a group (sandbox/control_group.hpp).

#include <cstdint>
#include <string>

namespace cellgate::session {

// 0 when the system does not say.
std::uint64_t memory_kills(const std::string& vmstat);

} // namespace cellgate::session
