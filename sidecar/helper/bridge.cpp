#include "bridge.hpp"

#include "bridge_ports.hpp"
#include "bridge_process.hpp"
#include "connected_program.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cellgate::helper {

namespace {

constexpr std::size_t socks_answer_bytes = 12; // to the greeting (2), and to the request

// Where it listens.
struct Listener {
    int fd;
    std::string request; // by SOCKS5, of a relay: the greeting without a password, and CONNECT by name
};

int connect_to(const sockaddr_un& proxy) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&proxy), sizeof proxy) == 0 &&
        ::fcntl(fd, F_SETFL, O_NONBLOCK) == 0) {
        return fd;
    }
    ::close(fd);
    return -1;
}

std::string preface_of(int client, const std::string& request, pid_t command) {
    const std::string caller = connected_program(client, command);
    std::string preface;
    preface.push_back('\0');
    preface.push_back(static_cast<char>(caller.size()));
    preface += caller + request;
    return preface;
}

void accept_one(const Listener& listener, const sockaddr_un& proxy, pid_t command, Connections& connections) {
    const int client = ::accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    const int out = client < 0 ? -1 : connect_to(proxy);
    if (out >= 0) {
        connections.emplace_back(client, out, preface_of(client, listener.request, command),
                                 listener.request.empty() ? 0 : socks_answer_bytes);
    } else if (client >= 0) {
        ::close(client);
    }
}

// -1 when it cannot be.
int listen_at(int family, std::uint16_t port) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    v6.sin6_addr = in6addr_loopback;
    const sockaddr_in v4 = loopback_address(port);
    const bool is_v4 = family == AF_INET;
    const sockaddr* place = is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
    const int listener = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener >= 0 && ::bind(listener, place, is_v4 ? sizeof v4 : sizeof v6) == 0 &&
        ::listen(listener, SOMAXCONN) == 0) {
        return listener;
    }
    ::close(listener);
    return -1;
}

std::string socks_request(std::string_view host, std::uint16_t port) {
    std::string request("\5\1\0\5\1\0\3", 7);
    request += static_cast<char>(host.size());
    request += host;
    request += static_cast<char>(port >> 8);
    request += static_cast<char>(port & 0xff);
    return request;
}

// False when one cannot listen that has to.
bool listen_for_all(std::uint16_t proxy_port, const std::vector<const char*>& relays,
                    std::vector<Listener>& listeners) {
    listeners.push_back({listen_at(AF_INET, proxy_port), {}});
    for (const char* relay : relays) {
        const int family = *relay == '4' ? AF_INET : AF_INET6;
        const char* rest = relay + 2;
        const std::uint16_t port = take_port(rest);
        const int listener = listen_at(family, port);
        if (listener >= 0 || family == AF_INET) {
            listeners.push_back({listener, socks_request(rest, port)});
        }
    }
    return std::none_of(listeners.begin(), listeners.end(), [](const Listener& each) { return each.fd < 0; });
}

} // namespace

bool start_bridge(const char* way, const std::vector<const char*>& relays) {
    const char* socket_path = way;
    const std::uint16_t port = take_port(socket_path);
    if (port == 0) {
        errno = EINVAL;
        return false;
    }
    sockaddr_un proxy{};
    std::vector<Listener> listeners;
    if (!set_unix_address(proxy, socket_path) || !listen_for_all(port, relays, listeners)) {
        return false;
    }
    std::vector<int> descriptors(listeners.size());
    std::transform(listeners.begin(), listeners.end(), descriptors.begin(),
                   [](const Listener& each) { return each.fd; });
    const pid_t command = ::getpid(); // as that is what it will become
    const bool started = start_bridge_process(descriptors, [&] {
        carry_all(descriptors, [&](std::size_t listener, Connections& connections) {
            accept_one(listeners[listener], proxy, command, connections);
        });
    });
    for (const int descriptor : descriptors) {
        ::close(descriptor);
    }
    return started;
}

} // namespace cellgate::helper
