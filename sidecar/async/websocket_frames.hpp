#pragma once
// `WebSocketDecoder` reads the frames of a WebSocket (RFC 6455) as the client: it takes the server's bytes and returns
// messages, joined from their fragments, and control frames. It is pure: no descriptor, no clock. The server is
// hostile: memory grows with the bytes received, never with an announced length, and a message is bounded.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::async {

enum class WebSocketOpcode : std::uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

// A whole frame to the server, under `mask`, four random bytes.
std::string websocket_frame(WebSocketOpcode opcode, std::string_view payload, std::string_view mask);

// The answer to a Sec-WebSocket-Key.
std::string websocket_accept(std::string_view key);

struct WebSocketArrival {
    WebSocketOpcode opcode = WebSocketOpcode::text; // of the message; never continuation
    std::string payload;
};

class WebSocketDecoder {
  public:
    explicit WebSocketDecoder(std::size_t max_message_bytes) : max_bytes_(max_message_bytes) {}

    // Consumes bytes from the front of `bytes`, at most to the end of one arrival. Nothing: all were consumed, and more
    // are needed. Throws Error{parse_error} when the server breaks the protocol, or a message is too long.
    std::optional<WebSocketArrival> next(std::string_view& bytes);

  private:
    bool take_head(std::string_view& bytes);
    void begin_frame();
    std::optional<WebSocketArrival> end_frame();

    std::size_t max_bytes_;
    std::string head_; // the received part of a frame's head
    bool in_body_ = false;
    bool final_ = false;
    WebSocketOpcode opcode_ = WebSocketOpcode::text; // of the frame
    std::size_t left_ = 0;                           // of its payload
    std::string control_;                            // the payload of a control frame
    std::optional<WebSocketArrival> message_;        // whose fragments are being read
};

} // namespace cellgate::async
