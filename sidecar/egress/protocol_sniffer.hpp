#pragma once
// What the first bytes of a client in a tunnel are. A server of HTTP reads over much that has no place there (empty
// lines, other white space, a missing version), each of them over something else; so whatever one of them could take
// for the beginning of a request is HTTP, and has to be judged as that.

#include <string_view>

namespace cellgate::egress {

// What some server takes for white space: that of ASCII, and what Python's str.split() adds in Latin-1.
bool is_blank(char c);

enum class ProtocolSniffer {
    incomplete, // more bytes are needed
    tls,        // of a handshake
    http,       // a word and a blank, as every request begins
    other,      // a message that is not text, or a line of one word, or the greeting of SSH
};

// `bytes`: all that the client has sent so far. Throws Error{invalid_request} when its first 8 KiB do not tell.
ProtocolSniffer read_first_words(std::string_view bytes);

} // namespace cellgate::egress
