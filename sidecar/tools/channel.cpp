#include "tools/channel.hpp"

#include "base/log.hpp"
#include "protocol/peer.hpp"

#include <fmt/format.h>

#include <chrono>

namespace cellgate::tools {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_connections = 64;
// Arguments have at most 8 MiB; the rest is for what surrounds them.
constexpr std::size_t longest_line = (std::size_t{8} << 20) + (std::size_t{64} << 10);
// What code in a kernel may make the sidecar hold.
constexpr std::size_t most_calls = 4096;
constexpr std::size_t most_waiting_bytes = std::size_t{64} << 20;
constexpr std::size_t most_unread_bytes = std::size_t{256} << 20;

struct Call {
    Event done;
    std::optional<protocol::CallToolResult> result;
    std::exception_ptr error;
};

Task<void> wait_for(std::shared_ptr<Call> call) {
    co_await call->done.wait();
}

} // namespace

// Its tasks point at it: run() has it as long as they live.
struct Channel::Impl {
    Impl(async::Loop& loop_, std::string path, Door& door_, RunningExecution& running_)
        : loop(loop_), listener(loop_, std::move(path)), door(door_), running(running_) {}

    async::Loop& loop;
    async::UnixListener listener;
    Door& door;
    RunningExecution& running;
    std::size_t waiting_bytes = 0;
    std::size_t open = 0; // connections
    Event connection_ended;
    TaskScope calls;
    TaskScope connections;

    static Task<void> run(std::shared_ptr<Impl> self);
    Task<void> accept();
    Task<void> serve(std::unique_ptr<ByteStream> stream);
    Task<protocol::CallToolResult> call(protocol::ChannelCallParams params);
    Task<void> call_into(std::shared_ptr<Call> call, protocol::ChannelCallParams params);
};

Task<void> Channel::Impl::run(std::shared_ptr<Impl> self) {
    std::exception_ptr cancelled;
    try {
        co_await self->accept();
    } catch (const Cancelled&) {
        cancelled = std::current_exception();
    }
    self->listener.close();
    self->connections.cancel();
    co_await shielded(self->connections.join());
    if (cancelled) {
        std::rethrow_exception(cancelled);
    }
}

Task<void> Channel::Impl::accept() {
    while (true) {
        while (open >= most_connections) {
            connection_ended.reset();
            co_await connection_ended.wait();
        }
        bool failed = false;
        try {
            std::unique_ptr<ByteStream> stream = co_await listener.accept();
            if (!stream) {
                co_return;
            }
            ++open;
            connections.spawn(serve(std::move(stream)));
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            log_warning("a kernel's tool channel: {}", error.message);
            failed = true;
        }
        if (failed) { // no descriptor left, most likely
            co_await sleep_for(loop.clock(), 100ms);
        }
    }
}

Task<void> Channel::Impl::serve(std::unique_ptr<ByteStream> stream) {
    const auto connection =
        std::make_shared<protocol::FramedConnection>(std::move(stream), protocol::Framing::lines, longest_line);
    protocol::Peer peer(connection, protocol::Dialect::editor);
    peer.on_request<protocol::ChannelCall>(
        [this](protocol::ChannelCallParams params) { return call(std::move(params)); });
    peer.set_admission([&peer](const std::string&) {
        if (peer.connection().queued_bytes() > most_unread_bytes) {
            peer.close();
            throw Error(ErrorCode::limit_exceeded, "the kernel does not read its answers");
        }
    });
    std::exception_ptr error;
    try {
        co_await peer.run();
    } catch (const Error&) {
        error = std::current_exception();
    }
    --open;
    connection_ended.set();
    if (error) {
        std::rethrow_exception(error);
    }
}

Task<protocol::CallToolResult> Channel::Impl::call(protocol::ChannelCallParams params) {
    const std::size_t bytes = params.arguments.text().size();
    if (calls.running() >= most_calls || waiting_bytes + bytes > most_waiting_bytes) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("expected at most {} calls at a time with {} bytes of arguments, found more",
                                most_calls, most_waiting_bytes),
                    "Wait for some of them before making the next ones.");
    }
    waiting_bytes += bytes;
    const auto call = std::make_shared<Call>();
    const std::shared_ptr<CancelState> cancel = calls.spawn(call_into(call, std::move(params)));
    std::exception_ptr cancelled;
    try {
        co_await call->done.wait();
    } catch (const Cancelled&) {
        cancelled = std::current_exception();
    }
    if (cancelled) {
        cancel->cancel();
        co_await shielded(wait_for(call));
    }
    waiting_bytes -= bytes;
    if (cancelled || call->error) {
        std::rethrow_exception(cancelled ? cancelled : call->error);
    }
    co_return std::move(*call->result);
}

Task<void> Channel::Impl::call_into(std::shared_ptr<Call> call, protocol::ChannelCallParams params) {
    try {
        CallContext context = running.current_call(params.line);
        call->result = co_await door.call(std::move(context), std::move(params.server), std::move(params.tool),
                                          std::move(params.arguments));
    } catch (const std::exception&) {
        call->error = std::current_exception();
    }
    call->done.set();
}

Channel::Channel(async::Loop& loop, std::string path, Door& door, RunningExecution& running)
    : impl_(std::make_shared<Impl>(loop, std::move(path), door, running)) {}

Channel::~Channel() {
    close();
}

Task<void> Channel::run() {
    return Impl::run(impl_);
}

void Channel::cancel_calls() {
    impl_->calls.cancel();
}

void Channel::close() {
    impl_->listener.close();
}

} // namespace cellgate::tools
