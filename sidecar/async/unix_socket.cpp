#include "async/stream.hpp"
#include "base/log.hpp"
#include "base/visible_text.hpp"
#include "owned_fd.hpp"
#include "socket_path.hpp"
#include "socket_stream.hpp"
#include "uv_handle.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace cellgate::async {

namespace {

sockaddr_un address_of(const std::string& path) {
    require_socket_path(path);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

int make_socket() {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        throw system_error(ErrorCode::internal_error, "cannot make a unix socket", errno);
    }
    return fd;
}

// Whatever the modes of files say: the socket's own word on who is at the other end.
std::optional<ucred> peer_of(int fd) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
        return std::nullopt;
    }
    return peer;
}

bool is_of_this_user(int fd) {
    const std::optional<ucred> peer = peer_of(fd);
    return peer && peer->uid == ::getuid();
}

class ConnectedToListener final : public ConnectedSocket<UnixStream> {
  public:
    ConnectedToListener(Loop& loop, int fd) : ConnectedSocket(loop, fd), listener_(peer_of(fd).value_or(ucred{}).pid) {}

    std::int64_t listener() const override { return listener_; }

  private:
    std::int64_t listener_;
};

} // namespace

void require_socket_path(const std::string& path) {
    constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
    if (path.empty() || path.size() > longest || path.find('\0') != std::string::npos) {
        throw Error(ErrorCode::internal_error,
                    fmt::format("expected a socket path of 1 to {} bytes without NUL, found {} bytes: {}", longest,
                                path.size(), visible_text(path)),
                    "Choose a shorter directory for sockets.");
    }
}

Task<std::unique_ptr<UnixStream>> connect_unix(Loop& loop, std::string path) {
    const sockaddr_un address = address_of(path);
    OwnedFd socket(make_socket());
    while (::connect(socket.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        // A unix socket connects at once, or says EAGAIN while the listener's backlog is full; nothing tells when it
        // no longer is.
        if (errno != EAGAIN && errno != EINTR) {
            throw system_error(ErrorCode::internal_error, fmt::format("cannot connect to {}", visible_text(path)),
                               errno);
        }
        co_await sleep_for(loop.clock(), std::chrono::milliseconds(1));
    }
    co_return std::make_unique<ConnectedToListener>(loop, socket.release());
}

struct UnixListener::Impl {
    Loop& loop;
    std::string path;
    int fd;
    uv_poll_t poll{};
    Event ready;
    bool closed = false;

    Impl(Loop& loop_, std::string path_, int fd_) : loop(loop_), path(std::move(path_)), fd(fd_) {}

    void close() {
        if (std::exchange(closed, true)) {
            return;
        }
        close_handle<Impl>(poll);
        ::close(fd);
        ::unlink(path.c_str());
        ready.set();
    }

    static Task<std::unique_ptr<SocketStream>> accept(std::shared_ptr<Impl> self);
};

UnixListener::UnixListener(Loop& loop, std::string path) {
    const sockaddr_un address = address_of(path);
    OwnedFd socket(make_socket());
    // The mode of the socket itself becomes the mode of the file that bind() makes: there is no moment with another.
    if (::fchmod(socket.fd, S_IRUSR | S_IWUSR) != 0 ||
        ::bind(socket.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket.fd, SOMAXCONN) != 0) {
        throw system_error(ErrorCode::internal_error, fmt::format("cannot listen on {}", visible_text(path)), errno);
    }
    impl_ = std::make_shared<Impl>(loop, std::move(path), socket.fd);
    if (const int status = uv_poll_init(loop.raw(), &impl_->poll, socket.fd); status != 0) {
        throw uv_error("cannot watch a listening socket", status);
    }
    socket.release();
    adopt(impl_->poll, impl_);
}

UnixListener::~UnixListener() {
    close();
}

void UnixListener::close() {
    impl_->close();
}

Task<std::unique_ptr<SocketStream>> UnixListener::accept() {
    return Impl::accept(impl_);
}

Task<std::unique_ptr<SocketStream>> UnixListener::Impl::accept(std::shared_ptr<Impl> self) {
    while (!self->closed) {
        const int fd = ::accept4(self->fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0 && !is_of_this_user(fd)) {
            log_warning("a process of another user tried to connect to {}", visible_text(self->path));
            ::close(fd);
            continue;
        }
        if (fd >= 0) {
            co_return open_socket(self->loop, fd);
        }
        if (errno == EINTR || errno == ECONNABORTED) {
            continue;
        }
        if (errno != EAGAIN) {
            throw system_error(ErrorCode::internal_error, fmt::format("cannot accept on {}", visible_text(self->path)),
                               errno);
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
