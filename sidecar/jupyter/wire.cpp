#include "jupyter/wire.hpp"

#include "base/encoding.hpp"
#include "base/hash.hpp"
#include "base/json_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

namespace cellgate::jupyter {

namespace {

constexpr std::string_view delimiter = "<IDS|MSG>";
constexpr std::size_t remembered_signatures = 4096;
constexpr JsonLimits header_limits{16, 64 << 10};
constexpr std::string_view replacement = "\xef\xbf\xbd";

struct SentHeader {
    Header header;
    std::string session;
    std::string username = "cellgate";
    std::string date;
    std::string version = "5.3";

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("msg_id", self.header.msg_id);
        visit("msg_type", self.header.msg_type);
        visit("session", self.session);
        visit("username", self.username);
        visit("date", self.date);
        visit("version", self.version);
    }
};

struct ReceivedHeader {
    std::string msg_id;
    std::string msg_type;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("msg_id", self.msg_id);
        visit("msg_type", self.msg_type);
    }
};

struct ParentHeader {
    std::optional<std::string> msg_id;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("msg_id", self.msg_id);
    }
};

[[noreturn]] void fail(std::string message) {
    throw Error(ErrorCode::parse_error, std::move(message));
}

template <class T>
T read_header(const std::string& frame, const std::string& name) {
    if (const std::optional<JsonProblem> problem = check_json(frame, header_limits)) {
        fail(fmt::format("expected a {} in JSON, found {}", name, problem->what));
    }
    return from_json<T>(frame, name);
}

// 0 when no four hexadecimal digits are there; no surrogate is 0.
unsigned escaped_unit(std::string_view text, std::size_t at) {
    unsigned unit = 0;
    if (text.substr(std::min(at, text.size()), 2) != "\\u" || at + 6 > text.size()) {
        return 0;
    }
    for (const char c : text.substr(at + 2, 4)) {
        const std::size_t digit = std::string_view("0123456789abcdef").find(static_cast<char>(c | 0x20));
        if (digit == std::string_view::npos) {
            return 0;
        }
        unit = unit * 16 + static_cast<unsigned>(digit);
    }
    return unit;
}

// JSON text whose only faults are broken text: bytes that are not UTF-8 and halves of surrogate pairs become U+FFFD.
std::string repair_text(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    std::size_t at = 0;
    while (at < text.size()) {
        if (text[at] == '\\') {
            const unsigned unit = escaped_unit(text, at);
            const bool high = unit >= 0xd800 && unit < 0xdc00;
            const unsigned next = high ? escaped_unit(text, at + 6) : 0;
            const bool pair = next >= 0xdc00 && next < 0xe000;
            if (pair) {
                out += text.substr(at, 12);
                at += 12;
            } else if (unit >= 0xd800 && unit < 0xe000) {
                out += replacement;
                at += 6;
            } else {
                // Escaped and escaping character together, so that the second of two backslashes begins nothing.
                const std::string_view rest = text.substr(at, 1);
                out += rest;
                ++at;
                if (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) {
                    out += text[at++];
                }
            }
            continue;
        }
        const DecodedCodePoint decoded = decode_utf8(text.substr(at, 4));
        out += decoded.valid ? text.substr(at, decoded.length) : replacement;
        at += decoded.length;
    }
    return out;
}

void read_content(std::string text, WireMessage& message) {
    constexpr JsonLimits limits{256, max_wire_bytes};
    std::optional<JsonProblem> problem = check_json(text, limits);
    if (problem) {
        text = repair_text(text);
        problem = check_json(text, limits);
    }
    if (!problem && json_type(text) != "object") {
        problem = JsonProblem{"no object", 0};
    }
    if (problem) {
        message.problem = fmt::format("expected content in JSON, found {} at byte {}", problem->what, problem->offset);
        message.content = "{}";
    } else {
        message.content = std::move(text);
    }
}

} // namespace

std::string header_text(const Header& header, std::string_view session) {
    SentHeader sent;
    sent.header = header;
    sent.session = session;
    sent.date = to_rfc3339(std::chrono::system_clock::now());
    return to_json(sent);
}

async::ZmqMessage encode_message(std::string_view key, const Header& header, std::string_view parent_header,
                                 std::string_view content, std::string_view session,
                                 const async::ZmqMessage& identities) {
    async::ZmqMessage frames = identities;
    frames.emplace_back(delimiter);
    std::string header_json = header_text(header, session);
    constexpr std::string_view metadata = "{}";
    frames.push_back(hmac_sha256(key, {header_json, parent_header, metadata, content}));
    frames.push_back(std::move(header_json));
    frames.emplace_back(parent_header);
    frames.emplace_back(metadata);
    frames.emplace_back(content);
    return frames;
}

WireMessage WireReader::read(async::ZmqMessage frames) {
    std::size_t bytes = 0;
    for (const std::string& frame : frames) {
        bytes += frame.size();
    }
    if (bytes > max_wire_bytes) {
        fail(fmt::format("expected a message of at most {} bytes, found {}", max_wire_bytes, bytes));
    }
    const auto start = std::find(frames.begin(), frames.end(), delimiter);
    // Frames beyond these are buffers of comm messages.
    if (std::distance(start, frames.end()) < 6) {
        fail(fmt::format("expected a delimiter and at least five frames, found {} frames", frames.size()));
    }
    const std::string& signature = start[1];
    if (!equal_constant_time(signature, hmac_sha256(key_, {start[2], start[3], start[4], start[5]}))) {
        fail("a message whose signature does not match");
    }
    if (!seen_.insert(signature).second) {
        fail("a message that was received before");
    }
    seen_order_.push_back(signature);
    if (seen_order_.size() > remembered_signatures) {
        seen_.erase(seen_order_.front());
        seen_order_.pop_front();
    }
    return read_parts(std::move(start[2]), start[3], std::move(start[5]));
}

WireMessage read_parts(std::string header, const std::string& parent_header, std::string content) {
    WireMessage message;
    ReceivedHeader read = read_header<ReceivedHeader>(header, "header");
    message.header = Header{std::move(read.msg_id), std::move(read.msg_type)};
    message.parent_id = read_header<ParentHeader>(parent_header, "parent_header").msg_id.value_or("");
    message.header_text = std::move(header);
    read_content(std::move(content), message);
    return message;
}

std::string repaired_json(std::string text, const JsonLimits& limits) {
    std::optional<JsonProblem> problem = check_json(text, limits);
    if (problem) {
        text = repair_text(text);
        problem = check_json(text, limits);
    }
    if (problem) {
        fail(fmt::format("expected a message in JSON, found {} at byte {}", problem->what, problem->offset));
    }
    return text;
}

} // namespace cellgate::jupyter
