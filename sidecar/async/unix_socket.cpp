#include "async/stream.hpp"
#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/unique_fd.hpp"
#include "listening_socket.hpp"
#include "socket_path.hpp"
#include "socket_stream.hpp"

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

namespace {

Task<std::unique_ptr<SocketStream>> accept_own(Loop* loop, std::shared_ptr<ListeningSocket> socket, std::string path) {
    while (true) {
        UniqueFd connected(co_await socket->accept());
        if (!connected.valid()) {
            co_return nullptr;
        }
        if (is_of_this_user(connected.get())) {
            co_return open_socket(*loop, connected.release());
        }
        log_warning("a process of another user tried to connect to {}", escape_unprintable(path));
    }
}

} // namespace

UnixListener::UnixListener(Loop& loop, std::string path) : loop_(loop) {
    const sockaddr_un address = address_of(path);
    UniqueFd socket(make_socket());
    // bind() creates the file with the mode of the socket itself, so the file never has another mode.
    if (::fchmod(socket.get(), S_IRUSR | S_IWUSR) != 0 ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket.get(), SOMAXCONN) != 0) {
        throw system_error(ErrorCode::internal_error, fmt::format("cannot listen on {}", escape_unprintable(path)),
                           errno);
    }
    path_ = std::move(path);
    socket_ = std::make_shared<ListeningSocket>(loop, socket.release(), escape_unprintable(path_));
}

UnixListener::~UnixListener() {
    close();
}

void UnixListener::close() {
    if (socket_->close()) {
        ::unlink(path_.c_str());
    }
}

Task<std::unique_ptr<SocketStream>> UnixListener::accept() {
    return accept_own(&loop_, socket_, path_);
}

} // namespace cellgate::async
