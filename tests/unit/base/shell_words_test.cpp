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

TEST_CASE("a shell reads the words that were written") {
    CHECK(shell_words({"npx", "-y", "@scope/server", "."}) == "npx -y @scope/server .");
    CHECK(read_by_a_shell(shell_words({"a b", "it's", "", "$HOME", "`id`", "\"", "\\", "*", "~", "a\nb", "!x", "#"})) ==
          "[a b][it's][][$HOME][`id`][\"][\\][*][~][a\nb][!x][#]");
}
