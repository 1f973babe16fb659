#pragma once
// `ZmqPeer` is the other side of a ZmqSocket in tests: a bound socket of libzmq, on the loop. It has a context of its
// own and its destructor blocks, so that nothing listens afterwards.

#include "async/loop.hpp"
#include "async/zmq_socket.hpp"

#include <uv.h>
#include <zmq.h>

#include <optional>
#include <string>

namespace cellgate::async {

class ZmqPeer {
  public:
    ZmqPeer(Loop& loop, int type); // ZMQ_ROUTER …
    ZmqPeer(const ZmqPeer&) = delete;
    ZmqPeer& operator=(const ZmqPeer&) = delete;
    ~ZmqPeer();

    void bind(const std::string& endpoint);
    // A router throws away what is for somebody who is not there.
    void send(const ZmqMessage& message);
    // False for such a message.
    bool try_send(const ZmqMessage& message);
    Task<ZmqMessage> receive();

  private:
    std::optional<ZmqMessage> try_receive();

    void* context_;
    void* socket_;
    uv_poll_t* poll_;
    Event changed_;
};

} // namespace cellgate::async
