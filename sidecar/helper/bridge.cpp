#include "bridge.hpp"

#include "connected_program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <set>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace cellgate::helper {

namespace {

constexpr std::size_t max_connections = 256; // the next ones wait in the listener's queue
constexpr int client_side = 0;
constexpr int proxy_side = 1;
constexpr std::size_t socks_answer_bytes = 12; // to the greeting (2), and to the request

// Where it listens.
struct Listener {
    int fd;
    std::string request; // by SOCKS5, of a relay: the greeting without a password, and CONNECT by name
};

// A client and its connection to the proxy. Each side has what was read from it and the other has not taken yet.
//
// The two directions end one by one. A proxy that takes no more (it answered before an upload's end, say) is heard to
// its end; what the client sends meanwhile is thrown away, and its socket stays open until it ends: to close it with
// something unread would reset the connection, and destroy the answer. A client ends by a reset or after its own end.
class Connection {
  public:
    Connection(int client, int proxy, const std::string& request, pid_t command)
        : sides_{Side{client, {}, 0}, Side{proxy, {}, 0}}, answer_left_(request.empty() ? 0 : socks_answer_bytes) {
        const std::string caller = connected_program(client, command);
        std::string& preface = sides_[client_side].waiting;
        preface.push_back('\0');
        preface.push_back(static_cast<char>(caller.size()));
        preface += caller + request;
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() {
        ::close(sides_[client_side].fd);
        ::close(sides_[proxy_side].fd);
    }

    void ask(std::vector<pollfd>& sources) const {
        for (int side = 0; side < 2; ++side) {
            const bool may_read = side == proxy_side || answer_left_ == 0;
            const bool reads = may_read && !sides_[side].ended && sides_[side].waiting.empty();
            const bool writes = !sides_[1 - side].waiting.empty();
            const auto events = static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
            // One that nothing is wanted of is asked whether it is gone, but not again and again.
            const bool asked = events != 0 || !sides_[side].hung_up;
            sources.push_back({asked ? sides_[side].fd : -1, events, 0});
        }
    }

    // False when it is over.
    bool carry(const pollfd* sources) {
        for (int side = 0; side < 2; ++side) {
            const short found = sources[side].revents;
            if (found == 0) {
                continue;
            }
            if ((found & (POLLERR | POLLHUP)) != 0 && !hang_up(side, (found & POLLERR) != 0)) {
                return false;
            }
            if (((sources[side].events & POLLOUT) != 0 && !write_to(side)) ||
                ((sources[side].events & POLLIN) != 0 && !read_from(side))) {
                return false;
            }
        }
        const bool client_is_done = is_done(client_side);
        return !is_done(proxy_side) || !client_is_done;
    }

  private:
    struct Side {
        int fd;
        std::string waiting;
        std::size_t written; // of it
        bool ended = false;
        bool told = false;      // the other side, of the end
        bool hung_up = false;   // nothing new comes from it or goes to it; something may be left to be read
        bool takes_more = true; // else what is for it is thrown away
    };

    // What follows returns false when the connection is over.

    // A client is reset by an error. The proxy's means that it closed with something of ours unread: its answer may be
    // there to be read all the same.
    bool hang_up(int side, bool with_error) {
        sides_[side].hung_up = true;
        if (side == proxy_side) {
            send_no_more_to_proxy();
        }
        return side == proxy_side || !with_error;
    }

    void send_no_more_to_proxy() {
        sides_[proxy_side].takes_more = false;
        sides_[client_side].waiting.clear();
        sides_[client_side].written = 0;
    }

    bool is_done(int side) {
        Side& from = sides_[side];
        if (from.ended && from.waiting.empty() && !from.told) {
            from.told = true;
            ::shutdown(sides_[1 - side].fd, SHUT_WR);
        }
        return from.told;
    }

    bool read_from(int side) {
        std::array<char, 65536> bytes; // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
        const ssize_t size = ::read(sides_[side].fd, bytes.data(), bytes.size());
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
            return true;
        }
        if (size < 0 && side == client_side) {
            return false;
        }
        sides_[side].ended = size <= 0;
        std::string_view got(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
        if (answer_left_ > 0 && !take_answer(got)) {
            return false;
        }
        if (size <= 0 || !sides_[1 - side].takes_more) {
            return true;
        }
        sides_[side].waiting.assign(got);
        return write_to(1 - side);
    }

    // Of the proxy to the request: a 0 follows the version in each of its two parts when it carries the request out.
    bool take_answer(std::string_view& got) {
        constexpr std::size_t of_greeting = 2;
        while (!got.empty() && answer_left_ > 0) {
            const std::size_t at = socks_answer_bytes - answer_left_--;
            const bool is_status = at == 1 || at == of_greeting + 1;
            if (is_status && got.front() != 0) {
                return refuse_client();
            }
            got.remove_prefix(1);
        }
        return !sides_[proxy_side].ended || refuse_client();
    }

    // By a reset: an end of the stream could be taken for an empty answer.
    bool refuse_client() {
        constexpr linger at_once{1, 0};
        ::setsockopt(sides_[client_side].fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        return false;
    }

    bool write_to(int side) {
        Side& from = sides_[1 - side];
        while (!from.waiting.empty()) {
            const ssize_t size =
                ::write(sides_[side].fd, from.waiting.data() + from.written, from.waiting.size() - from.written);
            if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
                return true;
            }
            if (size < 0 && side == client_side) {
                return false;
            }
            if (size < 0) {
                send_no_more_to_proxy();
                return true;
            }
            from.written += static_cast<std::size_t>(size);
            if (from.written == from.waiting.size()) {
                from.waiting.clear();
                from.written = 0;
            }
        }
        return true;
    }

    Side sides_[2];
    std::size_t answer_left_; // bytes of the proxy's answer that are still to come; meanwhile the client is not read
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

void accept_one(const Listener& listener, const sockaddr_un& proxy, pid_t command, std::list<Connection>& connections) {
    const int client = ::accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    const int out = client < 0 ? -1 : connect_to(proxy);
    if (out >= 0) {
        connections.emplace_back(client, out, listener.request, command);
    } else if (client >= 0) {
        ::close(client);
    }
}

[[noreturn]] void carry_all(const std::vector<Listener>& listeners, const sockaddr_un& proxy, pid_t command) {
    std::list<Connection> connections;
    while (true) {
        std::vector<pollfd> sources;
        for (const Connection& connection : connections) {
            connection.ask(sources);
        }
        for (const Listener& listener : listeners) {
            sources.push_back({connections.size() < max_connections ? listener.fd : -1, POLLIN, 0});
        }
        if (::poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) {
            std::_Exit(1);
        }
        const pollfd* source = sources.data();
        for (auto connection = connections.begin(); connection != connections.end(); source += 2) {
            connection = connection->carry(source) ? std::next(connection) : connections.erase(connection);
        }
        for (const Listener& listener : listeners) {
            if ((source++)->revents != 0) {
                accept_one(listener, proxy, command, connections);
            }
        }
    }
}

[[noreturn]] void become_bridge(const std::vector<Listener>& listeners, const sockaddr_un& proxy, pid_t command) {
    ::prctl(PR_SET_NAME, "cellgate-bridge");
    ::setsid();
    ::signal(SIGPIPE, SIG_IGN);
    // The kernel's stdio and what else it was given end with the kernel, not with this.
    const int null = ::open("/dev/null", O_RDWR);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        ::dup2(null, fd);
    }
    std::set<unsigned> kept;
    for (const Listener& listener : listeners) {
        kept.insert(static_cast<unsigned>(listener.fd));
    }
    unsigned next = STDERR_FILENO + 1;
    for (const unsigned fd : kept) {
        if (fd > next) {
            ::close_range(next, fd - 1, 0);
        }
        next = fd + 1;
    }
    ::close_range(next, ~0U, 0);
    carry_all(listeners, proxy, command);
}

// -1 when it cannot be.
int listen_at(int family, std::uint16_t port) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    v6.sin6_addr = in6addr_loopback;
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
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

// The port in front of a colon, and what is behind it; 0 for any other text.
std::uint16_t take_port(const char*& text) {
    char* colon = nullptr;
    const unsigned long port = std::strtoul(text, &colon, 10);
    if (*colon != ':' || port > UINT16_MAX) {
        return 0;
    }
    text = colon + 1;
    return static_cast<std::uint16_t>(port);
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
    proxy.sun_family = AF_UNIX;
    if (std::strlen(socket_path) >= sizeof proxy.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    std::strcpy(proxy.sun_path, socket_path);
    std::vector<Listener> listeners;
    if (!listen_for_all(port, relays, listeners)) {
        return false;
    }
    const pid_t command = ::getpid(); // as that is what it will become
    // A fork, but a child of this one's parent: it is none of what this process becomes.
    const long bridge = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (bridge == 0) {
        become_bridge(listeners, proxy, command);
    }
    for (const Listener& listener : listeners) {
        ::close(listener.fd);
    }
    return bridge > 0;
}

} // namespace cellgate::helper
