#include "jupyter/server_kernel.hpp"

#include "base/log.hpp"
#include "base/sync.hpp"
#include "server_transport.hpp"

#include <fmt/format.h>

#include <utility>

namespace cellgate::jupyter {

namespace {

using namespace std::chrono_literals;

constexpr Duration end_limit = 5s;
constexpr Duration retry_interval = 200ms;

class ServerKernel final : public Kernel {
  public:
    ServerKernel(async::Loop& loop, ServerAddress server)
        : loop_(loop), http_(loop), server_(http_, loop.clock(), std::move(server)) {}

    Task<void> start(std::string kernelspec, Environment environment, KernelListener& listener, Instant deadline) {
        tasks_.spawn(create(std::move(kernelspec), std::move(environment)));
        co_await created_.wait();
        if (creation_failure_) {
            std::rethrow_exception(creation_failure_);
        }
        client_ = std::make_unique<KernelClient>(
            loop_.clock(),
            server_transport(loop_, http_, server_, id_, [this](const std::string& cause) { end(cause); }), listener);
        info_ = co_await client_->wait_ready(deadline);
        ready_ = true;
    }

    KernelClient& client() override { return *client_; }
    const KernelInfoReply& info() const override { return info_; }
    std::optional<int> pid() const override { return std::nullopt; }
    bool has_exited() const override { return gone_.is_set(); }
    void interrupt() override { tasks_.spawn(ask_to_interrupt()); }

    Task<KernelExit> exited() override {
        co_await gone_.wait();
        co_return exit_;
    }
    Task<bool> wait_exit(Instant deadline) override { co_return co_await wait_until(loop_.clock(), gone_, deadline); }
    bool ends_when_stopped() const override { return true; }
    bool is_shared() const override { return false; }
    Task<void> stop(Duration) override { co_await shielded(stop_all()); }

  private:
    // Goes on when the start is cancelled: the server has a kernel then whose id has to be known to end it.
    Task<void> create(std::string kernelspec, Environment environment) {
        try {
            id_ = co_await server_.start(std::move(kernelspec), std::move(environment));
        } catch (const Error&) {
            creation_failure_ = std::current_exception();
        }
        created_.set();
    }

    // Jupyter Server refuses to end a kernel while it starts it again (500).
    Task<void> shut_down() {
        const Instant deadline = loop_.clock().now() + end_limit;
        while (true) {
            try {
                co_await server_.shut_down(id_);
                co_return;
            } catch (const ServerRefused& refused) {
                if (refused.status < 500 || loop_.clock().now() > deadline) {
                    throw;
                }
            }
            co_await sleep_for(loop_.clock(), retry_interval);
        }
    }

    Task<void> ask_to_interrupt() {
        try {
            co_await server_.interrupt(id_);
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            log_warning("a kernel was not interrupted: {}", error.message);
        }
    }

    void end(const std::string& cause) {
        if (gone_.is_set()) {
            return;
        }
        exit_.cause = fmt::format("the kernel on {} is gone: {}", server_.host(), stopping_ ? "it was stopped" : cause);
        if (client_) {
            client_->fail(std::make_exception_ptr(
                ready_ ? Error(ErrorCode::kernel_died, exit_.cause,
                               "Its variables are gone. Restart the session to go on.")
                       : Error(ErrorCode::kernel_start_failed, exit_.cause, "The server's log may have the reason.")));
        }
        gone_.set();
    }

    Task<void> stop_all() {
        if (std::exchange(stopping_, true)) {
            co_await stopped_.wait();
            co_return;
        }
        try {
            co_await wait_until(loop_.clock(), created_, loop_.clock().now() + end_limit);
            if (!id_.empty()) {
                co_await shut_down();
            }
        } catch (const Error& error) {
            log_warning("a kernel may go on on {}: {}", server_.host(), error.message);
        }
        end({});
        co_await cancel_and_join(tasks_);
        if (client_) {
            co_await client_->close();
        }
        stopped_.set();
    }

    async::Loop& loop_;
    async::HttpClient http_;
    ServerApi server_;
    Event created_; // or refused
    std::exception_ptr creation_failure_;
    std::string id_;
    std::unique_ptr<KernelClient> client_;
    KernelInfoReply info_;
    KernelExit exit_;
    bool ready_ = false;
    bool stopping_ = false;
    Event gone_;
    Event stopped_;
    TaskScope tasks_;
};

} // namespace

Task<std::unique_ptr<Kernel>> start_server_kernel(async::Loop& loop, ServerAddress server, std::string kernelspec,
                                                  Environment environment, KernelListener& listener, Instant deadline) {
    auto kernel = std::make_unique<ServerKernel>(loop, std::move(server));
    co_await on_failure(kernel->start(std::move(kernelspec), std::move(environment), listener, deadline),
                        kernel->stop(Duration::zero()));
    co_return std::move(kernel);
}

} // namespace cellgate::jupyter
