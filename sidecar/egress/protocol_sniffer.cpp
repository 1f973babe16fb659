#include "protocol_sniffer.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::egress {

namespace {

constexpr char tls_handshake = 0x16;
constexpr std::size_t max_undecided_bytes = std::size_t{8} << 10;
constexpr std::string_view mark_of_utf8 = "\xef\xbb\xbf";

// No line of text has it.
bool is_binary(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' && !is_blank(c)) || byte == 0x7f;
}

bool is_word(char c) {
    return !is_blank(c) && !is_binary(c);
}

bool is_method(std::string_view word) {
    return std::all_of(word.begin(), word.end(),
                       [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_'; });
}

// RFC 4253: the name of the program may be followed by a blank and a comment. With a slash it could be a path.
bool is_ssh_greeting(std::string_view line) {
    return std::none_of(line.begin(), line.end(), [](char c) { return c == '/' || is_binary(c); });
}

std::size_t size_of_blanks(std::string_view bytes) {
    std::size_t size = 0;
    while (size < bytes.size()) {
        if (is_blank(bytes[size])) {
            ++size;
        } else if (bytes.substr(size).starts_with(mark_of_utf8)) {
            size += mark_of_utf8.size();
        } else {
            break;
        }
    }
    return size;
}

// Of text that begins with a byte which text can begin with.
SniffedProtocol read_text(std::string_view text) {
    const std::size_t size =
        static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_word) - text.begin());
    const std::string_view word = text.substr(0, size);
    const std::string_view behind = text.substr(size);
    if (behind.empty() || behind == "\r") {
        return SniffedProtocol::incomplete;
    }
    if (is_binary(behind.front()) || behind.starts_with('\n') || behind.starts_with("\r\n")) {
        return SniffedProtocol::other;
    }
    if (is_method(word)) {
        return SniffedProtocol::http;
    }
    if (word.starts_with("SSH-2.0-")) {
        const std::size_t line = text.find('\n');
        return line == std::string_view::npos          ? SniffedProtocol::incomplete
               : is_ssh_greeting(text.substr(0, line)) ? SniffedProtocol::other
                                                       : SniffedProtocol::http;
    }
    // No method that a server knows. A binary message may begin with such bytes too, and goes on with others.
    if (behind.front() != ' ' && behind.front() != '\t' && behind.front() != '\r') {
        return SniffedProtocol::other;
    }
    return behind.size() == 1     ? SniffedProtocol::incomplete
           : is_binary(behind[1]) ? SniffedProtocol::other
                                  : SniffedProtocol::http;
}

SniffedProtocol read_beginning(std::string_view bytes) {
    if (bytes.starts_with(tls_handshake)) {
        return SniffedProtocol::tls;
    }
    const std::string_view text = bytes.substr(size_of_blanks(bytes));
    if (mark_of_utf8.starts_with(text)) {
        return SniffedProtocol::incomplete; // also when it is empty
    }
    return static_cast<unsigned char>(text.front()) > 0x7f || is_binary(text.front()) ? SniffedProtocol::other
                                                                                      : read_text(text);
}

} // namespace

bool is_blank(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= '\t' && byte <= '\r') || (byte >= 0x1c && byte <= ' ') || byte == 0x85 || byte == 0xa0;
}

SniffedProtocol sniff_protocol(std::string_view bytes) {
    const SniffedProtocol found = read_beginning(bytes.substr(0, max_undecided_bytes));
    if (found == SniffedProtocol::incomplete && bytes.size() >= max_undecided_bytes) {
        throw Error(ErrorCode::invalid_request,
                    fmt::format("expected TLS, HTTP, or a protocol whose first {} bytes tell that it is neither",
                                max_undecided_bytes));
    }
    return found;
}

} // namespace cellgate::egress
