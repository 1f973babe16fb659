#include "base/encoding.hpp"
#include "terminal_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace cellgate;
using namespace cellgate::cli;

namespace {

// A small terminal: what a text would do to a real one beside showing characters, lines and colours.
bool does_more_than_show(std::string_view text) {
    while (!text.empty()) {
        if (text.starts_with("\x1b[")) {
            const std::size_t end = text.find_first_not_of("0123456789;", 2);
            if (end == std::string_view::npos || text[end] != 'm' || text.substr(2, end - 2) == "8") {
                return true;
            }
            text.remove_prefix(end + 1);
            continue;
        }
        const DecodedCodePoint next = decode_utf8(text);
        const char32_t c = next.code_point;
        const bool control = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0);
        const bool hidden = (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
                            (c >= 0x2066 && c <= 0x2069) || c == 0xfeff || (c >= 0xe0000 && c <= 0xe007f) ||
                            c == 0x10eeee;
        if (!next.valid || control || hidden) {
            return true;
        }
        text.remove_prefix(next.length);
    }
    return false;
}

} // namespace

TEST_CASE("nothing that a cell prints moves, hides, asks or renames at the terminal") {
    const std::pair<const char*, std::string> attacks[] = {
        {"moves the cursor up over a question", "\x1b[3A"},
        {"clears the screen", "\x1b[2J"},
        {"goes to the other screen", "\x1b[?1049h"},
        {"hides the cursor", "\x1b[?25l"},
        {"conceals text", "\x1b[8m"},
        {"asks for the cursor's place, which is typed as an answer", "\x1b[6n"},
        {"asks who the terminal is", "\x1b[c"},
        {"sets the title", std::string("\x1b]0;title\x07")},
        {"writes the clipboard", "\x1b]52;c;cm0gLXJm\x1b\\"},
        {"makes a link that goes elsewhere", "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\"},
        {"resets the terminal", "\x1b"
                                "c"},
        {"C1 control", "\xc2\x9b"
                       "2J"},
        {"a raw C1 byte", "\x9b"
                          "2J"},
        {"goes back over what was written", "yes\b\b\bno"},
        {"rings", "\a"},
        {"deletes", "\x7f"},
        {"vertical tab", "\v"},
        {"other character set", "\x0e"},
        {"NUL", std::string(1, '\0')},
        {"reorders", "\xe2\x80\xae"
                     "abc"},
        {"isolates", "\xe2\x81\xa6"},
        {"zero width", "a\xe2\x80\x8b"
                       "b"},
        {"tags", "\xf3\xa0\x81\x81"},
        {"draws a picture that the terminal was given", "\xf4\x8e\xbb\xae"},
        {"an unfinished colour", "\x1b[31"},
        {"a colour with another end", "\x1b[31;1K"},
        {"colons", "\x1b[4:3m"},
        {"a private colour", "\x1b[>4;2m"},
    };
    for (const auto& [what, attack] : attacks) {
        CAPTURE(what);
        CHECK(does_more_than_show(attack)); // without the guard it works
        for (const bool colours : {true, false}) {
            const std::string shown = terminal_text("before" + attack + "after", colours);
            CHECK_FALSE(does_more_than_show(shown));
            CHECK(shown.starts_with("before"));
            CHECK(shown.find("after") != std::string::npos); // and nothing is swallowed
        }
    }
}

TEST_CASE("a carriage return does not write over a line") {
    CHECK(terminal_text("10%\r20%\r\ndone\r", false) == "10%\n20%\ndone\n");
}

TEST_CASE("lines, tabs and letters of any script stay") {
    const std::string text = "a\tb\nÄé 漢字\u3000かな 🙂 ⚠\ufe0f 1\u00a0000 \\x1b\n";
    CHECK(terminal_text(text, true) == text);
}

TEST_CASE("colours stay where there are colours, and end with the text") {
    CHECK(terminal_text("\x1b[1;31mred\x1b[0m", true) == "\x1b[1;31mred\x1b[0m\x1b[0m");
    CHECK(terminal_text("\x1b[1;31mred", true) == "\x1b[1;31mred\x1b[0m");
    CHECK(terminal_text("\x1b[1;31mred\x1b[m", false) == "red");
    CHECK(terminal_text("plain", true) == "plain");
}

TEST_CASE("text cannot be concealed, whatever surrounds the 8; an 8 in a colour conceals nothing") {
    for (const char* hidden : {"8", "08", "1;8", "31;8;1", "38;5;8;8", "48;2;1;2;3;8", "38;8", "0;8", ";8"}) {
        CAPTURE(hidden);
        CHECK(terminal_text("\x1b[" + std::string(hidden) + "m", true).find('\x1b') == std::string::npos);
    }
    for (const char* colour : {"38;5;8", "48;5;8;1", "38;2;8;8;8", "28", "88", "38;5;1;48;5;8"}) {
        CAPTURE(colour);
        const std::string sequence = "\x1b[" + std::string(colour) + "m";
        CHECK(terminal_text(sequence, true) == sequence + "\x1b[0m");
    }
}
