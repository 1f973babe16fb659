#include "near_names.hpp"

#include <doctest/doctest.h>

using namespace cellgate::tools;

TEST_CASE("the nearest name is offered, and all are told") {
    CHECK(tell_names("tool_1", {"tool-1", "tool_2", "fail"}) ==
          "Did you mean tool-1? There are: tool-1, tool_2, fail.");
    CHECK(tell_names("Raed_File", {"read_file"}) == "Did you mean read_file? There is: read_file.");
    CHECK(tell_names("delete", {"read_file", "fail"}) == "There are: read_file, fail.");
    CHECK(tell_names("x", {}) == "");
}

TEST_CASE("many names, long ones and hostile ones stay readable") {
    CHECK(tell_names("a", std::vector<std::string>(2000, "zz")).ends_with(", and 1980 more."));
    CHECK(tell_names(std::string(100000, 'a'), {std::string(100000, 'a') + "b"}).starts_with("Did you mean aaaa"));
    CHECK(tell_names("x", {"\x1b[2J"}).find('\x1b') == std::string::npos);
}
