#pragma once
// `connect_kernel` makes a `Kernel` of one that already runs: a client of it, and nothing else. The kernel is left
// running when it stops. It is gone when the connection of its heartbeat ends, or that brings no answer for 15 s.

#include "async/loop.hpp"
#include "jupyter/connection.hpp"
#include "jupyter/kernel.hpp"

#include <memory>

namespace cellgate::jupyter {

// Throws Error{kernel_start_failed} when nothing answers within 10 s at the endpoints of `connection`, or the kernel
// is busy until `deadline`.
Task<std::unique_ptr<Kernel>> connect_kernel(async::Loop& loop, ConnectionInfo connection, KernelListener& listener,
                                             Instant deadline);

} // namespace cellgate::jupyter
