#include "listening_socket.hpp"

#include "uv_handle.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace cellgate::async {

struct ListeningSocket::Impl {
    Impl(int fd_, std::string name_) : fd(fd_), name(std::move(name_)) {}

    int fd;
    std::string name;
    uv_poll_t poll{};
    Event ready;
    bool closed = false;

    static Task<int> accept(std::shared_ptr<Impl> self);
};

ListeningSocket::ListeningSocket(Loop& loop, int fd, std::string name)
    : impl_(std::make_shared<Impl>(fd, std::move(name))) {
    if (const int status = uv_poll_init(loop.raw(), &impl_->poll, fd); status != 0) {
        ::close(fd);
        throw uv_error("cannot watch a listening socket", status);
    }
    adopt(impl_->poll, impl_);
}

ListeningSocket::~ListeningSocket() {
    close();
}

bool ListeningSocket::close() {
    if (std::exchange(impl_->closed, true)) {
        return false;
    }
    close_handle<Impl>(impl_->poll);
    ::close(impl_->fd);
    impl_->ready.set();
    return true;
}

Task<int> ListeningSocket::accept() {
    return Impl::accept(impl_);
}

Task<int> ListeningSocket::Impl::accept(std::shared_ptr<Impl> self) {
    while (!self->closed) {
        const int fd = ::accept4(self->fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            co_return fd;
        }
        if (errno == EINTR || errno == ECONNABORTED) {
            continue;
        }
        if (errno != EAGAIN) {
            throw system_error(ErrorCode::internal_error, fmt::format("cannot accept on {}", self->name), errno);
        }
        self->ready.reset();
        uv_poll_start(&self->poll, UV_READABLE, [](uv_poll_t* handle, int, int) {
            uv_poll_stop(handle);
            owner_of<Impl>(handle)->ready.set();
        });
        co_await self->ready.wait();
    }
    co_return -1;
}

} // namespace cellgate::async
