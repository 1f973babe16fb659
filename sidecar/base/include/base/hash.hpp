#pragma once
// `sha256` and `hmac_sha256` are SHA-256 and HMAC-SHA-256 (Nettle), as hexadecimal text; `sha256_bytes` and
// `hmac_sha256_bytes` are the 32 bytes.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace cellgate {

using Sha256Digest = std::array<std::uint8_t, 32>;

std::string sha256(std::string_view bytes);
// Over the concatenation of the parts.
Sha256Digest sha256_bytes(std::initializer_list<std::string_view> parts);
// Over the concatenation of the parts.
Sha256Digest hmac_sha256_bytes(std::string_view key, std::initializer_list<std::string_view> parts);
std::string hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts);
// The 20 bytes of SHA-1, which WebSocket's handshake has. It protects nothing.
std::string sha1_bytes(std::string_view text);
// Takes the same time wherever the texts differ.
bool equal_constant_time(std::string_view a, std::string_view b);

} // namespace cellgate
