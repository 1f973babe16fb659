#include "base/encoding.hpp"

#include <fmt/chrono.h>
#include <simdjson.h>

namespace cellgate {

bool is_utf8(std::string_view bytes) {
    return simdjson::validate_utf8(bytes.data(), bytes.size());
}

DecodedCodePoint decode_utf8(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const DecodedCodePoint broken{0, 1, false};
    const unsigned char lead = byte(0);
    if (lead < 0x80) {
        return {lead, 1, true};
    }
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) {
        return broken;
    }
    char32_t code_point = lead & (0xff >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) {
            return broken;
        }
        code_point = (code_point << 6) | (byte(i) & 0x3f);
    }
    constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code_point < least[length] || code_point > 0x10ffff || (code_point >= 0xd800 && code_point <= 0xdfff)) {
        return broken;
    }
    return {code_point, length, true};
}

void append_utf8(std::string& out, char32_t code_point) {
    const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
    if (code_point < 0x80) {
        put(code_point);
    } else if (code_point < 0x800) {
        put(0xc0 | (code_point >> 6));
        put(0x80 | (code_point & 0x3f));
    } else if (code_point < 0x10000) {
        put(0xe0 | (code_point >> 12));
        put(0x80 | ((code_point >> 6) & 0x3f));
        put(0x80 | (code_point & 0x3f));
    } else {
        put(0xf0 | (code_point >> 18));
        put(0x80 | ((code_point >> 12) & 0x3f));
        put(0x80 | ((code_point >> 6) & 0x3f));
        put(0x80 | (code_point & 0x3f));
    }
}

std::string to_hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
    return out;
}

std::string to_rfc3339(std::chrono::system_clock::time_point time) {
    const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
    const std::time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count();
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), since_epoch.count() % 1000);
}

} // namespace cellgate
