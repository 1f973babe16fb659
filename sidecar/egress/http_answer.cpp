#include "http_answer.hpp"

#include "base/escape_unprintable.hpp"

#include <fmt/format.h>

namespace cellgate::egress {

namespace {

constexpr std::size_t max_phrase_bytes = 300;

// One line of ASCII, as a status line may hold.
std::string reason_phrase(const std::string& text) {
    std::string phrase;
    for (const char c : escape_unprintable(text).substr(0, max_phrase_bytes)) {
        phrase += c >= ' ' && c <= '~' ? c : '?';
    }
    return phrase;
}

} // namespace

std::string http_answer(int status, const std::string& reason) {
    const std::string text = "cellgate: " + escape_unprintable(reason) + "\n";
    return fmt::format("HTTP/1.1 {} {}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n"
                       "connection: close\r\n\r\n{}",
                       status, reason_phrase(reason), text.size(), text);
}

int http_status_of(ErrorCode code) {
    switch (code) {
    case ErrorCode::denied:
        return 403;
    case ErrorCode::limit_exceeded:
        return 431;
    case ErrorCode::internal_error:
        return 502;
    default:
        return 400;
    }
}

} // namespace cellgate::egress
