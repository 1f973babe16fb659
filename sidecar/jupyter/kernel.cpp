#include "jupyter/kernel.hpp"

#include "base/escape_unprintable.hpp"
#include "base/sync.hpp"
#include "process_signal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace cellgate::jupyter {

namespace {

using namespace std::chrono_literals;

// After the process has ended: output counts as delivered after this much silence, or at the latest after
// settle_timeout.
constexpr Duration quiet = 20ms;
constexpr Duration settle_timeout = 2s;
constexpr Duration look_interval = 1s; // between two looks at a kernel that starts
constexpr std::size_t last_lines = 60;

std::string tail_of(const std::string& text) {
    std::size_t start = text.find_last_not_of('\n');
    if (start == std::string::npos) {
        return {};
    }
    const std::size_t end = start + 1;
    for (std::size_t lines = 0; lines < last_lines && start != std::string::npos && start > 0; ++lines) {
        start = text.rfind('\n', start - 1);
    }
    start = start == std::string::npos ? 0 : start;
    return text.substr(text[start] == '\n' ? start + 1 : start, end - start);
}

std::string with_last_words(std::string message, const std::string& stderr_tail) {
    const std::string words = escape_unprintable(tail_of(stderr_tail), true);
    return words.empty() ? message : fmt::format("{}; its last words on stderr:\n{}", message, words);
}

// A launcher that cannot end by its child's signal exits with 128 + the signal's number, as a shell does.
async::ExitStatus kernel_status(async::ExitStatus status) {
    constexpr int last_signal = 64;
    if (status.signal == 0 && status.code > 128 && status.code <= 128 + last_signal) {
        status.signal = status.code - 128;
        status.code = 0;
    }
    return status;
}

} // namespace

struct Kernel::Impl {
    Impl(async::Loop& loop_in, const ConnectionInfo& connection, KernelListener& listener)
        : loop(loop_in),
          client(loop_in.clock(), zmq_transport(loop_in, connection), listener, connection.print_function) {}

    Task<void> drain_stdout() {
        // ipykernel sends its code's output as messages; the rest of stdout is discarded, so that it never blocks.
        std::string bytes;
        do {
            bytes = co_await process->stdio().read();
        } while (!bytes.empty());
    }

    Task<void> watch() {
        const async::ExitStatus status = co_await process->exited();
        kernel_exit.status = kernel_status(status);
        kernel_exit.stderr_tail = process->stderr_tail();
        has_exited = true;
        if (!stopping) {
            co_await settle();
        }
        client.fail(std::make_exception_ptr(death_error()));
        died.set();
    }

    // The kernel's last messages are still on their way through the sockets.
    Task<void> settle() {
        const Instant end = loop.clock().now() + settle_timeout;
        std::uint64_t before = 0;
        do {
            before = client.received();
            co_await sleep_for(loop.clock(), quiet);
        } while (client.received() != before && loop.clock().now() < end);
    }

    Error death_error() const {
        const std::string cause = kernel_exit.status.describe();
        if (stopping) {
            return Error(ErrorCode::kernel_died, "the kernel was stopped");
        }
        if (!ready) {
            return Error(ErrorCode::kernel_start_failed,
                         with_last_words(fmt::format("the kernel ended before it was ready: {}", cause),
                                         kernel_exit.stderr_tail));
        }
        return Error(ErrorCode::kernel_died,
                     with_last_words(fmt::format("the kernel died: {}", cause), kernel_exit.stderr_tail),
                     "Its variables are gone. Restart the session to go on.");
    }

    Task<void> get_ready(Instant deadline, const SignsOfLife* signs) {
        std::string last_sign;
        Instant silent_since = loop.clock().now();
        while (!ready) {
            const Instant until = signs == nullptr ? deadline : loop.clock().now() + look_interval;
            std::optional<Error> late = co_await why_not_ready(std::min(deadline, until));
            ready = !late;
            if (late && (signs == nullptr || loop.clock().now() >= deadline)) {
                throw with_stderr(std::move(*late));
            }
            if (late) {
                std::string sign = co_await sign_of_life(*signs);
                silent_since = sign == last_sign ? silent_since : loop.clock().now();
                last_sign = std::move(sign);
            }
            if (late && loop.clock().now() - silent_since >= signs->max_silence) {
                late->message += fmt::format("; for {} s it has neither printed nor computed anything",
                                             std::chrono::round<std::chrono::seconds>(signs->max_silence).count());
                throw with_stderr(std::move(*late));
            }
        }
    }

    // Nothing when it is ready. Throws what is not about the time.
    Task<std::optional<Error>> why_not_ready(Instant until) {
        std::optional<Error> late;
        try {
            info = co_await client.wait_ready(until);
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& failure) {
            if (has_exited) { // that has its own error
                throw;
            }
            late = failure;
        }
        co_return late;
    }

    Task<std::string> sign_of_life(const SignsOfLife& signs) {
        const std::string progress = co_await signs.progress(process->pid());
        co_return fmt::format("{} {} {}", client.received(), process->stderr_tail(), progress);
    }

    // The stderr of a late one may contain the reason.
    Error with_stderr(Error late) const {
        return Error(late.code, with_last_words(late.message, process->stderr_tail()), late.hint);
    }

    Task<void> stop(Duration grace) {
        if (stopping) {
            co_await stopped.wait();
            co_return;
        }
        stopping = true;
        if (!has_exited && grace > Duration::zero()) {
            client.request_shutdown(false);
            co_await wait_until(loop.clock(), died, loop.clock().now() + grace);
        }
        process->kill();
        co_await died.wait();
        process->stdio().close(); // a surviving process may hold the other end
        co_await tasks.join();
        co_await client.close();
        stopped.set();
    }

    async::Loop& loop;
    KernelClient client;
    KernelInfoReply info;
    std::unique_ptr<async::Process> process;
    KernelExit kernel_exit;
    bool ready = false;
    bool has_exited = false;
    bool stopping = false;
    Event died;
    Event stopped;
    TaskScope tasks;
};

Kernel::Kernel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Kernel::~Kernel() = default;

KernelClient& Kernel::client() {
    return impl_->client;
}
const KernelInfoReply& Kernel::info() const {
    return impl_->info;
}
int Kernel::pid() const {
    return impl_->process->pid();
}
void Kernel::interrupt_by_signal() {
    if (!impl_->has_exited) {
        interrupt_process(impl_->process->pid());
    }
}
bool Kernel::has_exited() const {
    return impl_->has_exited;
}

Task<KernelExit> Kernel::exited() {
    co_await impl_->died.wait();
    co_return impl_->kernel_exit;
}

Task<bool> Kernel::wait_exit(Instant deadline) {
    co_return co_await wait_until(impl_->loop.clock(), impl_->died, deadline);
}

Task<void> Kernel::stop(Duration grace) {
    co_await shielded(impl_->stop(grace));
}

Task<std::unique_ptr<Kernel>> start_kernel(async::Loop& loop, async::Command command, ConnectionInfo connection,
                                           KernelListener& listener, Instant deadline, const SignsOfLife* signs) {
    std::unique_ptr<async::Process> process;
    try {
        process = async::start_process(loop, std::move(command));
    } catch (const Error& error) {
        throw Error(ErrorCode::kernel_start_failed, error.message, error.hint);
    }
    auto impl = std::make_unique<Kernel::Impl>(loop, connection, listener);
    Kernel::Impl& kernel = *impl;
    kernel.process = std::move(process);
    kernel.tasks.spawn(kernel.watch());
    kernel.tasks.spawn(kernel.drain_stdout());
    co_await on_failure(kernel.get_ready(deadline, signs), kernel.stop(Duration::zero()));
    std::unique_ptr<Kernel> started(new Kernel(std::move(impl)));
    co_return started;
}

} // namespace cellgate::jupyter
