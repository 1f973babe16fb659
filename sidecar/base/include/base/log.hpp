#pragma once
// The log: lines on stderr, never on stdout. Writing never blocks: a line that stderr does not take at once is dropped
// and counted, and the next line that goes through says how many were lost.

#include <fmt/format.h>

#include <string_view>

namespace cellgate {

enum class LogLevel { error, warning, info, debug };

void set_log_level(LogLevel level);
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
