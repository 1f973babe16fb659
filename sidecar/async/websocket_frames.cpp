#include "websocket_frames.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellgate::async {

namespace {

constexpr unsigned final_bit = 0x80;
constexpr unsigned mask_bit = 0x80;
constexpr unsigned length_bits = 0x7f;
constexpr unsigned length_of_2_bytes = 126;
constexpr unsigned length_of_8_bytes = 127;
constexpr std::size_t max_control_bytes = 125;

[[noreturn]] void fail_frame(std::string what) {
    throw Error(ErrorCode::parse_error, std::move(what));
}

unsigned byte_of(const std::string& text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

bool is_control(WebSocketOpcode opcode) {
    return static_cast<unsigned>(opcode) >= static_cast<unsigned>(WebSocketOpcode::close);
}

void append_number(std::string& out, std::uint64_t number, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
        out += static_cast<char>(number >> shift & 0xffU);
    }
}

// Bytes of a head that begins like this, of which two are there.
std::size_t head_bytes(const std::string& head) {
    const unsigned length = byte_of(head, 1) & length_bits;
    return length == length_of_8_bytes ? 10 : length == length_of_2_bytes ? 4 : 2;
}

} // namespace

std::string websocket_frame(WebSocketOpcode opcode, std::string_view payload, std::string_view mask) {
    std::string frame;
    frame.reserve(payload.size() + 14);
    frame += static_cast<char>(final_bit | static_cast<unsigned>(opcode));
    if (payload.size() < length_of_2_bytes) {
        frame += static_cast<char>(mask_bit | payload.size());
    } else if (payload.size() <= 0xffff) {
        frame += static_cast<char>(mask_bit | length_of_2_bytes);
        append_number(frame, payload.size(), 2);
    } else {
        frame += static_cast<char>(mask_bit | length_of_8_bytes);
        append_number(frame, payload.size(), 8);
    }
    frame += mask;
    const std::size_t begin = frame.size();
    frame += payload;
    for (std::size_t i = 0; i < payload.size(); ++i) {
        frame[begin + i] = static_cast<char>(frame[begin + i] ^ mask[i % mask.size()]);
    }
    return frame;
}

std::string websocket_accept(std::string_view key) {
    return encode_base64(sha1_bytes(std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
}

std::optional<WebSocketArrival> WebSocketDecoder::next(std::string_view& bytes) {
    while (in_body_ || take_head(bytes)) {
        std::string& payload = is_control(opcode_) ? control_ : message_->payload;
        const std::string_view part = bytes.substr(0, left_);
        payload += part;
        left_ -= part.size();
        bytes.remove_prefix(part.size());
        if (left_ != 0) {
            return std::nullopt;
        }
        in_body_ = false;
        if (std::optional<WebSocketArrival> arrival = end_frame()) {
            return arrival;
        }
    }
    return std::nullopt;
}

// Whether the head is whole: then the frame has begun.
bool WebSocketDecoder::take_head(std::string_view& bytes) {
    while (!bytes.empty()) {
        head_ += bytes.front();
        bytes.remove_prefix(1);
        if (head_.size() >= 2 && head_.size() == head_bytes(head_)) {
            begin_frame();
            head_.clear();
            return true;
        }
    }
    return false;
}

void WebSocketDecoder::begin_frame() {
    const unsigned first = byte_of(head_, 0);
    const unsigned second = byte_of(head_, 1);
    final_ = (first & final_bit) != 0;
    opcode_ = static_cast<WebSocketOpcode>(first & 0xfU);
    if ((first & 0x70U) != 0) {
        fail_frame("expected a WebSocket frame without extensions, found reserved bits");
    }
    if ((second & mask_bit) != 0) {
        fail_frame("expected a WebSocket frame without a mask, as servers send them");
    }
    std::uint64_t size = second & length_bits;
    if (head_.size() > 2) {
        size = 0;
        for (std::size_t i = 2; i < head_.size(); ++i) {
            size = size << 8U | byte_of(head_, i);
        }
    }
    switch (opcode_) {
    case WebSocketOpcode::continuation:
        if (!message_) {
            fail_frame("expected a message's first WebSocket frame, found a further one");
        }
        break;
    case WebSocketOpcode::text:
    case WebSocketOpcode::binary:
        if (message_) {
            fail_frame("expected the rest of a WebSocket message, found another one");
        }
        message_ = WebSocketArrival{opcode_, {}};
        break;
    case WebSocketOpcode::close:
    case WebSocketOpcode::ping:
    case WebSocketOpcode::pong:
        if (!final_ || size > max_control_bytes) {
            fail_frame("expected a WebSocket control frame in one piece of at most 125 bytes");
        }
        break;
    default:
        fail_frame(fmt::format("expected a WebSocket frame, found opcode {}", static_cast<unsigned>(opcode_)));
    }
    if (!is_control(opcode_) && (size > max_bytes_ || message_->payload.size() > max_bytes_ - size)) {
        fail_frame(fmt::format("expected a WebSocket message of at most {} bytes", max_bytes_));
    }
    left_ = static_cast<std::size_t>(size);
    in_body_ = true;
}

std::optional<WebSocketArrival> WebSocketDecoder::end_frame() {
    if (is_control(opcode_)) {
        return WebSocketArrival{opcode_, std::exchange(control_, {})};
    }
    return final_ ? std::exchange(message_, std::nullopt) : std::nullopt;
}

} // namespace cellgate::async
