#pragma once
// `WebSocket` is the client's end of a WebSocket (RFC 6455) over an HttpClient's connection. It asks for no extension,
// answers pings by itself, and bounds what it keeps of a server that sends more than it should.

#include "async/http.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::async {

struct WebSocketRequest {
    std::string url; // http or https
    HttpFields fields;
    std::vector<std::string> protocols; // in order of preference
    std::size_t max_message_bytes = std::size_t{64} << 20;
};

struct WebSocketMessage {
    bool is_binary = false;
    std::string payload;
};

// How a server closed: its code (RFC 6455 section 7.4; 0: none) and its reason.
struct WebSocketEnd {
    int code = 0;
    std::string reason;
};

class WebSocket {
  public:
    WebSocket(std::unique_ptr<ByteStream> stream, std::string rest, std::string protocol,
              std::size_t max_message_bytes);
    ~WebSocket();

    // The subprotocol that the server chose; empty: none.
    const std::string& protocol() const;
    // Queues; never waits. Once the connection has ended, it is dropped.
    void send(WebSocketMessage message);
    void ping();
    // The next message; nothing when the server has closed, see end(). One reader at a time. Throws
    // Error{internal_error} when the connection is cut, Error{parse_error} when the server breaks the protocol.
    Task<std::optional<WebSocketMessage>> receive();
    const WebSocketEnd& end() const;
    // How many frames have come.
    std::size_t arrivals() const;
    // Says goodbye and ends the connection; a waiting receive() returns nothing or throws.
    void close();

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

struct WebSocketOpening {
    std::unique_ptr<WebSocket> socket; // none: the server has refused
    HttpHead head;
    std::string body; // of a refusal; its first part if it is long
};

// Throws Error{internal_error} if the server cannot be reached or answers with something else than HTTP,
// Error{invalid_params} as HttpClient::connect().
Task<WebSocketOpening> open_websocket(HttpClient& http, WebSocketRequest request);

} // namespace cellgate::async
