#include "jupyter/connected_kernel.hpp"

#include "async/tcp.hpp"
#include "async/zmq_socket.hpp"
#include "base/escape_unprintable.hpp"
#include "base/host.hpp"
#include "base/sync.hpp"
#include "jupyter/last_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellgate::jupyter {

namespace {

using namespace std::chrono_literals;

constexpr Duration first_beat_limit = 10s;
constexpr Duration beat_interval = 3s;
constexpr Duration max_missed = 15s; // a kernel answers from a thread that code does not stop
constexpr std::size_t max_beat_bytes = 1024;
constexpr std::string_view tcp_scheme = "tcp://";

// Looks names of hosts up, once: sockets connect to addresses.
Task<void> resolve_endpoints(async::Loop& loop, ConnectionInfo* connection) {
    std::optional<Host> address;
    for (auto& [channel, text] : connection->endpoints) {
        if (!text.starts_with(tcp_scheme)) {
            continue;
        }
        std::optional<Endpoint> endpoint = parse_endpoint(text.substr(tcp_scheme.size()), std::nullopt);
        if (!address && endpoint) { // all channels have one host
            Host host = endpoint->host;
            std::vector<Host> found = co_await async::resolve_host(loop, std::move(host));
            address = found.front();
        }
        if (endpoint) {
            endpoint->host = *address;
            text = std::string(tcp_scheme) + to_string(*endpoint);
        }
    }
}

class ConnectedKernel final : public Kernel {
  public:
    ConnectedKernel(async::Loop& loop, const ConnectionInfo& connection, KernelListener& listener)
        : loop_(loop), endpoint_(connection.endpoints.at(Channel::heartbeat)),
          client_(loop.clock(), zmq_transport(loop, connection), listener, connection.print_function),
          heartbeat_(loop, async::ZmqType::dealer, {}, max_beat_bytes) {
        heartbeat_.close_with_peer();
        heartbeat_.connect(endpoint_);
        tasks_.spawn(beat());
        tasks_.spawn(listen());
    }

    KernelClient& client() override { return client_; }
    const KernelInfoReply& info() const override { return info_; }
    std::optional<int> pid() const override { return std::nullopt; }
    bool has_exited() const override { return gone_; }
    void interrupt() override { client_.interrupt(); }
    bool ends_when_stopped() const override { return false; }
    bool is_shared() const override { return true; }

    Task<KernelExit> exited() override {
        co_await exited_.wait();
        co_return kernel_exit_;
    }

    Task<bool> wait_exit(Instant deadline) override { co_return co_await wait_until(loop_.clock(), exited_, deadline); }

    Task<void> stop(Duration /*grace*/) override { co_await shielded(disconnect()); }

    // Throws as connect_kernel() does.
    Task<void> get_ready(Instant deadline) {
        const Instant first = std::min(deadline, loop_.clock().now() + first_beat_limit);
        const bool beats = co_await wait_until(loop_.clock(), echoed_, first);
        if (!beats || echoes_ == 0) {
            throw Error(ErrorCode::kernel_start_failed,
                        fmt::format("no kernel answers at {}", escape_unprintable(endpoint_)),
                        "Its connection file may be left over from a kernel that has ended.");
        }
        try {
            info_ = co_await client_.wait_ready(deadline);
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            if (gone_) {
                throw;
            }
            throw Error(error.code, error.message + ": it may be busy with other code", error.hint);
        }
    }

  private:
    Task<void> beat() {
        const Clock& clock = loop_.clock();
        std::uint64_t before = echoes_;
        Instant answered = clock.now();
        while (!gone_) {
            async::ZmqMessage ping = {"", "cellgate"}; // as a REQ socket sends it
            heartbeat_.send(std::move(ping));
            co_await sleep_for(loop_.clock(), beat_interval);
            answered = echoes_ == before ? answered : clock.now();
            before = echoes_;
            if (clock.now() - answered >= max_missed && echoes_ > 0) {
                co_await lose("the kernel has not answered for 15 s: it hangs, or its host cannot be reached");
            }
        }
    }

    Task<void> listen() {
        bool open = true;
        while (open) {
            try {
                co_await heartbeat_.receive();
                ++echoes_;
                echoed_.set();
            } catch (const Cancelled&) {
                throw;
            } catch (const Error&) { // closed, with its connection
                open = false;
            }
        }
        co_await lose("the connection to the kernel ended, as it does when the kernel ends");
    }

    Task<void> lose(std::string cause) {
        if (std::exchange(gone_, true)) {
            co_return;
        }
        kernel_exit_.cause = std::move(cause);
        echoed_.set();
        co_await wait_last_messages(loop_.clock(), client_);
        client_.fail(std::make_exception_ptr(
            Error(ErrorCode::kernel_died, kernel_exit_.cause,
                  "If it still runs, the session goes on with it, and output of this execution may be missing.")));
        exited_.set();
    }

    Task<void> disconnect() {
        if (std::exchange(stopping_, true)) {
            co_await stopped_.wait();
            co_return;
        }
        if (!std::exchange(gone_, true)) {
            kernel_exit_.cause = "the session left the kernel";
            client_.fail(std::make_exception_ptr(Error(ErrorCode::kernel_died, kernel_exit_.cause)));
            exited_.set();
        }
        co_await exited_.wait(); // where it was lost just before
        co_await cancel_and_join(tasks_);
        heartbeat_.close();
        co_await client_.close();
        stopped_.set();
    }

    async::Loop& loop_;
    const std::string endpoint_;
    KernelClient client_;
    async::ZmqSocket heartbeat_;
    KernelInfoReply info_;
    KernelExit kernel_exit_;
    std::uint64_t echoes_ = 0;
    Event echoed_;      // once, or never will
    bool gone_ = false; // the last output may still be on its way
    bool stopping_ = false;
    Event exited_;
    Event stopped_;
    TaskScope tasks_;
};

} // namespace

Task<std::unique_ptr<Kernel>> connect_kernel(async::Loop& loop, ConnectionInfo connection, KernelListener& listener,
                                             Instant deadline) {
    try {
        co_await resolve_endpoints(loop, &connection);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        throw Error(ErrorCode::kernel_start_failed, error.message);
    }
    auto kernel = std::make_unique<ConnectedKernel>(loop, connection, listener);
    co_await on_failure(kernel->get_ready(deadline), kernel->stop(Duration::zero()));
    std::unique_ptr<Kernel> connected = std::move(kernel);
    co_return connected;
}

} // namespace cellgate::jupyter
