#include "async/websocket.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/names.hpp"
#include "http_client_impl.hpp"
#include "websocket_frames.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace cellgate::async {

namespace {

constexpr std::size_t key_bytes = 16;
constexpr std::size_t mask_bytes = 4;
constexpr std::size_t max_refusal_bytes = std::size_t{16} << 10;

WebSocketEnd read_end(const std::string& payload) {
    WebSocketEnd end;
    if (payload.size() >= 2) {
        end.code = static_cast<unsigned char>(payload[0]) << 8 | static_cast<unsigned char>(payload[1]);
        end.reason = payload.substr(2);
    }
    return end;
}

std::string handshake_request(const HttpTarget& target, const WebSocketRequest& request, const std::string& key) {
    std::string text = fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                   "Sec-WebSocket-Key: {}\r\nSec-WebSocket-Version: 13\r\n"
                                   "User-Agent: cellgate/" CELLGATE_VERSION "\r\n",
                                   target.path, target.authority, key);
    if (!request.protocols.empty()) {
        text += fmt::format("Sec-WebSocket-Protocol: {}\r\n", fmt::join(request.protocols, ", "));
    }
    for (const auto& [name, value] : request.fields) {
        require_http_field(name, value);
        text += fmt::format("{}: {}\r\n", name, value);
    }
    return text + "\r\n";
}

// Takes a head with its empty line from the front of `bytes`, once it is whole.
std::optional<HttpHead> take_head(std::string& bytes) {
    const std::size_t end = bytes.find("\r\n\r\n");
    if (end == std::string::npos) {
        return std::nullopt;
    }
    HttpHead head;
    std::string_view lines = std::string_view(bytes).substr(0, end + 2);
    while (!lines.empty()) {
        const std::size_t line = lines.find("\r\n") + 2;
        add_head_line(head, lines.substr(0, line));
        lines.remove_prefix(line);
    }
    bytes.erase(0, end + 4);
    return head;
}

Task<HttpHead> read_head(ByteStream& stream, std::string& bytes, const std::string& host) {
    std::optional<HttpHead> head;
    while (!(head = take_head(bytes))) {
        if (bytes.size() > HttpClient::max_head_bytes) {
            throw Error(ErrorCode::internal_error,
                        fmt::format("expected the head of an answer within {} bytes, found more, from {}",
                                    HttpClient::max_head_bytes, host));
        }
        const std::string more = co_await stream.read();
        if (more.empty()) {
            throw Error(ErrorCode::internal_error, fmt::format("{} ended the connection without an answer", host));
        }
        bytes += more;
    }
    co_return *head;
}

} // namespace

struct WebSocket::Impl {
    void send(WebSocketOpcode opcode, std::string_view payload) {
        if (!closed) {
            stream->write(websocket_frame(opcode, payload, random_bytes(mask_bytes)));
        }
    }

    // Answers a control frame. False: it was the server's goodbye.
    bool control(WebSocketArrival arrival) {
        if (arrival.opcode == WebSocketOpcode::ping) {
            send(WebSocketOpcode::pong, arrival.payload);
        } else if (arrival.opcode == WebSocketOpcode::close) {
            end = read_end(arrival.payload);
            send(WebSocketOpcode::close, std::string_view(arrival.payload).substr(0, 2));
            return false;
        }
        return true;
    }

    std::unique_ptr<ByteStream> stream;
    std::string bytes; // from `taken` on, not decoded yet
    std::size_t taken = 0;
    std::string protocol;
    WebSocketDecoder decoder;
    WebSocketEnd end;
    std::size_t arrivals = 0;
    bool closed = false;
};

WebSocket::WebSocket(std::unique_ptr<ByteStream> stream, std::string rest, std::string protocol,
                     std::size_t max_message_bytes)
    : impl_(std::make_shared<Impl>(std::move(stream), std::move(rest), std::size_t{0}, std::move(protocol),
                                   WebSocketDecoder(max_message_bytes), WebSocketEnd{}, std::size_t{0}, false)) {}

WebSocket::~WebSocket() {
    close();
}

const std::string& WebSocket::protocol() const {
    return impl_->protocol;
}

const WebSocketEnd& WebSocket::end() const {
    return impl_->end;
}

std::size_t WebSocket::arrivals() const {
    return impl_->arrivals;
}

void WebSocket::send(WebSocketMessage message) {
    impl_->send(message.is_binary ? WebSocketOpcode::binary : WebSocketOpcode::text, message.payload);
}

void WebSocket::ping() {
    impl_->send(WebSocketOpcode::ping, {});
}

Task<std::optional<WebSocketMessage>> WebSocket::receive() {
    const std::shared_ptr<Impl> impl = impl_;
    while (!impl->closed) {
        std::string_view rest = std::string_view(impl->bytes).substr(impl->taken);
        std::optional<WebSocketArrival> arrival = impl->decoder.next(rest);
        impl->taken = impl->bytes.size() - rest.size();
        if (arrival && (arrival->opcode == WebSocketOpcode::text || arrival->opcode == WebSocketOpcode::binary)) {
            ++impl->arrivals;
            co_return WebSocketMessage{arrival->opcode == WebSocketOpcode::binary, std::move(arrival->payload)};
        }
        if (arrival) {
            ++impl->arrivals;
            if (!impl->control(std::move(*arrival))) {
                break;
            }
            continue;
        }
        impl->taken = 0;
        impl->bytes = co_await impl->stream->read();
        if (impl->bytes.empty() && !impl->closed) {
            throw Error(ErrorCode::internal_error, "the connection was cut");
        }
    }
    co_return std::nullopt;
}

void WebSocket::close() {
    if (impl_->closed) {
        return;
    }
    impl_->send(WebSocketOpcode::close, std::string_view("\x03\xe8", 2)); // 1000: a normal end
    impl_->closed = true;
    impl_->stream->close();
}

Task<WebSocketOpening> open_websocket(HttpClient& http, WebSocketRequest request) {
    const HttpTarget target = require_target(request.url);
    const std::string key = encode_base64(random_bytes(key_bytes));
    std::string asked = handshake_request(target, request, key);
    std::unique_ptr<ByteStream> stream = co_await http.connect(request.url);
    stream->write(std::move(asked));
    std::string bytes;
    WebSocketOpening opening;
    opening.head = co_await read_head(*stream, bytes, target.host);
    if (opening.head.status == 101) {
        if (opening.head.field("sec-websocket-accept") != websocket_accept(key)) {
            throw Error(ErrorCode::internal_error,
                        fmt::format("expected {} to accept the WebSocket that was asked for, found another answer",
                                    target.host));
        }
        opening.socket = std::make_unique<WebSocket>(
            std::move(stream), std::move(bytes), opening.head.field("sec-websocket-protocol").value_or(std::string()),
            request.max_message_bytes);
        co_return opening;
    }
    // As long as it says, or to the end of the connection.
    std::size_t left = max_refusal_bytes;
    if (const std::optional<std::string> length = opening.head.field("content-length")) {
        left = std::min<std::size_t>(left, std::strtoul(length->c_str(), nullptr, 10));
    }
    while (bytes.size() < left) {
        const std::string more = co_await stream->read();
        if (more.empty()) {
            break;
        }
        bytes += more;
    }
    opening.body = bytes.substr(0, left);
    co_return opening;
}

} // namespace cellgate::async
