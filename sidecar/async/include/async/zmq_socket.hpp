#pragma once
// A ZeroMQ socket on the loop, as a client has it: it connects to one peer, and again whenever the peer has gone. It
// speaks ZMTP itself (zmtp.hpp) where libzmq would keep any amount of a message whose end does not come; what is kept
// here of a hostile peer's bytes is bounded at every moment.

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
    // `identity` may be empty. A frame of more than `max_message_bytes` ends its connection; a message of more, or of
    // more than 4096 frames, comes without frames.
    ZmqSocket(Loop& loop, ZmqType type, std::string identity, std::size_t max_message_bytes);
    ~ZmqSocket();

    // Takes about as many bytes ahead of receive(), instead of 64 MiB, and leaves all else with the sender: for one
    // that keeps what is not taken, and drops nothing.
    void leave_with_sender(std::size_t above_bytes);
    // "ipc:///path", once; there need be nobody yet. Throws Error{internal_error}.
    void connect(const std::string& endpoint);
    // Queues until there is a peer; never waits. What a peer had not taken when it went is lost.
    void send(ZmqMessage message);
    // The next message, in order. Throws Error{internal_error} once closed. One receiver at a time.
    Task<ZmqMessage> receive();
    void close();

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace cellgate::async
