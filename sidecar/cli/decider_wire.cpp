#include "decider_wire.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/hash.hpp"
#include "base/json_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace cellgate::cli {

namespace {

constexpr std::size_t length_bytes = 4;
constexpr std::size_t max_frame_bytes = std::size_t{16} << 20; // a body of the largest size in base64, and more
constexpr std::size_t max_reason_bytes = 1024;
constexpr std::int64_t https_port = 443;
// About the connection to the proxy, which does not pass them on.
constexpr std::array<std::string_view, 4> connection_headers{"connection", "keep-alive", "proxy-connection",
                                                             "transfer-encoding"};

std::size_t length_of(std::string_view bytes) {
    std::size_t length = 0;
    for (const char byte : bytes.substr(0, length_bytes)) {
        length = (length << 8U) | static_cast<unsigned char>(byte);
    }
    return length;
}

std::string framed(const std::string& json) {
    std::string frame;
    for (int shift = 24; shift >= 0; shift -= 8) {
        frame += static_cast<char>((json.size() >> static_cast<unsigned>(shift)) & 0xFFU);
    }
    return frame + json;
}

// At most so many bytes, of whole characters.
std::string_view beginning_of(std::string_view text, std::size_t bytes) {
    std::size_t end = 0;
    while (end < text.size()) {
        const std::size_t next = end + decode_utf8(text.substr(end)).length;
        if (next > bytes) {
            break;
        }
        end = next;
    }
    return text.substr(0, end);
}

template <class T>
T required(const std::optional<T>& value, std::string_view name) {
    if (!value) {
        throw Error(ErrorCode::invalid_params, fmt::format("message.{}: expected a value, found none", name));
    }
    return *value;
}

} // namespace

Task<std::optional<DeciderMessage>> read_decider_message(ByteStream* stream, std::string* rest) {
    while (rest->size() < length_bytes || rest->size() < length_bytes + length_of(*rest)) {
        if (rest->size() >= length_bytes && length_of(*rest) > max_frame_bytes) {
            throw Error(ErrorCode::limit_exceeded, fmt::format("expected a message of at most {} bytes, found {}",
                                                               max_frame_bytes, length_of(*rest)));
        }
        const std::string more = co_await stream->read();
        if (more.empty()) {
            co_return std::nullopt;
        }
        *rest += more;
    }
    const std::size_t length = length_of(*rest);
    const RawJson json = RawJson::parse(std::string_view(*rest).substr(length_bytes, length));
    rest->erase(0, length_bytes + length);
    co_return from_json<DeciderMessage>(json, "message");
}

protocol::Action requested_action(const DeciderMessage& message) {
    protocol::Action action;
    action.kind = protocol::ActionKind::request;
    action.method = required(message.method, "method");
    action.host = required(message.host, "host");
    action.port = required(message.port, "port");
    action.path = required(message.path, "path");
    action.query = message.query;
    action.tls = message.server_name.has_value() || action.port == https_port; // an address has no server name
    if (message.headers) {
        action.request_headers.emplace();
        for (const auto& [name, values] : *message.headers) {
            if (std::find(connection_headers.begin(), connection_headers.end(), name) != connection_headers.end()) {
                continue;
            }
            for (const std::string& value : values) {
                action.request_headers->push_back(fmt::format("{}: {}", name, value));
            }
        }
    }
    return action;
}

bool announces_body(const DeciderMessage& message) {
    if (!message.headers) {
        return false;
    }
    const auto length = message.headers->find("content-length");
    return message.headers->contains("transfer-encoding") ||
           (length != message.headers->end() && length->second != std::vector<std::string>{"0"});
}

void add_body(protocol::Action& action, const DeciderMessage& message) {
    const std::optional<std::string> body = decode_base64(message.data.value_or(""));
    if (!body) {
        throw Error(ErrorCode::invalid_params, "message.data: expected base64");
    }
    action.body_bytes = static_cast<std::int64_t>(body->size());
    if (is_utf8(*body)) {
        action.body = *body;
    } else {
        action.body_sha256 = sha256(*body);
    }
}

std::string decider_hello(const std::vector<std::string>& hosts) {
    return framed(fmt::format(R"({{"t":"hello","proto":1,"allowedDomains":{},"deniedDomains":[]}})", to_json(hosts)));
}

std::string allow_verdict(std::int64_t id) {
    return framed(fmt::format(R"({{"t":"verdict","id":{},"action":"allow"}})", id));
}

std::string deny_verdict(std::int64_t id, int status, std::string_view reason) {
    const std::string shown = escape_unprintable(reason);
    const std::string text(beginning_of(shown, max_reason_bytes));
    return framed(fmt::format(R"({{"t":"verdict","id":{},"action":"deny","status":{}{}}})", id, status,
                              text.empty() ? "" : fmt::format(R"(,"reason":{})", to_json(text))));
}

std::string need_body_verdict(std::int64_t id) {
    return framed(fmt::format(R"({{"t":"verdict","id":{},"action":"need_body","max":{}}})", id, max_decided_body));
}

} // namespace cellgate::cli
