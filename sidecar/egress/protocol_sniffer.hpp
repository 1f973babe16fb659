#pragma once
// sniff_protocol() recognizes the protocol of a client by its first bytes in a tunnel. HTTP servers skip much that does
// not belong there (empty lines, other white space, a missing version), each server something else. So bytes that any
// server could take for the beginning of a request are HTTP, and have to be judged as HTTP.

#include <string_view>

namespace cellgate::egress {

// White space for at least one server: that of ASCII, and what Python's str.split() adds in Latin-1.
bool is_blank(char c);

enum class SniffedProtocol {
    incomplete, // more bytes are needed
    tls,        // of a handshake
    http,       // a word and a blank, as every request begins
    other,      // a message that is not text, or a line of one word, or the greeting of SSH
};

// `bytes`: all that the client has sent so far. Throws Error{invalid_request} when 8 KiB do not suffice to decide.
SniffedProtocol sniff_protocol(std::string_view bytes);

} // namespace cellgate::egress
