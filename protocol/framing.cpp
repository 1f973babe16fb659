#include "protocol/framing.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace cellgate::protocol {

namespace {

constexpr std::size_t max_header_bytes = 8192;

struct Headers {
    std::optional<std::size_t> content_length;
    std::string problem;
};

Headers parse_headers(std::string_view block) {
    Headers headers;
    while (!block.empty()) {
        const std::size_t end = std::min(block.find("\r\n"), block.size());
        const std::string_view line = block.substr(0, end);
        block.remove_prefix(std::min(end + 2, block.size()));
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos || lower(trim(line.substr(0, colon))) != "content-length") {
            continue;
        }
        const std::string_view digits = trim(line.substr(colon + 1));
        std::size_t length = 0;
        const auto [stop, status] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
        if (status == std::errc::result_out_of_range) {
            length = static_cast<std::size_t>(-1);
        } else if (digits.empty() || status != std::errc() || stop != digits.data() + digits.size()) {
            headers.problem = "expected a number of bytes in the Content-Length header";
            return headers;
        }
        if (headers.content_length && *headers.content_length != length) {
            headers.problem = "expected one Content-Length header, found two that differ";
            return headers;
        }
        headers.content_length = length;
    }
    if (!headers.content_length) {
        headers.problem = "expected a Content-Length header, found none";
    }
    return headers;
}

} // namespace

void Decoder::feed(std::string_view bytes) {
    if (dead_) {
        return;
    }
    if (start_ > 0 && start_ * 2 >= buffer_.size()) {
        buffer_.erase(0, start_);
        scanned_ -= start_;
        start_ = 0;
    }
    buffer_ += bytes;
}

std::optional<Frame> Decoder::next() {
    if (dead_) {
        return std::nullopt;
    }
    return framing_ == Framing::content_length ? next_by_headers() : next_line();
}

Frame Decoder::die(std::string problem) {
    dead_ = true;
    buffer_.clear();
    start_ = scanned_ = 0;
    return Frame{{}, std::move(problem), true};
}

std::optional<Frame> Decoder::next_by_headers() {
    constexpr std::string_view separator = "\r\n\r\n";
    if (!body_size_) {
        const std::size_t end = buffer_.find(separator, scanned_);
        if (end == std::string::npos) {
            // The separator may be cut in two by the end of what is here.
            scanned_ = std::max(start_, buffer_.size() - std::min(buffer_.size(), separator.size() - 1));
            if (buffer_.size() - start_ > max_header_bytes) {
                return die(fmt::format("expected message headers of at most {} bytes, found more", max_header_bytes));
            }
            return std::nullopt;
        }
        const Headers headers = parse_headers(std::string_view(buffer_).substr(start_, end - start_));
        start_ = scanned_ = end + separator.size();
        if (!headers.problem.empty()) {
            return Frame{{}, headers.problem, false};
        }
        if (*headers.content_length > max_bytes_) {
            return die(fmt::format("expected a message of at most {} bytes, found one that says more", max_bytes_));
        }
        body_size_ = headers.content_length;
    }
    if (buffer_.size() - start_ < *body_size_) {
        return std::nullopt;
    }
    Frame frame{buffer_.substr(start_, *body_size_), {}, false};
    start_ += *body_size_;
    scanned_ = start_;
    body_size_.reset();
    return frame;
}

std::optional<Frame> Decoder::next_line() {
    while (true) {
        const std::size_t end = buffer_.find('\n', scanned_);
        if (end == std::string::npos) {
            if (skipping_line_ || buffer_.size() - start_ > max_bytes_) {
                skipping_line_ = true;
                buffer_.clear();
                start_ = 0;
            }
            scanned_ = buffer_.size();
            return std::nullopt;
        }
        std::string_view line = std::string_view(buffer_).substr(start_, end - start_);
        const bool too_long = std::exchange(skipping_line_, false) || line.size() > max_bytes_;
        start_ = scanned_ = end + 1;
        if (too_long) {
            return Frame{{}, fmt::format("expected a line of at most {} bytes, found a longer one", max_bytes_), false};
        }
        if (!line.empty() && line.back() == '\r') {
            line.remove_suffix(1);
        }
        if (!trim(line).empty()) {
            return Frame{std::string(line), {}, false};
        }
    }
}

std::string frame_start(Framing framing, std::size_t size) {
    return framing == Framing::lines ? std::string() : fmt::format("Content-Length: {}\r\n\r\n", size);
}

std::string_view frame_end(Framing framing) {
    return framing == Framing::lines ? "\n" : "";
}

} // namespace cellgate::protocol
