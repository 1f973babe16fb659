#include "prompt_text.hpp"

#include "base/encoding.hpp"

#include <algorithm>

namespace cellgate::cli {

std::string_view first_columns(std::string_view text, std::size_t width) {
    std::size_t at = 0;
    std::size_t used = 0;
    std::size_t after_space = 0;
    while (at < text.size()) {
        const DecodedCodePoint next = decode_utf8(text.substr(at));
        // Two for everything beyond ASCII: how wide it is, terminals do not agree on.
        used += next.code_point < 0x80 ? 1 : 2;
        if (used > width) {
            return text.substr(0, after_space > at - at / 3 ? after_space : at);
        }
        at += next.length;
        if (next.code_point == ' ') {
            after_space = at;
        }
    }
    return text;
}

std::string prompt_lines(std::string_view text, std::size_t columns) {
    constexpr std::string_view margin = "  ";
    constexpr std::string_view goes_on = "  \u21b3 ";
    constexpr std::size_t narrowest = 20;
    // The last column stays free: terminals differ in their wrapping.
    const std::size_t width = std::max(columns, narrowest) - 1;
    std::string out;
    std::string_view lead = margin;
    do {
        out += lead;
        const std::string_view line = first_columns(text, width - lead.size());
        out += line;
        out += '\n';
        text.remove_prefix(line.size());
        lead = goes_on;
    } while (!text.empty());
    return out;
}

} // namespace cellgate::cli
