#include "tools/channel.hpp"

#include "async/busy_poll.hpp"
#include "async/fd_reservation.hpp"
#include "async/stream.hpp"
#include "base/log.hpp"
#include "base/sync.hpp"
#include "protocol/peer.hpp"
#include "wrappers/generate.hpp"

#include <fmt/format.h>

#include <chrono>
#include <set>

namespace cellgate::tools {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_connections = 64;
// Arguments have at most 8 MiB; the rest is for what surrounds them.
constexpr std::size_t max_line_bytes = (std::size_t{8} << 20) + (std::size_t{64} << 10);
// What code in a kernel may make the sidecar hold.
constexpr std::size_t max_calls = 4096;
constexpr std::size_t max_waiting_bytes = std::size_t{64} << 20;
// After a call that took no longer, the answer to the next one is waited for awake, and so is the next one after it.
constexpr Duration quick_call = 2 * async::BusyPoll::window;
constexpr std::size_t max_unread_bytes = std::size_t{64} << 20; // of all connections together

// What the code has not read yet of all answers to it.
class Unread {
  public:
    // Throws Error{limit_exceeded}. One answer may be as large as it is when nothing else waits.
    void require_room(std::size_t bytes) const {
        std::size_t unread = 0;
        for (const protocol::Connection* connection : connections_) {
            unread += connection->queued_bytes();
        }
        if (unread > 0 && unread + bytes > max_unread_bytes) {
            throw Error(ErrorCode::limit_exceeded,
                        fmt::format("expected the code to read its answers, found {} bytes of them unread", unread));
        }
    }
    void add(const protocol::Connection& connection) { connections_.insert(&connection); }
    void remove(const protocol::Connection& connection) { connections_.erase(&connection); }

  private:
    std::set<const protocol::Connection*> connections_;
};

// One connection of the code, whose answers count.
class CodeConnection final : public protocol::Connection {
  public:
    CodeConnection(std::unique_ptr<ByteStream> stream, Unread& unread)
        : framed_(std::move(stream), protocol::Framing::lines, max_line_bytes), unread_(unread) {
        unread_.add(framed_);
    }
    CodeConnection(const CodeConnection&) = delete;
    CodeConnection& operator=(const CodeConnection&) = delete;
    ~CodeConnection() override { unread_.remove(framed_); }

    Task<std::optional<protocol::Frame>> receive() override { return framed_.receive(); }
    void send(std::string message) override {
        unread_.require_room(message.size());
        framed_.send(std::move(message));
    }
    std::size_t queued_bytes() const override { return framed_.queued_bytes(); }
    Task<void> drained(std::size_t below) override { return framed_.drained(below); }
    void close() override { framed_.close(); }

  private:
    protocol::FramedConnection framed_;
    Unread& unread_;
};

struct Call {
    Event done;
    std::optional<protocol::CallToolResult> result;
    std::exception_ptr error;
};

Task<void> wait_for(std::shared_ptr<Call> call) {
    co_await call->done.wait();
}

} // namespace

namespace {

class SocketListener final : public ChannelListener {
  public:
    SocketListener(async::Loop& loop, std::string path) : listener_(loop, std::move(path)) {}
    Task<std::unique_ptr<ByteStream>> accept() override { co_return co_await listener_.accept(); }
    void close() override { listener_.close(); }

  private:
    async::UnixListener listener_;
};

} // namespace

std::shared_ptr<ChannelListener> listen_on_socket(async::Loop& loop, std::string path) {
    return std::make_shared<SocketListener>(loop, std::move(path));
}

// Its tasks point at it: run() has it as long as they live.
struct Channel::Impl {
    Impl(async::Loop& loop_, std::shared_ptr<ChannelListener> listener_, ToolCallDispatcher& dispatcher_,
         CallerIdentity& running_)
        : loop(loop_), busy_poll(loop_), listener(std::move(listener_)), dispatcher(dispatcher_), running(running_) {}

    async::Loop& loop;
    async::BusyPoll busy_poll;
    bool calls_are_quick = false;
    std::shared_ptr<ChannelListener> listener;
    ToolCallDispatcher& dispatcher;
    CallerIdentity& running;
    Unread unread;
    std::size_t waiting_bytes = 0;
    std::size_t open = 0; // connections
    Condition connection_ended;
    TaskScope calls;
    TaskScope connections;

    static Task<void> run(std::shared_ptr<Impl> self);
    Task<void> accept();
    Task<void> end_connections();
    Task<void> serve(std::unique_ptr<ByteStream> stream, async::FdReservation reservation);
    Task<void> end_connection(std::shared_ptr<CodeConnection> connection, const bool* reports_origins);
    Task<protocol::CallToolResult> call(protocol::ChannelCallParams params);
    Task<void> call_into(std::shared_ptr<Call> call, protocol::ChannelCallParams params);
    void stay_awake_if_quick() {
        if (calls_are_quick) {
            busy_poll.arm();
        }
    }
};

Task<void> Channel::Impl::run(std::shared_ptr<Impl> self) {
    co_await finally(self->accept(), self->end_connections());
}

Task<void> Channel::Impl::end_connections() {
    listener->close();
    connections.cancel();
    co_await connections.join();
}

Task<void> Channel::Impl::accept() {
    const auto has_room = [this] { return open < max_connections; };
    while (true) {
        co_await connection_ended.until(has_room);
        bool failed = false;
        try {
            std::unique_ptr<ByteStream> stream = co_await listener->accept();
            if (!stream) {
                co_return;
            }
            std::optional<async::FdReservation> reservation = async::FdReservation::take(1);
            if (!reservation) {
                stream->write(
                    protocol::error_text(RawJson(), Error(ErrorCode::limit_exceeded, async::no_descriptor_left)) +
                    "\n");
                continue; // what does not go at once is lost with the stream
            }
            ++open;
            connections.spawn(serve(std::move(stream), std::move(*reservation)));
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

Task<void> Channel::Impl::serve(std::unique_ptr<ByteStream> stream, async::FdReservation /*while it is open*/) {
    const auto connection = std::make_shared<CodeConnection>(std::move(stream), unread);
    protocol::Peer peer(connection, protocol::Dialect::editor);
    peer.on_request<protocol::ChannelCall>(
        [this](protocol::ChannelCallParams params) { return call(std::move(params)); });
    bool reports_origins = false;
    peer.on_notification<protocol::ChannelOrigin>([this, &reports_origins](protocol::ChannelOriginParams told) {
        reports_origins = true;
        running.record_origin(std::move(told));
    });
    co_await finally(peer.run(), end_connection(connection, &reports_origins));
}

Task<void> Channel::Impl::end_connection(std::shared_ptr<CodeConnection> connection, const bool* reports_origins) {
    if (*reports_origins) {
        running.clear_origins();
    }
    // What it has not read takes its place until it is read, or thrown away since nothing of it is.
    co_await connection->drained(0);
    --open;
    connection_ended.notify();
}

Task<protocol::CallToolResult> Channel::Impl::call(protocol::ChannelCallParams params) {
    const std::size_t bytes = params.arguments.text().size();
    if (calls.running() >= max_calls || waiting_bytes + bytes > max_waiting_bytes) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("expected at most {} calls at a time with {} bytes of arguments, found more", max_calls,
                                max_waiting_bytes),
                    "Wait for some of them before making the next ones.");
    }
    waiting_bytes += bytes;
    const Instant begun = loop.clock().now();
    stay_awake_if_quick();
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
    calls_are_quick = loop.clock().now() - begun < quick_call;
    stay_awake_if_quick();
    if (cancelled || call->error) {
        std::rethrow_exception(cancelled ? cancelled : call->error);
    }
    co_return std::move(*call->result);
}

Task<void> Channel::Impl::call_into(std::shared_ptr<Call> call, protocol::ChannelCallParams params) {
    try {
        CallContext context = running.current_call(params.line, wrappers::typescript_function(params.tool) + "(");
        context.from_code = true;
        call->result = co_await dispatcher.call(std::move(context), std::move(params.server), std::move(params.tool),
                                                std::move(params.arguments));
    } catch (const std::exception&) {
        call->error = std::current_exception();
    }
    call->done.set();
}

Channel::Channel(async::Loop& loop, std::shared_ptr<ChannelListener> listener, ToolCallDispatcher& dispatcher,
                 CallerIdentity& running)
    : impl_(std::make_shared<Impl>(loop, std::move(listener), dispatcher, running)) {}

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
    impl_->listener->close();
}

} // namespace cellgate::tools
