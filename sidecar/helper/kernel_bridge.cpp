#include "kernel_bridge.hpp"

#include "bridge_ports.hpp"
#include "bridge_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <set>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace cellgate::helper {

namespace {

constexpr unsigned channels = 5;
constexpr int ipc_name_of_first = 1;
constexpr int look_interval_milliseconds = 5;

int listen_at_path(const std::string& path) {
    sockaddr_un address{};
    if (!set_unix_address(address, path.c_str())) {
        return -1;
    }
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener >= 0 && ::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::listen(listener, SOMAXCONN) == 0) {
        return listener;
    }
    ::close(listener);
    return -1;
}

// The ports of this network at which something listens, by what /proc says: to try each would be a connection.
std::set<unsigned> listening_ports() {
    constexpr unsigned listens = 0x0A;
    std::set<unsigned> found;
    if (std::FILE* table = std::fopen("/proc/net/tcp", "re")) {
        std::array<char, 512> line{};
        while (std::fgets(line.data(), line.size(), table) != nullptr) {
            unsigned port = 0;
            unsigned state = 0;
            if (std::sscanf(line.data(), " %*u: %*8X:%4X %*8X:%*4X %2X", &port, &state) == 2 && state == listens) {
                found.insert(port);
            }
        }
        std::fclose(table);
    }
    return found;
}

void wait_for_kernel(std::uint16_t first_port) {
    const auto all_listen = [first_port] {
        const std::set<unsigned> listening = listening_ports();
        for (unsigned port = first_port; port < first_port + channels; ++port) {
            if (!listening.contains(port)) {
                return false;
            }
        }
        return true;
    };
    while (!all_listen()) {
        ::poll(nullptr, 0, look_interval_milliseconds);
    }
}

int connect_to_port(std::uint16_t port) {
    const sockaddr_in address = loopback_address(port);
    constexpr int on = 1;
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0 && ::fcntl(fd, F_SETFL, O_NONBLOCK) == 0) {
        return fd;
    }
    ::close(fd);
    return -1;
}

void accept_client(int listener, std::uint16_t port, Connections& connections) {
    const int client = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    const int kernel = client < 0 ? -1 : connect_to_port(port);
    if (kernel >= 0) {
        connections.emplace_back(client, kernel, std::string(), 0);
    } else if (client >= 0) {
        ::close(client); // who connects tries again
    }
}

} // namespace

bool start_kernel_bridge(const char* way) {
    const char* prefix = way;
    const std::uint16_t first_port = take_port(prefix);
    if (first_port == 0 || first_port > UINT16_MAX - channels) {
        errno = EINVAL;
        return false;
    }
    std::vector<int> listeners(channels);
    int name = ipc_name_of_first;
    for (int& listener : listeners) {
        listener = listen_at_path(std::string(prefix) + "-" + std::to_string(name++));
    }
    const bool all_listen = std::none_of(listeners.begin(), listeners.end(), [](int fd) { return fd < 0; });
    const bool started =
        all_listen && start_bridge_process(listeners, [&] {
            wait_for_kernel(first_port);
            carry_all(listeners, [&](std::size_t channel, Connections& connections) {
                accept_client(listeners[channel], static_cast<std::uint16_t>(first_port + channel), connections);
            });
        });
    for (const int listener : listeners) {
        ::close(listener);
    }
    return started;
}

} // namespace cellgate::helper
