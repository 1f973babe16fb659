#include "listen_at.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>

namespace cellgate::async {

UniqueFd listen_at(const Endpoint& endpoint) {
    sockaddr_storage address{};
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
    const bool is_v6 = endpoint.host.name.find(':') != std::string::npos;
    address.ss_family = is_v6 ? AF_INET6 : AF_INET;
    (is_v6 ? v6->sin6_port : v4->sin_port) = htons(endpoint.port);
    void* bytes = is_v6 ? static_cast<void*>(&v6->sin6_addr) : static_cast<void*>(&v4->sin_addr);
    const socklen_t size = is_v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    const int on = 1;
    // Connections of the last listener may linger; a listener of another program on the port is still an error.
    UniqueFd fd(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid() || ::inet_pton(address.ss_family, endpoint.host.name.c_str(), bytes) != 1 ||
        ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
        throw system_error(ErrorCode::internal_error, fmt::format("cannot listen at {}", to_string(endpoint)), errno);
    }
    return fd;
}

std::uint16_t port_of(int fd) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                               : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

} // namespace cellgate::async
