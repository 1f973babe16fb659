#include "zmtp.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace cellgate::async {

namespace {

// The greeting: a signature (0xff, padding, 0x7f), the version, the mechanism and zeros.
constexpr std::size_t greeting_size = 64;
constexpr std::size_t signature_end = 9;
constexpr std::size_t major_at = 10;
constexpr std::size_t minor_at = 11;
constexpr std::size_t mechanism_at = 12;
constexpr std::string_view mechanism{"NULL\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20};

constexpr unsigned flag_more = 1;
constexpr unsigned flag_long = 2;
constexpr unsigned flag_command = 4;
constexpr std::size_t max_short_size = 255; // the largest length of one byte
constexpr std::size_t length_bytes = 8;

constexpr std::size_t max_command_bytes = 4096; // READY of libzmq has about 50
constexpr std::size_t max_ping_context = 16;
constexpr std::size_t ping_ttl_bytes = 2;
// A Jupyter message has a topic, a delimiter, a signature and four parts.
constexpr std::size_t usual_frames = 8;
// A frame's memory is reserved at once up to this size, and grows with its bytes beyond it.
constexpr std::size_t max_reserved_bytes = std::size_t{16} << 20;
// Read directly into the frame: only for at least this many bytes, and at most this many at once.
constexpr std::size_t least_straight = std::size_t{16} << 10;
constexpr std::size_t max_direct_bytes = std::size_t{256} << 10;

[[noreturn]] void fail(const std::string& what) {
    throw Error(ErrorCode::parse_error, what);
}

unsigned byte_at(std::string_view bytes, std::size_t at) {
    return static_cast<unsigned char>(bytes[at]);
}

std::uint64_t read_number(std::string_view bytes) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        number = number << 8 | byte_at(bytes, i);
    }
    return number;
}

void append_number(std::string& out, std::uint64_t number, std::size_t bytes) {
    for (std::size_t i = bytes; i > 0; --i) {
        out += static_cast<char>(number >> 8 * (i - 1) & 0xff);
    }
}

void append_frame(std::string& out, unsigned flags, std::string_view body) {
    const bool is_long = body.size() > max_short_size;
    out += static_cast<char>(flags | (is_long ? flag_long : 0));
    append_number(out, body.size(), is_long ? length_bytes : 1);
    out += body;
}

std::string command(std::string_view name, std::string_view data) {
    std::string body;
    append_number(body, name.size(), 1);
    body += name;
    body += data;
    std::string frame;
    append_frame(frame, flag_command, body);
    return frame;
}

void append_property(std::string& out, std::string_view name, std::string_view value) {
    append_number(out, name.size(), 1);
    out += name;
    append_number(out, value.size(), 4);
    out += value;
}

// Checks the received part: a peer that speaks another protocol is refused without waiting for the rest.
void check_greeting(std::string_view greeting) {
    if ((!greeting.empty() && byte_at(greeting, 0) != 0xff) ||
        (greeting.size() > signature_end && byte_at(greeting, signature_end) != 0x7f)) {
        fail("expected the signature of ZMTP 3, found something else");
    }
    if (greeting.size() > major_at && byte_at(greeting, major_at) < 3) {
        fail(fmt::format("expected ZMTP 3, found ZMTP {}", byte_at(greeting, major_at)));
    }
    if (greeting.size() == greeting_size && greeting.substr(mechanism_at, mechanism.size()) != mechanism) {
        fail("expected the mechanism NULL, found another");
    }
}

std::string_view name_of(ZmqType type) {
    return type == ZmqType::dealer ? "DEALER" : "SUB";
}

bool talks_with(ZmqType type, std::string_view peer) {
    if (type == ZmqType::dealer) {
        return peer == "ROUTER" || peer == "REP" || peer == "DEALER";
    }
    return peer == "PUB" || peer == "XPUB";
}

bool equal_names(std::string_view left, std::string_view right) {
    return lower(left) == lower(right);
}

} // namespace

std::string zmtp_greeting() {
    std::string greeting(greeting_size, '\0');
    greeting[0] = '\xff';
    greeting[signature_end] = '\x7f';
    greeting[major_at] = 3;
    greeting[minor_at] = 1;
    mechanism.copy(greeting.data() + mechanism_at, mechanism.size());
    return greeting;
}

std::string zmtp_message(const ZmqMessage& message) {
    std::size_t size = 0;
    for (const std::string& frame : message) {
        size += 1 + length_bytes + frame.size();
    }
    std::string out;
    out.reserve(size);
    for (std::size_t i = 0; i < message.size(); ++i) {
        append_frame(out, i + 1 < message.size() ? flag_more : 0, message[i]);
    }
    return out;
}

ZmtpDecoder::ZmtpDecoder(ZmqType type, std::string identity, ZmtpLimits limits)
    : type_(type), identity_(std::move(identity)), limits_(limits) {}

std::optional<ZmtpArrival> ZmtpDecoder::next(std::string_view& bytes) {
    if (!greeted_) {
        const bool whole = gather(bytes, greeting_size);
        check_greeting(head_);
        return whole ? std::optional(end_greeting()) : std::nullopt;
    }
    if (!in_body_) {
        if (!gather(bytes, 1) ||
            !gather(bytes, 1 + ((byte_at(head_, 0) & flag_long) != 0 ? length_bytes : std::size_t{1}))) {
            return std::nullopt;
        }
        begin_frame();
    }
    const std::string_view part = bytes.substr(0, left_);
    bytes.remove_prefix(part.size());
    left_ -= part.size();
    if (command_ || !dropping_) {
        keep(part);
    }
    if (left_ > 0) {
        return std::nullopt;
    }
    in_body_ = false;
    head_.clear();
    return command_ ? end_command() : end_frame();
}

std::span<char> ZmtpDecoder::space() {
    if (!in_body_ || command_ || dropping_ || left_ < least_straight) {
        return {};
    }
    if (filled_ == body_.size()) {
        body_.resize(filled_ + std::min(left_, max_direct_bytes));
    }
    return std::span(body_).subspan(filled_);
}

void ZmtpDecoder::filled(std::size_t count) {
    filled_ += count;
    left_ -= count;
}

// Gathers the first `size` bytes of the greeting or of a frame's head; false while some are missing.
bool ZmtpDecoder::gather(std::string_view& bytes, std::size_t size) {
    if (head_.size() < size) {
        const std::string_view part = bytes.substr(0, size - head_.size());
        head_ += part;
        bytes.remove_prefix(part.size());
    }
    return head_.size() >= size;
}

ZmtpArrival ZmtpDecoder::end_greeting() {
    if (type_ == ZmqType::sub) {
        // To all, which is the empty prefix. ZMTP 3.0 has a message for it, whose first byte is 1.
        const bool has_command = byte_at(head_, major_at) > 3 || byte_at(head_, minor_at) >= 1;
        subscription_ = has_command ? command("SUBSCRIBE", {}) : zmtp_message({"\x01"});
    }
    head_.clear();
    greeted_ = true;
    return {ZmtpArrival::Kind::greeting, ready_command(), {}};
}

std::string ZmtpDecoder::ready_command() const {
    std::string metadata;
    append_property(metadata, "Socket-Type", name_of(type_));
    if (!identity_.empty()) {
        append_property(metadata, "Identity", identity_);
    }
    return command("READY", metadata);
}

void ZmtpDecoder::begin_frame() {
    const unsigned flags = byte_at(head_, 0);
    const std::uint64_t length = read_number(std::string_view(head_).substr(1));
    if ((flags & ~(flag_more | flag_long | flag_command)) != 0) {
        fail(fmt::format("expected the flags of a frame, found {:#x}", flags));
    }
    command_ = (flags & flag_command) != 0;
    more_ = (flags & flag_more) != 0;
    if (command_ && more_) {
        fail("a command of more than one frame");
    }
    if (!command_ && !ready_) {
        fail("a message before READY");
    }
    const std::size_t most = command_ ? max_command_bytes : limits_.message_bytes;
    if (length > most) {
        fail(fmt::format("expected a {} of at most {} bytes, found one of {}", command_ ? "command" : "frame", most,
                         length));
    }
    left_ = static_cast<std::size_t>(length);
    in_body_ = true;
    body_.clear();
    filled_ = 0;
    if (!command_) {
        ++frames_;
        bytes_ += left_;
        if (frames_ > limits_.frames || bytes_ > limits_.message_bytes) {
            dropping_ = true;
            message_ = {};
        }
    }
    if (command_ || !dropping_) {
        body_.reserve(std::min(left_, max_reserved_bytes));
    }
}

void ZmtpDecoder::keep(std::string_view part) {
    const std::size_t inside = part.copy(body_.data() + filled_, body_.size() - filled_);
    body_ += part.substr(inside);
    filled_ += part.size();
}

ZmtpArrival ZmtpDecoder::end_frame() {
    if (!dropping_) {
        if (message_.empty()) {
            message_.reserve(usual_frames);
        }
        message_.push_back(std::move(body_));
    }
    ZmtpArrival arrival;
    if (!more_) {
        arrival.kind = ZmtpArrival::Kind::message;
        arrival.message = std::exchange(message_, {});
        frames_ = 0;
        bytes_ = 0;
        dropping_ = false;
    }
    return arrival;
}

ZmtpArrival ZmtpDecoder::end_command() {
    const std::string_view body = body_;
    const std::size_t name_size = body.empty() ? 0 : byte_at(body, 0);
    if (name_size == 0 || 1 + name_size > body.size()) {
        fail("a command without a name");
    }
    const std::string_view name = body.substr(1, name_size);
    const std::string_view data = body.substr(1 + name_size);
    if (name == "ERROR") {
        fail(fmt::format("the peer refuses: {}",
                         escape_unprintable(data.substr(std::min<std::size_t>(1, data.size())))));
    }
    if (!ready_) {
        if (name != "READY") {
            fail("expected READY, found another command");
        }
        check_metadata(data);
        ready_ = true;
        return {ZmtpArrival::Kind::ready, std::move(subscription_), {}};
    }
    if (name == "PING") {
        if (data.size() < ping_ttl_bytes || data.size() > ping_ttl_bytes + max_ping_context) {
            fail(fmt::format("expected a PING of {} to {} bytes, found {}", ping_ttl_bytes,
                             ping_ttl_bytes + max_ping_context, data.size()));
        }
        return {ZmtpArrival::Kind::ping, command("PONG", data.substr(ping_ttl_bytes)), {}};
    }
    return {};
}

void ZmtpDecoder::check_metadata(std::string_view metadata) const {
    while (!metadata.empty()) {
        const std::size_t name_end = 1 + byte_at(metadata, 0);
        const std::size_t value_at = name_end + 4;
        if (name_end == 1 || value_at > metadata.size()) {
            fail("metadata that is cut off, or has no name");
        }
        const std::string_view name = metadata.substr(1, name_end - 1);
        const std::uint64_t value_size = read_number(metadata.substr(name_end, 4));
        metadata.remove_prefix(value_at);
        if (value_size > metadata.size()) {
            fail("metadata that is cut off, or has no name");
        }
        const std::string_view value = metadata.substr(0, value_size);
        metadata.remove_prefix(value_size);
        if (equal_names(name, "Socket-Type") && !talks_with(type_, value)) {
            fail(fmt::format("a {} was connected to a socket of type {}", name_of(type_), escape_unprintable(value)));
        }
    }
}

} // namespace cellgate::async
