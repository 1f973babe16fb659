#include "base/shell_words.hpp"

#include <doctest/doctest.h>

#include <cstdio>

using namespace cellgate;

namespace {

// What a shell makes of a line: its words, each in brackets.
std::string read_by_a_shell(const std::string& line) {
    std::FILE* shell = ::popen(("printf '[%s]' " + line).c_str(), "r");
    REQUIRE(shell != nullptr);
    std::string text;
    for (int c = 0; (c = std::fgetc(shell)) != EOF;) {
        text += static_cast<char>(c);
    }
    ::pclose(shell);
    return text;
}

} // namespace

TEST_CASE("the first command of a line is read as a shell reads it, or not at all") {
    for (const char* line : {"a b 'c d' \"e\"f", "a>/dev/null", "x b # c", "x b#c", "x ~/a", "x a~=2 b!=1"}) {
        CAPTURE(line);
        const std::optional<std::vector<std::string>> words = first_command(line);
        const bool plain = std::string_view(line).find_first_of(">") == std::string_view::npos &&
                           std::string_view(line).find(" ~") == std::string_view::npos;
        REQUIRE(words.has_value() == plain);
        if (words) {
            CHECK(read_by_a_shell(shell_words(*words)) == read_by_a_shell(line));
        }
    }
    using Words = std::vector<std::string>;
    for (const char* line : {"a b; c", "a b && c", "a b&&c", "a b|c", "a b & c", "a b #c", "a b >x", "a b 2>&1",
                             "a 2>&1 b", "a >x b", "a b > x | c", "a b &>x", "a b <x", "a b)", "  a\tb\nc"}) {
        CAPTURE(line);
        CHECK(first_command(line) == Words{"a", "b"});
    }
    for (const char* line : {"a $b", "a \"$b\"", "a `b`", "a b*", "a b?", "a {b,c}", "a '{b}'", "a b>=2", "a 'b",
                             "a b\\ c", "a \\", "a 'b'>x"}) {
        CAPTURE(line);
        CHECK_FALSE(first_command(line));
    }
    CHECK(first_command("") == Words{});
    CHECK(first_command(" # a") == Words{});
}

TEST_CASE("a shell reads the words that were written") {
    CHECK(shell_words({"npx", "-y", "@scope/server", "."}) == "npx -y @scope/server .");
    CHECK(read_by_a_shell(shell_words({"a b", "it's", "", "$HOME", "`id`", "\"", "\\", "*", "~", "a\nb", "!x", "#"})) ==
          "[a b][it's][][$HOME][`id`][\"][\\][*][~][a\nb][!x][#]");
}

TEST_CASE("plain words are those that a shell would make of the line by quotes alone") {
    for (const char* line : {"op read op://vault/item/field", "pass show 'my db' \"the \\\"best\\\" one\"", "a\\ b c",
                             "", "  ", "a '' \"\"", "x a~b c#d e=f", "a\"b\"'c'd"}) {
        CAPTURE(line);
        const std::optional<std::vector<std::string>> words = plain_words(line);
        REQUIRE(words);
        std::string shown;
        for (const std::string& word : *words) {
            shown += "[" + word + "]";
        }
        CHECK(shown == (words->empty() ? "" : read_by_a_shell(line)));
    }
    for (const char* line : {"a $B", "a \"$B\"", "a `b`", "a | b", "a; b", "a & b", "a > b", "a *", "a ?", "~/a",
                             "a #b", "a 'b", "a \"b", "a \\", "a {b,c}", "a\nb", "(a)", "a \"`b`\""}) {
        CAPTURE(line);
        CHECK_FALSE(plain_words(line));
    }
}
