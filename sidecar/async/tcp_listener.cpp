#include "async/tcp_listener.hpp"

#include "base/unique_fd.hpp"
#include "socket_stream.hpp"
#include "uv_handle.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace cellgate::async {

struct TcpListener::Impl {
    Loop& loop;
    int fd;
    std::uint16_t port = 0;
    uv_poll_t poll{};
    Event ready;
    bool closed = false;

    Impl(Loop& loop_, int fd_) : loop(loop_), fd(fd_) {}

    void close() {
        if (std::exchange(closed, true)) {
            return;
        }
        close_handle<Impl>(poll);
        ::close(fd);
        ready.set();
    }

    static Task<std::unique_ptr<SocketStream>> accept(std::shared_ptr<Impl> self);
};

TcpListener::TcpListener(Loop& loop, std::uint16_t port) {
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
    impl_ = std::make_shared<Impl>(loop, socket.get());
    impl_->port = ntohs(address.sin_port);
    if (const int status = uv_poll_init(loop.raw(), &impl_->poll, socket.get()); status != 0) {
        throw uv_error("cannot watch a listening socket", status);
    }
    socket.release();
    adopt(impl_->poll, impl_);
}

TcpListener::~TcpListener() {
    close();
}

std::uint16_t TcpListener::port() const {
    return impl_->port;
}

void TcpListener::close() {
    impl_->close();
}

Task<std::unique_ptr<SocketStream>> TcpListener::accept() {
    return Impl::accept(impl_);
}

Task<std::unique_ptr<SocketStream>> TcpListener::Impl::accept(std::shared_ptr<Impl> self) {
    while (!self->closed) {
        const int fd = ::accept4(self->fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            co_return open_socket(self->loop, fd);
        }
        if (errno == EINTR || errno == ECONNABORTED) {
            continue;
        }
        if (errno != EAGAIN) {
            throw system_error(ErrorCode::internal_error, "cannot accept on 127.0.0.1", errno);
        }
        self->ready.reset();
        uv_poll_start(&self->poll, UV_READABLE, [](uv_poll_t* handle, int, int) {
            uv_poll_stop(handle);
            owner_of<Impl>(handle)->ready.set();
        });
        co_await self->ready.wait();
    }
    co_return nullptr;
}

} // namespace cellgate::async
