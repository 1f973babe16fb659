#include "zmq_peer.hpp"

#include <doctest/doctest.h>

namespace cellgate::async {

ZmqPeer::ZmqPeer(Loop& loop, int type) : context_(zmq_ctx_new()), socket_(zmq_socket(context_, type)) {
    const int none = 0;
    for (const int option : {ZMQ_LINGER, ZMQ_RCVHWM, ZMQ_SNDHWM}) {
        zmq_setsockopt(socket_, option, &none, sizeof none);
    }
    const int yes = 1;
    if (type == ZMQ_ROUTER) {
        zmq_setsockopt(socket_, ZMQ_ROUTER_MANDATORY, &yes, sizeof yes);
    }
    int fd = -1;
    std::size_t size = sizeof fd;
    zmq_getsockopt(socket_, ZMQ_FD, &fd, &size);
    poll_ = new uv_poll_t{};
    uv_poll_init(loop.raw(), poll_, fd);
    poll_->data = this;
    // ZMQ_FD tells of a change once, and any call on the socket may be what consumes it: every waiter looks again
    // after each.
    uv_poll_start(poll_, UV_READABLE, [](uv_poll_t* handle, int, int) {
        auto* self = static_cast<ZmqPeer*>(handle->data);
        int events = 0;
        std::size_t events_size = sizeof events;
        zmq_getsockopt(self->socket_, ZMQ_EVENTS, &events, &events_size);
        self->changed_.set();
    });
}

ZmqPeer::~ZmqPeer() {
    uv_close(reinterpret_cast<uv_handle_t*>(poll_),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_poll_t*>(handle); });
    zmq_close(socket_);
    zmq_ctx_term(context_);
}

void ZmqPeer::bind(const std::string& endpoint) {
    REQUIRE(zmq_bind(socket_, endpoint.c_str()) == 0);
}

bool ZmqPeer::try_send(const ZmqMessage& message) {
    for (std::size_t i = 0; i < message.size(); ++i) {
        const int flags = ZMQ_DONTWAIT | (i + 1 < message.size() ? ZMQ_SNDMORE : 0);
        const int sent = zmq_send(socket_, message[i].data(), message[i].size(), flags);
        if (sent < 0 && i == 0 && zmq_errno() == EHOSTUNREACH) {
            return false;
        }
        REQUIRE(sent >= 0);
    }
    changed_.set();
    return true;
}

void ZmqPeer::send(const ZmqMessage& message) {
    static_cast<void>(try_send(message));
}

std::optional<ZmqMessage> ZmqPeer::try_receive() {
    ZmqMessage message;
    bool more = true;
    while (more) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, socket_, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&frame);
            return std::nullopt;
        }
        message.emplace_back(static_cast<const char*>(zmq_msg_data(&frame)), zmq_msg_size(&frame));
        more = zmq_msg_more(&frame) != 0;
        zmq_msg_close(&frame);
    }
    return message;
}

Task<ZmqMessage> ZmqPeer::receive() {
    while (true) {
        if (std::optional<ZmqMessage> message = try_receive()) {
            co_return std::move(*message);
        }
        changed_.reset();
        co_await changed_.wait();
    }
}

} // namespace cellgate::async
