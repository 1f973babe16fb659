#include "socks.hpp"

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>

namespace cellgate::egress {

namespace {

std::size_t byte_at(std::string_view bytes, std::size_t at) {
    return static_cast<unsigned char>(bytes[at]);
}

// Of 4 or 16 bytes.
std::string address_text(std::string_view bytes) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(bytes.size() == sizeof(in_addr) ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
    return text.data();
}

} // namespace

std::string to_bytes(SocksReply reply) {
    // The local address of the connection is given as 0.0.0.0:0, since it is no concern of the code.
    std::string bytes{socks_version, static_cast<char>(reply), 0, 1};
    bytes.append(6, '\0');
    return bytes;
}

std::optional<std::size_t> socks_greeting_size(std::string_view bytes) {
    constexpr std::size_t head = 2;
    if (bytes.size() < head || bytes.size() < head + byte_at(bytes, 1)) {
        return std::nullopt;
    }
    return head + byte_at(bytes, 1);
}

bool offers_no_password(std::string_view greeting) {
    return greeting.find('\0', 2) != std::string_view::npos;
}

std::optional<SocksRequest> read_socks_request(std::string_view bytes) {
    constexpr std::size_t head = 4; // version, command, reserved, type of address
    constexpr std::size_t of_v4 = 1;
    constexpr std::size_t of_name = 3;
    constexpr std::size_t of_v6 = 4;
    constexpr std::size_t connect = 1;
    if (bytes.size() < head + 1) {
        return std::nullopt;
    }
    const std::size_t type = byte_at(bytes, 3);
    if (bytes[0] != socks_version || (type != of_v4 && type != of_name && type != of_v6)) {
        return SocksRequest{bytes.size(), SocksReply::address_unknown, std::nullopt};
    }
    const std::size_t at = type == of_name ? head + 1 : head;
    const std::size_t size = type == of_v4 ? sizeof(in_addr) : type == of_v6 ? sizeof(in6_addr) : byte_at(bytes, head);
    if (bytes.size() < at + size + 2) {
        return std::nullopt;
    }
    SocksRequest request;
    request.size = at + size + 2;
    const std::string_view name = bytes.substr(at, size);
    const std::size_t port = byte_at(bytes, at + size) << 8 | byte_at(bytes, at + size + 1);
    const std::optional<Host> host = parse_host(type == of_name ? std::string(name) : address_text(name));
    if (byte_at(bytes, 1) != connect) {
        request.refusal = SocksReply::command_unknown;
    } else if (!host || port == 0) {
        request.refusal = SocksReply::address_unknown;
    } else {
        request.endpoint = Endpoint{*host, static_cast<std::uint16_t>(port)};
    }
    return request;
}

} // namespace cellgate::egress
