#include "base/encoding.hpp"

#include "base/percent_encoding.hpp"

#include <fmt/chrono.h>
#include <nettle/base64.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace cellgate {

bool is_utf8(std::string_view bytes) {
    return simdjson::validate_utf8(bytes.data(), bytes.size());
}

std::size_t printable_ascii_prefix(std::string_view text) {
    const auto is_other = [](char c) { return c < 0x20 || c > 0x7e; };
    return static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_other) - text.begin());
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

std::string encode_base64(std::string_view bytes) {
    std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
    ::base64_encode_raw(text.data(), bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
    return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr unsigned char space = 64;
    constexpr unsigned char pad = 65;
    constexpr unsigned char other = 66;
    static const std::array<unsigned char, 256> values = [&] {
        std::array<unsigned char, 256> table{};
        table.fill(other);
        for (std::size_t i = 0; i < digits.size(); ++i) {
            table[static_cast<unsigned char>(digits[i])] = static_cast<unsigned char>(i);
        }
        for (const char c : {' ', '\t', '\r', '\n'}) {
            table[static_cast<unsigned char>(c)] = space;
        }
        table['='] = pad;
        return table;
    }();
    std::string out;
    out.reserve(text.size() / 4 * 3);
    std::uint32_t bits = 0;
    std::size_t count = 0; // of the characters of one group of four
    std::size_t pads = 0;
    bool ended = false; // after padding nothing follows
    for (const char c : text) {
        const unsigned char value = values[static_cast<unsigned char>(c)];
        if (value == space) {
            continue;
        }
        if (ended || value == other || (value == pad ? count < 2 : pads > 0)) {
            return std::nullopt;
        }
        pads += value == pad ? 1 : 0;
        bits = bits << 6 | (value == pad ? 0U : value);
        if (++count < 4) {
            continue;
        }
        // The bits that the padding drops must be zero, so that each content has one encoding.
        if ((pads == 1 && (bits & 0xff) != 0) || (pads == 2 && (bits & 0xffff) != 0)) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i < 3 - pads; ++i) {
            out += static_cast<char>(bits >> (16 - 8 * i) & 0xff);
        }
        count = 0;
        bits = 0;
        ended = pads > 0;
    }
    return count == 0 ? std::optional(std::move(out)) : std::nullopt;
}

std::string file_uri(std::string_view path) {
    // Two leading slashes would start the name of a host (RFC 8089).
    while (path.starts_with("//")) {
        path.remove_prefix(1);
    }
    return "file://" + percent_encode(path, "/");
}

std::string to_rfc3339(std::chrono::system_clock::time_point time) {
    const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
    const std::time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count();
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), since_epoch.count() % 1000);
}

std::optional<std::chrono::system_clock::time_point> parse_rfc3339(std::string_view text) {
    constexpr std::string_view shape = "dddd-dd-ddTdd:dd:dd";
    if (text.size() <= shape.size() || text.back() != 'Z') {
        return std::nullopt;
    }
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 'd' ? !is_digit(text[i]) : text[i] != shape[i]) {
            return std::nullopt;
        }
    }
    const auto number = [&](std::size_t at, std::size_t length) {
        int value = 0;
        std::from_chars(text.data() + at, text.data() + at + length, value);
        return value;
    };
    const std::chrono::year_month_day day(std::chrono::year(number(0, 4)),
                                          std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                          std::chrono::day(static_cast<unsigned>(number(8, 2))));
    const std::string_view fraction = text.substr(shape.size(), text.size() - shape.size() - 1);
    const bool has_fraction = fraction.size() >= 2 && fraction.size() <= 10 && fraction.front() == '.' &&
                              std::all_of(fraction.begin() + 1, fraction.end(), is_digit);
    // A time_point counts nanoseconds in 64 bits: it ends in 2262.
    const bool is_countable = day.year() >= std::chrono::year(1970) && day.year() <= std::chrono::year(2261);
    if (!day.ok() || !is_countable || number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 59 ||
        (!fraction.empty() && !has_fraction)) {
        return std::nullopt;
    }
    std::string milliseconds(fraction.substr(has_fraction ? 1 : 0).substr(0, 3));
    milliseconds.resize(3, '0');
    return std::chrono::sys_days(day) + std::chrono::hours(number(11, 2)) + std::chrono::minutes(number(14, 2)) +
           std::chrono::seconds(number(17, 2)) + std::chrono::milliseconds(std::stoi(milliseconds));
}

} // namespace cellgate
