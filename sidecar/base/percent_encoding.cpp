#include "base/percent_encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace cellgate {

std::string percent_encode(std::string_view text, std::string_view kept) {
    constexpr std::string_view unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    std::string encoded;
    for (const char c : text) {
        if (unreserved.find(c) != std::string_view::npos || kept.find(c) != std::string_view::npos) {
            encoded += c;
        } else {
            encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return encoded;
}

std::string percent_decode(std::string_view text) {
    std::string decoded;
    for (std::size_t at = 0; at < text.size(); ++at) {
        unsigned char byte = 0;
        const std::string code(text.substr(at + 1, 2));
        const char* const end = code.data() + code.size();
        if (text[at] == '%' && code.size() == 2 && std::from_chars(code.data(), end, byte, 16).ptr == end) {
            decoded += static_cast<char>(byte);
            at += 2;
        } else {
            decoded += text[at];
        }
    }
    return decoded;
}

std::string form_decode(std::string_view text) {
    std::string spaced(text);
    std::replace(spaced.begin(), spaced.end(), '+', ' ');
    return percent_decode(spaced);
}

} // namespace cellgate
