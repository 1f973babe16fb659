#include "terminal_text.hpp"

#include "base/visible_text.hpp"

namespace cellgate::cli {

namespace {

// The length of a colour sequence (`ESC [ digits and semicolons m`) at the start of `text`, or 0.
std::size_t colour_length(std::string_view text) {
    if (!text.starts_with("\x1b[")) {
        return 0;
    }
    const std::size_t end = text.find_first_not_of("0123456789;", 2);
    return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

} // namespace

std::string terminal_text(std::string_view text, bool colours) {
    std::string out;
    bool coloured = false;
    while (!text.empty()) {
        if (const std::size_t length = colour_length(text)) {
            if (colours) {
                out += text.substr(0, length);
                coloured = true;
            }
            text.remove_prefix(length);
        } else if (text.front() == '\r') {
            text.remove_prefix(1);
            if (!text.starts_with('\n')) {
                out += '\n';
            }
        } else {
            std::size_t plain = 1;
            while (plain < text.size() && text[plain] != '\r' && text[plain] != '\x1b') {
                ++plain;
            }
            out += visible_text(text.substr(0, plain), true);
            text.remove_prefix(plain);
        }
    }
    return coloured ? out + "\x1b[0m" : out;
}

} // namespace cellgate::cli
