#pragma once
// `ZmqSocket` is a ZeroMQ client socket on the loop: it connects to one peer, and reconnects whenever the peer goes
// away. It implements ZMTP itself (zmtp.hpp), because libzmq buffers an incomplete message without limit; here the
// memory used for a hostile peer's bytes is always bounded.

#include "async/loop.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace cellgate::async {

enum class ZmqType { dealer, sub }; // a SUB subscribes to all

// One message: its frames.
using ZmqMessage = std::vector<std::string>;

class ZmqSocket {
  public:
    // `identity` may be empty. A frame over `max_message_bytes` ends its connection; a larger message, or one of more
    // than 4096 frames, is delivered without frames.
    ZmqSocket(Loop& loop, ZmqType type, std::string identity, std::size_t max_message_bytes);
    ~ZmqSocket();

    // Buffers about `above_bytes` ahead of receive() instead of 64 MiB, and leaves the rest with the sender: for a
    // sender that keeps unsent messages instead of dropping them.
    void leave_with_sender(std::size_t above_bytes);
    // Closes when its first connection ends, in place of connecting again.
    void close_with_peer();
    // Called once, with "ipc:///path" or "tcp://address:port" (IPv6 in brackets); the peer need not be listening yet.
    // Throws Error{internal_error}.
    void connect(const std::string& endpoint);
    // Queues until there is a peer; never waits. Messages that a peer had not read when it went away are lost.
    void send(ZmqMessage message);
    // The next message, in order. Throws Error{internal_error} once closed. One receiver at a time.
    Task<ZmqMessage> receive();
    void close();

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace cellgate::async
