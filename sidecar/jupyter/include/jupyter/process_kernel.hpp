#pragma once
// `start_kernel` starts a kernel's process and its client as one `Kernel`: started together, ended together.

#include "async/loop.hpp"
#include "async/process.hpp"
#include "jupyter/connection.hpp"
#include "jupyter/kernel.hpp"

#include <functional>
#include <memory>
#include <string>

namespace cellgate::jupyter {

// How a kernel shows, besides by its messages and its stderr, that its start goes on.
struct SignsOfLife {
    Duration max_silence; // a start without any of these for so long has failed
    // A text that is another one when the process has done something since.
    std::function<Task<std::string>(int pid)> progress;
};

// `command` is the full command line, including the launcher. Throws Error{kernel_start_failed} with the exit status
// and the last lines of stderr when the kernel ends, or does not answer before `deadline`, or is silent for too long by
// `signs` (nullptr: it may be); all its processes have ended then.
Task<std::unique_ptr<Kernel>> start_kernel(async::Loop& loop, async::Command command, ConnectionInfo connection,
                                           KernelListener& listener, Instant deadline,
                                           const SignsOfLife* signs = nullptr);

} // namespace cellgate::jupyter
