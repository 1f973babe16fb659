#pragma once
// read_client_hello() reads the server name that a TLS client asks for (SNI, RFC 6066) from the first message of its
// connection, which is not encrypted.

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::egress {

struct ClientHello {
    std::optional<std::string> server_name; // as it was sent
};

// `bytes`: all that the client has sent so far. Nothing while the message is incomplete. Throws Error{invalid_request}
// when the message is no ClientHello, names several servers, or is larger than 64 KiB.
std::optional<ClientHello> read_client_hello(std::string_view bytes);

} // namespace cellgate::egress
