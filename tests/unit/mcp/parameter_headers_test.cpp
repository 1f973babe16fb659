#include "base/error.hpp"
#include "parameter_headers.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::mcp;

TEST_CASE("the arguments that a tool wants in fields are found at any depth") {
    const auto headers = parameter_headers(
        R"({"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"object","properties":)"
        R"({"c":{"type":"boolean","x-mcp-header":"C-1"}}},"d":{"type":"string"}}})");
    REQUIRE(headers.size() == 2);
    CHECK(headers[0].name == "A");
    CHECK(headers[1].path == std::vector<std::string>{"b", "c"});
    CHECK(parameter_text(R"({"b":{"c":true}})", headers[1]) == "true");
    for (const char* without : {"{}", R"({"b":null})", R"({"b":{"c":null}})", R"({"b":[]})", R"({"b":{"c":{}}})"}) {
        CHECK_FALSE(parameter_text(without, headers[1]));
    }
}

TEST_CASE("a name that could break a request, or that two arguments share, makes a tool unusable") {
    const auto schema = [](const std::string& name, const std::string& type) {
        return R"({"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":)" + type +
               R"(,"x-mcp-header":)" + name + "}}}";
    };
    CHECK(parameter_headers(schema(R"("B")", R"("integer")")).size() == 2);
    for (const char* name : {R"("")", R"("a")", R"("B: x")", R"("B\r\nC")", R"("B\u00e4")", "1", "null"}) {
        CAPTURE(name);
        CHECK_THROWS_AS(parameter_headers(schema(name, R"("string")")), Error);
    }
    for (const char* type : {R"("number")", R"("object")", R"(["string","null"])"}) {
        CAPTURE(type);
        CHECK_THROWS_AS(parameter_headers(schema(R"("B")", type)), Error);
    }
}
