#include "base/raw_json.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace cellgate;

TEST_CASE("the bytes that arrived are kept") {
    for (const std::string text : {R"({"b":1.0,"a":1e2,"c":-0,"d":12345678901234567890123})",
                                   R"(["\u0061","a","\/","/"])", R"({ "x" : [ 1 ,	2 ] })"}) {
        CAPTURE(text);
        CHECK(RawJson::parse(text).text() == text);
        CHECK(RawJson::parse("  " + text + "\t").text() == text);
    }
}

TEST_CASE("line breaks between tokens become spaces, so that one value is one line") {
    CHECK(RawJson::parse("\n{\r\n  \"a\": 1,\n\t\"b\": \"x\\ny\"\n}\n").text() ==
          "{    \"a\": 1, \t\"b\": \"x\\ny\" }");
    CHECK(RawJson::checked("[1,\n2]").text() == "[1, 2]");
}

TEST_CASE("what is not one value is refused, and the message says what and where") {
    try {
        RawJson::parse(R"({"path":"a","path":"b"})");
        FAIL("accepted");
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::parse_error);
        CHECK(error.message.find("the key \"path\" twice") != std::string::npos);
        CHECK(error.message.find("at byte 23") != std::string::npos);
    }
    CHECK_THROWS_AS(RawJson::parse("{} {}"), Error);
    CHECK_THROWS_AS(RawJson::parse("[[1]]", {.max_depth = 1}), Error);
    CHECK_THROWS_AS(RawJson::parse("12345", {.max_bytes = 4}), Error);
}

TEST_CASE("a value knows what it is, and looks the same from inside") {
    CHECK(RawJson().is_null());
    CHECK(RawJson::parse(" null ").is_null());
    CHECK(RawJson::parse("\n{}").is_object());
    CHECK_FALSE(RawJson::parse("[]").is_object());
    CHECK(RawJson::parse("[]").type() == "array");
    CHECK(RawJson::parse(R"({"a":[1,"\u00e9"]})").value() == Json{{"a", {1, "\xc3\xa9"}}});
    CHECK(RawJson::of(Json{{"a", 1}}).text() == R"({"a":1})");
    // Equal values with other bytes are not the same payload.
    CHECK_FALSE(RawJson::parse(R"({"a":1})") == RawJson::parse(R"({"a": 1})"));
}

TEST_CASE("a Json that holds broken text still becomes valid JSON") {
    const RawJson raw = RawJson::of(Json{{"a", "x\xff"}});
    CHECK_FALSE(check_json(raw.text()));
    CHECK(raw.text().find("\xef\xbf\xbd") != std::string::npos);
}
