#include "base/log.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/escape_unprintable.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate {

namespace {

LogLevel threshold = LogLevel::warning;
std::uint64_t lost = 0;
std::string file;            // the target of stderr; empty if it is not a log file
std::uint64_t file_size = 0; // approximate

// Redirects stderr to the file, so that messages of libraries and abort() are there too.
int open_file() {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct stat found{};
    if (fd < 0 || ::fstat(fd, &found) != 0 || ::dup2(fd, STDERR_FILENO) < 0) {
        const int error = errno;
        ::close(fd);
        return error;
    }
    ::close(fd);
    file_size = static_cast<std::uint64_t>(found.st_size);
    return 0;
}

// If the new file cannot be opened, the old one is kept.
void turn_over_full_file() {
    if (!file.empty() && file_size > max_log_file_bytes) {
        file_size = 0;
        if (std::rename(file.c_str(), (file + ".1").c_str()) == 0) {
            open_file();
        }
    }
}

bool write_whole(const std::string& line) {
    // A pipe takes up to PIPE_BUF bytes whole or not at all; asking first keeps a full one from blocking the loop.
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    return ::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0 &&
           ::write(STDERR_FILENO, line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

} // namespace

std::string_view name_of(LogLevel level) {
    constexpr std::string_view names[] = {"error", "warning", "info", "debug"};
    static_assert(std::size(names) == static_cast<std::size_t>(LogLevel::debug) + 1); // the last one
    return names[static_cast<int>(level)];
}

void set_log_level(LogLevel level) {
    threshold = level;
}

void log_to_file(const std::string& path) {
    file = path;
    if (const int error = open_file(); error != 0) {
        file.clear();
        throw system_error(ErrorCode::store_failed, fmt::format("cannot open the log {}", path), error);
    }
}

void write_log(LogLevel level, std::string_view message) {
    if (level > threshold) {
        return;
    }
    constexpr std::size_t max_line_bytes = 2000;
    std::string line =
        fmt::format("cellgate: {}: {}\n", name_of(level), escape_unprintable(message.substr(0, max_line_bytes)));
    if (lost > 0) {
        line = fmt::format("cellgate: {} log lines were lost\n", lost) + line;
    }
    if (!file.empty()) { // it is read much later
        turn_over_full_file();
        line = fmt::format("{} {}", to_rfc3339(std::chrono::system_clock::now()), line);
        file_size += line.size();
    }
    lost = write_whole(line) ? 0 : lost + 1;
}

} // namespace cellgate
