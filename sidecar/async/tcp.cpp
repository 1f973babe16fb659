#include "async/tcp.hpp"

#include "base/scope_exit.hpp"
#include "base/unique_fd.hpp"
#include "socket_address.hpp"
#include "socket_stream.hpp"
#include "uv_handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <resolv.h>
#include <sys/socket.h>
#include <thread>

namespace cellgate::async {

namespace {

std::string text_of(const sockaddr& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* bytes = address.sa_family == AF_INET6
                            ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr)
                            : &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    ::inet_ntop(address.sa_family, bytes, text.data(), text.size());
    return text.data();
}

// One lookup by the system's resolver, which cannot be stopped: it runs on its own thread, which is abandoned when the
// caller is cancelled or the process ends.
struct Lookup {
    std::string name;
    Event ended; // on the loop
    uv_async_t wake{};
    std::mutex mutex; // of what follows: the thread writes it
    bool wanted = true;
    int status = 0;
    std::vector<Host> found;

    void take(const addrinfo* addresses) {
        for (const addrinfo* each = addresses; each != nullptr; each = each->ai_next) {
            if (each->ai_family != AF_INET && each->ai_family != AF_INET6) {
                continue;
            }
            std::optional<Host> host = parse_host(text_of(*each->ai_addr));
            if (host && std::find(found.begin(), found.end(), *host) == found.end()) {
                found.push_back(std::move(*host));
            }
        }
    }

    void run() {
        // The name as it was checked, without the machine's search domains.
        ::res_init();
        _res.options &= ~static_cast<unsigned long>(RES_DNSRCH | RES_DEFNAMES);
        addrinfo hints{};
        hints.ai_socktype = SOCK_STREAM;
        addrinfo* addresses = nullptr;
        const int result = ::getaddrinfo(name.c_str(), nullptr, &hints, &addresses);
        const std::lock_guard lock(mutex);
        status = result;
        if (result == 0) {
            take(addresses);
            ::freeaddrinfo(addresses);
        }
        if (wanted) {
            uv_async_send(&wake);
        }
    }
};

// Watches one descriptor until it can be written.
struct Connecting {
    uv_poll_t poll{};
    Event writable;
};

int error_of(int fd) {
    int error = 0;
    socklen_t size = sizeof error;
    return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

} // namespace

SocketAddress address_of(const Endpoint& endpoint) {
    SocketAddress address;
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage);
    auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage);
    if (::inet_pton(AF_INET6, endpoint.host.name.c_str(), &v6.sin6_addr) == 1) {
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(endpoint.port);
        address.size = sizeof v6;
    } else if (::inet_pton(AF_INET, endpoint.host.name.c_str(), &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(endpoint.port);
        address.size = sizeof v4;
    } else {
        throw Error(ErrorCode::internal_error, fmt::format("expected an address, found {}", endpoint.host.name));
    }
    return address;
}

Task<std::vector<Host>> resolve_host(Loop& loop, Host host) {
    if (host.is_address) {
        std::vector<Host> itself;
        itself.push_back(std::move(host));
        co_return itself;
    }
    const auto lookup = std::make_shared<Lookup>();
    lookup->name = host.name;
    const int begun =
        uv_async_init(loop.raw(), &lookup->wake, [](uv_async_t* handle) { owner_of<Lookup>(handle)->ended.set(); });
    if (begun != 0) {
        throw uv_error(fmt::format("cannot look up {}", host.name), begun);
    }
    adopt(lookup->wake, lookup);
    const ScopeExit close([&lookup] {
        const std::lock_guard lock(lookup->mutex);
        lookup->wanted = false;
        close_handle<Lookup>(lookup->wake);
    });
    std::thread([lookup] { lookup->run(); }).detach();
    co_await lookup->ended.wait();
    if (lookup->status != 0 || lookup->found.empty()) {
        throw Error(ErrorCode::internal_error,
                    fmt::format("cannot look up {}: {}", host.name,
                                lookup->status != 0 ? ::gai_strerror(lookup->status) : "it has no address"));
    }
    co_return std::move(lookup->found);
}

Task<std::unique_ptr<SocketStream>> connect_tcp(Loop& loop, Endpoint endpoint) {
    const SocketAddress address = address_of(endpoint);
    const std::string what = "cannot connect to " + to_string(endpoint);
    UniqueFd socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket.get() < 0) {
        throw system_error(ErrorCode::internal_error, what, errno);
    }
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(socket.get(), address.raw(), address.size) != 0) {
        if (errno != EINPROGRESS) {
            throw system_error(ErrorCode::internal_error, what, errno);
        }
        const auto connecting = std::make_shared<Connecting>();
        if (const int status = uv_poll_init(loop.raw(), &connecting->poll, socket.get()); status != 0) {
            throw uv_error(what, status);
        }
        adopt(connecting->poll, connecting);
        uv_poll_start(&connecting->poll, UV_WRITABLE, [](uv_poll_t* handle, int, int) {
            uv_poll_stop(handle);
            owner_of<Connecting>(handle)->writable.set();
        });
        const ScopeExit close([&connecting] { close_handle<Connecting>(connecting->poll); });
        co_await connecting->writable.wait();
        if (const int error = error_of(socket.get()); error != 0) {
            throw system_error(ErrorCode::internal_error, what, error);
        }
    }
    co_return open_socket(loop, socket.release());
}

} // namespace cellgate::async
