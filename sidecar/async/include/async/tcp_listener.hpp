#pragma once
// `TcpListener` is a listening socket on 127.0.0.1, for programs of this machine. A process of another user of
// the machine can connect, too: what it sends is judged by what it holds. close() makes a waiting accept() return
// nothing.

#include "async/loop.hpp"
#include "async/stream.hpp"

#include <cstdint>
#include <memory>

namespace cellgate::async {

class ListeningSocket;

class TcpListener {
  public:
    // Port 0: one that is free. Throws Error{internal_error} with errno's text, as when the port is taken.
    TcpListener(Loop& loop, std::uint16_t port);
    TcpListener(const TcpListener&) = delete;
    TcpListener& operator=(const TcpListener&) = delete;
    ~TcpListener();

    std::uint16_t port() const { return port_; }
    Task<std::unique_ptr<SocketStream>> accept(); // nullptr once closed
    void close();

  private:
    Loop& loop_;
    std::uint16_t port_ = 0;
    std::shared_ptr<ListeningSocket> socket_; // also of an accept() that waits
};

} // namespace cellgate::async
