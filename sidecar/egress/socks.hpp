#pragma once
// `SocksRequest` is a SOCKS5 client's CONNECT, one of the two messages (RFC 1928) that are supported; the other is a
// greeting without a password.

#include "base/host.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::egress {

inline constexpr char socks_version = 5;

// Replies, as bytes to send.
inline constexpr std::string_view socks_no_password{"\5\0", 2};
inline constexpr std::string_view socks_no_method{"\5\xff", 2};
enum class SocksReply : char {
    connected = 0,
    failed = 1,
    not_allowed = 2,
    host_unreachable = 4,
    command_unknown = 7,
    address_unknown = 8,
};
std::string to_bytes(SocksReply reply);

// The size of the greeting at the beginning of `bytes`, or nothing yet.
std::optional<std::size_t> socks_greeting_size(std::string_view bytes);
bool offers_no_password(std::string_view greeting);

struct SocksRequest {
    std::size_t size = 0;
    std::optional<SocksReply> refusal; // why it is none that we carry out
    std::optional<Endpoint> endpoint;  // of one that we do
};
// The request at the beginning of `bytes`, or nothing yet.
std::optional<SocksRequest> read_socks_request(std::string_view bytes);

} // namespace cellgate::egress
