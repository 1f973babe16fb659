#pragma once
// ZeroMQ sockets on the loop. Edge-triggered ZMQ_FD is hidden here: sockets are drained after every send and once after
// polling starts, so no message is ever left waiting for an edge that has passed.

#include "async/loop.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cellgate::async {

enum class ZmqType { dealer, sub, req, router, pub, rep };

// One message: its frames.
using ZmqMessage = std::vector<std::string>;

// One context for all sockets of a Loop; it ends after them.
class ZmqContext {
  public:
    explicit ZmqContext(Loop& loop);
    ~ZmqContext();

  private:
    friend class ZmqSocket;
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

class ZmqSocket {
  public:
    // LINGER 0, receive high-water mark 0 (never drop), reconnect every few milliseconds; SUB subscribes to all.
    // `identity` may be empty. `max_message_bytes` is a limit for a frame, whose connection then ends, and for a whole
    // message, which then comes without frames, as does one of more than 4096 frames; -1 is no limit.
    ZmqSocket(ZmqContext& context, ZmqType type, std::string identity = {}, std::int64_t max_message_bytes = -1);
    ~ZmqSocket();

    // Before connect(). Takes about as many bytes ahead of receive() and leaves all else with the sender: for one that
    // keeps what is not taken, and drops nothing.
    void leave_with_sender(std::size_t above_bytes);
    void connect(const std::string& endpoint); // "ipc:///path" or "tcp://…"; throws Error{internal_error}
    void bind(const std::string& endpoint);
    // Queues; never waits.
    void send(ZmqMessage message);
    // The next message, in order. Throws Error{internal_error} once closed. One receiver at a time.
    Task<ZmqMessage> receive();
    void close();

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace cellgate::async
