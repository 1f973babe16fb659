#include "base/error.hpp"
#include "record/canonical_json.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace cellgate;
using namespace cellgate::record;

TEST_CASE("numbers are written as in RFC 8785, appendix B") {
    const std::vector<std::pair<std::uint64_t, std::string>> numbers = {
        {0x0000000000000000, "0"},
        {0x8000000000000000, "0"},
        {0x0000000000000001, "5e-324"},
        {0x8000000000000001, "-5e-324"},
        {0x7fefffffffffffff, "1.7976931348623157e+308"},
        {0xffefffffffffffff, "-1.7976931348623157e+308"},
        {0x4340000000000000, "9007199254740992"},
        {0xc340000000000000, "-9007199254740992"},
        {0x4430000000000000, "295147905179352830000"},
        {0x44b52d02c7e14af5, "9.999999999999997e+22"},
        {0x44b52d02c7e14af6, "1e+23"},
        {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        {0x444b1ae4d6e2ef4e, "999999999999999700000"},
        {0x444b1ae4d6e2ef4f, "999999999999999900000"},
        {0x444b1ae4d6e2ef50, "1e+21"},
        {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        {0x3eb0c6f7a0b5ed8d, "0.000001"},
        {0x41b3de4355555553, "333333333.3333332"},
        {0x41b3de4355555554, "333333333.33333325"},
        {0x41b3de4355555555, "333333333.3333333"},
        {0x41b3de4355555556, "333333333.3333334"},
        {0x41b3de4355555557, "333333333.33333343"},
        {0xbecbf647612f3696, "-0.0000033333333333333333"},
        {0x43143ff3c1cb0959, "1424953923781206.2"},
    };
    for (const auto& [bits, expected] : numbers) {
        CHECK(canonical_json(fmt::format("{:.17g}", std::bit_cast<double>(bits))) == expected);
        CHECK(canonical_json(expected) == expected);
    }
}

TEST_CASE("a value is written in one way, however it came") {
    const std::vector<std::pair<std::string, std::string>> values = {
        // RFC 8785, section 3.2.2
        {R"({"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
             "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]})",
         R"({"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],)"
         "\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"},
        // Section 3.2.3: by UTF-16 code units, an emoji comes before U+FB33.
        {R"({"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",)"
         R"("\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"})",
         "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With "
         "Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With "
         "Dagesh\"}"},
        {R"("\b\t\n\f\r\u0000\u001f\u007f\/")", "\"\\b\\t\\n\\f\\r\\u0000\\u001f\x7f/\""},
        {" [ 1 , { } , [ ] , \"\" ] ", R"([1,{},[],""])"},
        {R"({"b":{"d":1,"c":2},"a":3,"":4,"aa":5})", R"({"":4,"a":3,"aa":5,"b":{"c":2,"d":1}})"},
        {"-0", "0"},
        {"1e-400", "0"},
        {"10000000000000000000000", "1e+22"},
        {"100000000000000000000", "100000000000000000000"},
        {"-1.50", "-1.5"},
        {"12e-7", "0.0000012"},
        {"9007199254740993", "9007199254740992"}, // is no double
    };
    for (const auto& [text, expected] : values) {
        CHECK(canonical_json(text) == expected);
        CHECK(canonical_json(expected) == expected);
    }
}

TEST_CASE("what is no I-JSON is refused") {
    for (const char* text : {R"("\ud800")", R"("\udc00\ud800")", R"({"a":1,"\u0061":2})", "1e309", "-1e309", "NaN", "",
                             "{", "[1] 2", "\"\xff\"", "\"\xed\xa0\x80\""}) {
        CAPTURE(text);
        try {
            canonical_json(text);
            FAIL("was taken");
        } catch (const Error& error) {
            CHECK(error.code == ErrorCode::invalid_params);
        }
    }
}
