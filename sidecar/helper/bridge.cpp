#include "bridge.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <list>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace cellgate::helper {

namespace {

constexpr std::size_t max_connections = 256; // the next ones wait in the listener's queue
constexpr std::size_t max_program_bytes = 100;
constexpr std::size_t max_status_bytes = 4096;
constexpr std::size_t max_children_bytes = std::size_t{16} << 10; // bytes of their numbers
constexpr int max_starts = 6;                                     // so that what is said fits into 255 bytes

std::string read_text(const std::string& path, std::size_t most) {
    std::string text(most, '\0');
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const ssize_t size = fd < 0 ? 0 : ::read(fd, text.data(), text.size());
    if (fd >= 0) {
        ::close(fd);
    }
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
}

// The inode of the socket of who connected to the bridge from `port`; empty when it has gone.
std::string socket_at(unsigned port, unsigned bridge_port) {
    std::string found;
    if (std::FILE* table = std::fopen("/proc/net/tcp", "re")) {
        char line[512];
        while (found.empty() && std::fgets(line, sizeof line, table) != nullptr) {
            unsigned local = 0;
            unsigned remote = 0;
            unsigned long inode = 0;
            if (std::sscanf(line, " %*u: %*8X:%4X %*8X:%4X %*X %*s %*s %*s %*u %*u %lu", &local, &remote, &inode) ==
                    3 &&
                local == port && remote == bridge_port) {
                found = std::to_string(inode);
            }
        }
        std::fclose(table);
    }
    return found;
}

bool holds_socket(const std::string& process, const std::string& socket) {
    const std::string folder = process + "/fd";
    const std::string link = "socket:[" + socket + "]";
    bool found = false;
    if (DIR* descriptors = ::opendir(folder.c_str())) {
        while (const dirent* entry = found ? nullptr : ::readdir(descriptors)) {
            char target[64];
            const ssize_t size = ::readlinkat(::dirfd(descriptors), entry->d_name, target, sizeof target);
            found = size > 0 && std::string(target, static_cast<std::size_t>(size)) == link;
        }
        ::closedir(descriptors);
    }
    return found;
}

// "python3 fetch.py": its command line, without the folder of the program. `whole`: else the program alone.
std::string program_of(const std::string& process, bool whole) {
    std::string command = read_text(process + "/cmdline", 4 * max_program_bytes);
    command.resize(whole ? command.size() : std::min(command.find('\0'), command.size()));
    while (command.ends_with('\0')) {
        command.pop_back();
    }
    command.erase(0, command.rfind('/', command.find('\0')) + 1);
    for (char& c : command) {
        c = c == '\0' ? ' ' : c;
    }
    if (command.size() > max_program_bytes) {
        command.resize(max_program_bytes);
    }
    return command;
}

long parent_of(long process) {
    const std::string status = read_text("/proc/" + std::to_string(process) + "/status", max_status_bytes);
    constexpr std::string_view name = "\nPPid:\t";
    const std::size_t found = status.find(name);
    return found == std::string::npos ? 0 : std::strtol(status.c_str() + found + name.size(), nullptr, 10);
}

// The thread of `parent` that started `process`; 0 when none did, or the system does not say.
long thread_that_started(long process, long parent) {
    const std::string folder = "/proc/" + std::to_string(parent) + "/task";
    const std::string wanted = " " + std::to_string(process) + " ";
    long found = 0;
    if (DIR* threads = ::opendir(folder.c_str())) {
        while (const dirent* entry = found != 0 ? nullptr : ::readdir(threads)) {
            const std::string children =
                " " + read_text(folder + "/" + entry->d_name + "/children", max_children_bytes);
            found = children.find(wanted) == std::string::npos ? 0 : std::strtol(entry->d_name, nullptr, 10);
        }
        ::closedir(threads);
    }
    return found;
}

// " 41:2 40:2": the process and the thread that started it, that thread's process and so on, as far as `command`.
std::string starts_of(long process, pid_t command) {
    std::string starts;
    for (int step = 0; step < max_starts && process > 1 && process != command; ++step) {
        const long parent = parent_of(process);
        const long thread = thread_that_started(process, parent);
        if (thread == 0) {
            break;
        }
        starts += " " + std::to_string(process) + ":" + std::to_string(thread);
        process = parent;
    }
    return starts;
}

// `command`: the process that the sandbox is for.
std::string caller_of(int client, pid_t command) {
    sockaddr_in peer{};
    sockaddr_in own{};
    socklen_t size = sizeof peer;
    if (::getpeername(client, reinterpret_cast<sockaddr*>(&peer), &size) != 0 ||
        ::getsockname(client, reinterpret_cast<sockaddr*>(&own), &size) != 0) {
        return {};
    }
    const std::string socket = socket_at(ntohs(peer.sin_port), ntohs(own.sin_port)); // its inode
    std::string found;
    if (DIR* processes = socket.empty() ? nullptr : ::opendir("/proc")) {
        while (const dirent* entry = found.empty() ? ::readdir(processes) : nullptr) {
            const std::string process = std::string("/proc/") + entry->d_name;
            if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && holds_socket(process, socket)) {
                const long number = std::strtol(entry->d_name, nullptr, 10);
                found = (number == command ? "command " : "") + socket + starts_of(number, command) + "\n" +
                        program_of(process, number != command);
            }
        }
        ::closedir(processes);
    }
    return found;
}

constexpr int client_side = 0;
constexpr int proxy_side = 1;

// A client and its connection to the proxy. Each side has what was read from it and the other has not taken yet.
//
// The two directions end one by one. A proxy that takes no more (it answered before an upload's end, say) is heard to
// its end; what the client sends meanwhile is thrown away, and its socket stays open until it ends: to close it with
// something unread would reset the connection, and destroy the answer. A client ends by a reset or after its own end.
class Connection {
  public:
    Connection(int client, int proxy, pid_t command) : sides_{Side{client, {}, 0}, Side{proxy, {}, 0}} {
        const std::string caller = caller_of(client, command);
        std::string& preface = sides_[client_side].waiting;
        preface.push_back('\0');
        preface.push_back(static_cast<char>(caller.size()));
        preface += caller;
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() {
        ::close(sides_[client_side].fd);
        ::close(sides_[proxy_side].fd);
    }

    void ask(std::vector<pollfd>& sources) const {
        for (int side = 0; side < 2; ++side) {
            const bool reads = !sides_[side].ended && sides_[side].waiting.empty();
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
        if (size <= 0 || !sides_[1 - side].takes_more) {
            return true;
        }
        sides_[side].waiting.assign(bytes.data(), static_cast<std::size_t>(size));
        return write_to(1 - side);
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

[[noreturn]] void carry_all(int listener, const sockaddr_un& proxy, pid_t command) {
    std::list<Connection> connections;
    while (true) {
        std::vector<pollfd> sources;
        for (const Connection& connection : connections) {
            connection.ask(sources);
        }
        sources.push_back({connections.size() < max_connections ? listener : -1, POLLIN, 0});
        if (::poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) {
            std::_Exit(1);
        }
        const pollfd* source = sources.data();
        for (auto connection = connections.begin(); connection != connections.end(); source += 2) {
            connection = connection->carry(source) ? std::next(connection) : connections.erase(connection);
        }
        if (sources.back().revents != 0) {
            const int client = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
            const int out = client < 0 ? -1 : connect_to(proxy);
            if (out >= 0) {
                connections.emplace_back(client, out, command);
            } else if (client >= 0) {
                ::close(client);
            }
        }
    }
}

[[noreturn]] void become_bridge(int listener, const sockaddr_un& proxy, pid_t command) {
    ::prctl(PR_SET_NAME, "cellgate-bridge");
    ::setsid();
    ::signal(SIGPIPE, SIG_IGN);
    // The kernel's stdio and what else it was given end with the kernel, not with this.
    const int null = ::open("/dev/null", O_RDWR);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        ::dup2(null, fd);
    }
    const int kept = ::dup2(listener, STDERR_FILENO + 1);
    ::close_range(STDERR_FILENO + 2, ~0U, 0);
    carry_all(kept, proxy, command);
}

} // namespace

bool start_bridge(const char* way) {
    char* colon = nullptr;
    const unsigned long port = std::strtoul(way, &colon, 10);
    if (*colon != ':' || port == 0 || port > 65535) {
        errno = EINVAL;
        return false;
    }
    const char* socket_path = colon + 1;
    sockaddr_un proxy{};
    proxy.sun_family = AF_UNIX;
    if (std::strlen(socket_path) >= sizeof proxy.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    std::strcpy(proxy.sun_path, socket_path);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<std::uint16_t>(port));
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0 || ::bind(listener, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 ||
        ::listen(listener, SOMAXCONN) != 0) {
        return false;
    }
    const pid_t command = ::getpid(); // as that is what it will become
    // A fork, but a child of this one's parent: it is none of what this process becomes.
    const long bridge = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (bridge == 0) {
        become_bridge(listener, proxy, command);
    }
    ::close(listener);
    return bridge > 0;
}

} // namespace cellgate::helper
