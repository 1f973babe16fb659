#include "time_argument.hpp"

#include "argument_error.hpp"
#include "base/encoding.hpp"
#include "base/time_span.hpp"

#include <fmt/format.h>

#include <chrono>

namespace cellgate::cli {

namespace {

// As the record's lists print it, with a space in place of the T; or a date alone.
std::string in_full(std::string text) {
    constexpr std::size_t date_length = 10;
    if (text.size() == date_length) {
        text += "T00:00:00Z";
    } else if (text.size() > date_length && text[date_length] == ' ') {
        text[date_length] = 'T';
    }
    return text;
}

} // namespace

WallTime time_before_now(const char* option, const std::string& text) {
    if (const auto time = parse_rfc3339(in_full(text))) {
        return *time;
    }
    if (const auto span = parse_time_span(text)) {
        return std::chrono::system_clock::now() - *span;
    }
    throw ArgumentError(
        ErrorCode::invalid_params,
        fmt::format("{}: expected a time such as 2026-01-05T09:30:00Z, or how long ago: 30s, 90m, 12h, 7d", option));
}

} // namespace cellgate::cli
