#include "connected_program.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace cellgate::helper {

namespace {

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

// The inode of the socket of who connected to the bridge from `port`; empty when it has gone. `table_file`:
// /proc/net/tcp, or tcp6.
std::string socket_at(unsigned port, unsigned bridge_port, const char* table_file) {
    std::string found;
    char written_port[16]; // most lines do not have it: there may be thousands
    std::snprintf(written_port, sizeof written_port, ":%04X ", port);
    if (std::FILE* table = std::fopen(table_file, "re")) {
        char line[512];
        while (found.empty() && std::fgets(line, sizeof line, table) != nullptr) {
            unsigned local = 0;
            unsigned remote = 0;
            unsigned long inode = 0;
            if (std::strstr(line, written_port) != nullptr &&
                std::sscanf(line, " %*u: %*32X:%4X %*32X:%4X %*X %*s %*s %*s %*u %*u %lu", &local, &remote, &inode) ==
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

} // namespace

std::string connected_program(int client, pid_t command) {
    sockaddr_in6 peer{}; // IPv4 has the port in the same place
    sockaddr_in6 own{};
    socklen_t size = sizeof peer;
    socklen_t own_size = sizeof own;
    if (::getpeername(client, reinterpret_cast<sockaddr*>(&peer), &size) != 0 ||
        ::getsockname(client, reinterpret_cast<sockaddr*>(&own), &own_size) != 0) {
        return {};
    }
    const char* table = own.sin6_family == AF_INET6 ? "/proc/net/tcp6" : "/proc/net/tcp";
    const std::string socket = socket_at(ntohs(peer.sin6_port), ntohs(own.sin6_port), table); // its inode
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

} // namespace cellgate::helper
