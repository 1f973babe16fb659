#include "jupyter/process_kernel.hpp"

#include "base/escape_unprintable.hpp"
#include "base/sync.hpp"
#include "jupyter/last_messages.hpp"
#include "process_signal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace cellgate::jupyter {

namespace {

using namespace std::chrono_literals;

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

class ProcessKernel final : public Kernel {
  public:
    ProcessKernel(async::Loop& loop, const ConnectionInfo& connection, KernelListener& listener,
                  std::unique_ptr<async::Process> process)
        : loop_(loop), client_(loop.clock(), zmq_transport(loop, connection), listener, connection.print_function),
          interrupts_by_signal_(connection.interrupt_by_signal), process_(std::move(process)) {
        tasks_.spawn(watch());
        tasks_.spawn(drain_stdout());
    }

    KernelClient& client() override { return client_; }
    const KernelInfoReply& info() const override { return info_; }
    std::optional<int> pid() const override { return process_->pid(); }
    bool has_exited() const override { return has_exited_; }

    // By a signal: SIGINT to the kernel's own process, inside its launcher. Does nothing if that is not found.
    void interrupt() override {
        if (!interrupts_by_signal_) {
            client_.interrupt();
        } else if (!has_exited_) {
            interrupt_process(process_->pid());
        }
    }

    Task<KernelExit> exited() override {
        co_await died_.wait();
        co_return kernel_exit_;
    }

    Task<bool> wait_exit(Instant deadline) override { co_return co_await wait_until(loop_.clock(), died_, deadline); }

    bool ends_when_stopped() const override { return true; }
    bool is_shared() const override { return false; }

    Task<void> stop(Duration grace) override { co_await shielded(end(grace)); }

    // Throws as start_kernel() does.
    Task<void> get_ready(Instant deadline, const SignsOfLife* signs) {
        std::string last_sign;
        Instant silent_since = loop_.clock().now();
        while (!ready_) {
            const Instant until = signs == nullptr ? deadline : loop_.clock().now() + look_interval;
            std::optional<Error> late = co_await why_not_ready(std::min(deadline, until));
            ready_ = !late;
            if (late && (signs == nullptr || loop_.clock().now() >= deadline)) {
                throw with_stderr(std::move(*late));
            }
            if (late) {
                std::string sign = co_await sign_of_life(*signs);
                silent_since = sign == last_sign ? silent_since : loop_.clock().now();
                last_sign = std::move(sign);
            }
            if (late && loop_.clock().now() - silent_since >= signs->max_silence) {
                late->message += fmt::format("; for {} s it has neither printed nor computed anything",
                                             std::chrono::round<std::chrono::seconds>(signs->max_silence).count());
                throw with_stderr(std::move(*late));
            }
        }
    }

  private:
    Task<void> drain_stdout() {
        // ipykernel sends its code's output as messages; the rest of stdout is discarded, so that it never blocks.
        std::string bytes;
        do {
            bytes = co_await process_->stdio().read();
        } while (!bytes.empty());
    }

    Task<void> watch() {
        const async::ExitStatus status = co_await process_->exited();
        kernel_exit_.status = kernel_status(status);
        kernel_exit_.stderr_tail = process_->stderr_tail();
        kernel_exit_.cause = "the kernel ended: " + kernel_exit_.status.describe();
        has_exited_ = true;
        if (!stopping_) {
            co_await wait_last_messages(loop_.clock(), client_);
        }
        client_.fail(std::make_exception_ptr(death_error()));
        died_.set();
    }

    Error death_error() const {
        const std::string cause = kernel_exit_.status.describe();
        if (stopping_) {
            return Error(ErrorCode::kernel_died, "the kernel was stopped");
        }
        if (!ready_) {
            return Error(ErrorCode::kernel_start_failed,
                         with_last_words(fmt::format("the kernel ended before it was ready: {}", cause),
                                         kernel_exit_.stderr_tail));
        }
        return Error(ErrorCode::kernel_died,
                     with_last_words(fmt::format("the kernel died: {}", cause), kernel_exit_.stderr_tail),
                     "Its variables are gone. Restart the session to go on.");
    }

    // Nothing when it is ready. Throws what is not about the time.
    Task<std::optional<Error>> why_not_ready(Instant until) {
        std::optional<Error> late;
        try {
            info_ = co_await client_.wait_ready(until);
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& failure) {
            if (has_exited_) { // that has its own error
                throw;
            }
            late = failure;
        }
        co_return late;
    }

    Task<std::string> sign_of_life(const SignsOfLife& signs) {
        const std::string progress = co_await signs.progress(process_->pid());
        co_return fmt::format("{} {} {}", client_.received(), process_->stderr_tail(), progress);
    }

    // The stderr of a late one may contain the reason.
    Error with_stderr(Error late) const {
        return Error(late.code, with_last_words(late.message, process_->stderr_tail()), late.hint);
    }

    Task<void> end(Duration grace) {
        if (stopping_) {
            co_await stopped_.wait();
            co_return;
        }
        stopping_ = true;
        if (!has_exited_ && grace > Duration::zero()) {
            client_.request_shutdown(false);
            co_await wait_until(loop_.clock(), died_, loop_.clock().now() + grace);
        }
        process_->kill();
        co_await died_.wait();
        process_->stdio().close(); // a surviving process may hold the other end
        co_await tasks_.join();
        co_await client_.close();
        stopped_.set();
    }

    async::Loop& loop_;
    KernelClient client_;
    const bool interrupts_by_signal_;
    KernelInfoReply info_;
    std::unique_ptr<async::Process> process_;
    KernelExit kernel_exit_;
    bool ready_ = false;
    bool has_exited_ = false;
    bool stopping_ = false;
    Event died_;
    Event stopped_;
    TaskScope tasks_;
};

} // namespace

Task<std::unique_ptr<Kernel>> start_kernel(async::Loop& loop, async::Command command, ConnectionInfo connection,
                                           KernelListener& listener, Instant deadline, const SignsOfLife* signs) {
    std::unique_ptr<async::Process> process;
    try {
        process = async::start_process(loop, std::move(command));
    } catch (const Error& error) {
        throw Error(ErrorCode::kernel_start_failed, error.message, error.hint);
    }
    auto kernel = std::make_unique<ProcessKernel>(loop, connection, listener, std::move(process));
    co_await on_failure(kernel->get_ready(deadline, signs), kernel->stop(Duration::zero()));
    std::unique_ptr<Kernel> started = std::move(kernel);
    co_return started;
}

} // namespace cellgate::jupyter
