#include "shell_words.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>

using namespace cellgate::cli;

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

TEST_CASE("a program is called as the person can call it again") {
    CHECK(program_to_call("cellgate") == "cellgate");
    const std::filesystem::path before = std::filesystem::current_path();
    const std::filesystem::path program = std::filesystem::canonical("/proc/self/exe");
    std::filesystem::current_path(program.parent_path().parent_path());
    CHECK(program_to_call("../x/cellgate") ==
          (program.parent_path().filename() / program.filename()).string()); // below the folder
    std::filesystem::current_path(program.parent_path());
    CHECK(program_to_call("./cellgate") == "./" + program.filename().string());
    std::filesystem::current_path("/proc/self");
    CHECK(program_to_call("./cellgate") == program.string()); // elsewhere
    std::filesystem::current_path(before);
}
