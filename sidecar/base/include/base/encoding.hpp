#pragma once
// `encoding` converts text: UTF-8, hexadecimal, base64, file URIs, and times.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate {

bool is_utf8(std::string_view bytes);
// How many bytes at its beginning are printable ASCII, the space included.
std::size_t printable_ascii_prefix(std::string_view text);

struct DecodedCodePoint {
    char32_t code_point;
    std::size_t length; // bytes consumed, 1 when not valid
    bool valid;
};
// The first code point of a text that is not empty. Overlong forms, surrogates and values over U+10FFFF are not valid.
DecodedCodePoint decode_utf8(std::string_view text);
void append_utf8(std::string& out, char32_t code_point);

std::string to_hex(std::string_view bytes);

// With padding (RFC 4648).
std::string encode_base64(std::string_view bytes);
// Decodes padded base64 (RFC 4648); white space between its characters is allowed. Nothing for any other text.
std::optional<std::string> decode_base64(std::string_view text);

// "file:///a%20b" for an absolute path.
std::string file_uri(std::string_view path);

// RFC 3339 in UTC with milliseconds: "2026-01-02T03:04:05.678Z".
std::string to_rfc3339(std::chrono::system_clock::time_point time);
// Its time, to the millisecond; nothing for any other text, and for one that is not in UTC ("…Z").
std::optional<std::chrono::system_clock::time_point> parse_rfc3339(std::string_view text);

} // namespace cellgate
