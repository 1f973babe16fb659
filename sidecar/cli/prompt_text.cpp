#include "prompt_text.hpp"

#include "base/encoding.hpp"

#include <algorithm>

namespace cellgate::cli {

std::string prompt_lines(std::string_view text, std::size_t columns) {
    constexpr std::string_view margin = "  ";
    constexpr std::string_view continued = "  ... ";
    constexpr std::size_t narrowest = 20;
    // The last column stays free: terminals differ in what they do once it is written.
    const std::size_t width = std::max(columns, narrowest) - 1;
    std::string out;
    std::size_t used = margin.size();
    out += margin;
    while (!text.empty()) {
        const DecodedCodePoint next = decode_utf8(text);
        // Two for everything beyond ASCII: how wide it is, terminals do not agree on.
        const std::size_t cells = next.code_point < 0x80 ? 1 : 2;
        if (used + cells > width) {
            out += '\n';
            out += continued;
            used = continued.size();
        }
        out += text.substr(0, next.length);
        used += cells;
        text.remove_prefix(next.length);
    }
    return out + "\n";
}

} // namespace cellgate::cli
