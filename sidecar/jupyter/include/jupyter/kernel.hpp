#pragma once
// A kernel's process and its client as one: started together, ended together. When the process dies, everything that
// waits for it fails with Error{kernel_died} that names the cause.

#include "async/loop.hpp"
#include "async/process.hpp"
#include "jupyter/connection.hpp"
#include "jupyter/kernel_client.hpp"

#include <memory>
#include <string>

namespace cellgate::jupyter {

struct Death {
    // A launcher's "exit code 128+n" is given as the signal n that it stands for.
    async::ExitStatus status;
    std::string stderr_tail;
};

class Kernel {
  public:
    ~Kernel(); // stop() must have been awaited

    KernelClient& client();
    const KernelInfoReply& info() const;
    // The process that was started: the supervisor of the launcher of the kernel.
    int pid() const;
    bool has_died() const;
    // For a kernel that does not understand KernelClient::interrupt(): SIGINT to its own process, inside its launcher.
    // Nothing happens when that cannot be found.
    void interrupt_by_signal();
    // When the process has ended, for whatever reason, and its last output was delivered. Many may await it.
    Task<Death> died();
    // Whether it has died by then. Cancelling stops the waiting.
    Task<bool> dies_until(Instant deadline);
    // Asks the kernel to shut down, waits up to `grace` (0: does not ask), then ends every process of it. Idempotent.
    Task<void> stop(Duration grace);

  private:
    struct Impl;
    explicit Kernel(std::unique_ptr<Impl> impl);
    friend Task<std::unique_ptr<Kernel>> start_kernel(async::Loop& loop, async::Command command,
                                                      ConnectionInfo connection, KernelListener& listener,
                                                      Instant deadline);
    std::unique_ptr<Impl> impl_;
};

// `command` is what really starts, launcher included. Throws Error{kernel_start_failed} with the exit status and the
// last lines of stderr when the kernel ends, or does not answer before `deadline`; nothing of it runs then.
Task<std::unique_ptr<Kernel>> start_kernel(async::Loop& loop, async::Command command, ConnectionInfo connection,
                                           KernelListener& listener, Instant deadline);

} // namespace cellgate::jupyter
