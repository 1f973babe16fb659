#include "message_body.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace cellgate::egress {

namespace {

constexpr std::size_t max_line_bytes = 4096;
constexpr std::size_t max_size_digits = 15;

[[noreturn]] void refuse_body(const char* what) {
    throw Error(ErrorCode::invalid_request, what);
}

// All of `digits`, in `base`.
std::uint64_t number(std::string_view digits, int base) {
    std::uint64_t value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (status != std::errc() || end != digits.data() + digits.size() || digits.size() > max_size_digits) {
        refuse_body("expected the length of a body, found something else");
    }
    return value;
}

} // namespace

MessageBody::MessageBody(const RequestHead& head) {
    read_framing(head, true);
}

MessageBody::MessageBody(const ResponseHead& head, std::string_view method) {
    constexpr int no_content = 204;
    constexpr int not_modified = 304;
    if (method != "HEAD" && head.status >= 200 && head.status != no_content && head.status != not_modified) {
        read_framing(head, false);
    }
}

void MessageBody::read_framing(const MessageHead& head, bool is_request) {
    const std::optional<std::string> length = head.single("content-length");
    const std::optional<std::string> coding = head.single("transfer-encoding");
    if (coding && (length || *coding != "chunked" || head.minor_version == 0)) {
        refuse_body("expected a body with one length: Content-Length, or Transfer-Encoding: chunked");
    }
    chunked_ = coding.has_value();
    if (coding) {
        state_ = State::size_line;
    } else if (length) {
        left_ = number(*length, 10);
        state_ = left_ > 0 ? State::counted : State::ended;
    } else if (!is_request) {
        state_ = State::until_close;
    }
}

std::size_t MessageBody::take(std::string_view bytes, std::string* content) {
    std::size_t taken = 0;
    while (state_ != State::ended && taken < bytes.size()) {
        const std::string_view rest = bytes.substr(taken);
        if (state_ == State::until_close) {
            taken = bytes.size();
            if (content != nullptr) {
                content->append(rest);
            }
        } else if (state_ == State::counted || state_ == State::chunk) {
            const std::size_t count = std::min<std::uint64_t>(left_, rest.size());
            if (content != nullptr) {
                content->append(rest.substr(0, count));
            }
            taken += count;
            left_ -= count;
            if (left_ == 0) {
                state_ = state_ == State::counted ? State::ended : State::chunk_end;
            }
        } else {
            taken += take_line(rest);
        }
    }
    return taken;
}

std::size_t MessageBody::take_line(std::string_view bytes) {
    const std::size_t end = bytes.find('\n');
    const std::size_t count = end == std::string_view::npos ? bytes.size() : end + 1;
    line_ += bytes.substr(0, count);
    if (line_.size() > max_line_bytes) {
        refuse_body("expected a short line between the chunks of a body, found a long one");
    }
    if (end != std::string_view::npos) {
        end_of_line();
        line_.clear();
    }
    return count;
}

void MessageBody::end_of_line() {
    if (!line_.ends_with("\r\n") || line_.find('\r') != line_.size() - 2) {
        refuse_body("expected a line between the chunks of a body to end in CR LF, found another end");
    }
    const std::string_view line = std::string_view(line_).substr(0, line_.size() - 2);
    if (state_ == State::chunk_end) {
        if (!line.empty()) {
            refuse_body("expected a chunk of a body to end where its size says, found more");
        }
        state_ = State::size_line;
    } else if (state_ == State::size_line) {
        left_ = number(line.substr(0, line.find(';')), 16);
        state_ = left_ > 0 ? State::chunk : State::trailer;
    } else {
        trailer_bytes_ += line_.size();
        if (trailer_bytes_ > max_head_bytes) {
            refuse_body("expected a short trailer, found a long one");
        }
        state_ = line.empty() ? State::ended : State::trailer;
    }
}

std::string chunk_of(std::string_view content) {
    return fmt::format("{:x}\r\n{}\r\n", content.size(), content);
}

} // namespace cellgate::egress
