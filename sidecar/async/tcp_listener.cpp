#include "async/tcp_listener.hpp"

#include "base/unique_fd.hpp"
#include "listening_socket.hpp"
#include "socket_stream.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>

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
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    // Connections of the last listener may linger; a listener of another program on the port is still an error.
    if (!socket.valid() || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(socket.get(), raw, size) != 0 || ::listen(socket.get(), SOMAXCONN) != 0 ||
        ::getsockname(socket.get(), raw, &size) != 0) {
        throw system_error(ErrorCode::internal_error, fmt::format("cannot listen on 127.0.0.1:{}", port), errno);
    }
    port_ = ntohs(address.sin_port);
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
