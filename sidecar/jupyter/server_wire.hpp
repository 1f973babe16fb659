#pragma once
// `encode_server_message` and `decode_server_message` are the two ways in which a Jupyter server carries a kernel's
// messages in those of a WebSocket: the subprotocol v1.kernel.websocket.jupyter.org, binary with the parts as the
// kernel wrote them, and JSON, which older servers and gateways speak. The server is not trusted: lengths and names are
// checked.

#include "async/websocket.hpp"
#include "jupyter/connection.hpp"
#include "jupyter/wire.hpp"

#include <optional>
#include <string_view>

namespace cellgate::jupyter {

inline constexpr std::string_view server_protocol_v1 = "v1.kernel.websocket.jupyter.org";

async::WebSocketMessage encode_server_message(bool v1, Channel channel, const Header& header, std::string_view parent,
                                              std::string_view content, std::string_view session);

struct ServerMessage {
    Channel channel = Channel::iopub;
    WireMessage message;
};

// Nothing for a message of a channel that clients do not have. Throws Error{parse_error, invalid_params}.
std::optional<ServerMessage> decode_server_message(bool v1, async::WebSocketMessage message);

} // namespace cellgate::jupyter
