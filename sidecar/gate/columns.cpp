#include "columns.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"

#include <fmt/format.h>

namespace cellgate::gate {

namespace {

std::size_t columns_of(char32_t code_point) {
    constexpr char32_t first_wide = 0x1100; // Hangul; what comes before is narrow
    return code_point < first_wide ? 1 : 2;
}

} // namespace

std::size_t columns(std::string_view line) {
    std::size_t width = 0;
    while (!line.empty()) {
        const DecodedCodePoint decoded = decode_utf8(line);
        width += columns_of(decoded.code_point);
        line.remove_prefix(decoded.length);
    }
    return width;
}

std::string_view beginning(std::string_view line, std::size_t width) {
    std::size_t end = 0;
    std::size_t used = 0;
    if (line.size() <= width && printable_ascii_prefix(line) == line.size()) {
        return line;
    }
    while (end < line.size()) {
        const DecodedCodePoint decoded = decode_utf8(line.substr(end));
        used += columns_of(decoded.code_point);
        if (used > width && end > 0) {
            break;
        }
        end += decoded.length;
    }
    return line.substr(0, end);
}

std::string cut_to_line(std::string_view text, std::size_t width) {
    const std::string_view looked_at = text.substr(0, 4 * width); // no character needs more bytes for a column
    const std::string line = escape_unprintable(looked_at);
    const std::string_view kept = beginning(line, width);
    return kept.size() == line.size() && looked_at.size() == text.size()
               ? line
               : fmt::format("{}… ({} bytes in all)", kept, text.size());
}

} // namespace cellgate::gate
