#pragma once
// `start_server_kernel` starts a kernel on a Jupyter server and connects to it. stop() shuts it down there. If the
// sidecar is killed, or the server cannot be reached at the end, the kernel goes on until the server ends it.

#include "async/loop.hpp"
#include "jupyter/kernel.hpp"
#include "jupyter/server_api.hpp"

#include <memory>
#include <string>

namespace cellgate::jupyter {

// `kernelspec` and `environment` as in ServerApi::start():
// the server's default if it is empty. Throws Error{kernel_start_failed}; the server has no kernel of it
// then, as far as it answers.
Task<std::unique_ptr<Kernel>> start_server_kernel(async::Loop& loop, ServerAddress server, std::string kernelspec,
                                                  Environment environment, KernelListener& listener, Instant deadline);

} // namespace cellgate::jupyter
