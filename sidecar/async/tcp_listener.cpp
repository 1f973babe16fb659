#include "async/tcp_listener.hpp"

#include "base/unique_fd.hpp"
#include "listen_at.hpp"
#include "listening_socket.hpp"
#include "socket_stream.hpp"

#include <fmt/format.h>

namespace cellgate::async {

namespace {

Task<std::unique_ptr<SocketStream>> accept_next(Loop* loop, std::shared_ptr<ListeningSocket> socket) {
    const int fd = co_await socket->accept();
    if (fd < 0) {
        co_return nullptr;
    }
    co_return open_socket(*loop, fd);
}

} // namespace

TcpListener::TcpListener(Loop& loop, std::uint16_t port) : loop_(loop) {
    UniqueFd socket = listen_at({{"127.0.0.1", true}, port});
    port_ = port_of(socket.get());
    socket_ = std::make_shared<ListeningSocket>(loop, socket.release(), fmt::format("127.0.0.1:{}", port_));
}

TcpListener::~TcpListener() {
    close();
}

void TcpListener::close() {
    socket_->close();
}

Task<std::unique_ptr<SocketStream>> TcpListener::accept() {
    return accept_next(&loop_, socket_);
}

} // namespace cellgate::async
