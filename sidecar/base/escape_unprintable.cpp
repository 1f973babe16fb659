#include "base/escape_unprintable.hpp"

#include "base/encoding.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace cellgate {

namespace {

struct Range {
    char32_t first;
    char32_t last;
};

// Default-ignorable code points (Unicode 15, DerivedCoreProperties), bidirectional controls, line and paragraph
// separators, unusual spaces, interlinear annotations and private use.
constexpr std::array invisible{
    Range{0x00, 0x1f},       Range{0x7f, 0x9f},       Range{0xa0, 0xa0},       Range{0xad, 0xad},
    Range{0x34f, 0x34f},     Range{0x61c, 0x61c},     Range{0x115f, 0x1160},   Range{0x1680, 0x1680},
    Range{0x17b4, 0x17b5},   Range{0x180b, 0x180f},   Range{0x2000, 0x200f},   Range{0x2028, 0x202f},
    Range{0x205f, 0x206f},   Range{0x2800, 0x2800},   Range{0x3000, 0x3000},   Range{0x3164, 0x3164},
    Range{0xe000, 0xf8ff},   Range{0xfe00, 0xfe0f},   Range{0xfeff, 0xfeff},   Range{0xffa0, 0xffa0},
    Range{0xfff0, 0xfffb},   Range{0x1bca0, 0x1bca3}, Range{0x1d173, 0x1d17a}, Range{0xe0000, 0xe0fff},
    Range{0xf0000, 0x10ffff}};

// The subset that a terminal interprets, hides or reorders by, and the placeholder character of kitty's graphics
// protocol. Without spaces, icons, and the joiners of emoji and scripts.
constexpr std::array unprintable{Range{0x00, 0x1f},       Range{0x7f, 0x9f},       Range{0xad, 0xad},
                                 Range{0x34f, 0x34f},     Range{0x61c, 0x61c},     Range{0x200b, 0x200b},
                                 Range{0x200e, 0x200f},   Range{0x2028, 0x202e},   Range{0x2060, 0x206f},
                                 Range{0xfeff, 0xfeff},   Range{0xfff0, 0xfffb},   Range{0x1bca0, 0x1bca3},
                                 Range{0x1d173, 0x1d17a}, Range{0xe0000, 0xe0fff}, Range{0x10eeee, 0x10eeee}};

template <std::size_t size>
bool is_one_of(const std::array<Range, size>& ranges, char32_t code_point) {
    for (const Range& range : ranges) {
        if (code_point < range.first) {
            return false;
        }
        if (code_point <= range.last) {
            return true;
        }
    }
    return false;
}

template <std::size_t size>
std::string written_out(const std::array<Range, size>& ranges, std::string_view text, bool keep_lines) {
    std::string out;
    out.reserve(text.size());
    while (true) {
        const std::size_t plain = printable_ascii_prefix(text);
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) {
            return out;
        }
        const DecodedCodePoint decoded = decode_utf8(text);
        if (!decoded.valid) {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
        } else if (keep_lines && (decoded.code_point == '\n' || decoded.code_point == '\t')) {
            out += text.front();
        } else if (!is_one_of(ranges, decoded.code_point)) {
            out += text.substr(0, decoded.length);
        } else if (decoded.code_point == '\n') {
            out += "\\n";
        } else if (decoded.code_point == '\t') {
            out += "\\t";
        } else if (decoded.code_point < 0x80) {
            out += fmt::format("\\x{:02x}", static_cast<unsigned>(decoded.code_point));
        } else {
            out += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(decoded.code_point));
        }
        text.remove_prefix(decoded.length);
    }
}

} // namespace

std::string escape_unprintable(std::string_view text, bool keep_lines) {
    return written_out(invisible, text, keep_lines);
}

std::string printable_text(std::string_view text) {
    return written_out(unprintable, text, true);
}

} // namespace cellgate
