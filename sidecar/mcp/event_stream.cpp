#include "mcp/event_stream.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace cellgate::mcp {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::int64_t max_retry_milliseconds = 3'600'000;

} // namespace

std::vector<ServerSentEvent> EventStream::add(std::string_view bytes) {
    std::vector<ServerSentEvent> events;
    while (!bytes.empty()) {
        if (ended_in_cr_ && bytes.front() == '\n') {
            bytes.remove_prefix(1);
        }
        ended_in_cr_ = false;
        const std::size_t end = bytes.find_first_of("\r\n");
        line_ += bytes.substr(0, end);
        if (line_.size() + data_.size() > max_bytes_) {
            throw Error(ErrorCode::limit_exceeded,
                        fmt::format("expected an event of at most {} bytes, found a longer one", max_bytes_));
        }
        if (end == std::string_view::npos) {
            break;
        }
        ended_in_cr_ = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        const std::string line = std::exchange(line_, {});
        take_line(line, events);
    }
    return events;
}

void EventStream::take_line(std::string_view line, std::vector<ServerSentEvent>& events) {
    if (!begun_ && line.starts_with(byte_order_mark)) {
        line.remove_prefix(byte_order_mark.size());
    }
    begun_ = true;
    if (!line.empty()) {
        const std::size_t colon = line.find(':');
        std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
        if (value.starts_with(' ')) {
            value.remove_prefix(1);
        }
        take_field(line.substr(0, colon), value);
        return;
    }
    last_id_ = id_;
    ServerSentEvent event{std::exchange(type_, {}), std::exchange(data_, {})};
    if (event.data.empty()) {
        return;
    }
    event.data.pop_back(); // the line break after its last line
    if (event.type.empty()) {
        event.type = "message";
    }
    events.push_back(std::move(event));
}

// A comment is a field without a name.
void EventStream::take_field(std::string_view name, std::string_view value) {
    if (name == "data") {
        data_ += value;
        data_ += '\n';
    } else if (name == "event") {
        type_ = value;
    } else if (name == "id" && value.find('\0') == std::string_view::npos) {
        id_ = value;
    } else if (name == "retry") {
        std::int64_t milliseconds = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), milliseconds);
        if (error == std::errc() && end == value.data() + value.size() && milliseconds >= 0) {
            retry_ = std::chrono::milliseconds(std::min(milliseconds, max_retry_milliseconds));
        }
    }
}

} // namespace cellgate::mcp
