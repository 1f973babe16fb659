#pragma once
// sniff_protocol() recognizes the protocol of a client by its first bytes in a tunnel. What could be read in more than
// one way is `raw`: a user or a rule decides about that.

#include <string_view>

namespace cellgate::egress {

enum class SniffedProtocol {
    incomplete, // more bytes are needed
    tls,        // of a handshake
    http,       // a request line of HTTP/1, and nothing before it
    raw,        // anything else
};

// `bytes`: all that the client has sent so far.
SniffedProtocol sniff_protocol(std::string_view bytes);

} // namespace cellgate::egress
