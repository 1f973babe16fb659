#pragma once
// `Kernel` is a kernel's process and its client as one: started together, ended together. When the process ends, all
// waits fail with Error{kernel_died} that names the cause.

#include "async/loop.hpp"
#include "async/process.hpp"
#include "jupyter/connection.hpp"
#include "jupyter/kernel_client.hpp"

#include <functional>
#include <memory>
#include <string>

namespace cellgate::jupyter {

struct KernelExit {
    // A launcher's "exit code 128+n" is converted to signal n.
    async::ExitStatus status;
    std::string stderr_tail;
};

// How a kernel shows, besides by its messages and its stderr, that its start goes on.
struct SignsOfLife {
    Duration max_silence; // a start without any of these for so long has failed
    // A text that is another one when the process has done something since.
    std::function<Task<std::string>(int pid)> progress;
};

class Kernel {
  public:
    ~Kernel(); // stop() must have been awaited

    KernelClient& client();
    const KernelInfoReply& info() const;
    // The started process: the supervisor of the launcher of the kernel.
    int pid() const;
    bool has_exited() const;
    // For a kernel that does not understand KernelClient::interrupt(): SIGINT to its own process, inside its launcher.
    // Does nothing if that process is not found.
    void interrupt_by_signal();
    // Completes when the process has ended, for any reason, and its last output was delivered. May be awaited by many.
    Task<KernelExit> exited();
    // Waits for the end until `deadline`; false if the kernel still runs then. Cancelling stops the wait.
    Task<bool> wait_exit(Instant deadline);
    // Asks the kernel to shut down, waits up to `grace` (0: does not ask), then ends all its processes. Idempotent.
    Task<void> stop(Duration grace);

  private:
    struct Impl;
    explicit Kernel(std::unique_ptr<Impl> impl);
    friend Task<std::unique_ptr<Kernel>> start_kernel(async::Loop& loop, async::Command command,
                                                      ConnectionInfo connection, KernelListener& listener,
                                                      Instant deadline, const SignsOfLife* signs);
    std::unique_ptr<Impl> impl_;
};

// `command` is the full command line, including the launcher. Throws Error{kernel_start_failed} with the exit status
// and the last lines of stderr when the kernel ends, or does not answer before `deadline`, or is silent for too long by
// `signs` (nullptr: it may be); all its processes have ended then.
Task<std::unique_ptr<Kernel>> start_kernel(async::Loop& loop, async::Command command, ConnectionInfo connection,
                                           KernelListener& listener, Instant deadline,
                                           const SignsOfLife* signs = nullptr);

} // namespace cellgate::jupyter
