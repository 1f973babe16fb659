#include "time_argument.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>

namespace cellgate::cli {

namespace {

std::optional<std::chrono::seconds> span_of(const std::string& text) {
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, text.data() + text.size());
    constexpr std::pair<std::string_view, int> units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    for (const auto& [name, seconds] : units) {
        if (error == std::errc() && number >= 0 && number < 1'000'000 && unit == name) {
            return std::chrono::seconds(number * seconds);
        }
    }
    return std::nullopt;
}

} // namespace

WallTime time_before_now(const char* option, const std::string& text) {
    if (const auto time = parse_rfc3339(text)) {
        return *time;
    }
    if (const auto span = span_of(text)) {
        return std::chrono::system_clock::now() - *span;
    }
    throw Error(
        ErrorCode::invalid_params,
        fmt::format("{}: expected a time such as 2026-01-05T09:30:00Z, or how long ago: 30s, 90m, 12h, 7d", option));
}

WallTime time_from_now(const char* option, const std::string& text) {
    if (const auto span = span_of(text)) {
        return std::chrono::system_clock::now() + *span;
    }
    throw Error(ErrorCode::invalid_params, fmt::format("{}: expected how long: 30s, 90m, 12h, 7d", option));
}

} // namespace cellgate::cli
