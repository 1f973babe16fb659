#pragma once
// `write_log` writes the log: lines on stderr, never on stdout. It never blocks: a line that stderr does not take at
// once is dropped and counted, and the next line that is written reports how many were lost.

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace cellgate {

enum class LogLevel { error, warning, info, debug };

std::string_view name_of(LogLevel level);
void set_log_level(LogLevel level);

inline constexpr std::uint64_t max_log_file_bytes = std::uint64_t{1} << 20;

// Redirects stderr to `path`, which is appended to, each line with its time. A file that has grown beyond its limit is
// renamed to `<path>.1`, replacing the previous one. Throws Error{store_failed}.
void log_to_file(const std::string& path);

void write_log(LogLevel level, std::string_view message);

template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
    write_log(LogLevel::error, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
    write_log(LogLevel::warning, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
    write_log(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
}

} // namespace cellgate
