#pragma once
// `wait_last_messages` waits for what a kernel had sent before it ended: it is still on its way through the sockets.

#include "base/clock.hpp"
#include "jupyter/kernel_client.hpp"

namespace cellgate::jupyter {

Task<void> wait_last_messages(Clock& clock, const KernelClient& client);

} // namespace cellgate::jupyter
