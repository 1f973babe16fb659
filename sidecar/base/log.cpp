#include "base/log.hpp"

#include "base/visible_text.hpp"

#include <cstdint>
#include <poll.h>
#include <string>
#include <unistd.h>

namespace cellgate {

namespace {

LogLevel threshold = LogLevel::warning;
std::uint64_t lost = 0;

bool write_whole(const std::string& line) {
    // A pipe takes up to PIPE_BUF bytes whole or not at all; asking first keeps a full one from blocking the loop.
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    return ::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0 &&
           ::write(STDERR_FILENO, line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

} // namespace

void set_log_level(LogLevel level) {
    threshold = level;
}

void write_log(LogLevel level, std::string_view message) {
    if (level > threshold) {
        return;
    }
    constexpr std::string_view names[] = {"error", "warning", "info", "debug"};
    constexpr std::size_t longest = 2000;
    std::string line =
        fmt::format("cellgate: {}: {}\n", names[static_cast<int>(level)], visible_text(message.substr(0, longest)));
    if (lost > 0) {
        line = fmt::format("cellgate: {} log lines were lost\n", lost) + line;
    }
    lost = write_whole(line) ? 0 : lost + 1;
}

} // namespace cellgate
