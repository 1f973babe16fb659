#pragma once
// `memory_kills` is the number of processes that the system killed because memory ran out, on the whole machine. The
// system does not report why it killed a process. A kernel that dies of a SIGKILL which cellgate did not send, while
// this number rises, died of it. For kernels without a control group (sandbox/control_group.hpp), which counts its own.

#include <cstdint>
#include <string>

namespace cellgate::session {

// 0 if the system does not report it.
std::uint64_t memory_kills(const std::string& vmstat);

} // namespace cellgate::session
