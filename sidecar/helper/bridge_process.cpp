#include "bridge_process.hpp"

#include "descriptor.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cellgate::helper {

namespace {

constexpr std::size_t max_connections = 256; // the next ones wait in the listener's queue

} // namespace

bool start_bridge_process(const std::vector<int>& keep, const std::function<void()>& run) {
    // A fork, but a child of this one's parent: it is none of what this process becomes.
    const long bridge = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (bridge != 0) {
        return bridge > 0;
    }
    ::prctl(PR_SET_NAME, "cellgate-bridge");
    ::setsid();
    ::signal(SIGPIPE, SIG_IGN);
    // The kernel's stdio and what else it was given end with the kernel, not with this.
    const int null = ::open("/dev/null", O_RDWR);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        ::dup2(null, fd);
    }
    close_all_but(keep, STDERR_FILENO + 1);
    run();
    std::_Exit(1);
}

void carry_all(const std::vector<int>& listeners, const std::function<void(std::size_t, Connections&)>& accept_one) {
    Connections connections;
    while (true) {
        std::vector<pollfd> polled;
        for (const CarriedConnection& connection : connections) {
            connection.ask(polled);
        }
        for (const int listener : listeners) {
            polled.push_back({connections.size() < max_connections ? listener : -1, POLLIN, 0});
        }
        if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) {
            std::_Exit(1);
        }
        const pollfd* source = polled.data();
        for (auto connection = connections.begin(); connection != connections.end();
             source += CarriedConnection::sources) {
            connection = connection->carry(source) ? std::next(connection) : connections.erase(connection);
        }
        for (std::size_t i = 0; i < listeners.size(); ++i) {
            if ((source++)->revents != 0) {
                accept_one(i, connections);
            }
        }
    }
}

bool set_unix_address(sockaddr_un& address, const char* path) {
    address.sun_family = AF_UNIX;
    if (std::strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    std::strcpy(address.sun_path, path);
    return true;
}

} // namespace cellgate::helper
