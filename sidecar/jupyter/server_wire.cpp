#include "server_wire.hpp"

#include "base/json_codec.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace cellgate::jupyter {

namespace {

constexpr std::array<std::pair<Channel, std::string_view>, 4> channel_names{
    {{Channel::shell, "shell"}, {Channel::control, "control"}, {Channel::iopub, "iopub"}, {Channel::stdin_, "stdin"}}};

std::string_view name_of(Channel channel) {
    for (const auto& [each, name] : channel_names) {
        if (each == channel) {
            return name;
        }
    }
    return {};
}

std::optional<Channel> channel_of(std::string_view name) {
    for (const auto& [channel, each] : channel_names) {
        if (each == name) {
            return channel;
        }
    }
    return std::nullopt;
}

[[noreturn]] void fail_message(std::string what) {
    throw Error(ErrorCode::parse_error, std::move(what));
}

constexpr std::size_t number_bytes = 8;
constexpr std::size_t max_parts = 4096;
constexpr std::size_t known_parts = 5; // channel, header, parent header, metadata, content

void append_offset(std::string& out, std::uint64_t number) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
        out += static_cast<char>(number >> shift & 0xffU);
    }
}

std::uint64_t number_at(std::string_view bytes, std::size_t index) {
    std::uint64_t number = 0;
    for (std::size_t i = number_bytes; i > 0; --i) {
        number = number << 8U | static_cast<unsigned char>(bytes[index * number_bytes + i - 1]);
    }
    return number;
}

// A count of offsets, the offsets of the parts and of the end, the parts.
std::string encode_v1(const std::array<std::string_view, known_parts>& parts) {
    std::string out;
    append_offset(out, known_parts + 1);
    std::uint64_t offset = number_bytes * (known_parts + 2);
    append_offset(out, offset);
    for (const std::string_view part : parts) {
        offset += part.size();
        append_offset(out, offset);
    }
    out.reserve(offset);
    for (const std::string_view part : parts) {
        out += part;
    }
    return out;
}

std::vector<std::string_view> parts_of_v1(std::string_view bytes) {
    const std::uint64_t count = bytes.size() >= number_bytes ? number_at(bytes, 0) : 0;
    if (count < known_parts + 1 || count > max_parts || bytes.size() / number_bytes <= count) {
        fail_message(fmt::format("expected a kernel's message with at least {} parts, found {} offsets in {} bytes",
                                 known_parts, count, bytes.size()));
    }
    std::vector<std::string_view> parts;
    std::uint64_t begin = number_at(bytes, 1);
    for (std::size_t i = 2; i <= count; ++i) {
        const std::uint64_t end = number_at(bytes, i);
        if (end < begin || end > bytes.size()) {
            fail_message("expected the parts of a kernel's message within it, one after the other");
        }
        parts.push_back(bytes.substr(begin, end - begin));
        begin = end;
    }
    return parts;
}

struct SentServerMessage {
    std::string channel;
    RawJson header;
    RawJson parent_header;
    RawJson metadata;
    RawJson content;
    std::vector<std::string> buffers;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("channel", self.channel);
        visit("header", self.header);
        visit("parent_header", self.parent_header);
        visit("metadata", self.metadata);
        visit("content", self.content);
        visit("buffers", self.buffers);
    }
};

struct ReceivedServerMessage {
    std::string channel;
    RawJson header;
    std::optional<RawJson> parent_header;
    RawJson content;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("channel", self.channel);
        visit("header", self.header);
        visit("parent_header", self.parent_header);
        visit("content", self.content);
    }
};

// Without the buffers of a comm's message: a count of parts, their offsets, each in four bytes, then the JSON and they.
std::string_view json_of_binary(std::string_view bytes) {
    const auto number = [bytes](std::size_t index) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            value = value << 8U | static_cast<unsigned char>(bytes[index * 4 + i]);
        }
        return value;
    };
    const std::size_t count = bytes.size() >= 4 ? number(0) : 0;
    if (count == 0 || count > max_parts || bytes.size() / 4 <= count) {
        fail_message("expected a kernel's message with buffers, found no offsets of them");
    }
    const std::size_t begin = number(1);
    const std::size_t end = count > 1 ? number(2) : bytes.size();
    if (begin > end || end > bytes.size()) {
        fail_message("expected the JSON of a kernel's message within it");
    }
    return bytes.substr(begin, end - begin);
}

} // namespace

async::WebSocketMessage encode_server_message(bool v1, Channel channel, const Header& header, std::string_view parent,
                                              std::string_view content, std::string_view session) {
    const std::string header_json = header_text(header, session);
    async::WebSocketMessage message;
    message.is_binary = v1;
    if (v1) {
        message.payload = encode_v1({name_of(channel), header_json, parent, "{}", content});
    } else {
        const SentServerMessage sent{std::string(name_of(channel)),          RawJson::checked(header_json),
                                     RawJson::checked(std::string(parent)),  RawJson::checked("{}"),
                                     RawJson::checked(std::string(content)), {}};
        message.payload = to_json(sent);
    }
    return message;
}

std::optional<ServerMessage> decode_server_message(bool v1, async::WebSocketMessage message) {
    if (v1) {
        const std::vector<std::string_view> parts = parts_of_v1(message.payload);
        const std::optional<Channel> channel = channel_of(parts[0]);
        if (!channel) {
            return std::nullopt;
        }
        return ServerMessage{*channel, read_parts(std::string(parts[1]), std::string(parts[2]), std::string(parts[4]))};
    }
    const std::string_view json = message.is_binary ? json_of_binary(message.payload) : message.payload;
    constexpr JsonLimits limits{256, max_wire_bytes};
    std::string text = repaired_json(std::string(json), limits);
    const auto received = from_json<ReceivedServerMessage>(text, "message");
    const std::optional<Channel> channel = channel_of(received.channel);
    if (!channel) {
        return std::nullopt;
    }
    const bool has_parent = received.parent_header && received.parent_header->is_object();
    return ServerMessage{*channel, read_parts(received.header.text(),
                                              has_parent ? received.parent_header->text() : std::string("{}"),
                                              received.content.text())};
}

} // namespace cellgate::jupyter
