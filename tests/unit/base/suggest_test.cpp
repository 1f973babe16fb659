#include "base/suggest.hpp"

#include <doctest/doctest.h>

using namespace cellgate;

TEST_CASE("the nearest name is offered, and all are listed") {
    CHECK(did_you_mean("tool_1", {"tool-1", "tool_2", "fail"}) ==
          "Did you mean tool-1? There are: tool-1, tool_2, fail.");
    CHECK(did_you_mean("Raed_File", {"read_file"}) == "Did you mean read_file? There is: read_file.");
    CHECK(did_you_mean("delete", {"read_file", "fail"}) == "There are: read_file, fail.");
    CHECK(did_you_mean("x", {}) == "");
}

TEST_CASE("names that differ in case and in the signs between words alone are spelled alike") {
    CHECK(is_spelled_like("get_sum", "get-sum"));
    CHECK(is_spelled_like("Get.Sum", "get-sum"));
    CHECK_FALSE(is_spelled_like("getsum", "get-sum"));
    CHECK_FALSE(is_spelled_like("get_sums", "get-sum"));
    CHECK_FALSE(is_spelled_like(std::string(100, 'a') + "b", std::string(100, 'a') + "c"));
}

TEST_CASE("many names, long ones and hostile ones stay readable") {
    CHECK(did_you_mean("a", std::vector<std::string>(2000, "zz")).ends_with(", and 1980 more."));
    CHECK(did_you_mean(std::string(100000, 'a'), {std::string(100000, 'a') + "b"}).starts_with("Did you mean aaaa"));
    CHECK(did_you_mean("x", {"\x1b[2J"}).find('\x1b') == std::string::npos);
}

TEST_CASE("of short names the nearest is one letter away, and a single letter is no slip of another") {
    CHECK(nearest_name("rn", {"undo", "run"}) == "run");
    CHECK(nearest_name("--alow-read", {"--allow-write", "--allow-read"}) == "--allow-read");
    CHECK(nearest_name("rnu", {"undo", "run"}) == "run");
    CHECK(nearest_name("udno", {"undo", "run"}) == "undo");
    CHECK(nearest_name("x", {"y"}).empty());
    CHECK(nearest_name("frobnicate", {"run", "check"}).empty());
}
