#include "store/env_file.hpp"

#include <doctest/doctest.h>

using namespace cellgate::store;

namespace {

std::string value_in(const std::string& text) {
    return env_file_value(text, "A").value_or("(none)");
}

} // namespace

TEST_CASE("a value of a .env file is read as programs read it") {
    const std::pair<const char*, const char*> lines[] = {
        {"A=x", "x"},
        {"A=x\n", "x"},
        {"A=x\r\nB=y\r\n", "x"},
        {"  A = x y  ", "x y"},
        {"export A=x", "x"},
        {"export  A=x", "x"},
        {"# A=no\n\nB=y\nA=x", "x"},
        {"A=1\nA=2", "2"},
        {"A=x # a comment", "x"},
        {"A=x#y", "x#y"},
        {"A=#y", ""},
        {"A=", ""},
        {"A=x=y==", "x=y=="},
        {"A='x # \"y\" \\n'  # a comment", "x # \"y\" \\n"},
        {R"(A="x \"y\" \\ \n \$z" # a comment)", "x \"y\" \\ \n \\$z"},
        {"A=\"one\ntwo\"\nB=y", "one\ntwo"},
        {"B=\"\nA=no\n\"\nA=x", "x"},
        {"A='never closed\nB=y", "never closed\nB=y"},
        {"A=${B}$C", "${B}$C"},
        {"just words\nA=x", "x"},
        {"AA=no\nBA=no", "(none)"},
        {"A", "(none)"},
        {"", "(none)"},
        {"=x", "(none)"},
        {"#A=x", "(none)"},
        {"a=x", "(none)"},
    };
    for (const auto& [text, value] : lines) {
        CAPTURE(text);
        CHECK(value_in(text) == value);
    }
}
