#pragma once
// The server name that a TLS client asks for (SNI, RFC 6066) in the first message of its connection, which is not
// encrypted.

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::egress {

struct ClientHello {
    std::optional<std::string> server_name; // as it was sent
};

// `bytes`: what the client has sent so far, from its first byte on. Nothing while the message is not there whole.
// Throws Error{invalid_request} for what is no ClientHello, names several servers, or is larger than 64 KiB.
std::optional<ClientHello> read_client_hello(std::string_view bytes);

} // namespace cellgate::egress
