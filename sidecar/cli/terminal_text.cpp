#include "terminal_text.hpp"

#include "base/escape_unprintable.hpp"

#include <algorithm>
#include <vector>

namespace cellgate::cli {

namespace {

constexpr std::size_t max_colour_bytes = 64;

std::vector<int> numbers(std::string_view parameters) {
    std::vector<int> values(1);
    for (const char c : parameters) {
        if (c == ';') {
            values.push_back(0);
        } else {
            values.back() = std::min(values.back() * 10 + (c - '0'), 1000);
        }
    }
    return values;
}

// Whether an SGR sequence makes text invisible: 8, save as part of a colour of many (38;5;N and 38;2;R;G;B).
bool conceals(std::string_view parameters) {
    const std::vector<int> values = numbers(parameters);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] == 8) {
            return true;
        }
        if ((values[i] == 38 || values[i] == 48) && i + 1 < values.size()) {
            i += values[i + 1] == 5 ? 2 : values[i + 1] == 2 ? 4 : 0;
        }
    }
    return false;
}

// The length of a colour sequence (`ESC [ digits and semicolons m`) at the start of `text`, or 0.
std::size_t colour_length(std::string_view text) {
    if (!text.starts_with("\x1b[")) {
        return 0;
    }
    const std::size_t end = text.find_first_not_of("0123456789;", 2);
    const bool complete = end <= max_colour_bytes && text[end] == 'm'; // npos is beyond every limit
    return complete && !conceals(text.substr(2, end - 2)) ? end + 1 : 0;
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
            out += printable_text(text.substr(0, plain));
            text.remove_prefix(plain);
        }
    }
    return coloured ? out + "\x1b[0m" : out;
}

} // namespace cellgate::cli
