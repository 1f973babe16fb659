#include "async/zmq_socket.hpp"

#include "uv_handle.hpp"

#include <fmt/format.h>
#include <zmq.h>

#include <cerrno>
#include <deque>

namespace cellgate::async {

namespace {

constexpr int most_per_turn = 256;
constexpr std::size_t most_bytes_queued = std::size_t{64} << 20;
constexpr std::size_t most_messages_queued = 10'000;
constexpr int reconnect_milliseconds = 3;
constexpr std::size_t most_frames = 4096; // of one message; a signed Jupyter message has seven and its buffers

[[noreturn]] void fail(const std::string& what) {
    throw Error(ErrorCode::internal_error, fmt::format("{}: {}", what, zmq_strerror(zmq_errno())));
}

int native(ZmqType type) {
    switch (type) {
    case ZmqType::dealer:
        return ZMQ_DEALER;
    case ZmqType::sub:
        return ZMQ_SUB;
    case ZmqType::req:
        return ZMQ_REQ;
    case ZmqType::router:
        return ZMQ_ROUTER;
    case ZmqType::pub:
        return ZMQ_PUB;
    case ZmqType::rep:
        return ZMQ_REP;
    }
    throw Error(ErrorCode::internal_error, "not a type of socket");
}

std::size_t size_of(const ZmqMessage& message) {
    std::size_t size = 0;
    for (const std::string& frame : message) {
        size += frame.size();
    }
    return size;
}

} // namespace

struct ZmqContext::Impl {
    explicit Impl(Loop& loop_) : loop(loop_), context(zmq_ctx_new()) {
        if (context == nullptr) {
            fail("cannot make a ZeroMQ context");
        }
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() { zmq_ctx_term(context); }

    Loop& loop;
    void* context;
};

ZmqContext::ZmqContext(Loop& loop) : impl_(std::make_shared<Impl>(loop)) {}
ZmqContext::~ZmqContext() = default;

struct ZmqSocket::Impl {
    std::shared_ptr<ZmqContext::Impl> context;
    void* socket = nullptr;
    uv_poll_t poll{};
    uv_idle_t more{}; // runs while there was more to do than one turn may take
    std::deque<ZmqMessage> outgoing;
    std::deque<ZmqMessage> incoming;
    std::size_t incoming_bytes = 0;
    std::size_t most_message_bytes = 0;
    std::size_t most_incoming_bytes = most_bytes_queued;
    Event arrived;
    bool closed = false;

    void set(int option, const void* value, std::size_t size) {
        if (zmq_setsockopt(socket, option, value, size) != 0) {
            fail("cannot set an option of a ZeroMQ socket");
        }
    }
    void set(int option, int value) { set(option, &value, sizeof value); }

    bool has_room() const { return incoming_bytes < most_incoming_bytes && incoming.size() < most_messages_queued; }
    int events() const;
    bool send_first();
    bool receive_one();
    void work();
    void close();

    static Task<ZmqMessage> receive(std::shared_ptr<Impl> self);
};

int ZmqSocket::Impl::events() const {
    int events = 0;
    std::size_t size = sizeof events;
    if (zmq_getsockopt(socket, ZMQ_EVENTS, &events, &size) != 0) {
        return 0;
    }
    return events;
}

// False when the socket did not take it; it stays the first then.
bool ZmqSocket::Impl::send_first() {
    const ZmqMessage& message = outgoing.front();
    for (std::size_t i = 0; i < message.size(); ++i) {
        const int flags = ZMQ_DONTWAIT | (i + 1 < message.size() ? ZMQ_SNDMORE : 0);
        if (zmq_send(socket, message[i].data(), message[i].size(), flags) < 0) {
            if (i == 0 && (zmq_errno() == EAGAIN || zmq_errno() == EFSM)) {
                return false;
            }
            break; // the peer went away amid the message, and the message with it
        }
    }
    outgoing.pop_front();
    return true;
}

bool ZmqSocket::Impl::receive_one() {
    ZmqMessage message;
    std::size_t frames = 0;
    std::size_t bytes = 0;
    bool too_large = false;
    bool more_frames = true;
    while (more_frames) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, socket, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&frame);
            return false;
        }
        bytes += zmq_msg_size(&frame);
        too_large = too_large || ++frames > most_frames || bytes > most_message_bytes;
        if (too_large) {
            message.clear();
        } else {
            message.emplace_back(static_cast<const char*>(zmq_msg_data(&frame)), zmq_msg_size(&frame));
        }
        more_frames = zmq_msg_more(&frame) != 0;
        zmq_msg_close(&frame);
    }
    incoming_bytes += size_of(message);
    incoming.push_back(std::move(message));
    return true;
}

// Sends and receives what can be, and ends only after ZMQ_EVENTS has said that nothing is left or with `more` running:
// ZMQ_FD tells of a change once, and any call on the socket may be what consumes it.
void ZmqSocket::Impl::work() {
    bool received = false;
    int done = 0;
    while (done < most_per_turn) {
        const int now = events();
        bool progress = false;
        if ((now & ZMQ_POLLOUT) != 0 && !outgoing.empty() && send_first()) {
            progress = true;
        }
        if ((now & ZMQ_POLLIN) != 0 && has_room() && receive_one()) {
            progress = true;
            received = true;
        }
        if (!progress) {
            break;
        }
        ++done;
    }
    if (done == most_per_turn) {
        uv_idle_start(&more, [](uv_idle_t* handle) { owner_of<Impl>(handle)->work(); });
    } else {
        uv_idle_stop(&more);
    }
    if (received) {
        arrived.set(); // last: what it wakes may close this socket
    }
}

void ZmqSocket::Impl::close() {
    if (std::exchange(closed, true)) {
        return;
    }
    uv_poll_stop(&poll);
    close_handle<Impl>(poll);
    close_handle<Impl>(more);
    zmq_close(socket);
    incoming.clear();
    arrived.set();
}

Task<ZmqMessage> ZmqSocket::Impl::receive(std::shared_ptr<Impl> self) {
    while (self->incoming.empty()) {
        if (self->closed) {
            throw Error(ErrorCode::internal_error, "the ZeroMQ socket is closed");
        }
        self->arrived.reset();
        co_await self->arrived.wait();
    }
    const bool had_room = self->has_room();
    ZmqMessage message = std::move(self->incoming.front());
    self->incoming.pop_front();
    self->incoming_bytes -= size_of(message);
    if (!had_room && self->has_room()) {
        uv_idle_start(&self->more, [](uv_idle_t* handle) { owner_of<Impl>(handle)->work(); });
    }
    co_return message;
}

ZmqSocket::ZmqSocket(ZmqContext& context, ZmqType type, std::string identity, std::int64_t max_message_bytes)
    : impl_(std::make_shared<Impl>()) {
    impl_->context = context.impl_;
    impl_->most_message_bytes = static_cast<std::size_t>(max_message_bytes); // -1 is the largest number there is
    uv_loop_t* loop = context.impl_->loop.raw();
    impl_->socket = zmq_socket(context.impl_->context, native(type));
    if (impl_->socket == nullptr) {
        fail("cannot make a ZeroMQ socket");
    }
    int fd = -1;
    try {
        impl_->set(ZMQ_LINGER, 0);
        impl_->set(ZMQ_RCVHWM, 0);
        impl_->set(ZMQ_SNDHWM, 0);
        impl_->set(ZMQ_RECONNECT_IVL, reconnect_milliseconds);
        impl_->set(ZMQ_MAXMSGSIZE, &max_message_bytes, sizeof max_message_bytes);
        if (!identity.empty()) {
            impl_->set(ZMQ_ROUTING_ID, identity.data(), identity.size());
        }
        if (type == ZmqType::sub) {
            impl_->set(ZMQ_SUBSCRIBE, "", 0);
        }
        std::size_t size = sizeof fd;
        if (zmq_getsockopt(impl_->socket, ZMQ_FD, &fd, &size) != 0) {
            fail("cannot watch a ZeroMQ socket");
        }
        if (const int status = uv_poll_init(loop, &impl_->poll, fd); status != 0) {
            throw uv_error("cannot watch a ZeroMQ socket", status);
        }
    } catch (...) {
        zmq_close(impl_->socket);
        throw;
    }
    adopt(impl_->poll, impl_);
    uv_idle_init(loop, &impl_->more);
    adopt(impl_->more, impl_);
    uv_poll_start(&impl_->poll, UV_READABLE, [](uv_poll_t* handle, int, int) { owner_of<Impl>(handle)->work(); });
    impl_->work();
}

ZmqSocket::~ZmqSocket() {
    close();
}

void ZmqSocket::leave_with_sender(std::size_t above_bytes) {
    constexpr int most_messages = 4; // that ZeroMQ itself holds, whatever their size
    impl_->most_incoming_bytes = above_bytes;
    impl_->set(ZMQ_RCVHWM, most_messages);
}

void ZmqSocket::connect(const std::string& endpoint) {
    if (zmq_connect(impl_->socket, endpoint.c_str()) != 0) {
        fail(fmt::format("cannot connect to {}", endpoint));
    }
    impl_->work();
}

void ZmqSocket::bind(const std::string& endpoint) {
    if (zmq_bind(impl_->socket, endpoint.c_str()) != 0) {
        fail(fmt::format("cannot bind to {}", endpoint));
    }
    impl_->work();
}

void ZmqSocket::send(ZmqMessage message) {
    if (impl_->closed || message.empty()) {
        return;
    }
    impl_->outgoing.push_back(std::move(message));
    impl_->work();
}

Task<ZmqMessage> ZmqSocket::receive() {
    return Impl::receive(impl_);
}

void ZmqSocket::close() {
    impl_->close();
}

} // namespace cellgate::async
