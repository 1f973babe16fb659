#pragma once
// `Kernel` is a kernel that a session uses, with its client: a process that was started for the session
// (process_kernel.hpp), or a kernel that already ran (connected_kernel.hpp). When it is gone, all waits fail with
// Error{kernel_died} that names the cause. stop() must have been awaited before it is destroyed.

#include "async/process.hpp"
#include "jupyter/kernel_client.hpp"

#include <optional>
#include <string>

namespace cellgate::jupyter {

struct KernelExit {
    // Of its process, where there is one that is ours. A launcher's "exit code 128+n" is converted to signal n.
    async::ExitStatus status;
    std::string stderr_tail;
    std::string cause; // "the kernel ended: exit code 1", "the connection to the kernel ended"
};

class Kernel {
  public:
    virtual ~Kernel() = default;

    virtual KernelClient& client() = 0;
    virtual const KernelInfoReply& info() const = 0;
    // The process that all of its processes descend from: the supervisor of its launcher. Nothing if they are not ours.
    virtual std::optional<int> pid() const = 0;
    virtual bool has_exited() const = 0;
    // Interrupts the code that runs.
    virtual void interrupt() = 0;
    // Completes when the kernel is gone, for any reason, and its last output was delivered. May be awaited by many.
    virtual Task<KernelExit> exited() = 0;
    // Waits for the end until `deadline`; false if the kernel is still there then. Cancelling stops the wait.
    virtual Task<bool> wait_exit(Instant deadline) = 0;
    // Whether stop() ends it; otherwise it is left running.
    virtual bool ends_when_stopped() const = 0;
    // Whether others than its session run code in it, so that its output may be of theirs.
    virtual bool is_shared() const = 0;
    // A process: asks it to shut down, waits up to `grace` (0: does not ask), then ends all its processes. A kernel
    // that already ran is left running. Idempotent.
    virtual Task<void> stop(Duration grace) = 0;
};

} // namespace cellgate::jupyter
