#pragma once
// `wait_last_messages` waits for what a kernel has sent before it ended, or before it asked something: each of its
// channels is a connection of its own, and what came first on one may be read last.

#include "base/clock.hpp"
#include "jupyter/kernel_client.hpp"

namespace cellgate::jupyter {

// Returns after a short silence of the kernel, at the latest after `limit`.
Task<void> wait_last_messages(Clock& clock, const KernelClient& client, Duration limit = std::chrono::seconds(2));

} // namespace cellgate::jupyter
