#include "protocol_sniffer.hpp"

#include <algorithm>

namespace cellgate::egress {

namespace {

constexpr char tls_handshake = 0x16;
constexpr std::size_t max_method_bytes = 32;
constexpr std::size_t max_request_line_bytes = std::size_t{8} << 10;

bool is_of_method(char c) {
    return (c >= 'A' && c <= 'Z') || c == '-';
}

bool is_visible(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= ' ' && byte != 0x7f;
}

// Without its end: "GET /x HTTP/1.1".
bool is_request_line(std::string_view line) {
    constexpr std::string_view version = " HTTP/1.";
    return line.size() > version.size() && line.substr(line.size() - version.size() - 1).starts_with(version) &&
           (line.back() == '0' || line.back() == '1');
}

} // namespace

SniffedProtocol sniff_protocol(std::string_view bytes) {
    if (bytes.starts_with(tls_handshake)) {
        return SniffedProtocol::tls;
    }
    const auto method =
        static_cast<std::size_t>(std::find_if_not(bytes.begin(), bytes.end(), is_of_method) - bytes.begin());
    if (method == bytes.size() && method <= max_method_bytes) {
        return SniffedProtocol::incomplete;
    }
    if (method == 0 || method > max_method_bytes || bytes[method] != ' ') {
        return SniffedProtocol::raw;
    }
    const std::size_t end = std::min(bytes.find('\r'), bytes.size());
    const std::string_view line = bytes.substr(0, end);
    if (line.size() > max_request_line_bytes || !std::all_of(line.begin(), line.end(), is_visible)) {
        return SniffedProtocol::raw;
    }
    const std::string_view ending = bytes.substr(end, 2);
    if (ending.size() < 2) {
        return SniffedProtocol::incomplete;
    }
    return ending == "\r\n" && is_request_line(line) ? SniffedProtocol::http : SniffedProtocol::raw;
}

} // namespace cellgate::egress
