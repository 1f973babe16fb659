#include "tools/argument_check.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace cellgate;
using tools::check_arguments;

namespace {

std::string check(const std::string& schema, const std::string& arguments) {
    return check_arguments(RawJson::parse(schema), RawJson::parse(arguments)).value_or("passes");
}

} // namespace

TEST_CASE("what is certainly wrong is refused, with its place") {
    struct Case {
        const char* schema;
        const char* arguments;
        const char* problem;
    };
    for (const Case& each : {
             Case{R"({"type":"object"})", "[]", "arguments: expected an object, found an array"},
             Case{R"({"required":["a"]})", "{}", "arguments.a: is required and was not given"},
             Case{R"({"properties":{"a":{"type":"string"}}})", R"({"a":5})", "arguments.a: expected a string, found 5"},
             Case{R"({"properties":{"a":{"type":["integer","null"]}}})", R"({"a":1.5})",
                  "arguments.a: expected an integer or null, found 1.5"},
             Case{R"({"properties":{"a":{"items":{"type":"integer"}}}})", R"({"a":[1,"x"]})",
                  "arguments.a[1]: expected an integer, found \"x\""},
             Case{R"({"properties":{"a":{"enum":["x",1]}}})", R"({"a":"y"})",
                  "arguments.a: expected one of \"x\", 1, found \"y\""},
             Case{R"({"properties":{"a":{"const":{"b":[1]}}}})", R"({"a":{"b":[2]}})",
                  "arguments.a: expected {\"b\":[1]}, found an object"},
             Case{R"({"properties":{"a":{"minimum":10}}})", R"({"a":9})", "arguments.a: expected at least 10, found 9"},
             Case{R"({"properties":{"a":{"maximum":9007199254740993}}})", R"({"a":9007199254740994})",
                  "arguments.a: expected at most 9007199254740993, found 9007199254740994"},
             Case{R"({"properties":{"a":{"exclusiveMinimum":0}}})", R"({"a":0.0})",
                  "arguments.a: expected more than 0, found 0.0"},
             Case{R"({"properties":{"a":{"minLength":2}}})", R"({"a":"ä"})",
                  "arguments.a: expected at least 2 characters, found 1"},
             Case{R"({"properties":{"a":{"maxLength":1}}})", R"({"a":"ää"})",
                  "arguments.a: expected at most 1 characters, found 2"},
             Case{R"({"properties":{"a":{"minItems":1}}})", R"({"a":[]})",
                  "arguments.a: expected at least 1 elements, found 0"},
             Case{R"({"properties":{"a":{"maxItems":1}}})", R"({"a":[1,2]})",
                  "arguments.a: expected at most 1 elements, found 2"},
             Case{R"({"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}})", R"({"a":1})",
                  "arguments.a: expected a string, found 1; or arguments.a: expected null, found 1"},
             Case{R"({"allOf":[{},{"required":["b"]}]})", "{}", "arguments.b: is required and was not given"},
             Case{R"({"properties":{"a":{"$ref":"#/$defs/x~1y"}},"$defs":{"x/y":{"type":"string"}}})", R"({"a":1})",
                  "arguments.a: expected a string, found 1"},
             Case{R"({"properties":{"a":false}})", R"({"a":1})", "arguments.a: expected nothing here, found 1"},
             Case{R"({"properties":{"a\u202e":{"type":"string"}}})", R"({"a\u202e":1})",
                  "arguments.a\\u{202e}: expected a string, found 1"},
         }) {
        CAPTURE(each.schema);
        CHECK(check(each.schema, each.arguments) == each.problem);
    }
}

TEST_CASE("what is not certain passes") {
    struct Case {
        const char* schema;
        const char* arguments;
    };
    for (const Case& each : {
             Case{"true", "{}"},
             Case{R"({"type":"file"})", "{}"},
             Case{R"({"type":["object","file"]})", "[]"},
             Case{R"({"properties":{"a":{"pattern":"^x$","format":"email"}}})", R"({"a":"y"})"},
             Case{R"({"additionalProperties":false})", R"({"a":1})"},
             Case{R"({"not":{}})", "{}"},
             Case{R"({"properties":{"a":{"type":"integer"}}})", R"({"a":1.0})"},
             Case{R"({"properties":{"a":{"type":"integer"}}})", R"({"a":1e400})"},
             Case{R"({"properties":{"a":{"enum":[1]}}})", R"({"a":1.0e0})"},
             Case{R"({"properties":{"a":{"const":{"x":1,"y":2}}}})", R"({"a":{"y":2,"x":1}})"},
             Case{R"({"properties":{"a":{"type":"string","nullable":true}}})", R"({"a":null})"},
             Case{R"({"properties":{"a":{"minLength":2}}})", R"({"a":"😀"})"},
             Case{R"({"properties":{"a":{"minimum":"3","maxLength":-1,"minItems":1.5}}})", R"({"a":1})"},
             Case{R"({"properties":{"a":{"$ref":"other.json","type":"string"}}})", R"({"a":1})"},
             Case{R"({"properties":{"a":{"$ref":"#/$defs/none"}}})", R"({"a":1})"},
             Case{R"({"properties":{"a":{"$ref":"#anchor"}}})", R"({"a":1})"},
             Case{R"({"properties":{"a":{"$id":"x","properties":{"b":{"$ref":"#/$defs/c"}}}},
                     "$defs":{"c":{"type":"string"}}})",
                  R"({"a":{"b":1}})"},
             Case{R"({"properties":{"a":{"items":[{"type":"string"}]}}})", R"({"a":[1]})"},
             Case{R"({"properties":{"a":{"prefixItems":[{}],"items":{"type":"string"}}}})", R"({"a":[1]})"},
             Case{R"({"anyOf":[{"required":["a"]},{"pattern":"x"}]})", "{}"},
             Case{R"({"oneOf":[{},{}]})", "{}"},
             Case{R"({"required":"a","properties":[],"enum":{},"anyOf":7,"type":7})", "{}"},
         }) {
        CAPTURE(each.schema);
        CHECK(check(each.schema, each.arguments) == "passes");
    }
}

TEST_CASE("a schema that refers to itself describes what is nested, and one that only refers to itself says nothing") {
    const char* tree = R"({"properties":{"child":{"$ref":"#"},"name":{"type":"string"}}})";
    CHECK(check(tree, R"({"child":{"child":{"name":"x"}}})") == "passes");
    CHECK(check(tree, R"({"child":{"child":{"name":1}}})") == "arguments.child.child.name: expected a string, found 1");
    CHECK(check(R"({"$ref":"#"})", "{}") == "passes");
    CHECK(check(R"({"anyOf":[{"$ref":"#"},{"$ref":"#"}]})", "{}") == "passes");
}

TEST_CASE("hostile schemas and arguments cost a bounded time") {
    // Each of these takes hours where work is not counted.
    std::string branching = R"({"$defs":{)";
    for (int level = 0; level < 40; ++level) {
        const std::string next = std::to_string(level + 1);
        branching += "\"" + std::to_string(level) + R"(":{"anyOf":[{"$ref":"#/$defs/)" + next +
                     R"("},{"$ref":"#/$defs/)" + next + R"("}]},)";
    }
    branching += R"("40":{"type":"string"}},"$ref":"#/$defs/0"})";
    std::string names = "[\"0\"";
    std::string members = "{\"0\":0";
    for (int index = 1; index < 150'000; ++index) {
        const std::string name = "\"" + std::to_string(index) + "\"";
        names += "," + name;
        members += "," + name + ":0";
    }
    names += "]";
    members += "}";
    std::string large_array = "[0";
    for (int index = 0; index < 150'000; ++index) {
        large_array += ",0";
    }
    large_array += "]";
    const auto start = std::chrono::steady_clock::now();
    CHECK(check(branching, "{}") == "passes");
    CHECK(check(R"({"required":)" + names + "}", members) == "passes");
    CHECK(check(R"({"items":{"enum":)" + names + "}}", large_array) == "passes");
    CHECK(check(R"({"items":{"const":)" + members + "}}", large_array) == "passes");
    CHECK(
        check(R"({"type":"string"})", "[" + std::string(300'000, ' ') + large_array + "]").find("expected a string") !=
        std::string::npos);
    const std::string flood = large_array.substr(0, large_array.size() - 1) + "," + large_array.substr(1);
    CHECK(check(R"({"type":"string"})", flood) == "passes"); // too many parts to take apart
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::minutes(2));
}
