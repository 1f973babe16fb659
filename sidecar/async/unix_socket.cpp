#include "async/stream.hpp"
#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/unique_fd.hpp"
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

// The peer's user according to the socket itself (SO_PEERCRED), whatever the file modes are.
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
    constexpr std::size_t max_bytes = sizeof(sockaddr_un::sun_path) - 1;
    if (path.empty() || path.size() > max_bytes || path.find('\0') != std::string::npos) {
        throw Error(ErrorCode::internal_error,
                    fmt::format("expected a socket path of 1 to {} bytes without NUL, found {} bytes: {}", max_bytes,
                                path.size(), escape_unprintable(path)),
                    "Choose a shorter directory for sockets.");
    }
}

Task<std::unique_ptr<UnixStream>> connect_unix(Loop& loop, std::string path) {
    const sockaddr_un address = address_of(path);
    UniqueFd socket(make_socket());
    while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        // A unix socket connects at once, or fails with EAGAIN while the listener's backlog is full; no event reports
        // when there is room again.
        if (errno != EAGAIN && errno != EINTR) {
            throw system_error(ErrorCode::internal_error, fmt::format("cannot connect to {}", escape_unprintable(path)),
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
    UniqueFd socket(make_socket());
    // bind() creates the file with the mode of the socket itself, so the file never has another mode.
    if (::fchmod(socket.get(), S_IRUSR | S_IWUSR) != 0 ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket.get(), SOMAXCONN) != 0) {
        throw system_error(ErrorCode::internal_error, fmt::format("cannot listen on {}", escape_unprintable(path)),
                           errno);
    }
    impl_ = std::make_shared<Impl>(loop, std::move(path), socket.get());
    if (const int status = uv_poll_init(loop.raw(), &impl_->poll, socket.get()); status != 0) {
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
            log_warning("a process of another user tried to connect to {}", escape_unprintable(self->path));
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
            throw system_error(ErrorCode::internal_error,
                               fmt::format("cannot accept on {}", escape_unprintable(self->path)), errno);
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
