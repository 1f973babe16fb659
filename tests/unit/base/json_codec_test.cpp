#include "base/enum_name.hpp"
#include "base/json_codec.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace cellgate;

namespace {

enum class Color { red, green };
inline constexpr EnumNames<Color, 2> enum_names(Color) {
    return {{{Color::red, "red"}, {Color::green, "green"}}};
}

struct Inner {
    static constexpr bool closed = true;
    std::int64_t number = 0;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("number", self.number);
    }
};

struct Outer {
    std::string text;
    bool flag = false;
    int small = 0;
    std::uint64_t size = 0;
    double seconds = 0;
    Color color = Color::red;
    std::vector<Inner> list;
    std::map<std::string, Inner> by_name;
    Nullable<std::int64_t> count;
    RawJson raw;
    Json json;
    std::optional<std::string> maybe_text;
    std::optional<RawJson> maybe_raw;
    std::optional<Inner> maybe_inner;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("text", self.text);
        visit("flag", self.flag);
        visit("small", self.small);
        visit("size", self.size);
        visit("seconds", self.seconds);
        visit("color", self.color);
        visit("list", self.list);
        visit("byName", self.by_name);
        visit("count", self.count);
        visit("raw", self.raw);
        visit("json", self.json);
        visit("maybeText", self.maybe_text);
        visit("maybeRaw", self.maybe_raw);
        visit("maybeInner", self.maybe_inner);
    }
};

const Json whole = Json::parse(R"({
    "text": "é\u0000\"", "flag": true, "small": -2147483648, "size": 18446744073709551615, "seconds": 0.1,
    "color": "green", "list": [{"number": 1}, {"number": -9223372036854775808}], "byName": {"a.b": {"number": 3}, "": {"number": 4}},
    "count": null, "raw": {"k": [1.0, "x"]}, "json": [null, {"y": 2}], "maybeText": "", "maybeRaw": null,
    "maybeInner": {"number": 5}})");

template <class T>
T read_as(const std::string& text) {
    return from_json<T>(RawJson::parse(text), "params");
}

template <class T>
std::string refusal(const std::string& text) {
    try {
        read_as<T>(text);
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::invalid_params);
        return error.message;
    }
    return "none";
}

// The message about `whole` with one member exchanged.
std::string refusal_with(const std::string& member, const Json& value) {
    Json changed = whole;
    changed[member] = value;
    return refusal<Outer>(changed.dump());
}

} // namespace

TEST_CASE("a struct of every kind of field survives the way out and back") {
    const std::string once = to_json(read_as<Outer>(whole.dump()));
    CHECK(Json::parse(once) == whole);
    CHECK(to_json(read_as<Outer>(once)) == once);
}

TEST_CASE("absent, null and empty are three things") {
    Json lean = whole;
    for (const char* name : {"maybeText", "maybeRaw", "maybeInner"}) {
        lean.erase(name);
    }
    const auto absent = read_as<Outer>(lean.dump());
    CHECK_FALSE(absent.maybe_text);
    CHECK_FALSE(absent.maybe_raw);
    CHECK(Json::parse(to_json(absent)) == lean);

    Json nulls = whole;
    nulls["maybeText"] = nullptr;
    nulls["maybeInner"] = nullptr;
    const auto null = read_as<Outer>(nulls.dump());
    CHECK_FALSE(null.maybe_text);
    CHECK_FALSE(null.maybe_inner);
    REQUIRE(null.maybe_raw);
    CHECK(null.maybe_raw->is_null());

    CHECK(read_as<Outer>(whole.dump()).maybe_text == "");
    CHECK_FALSE(read_as<Outer>(whole.dump()).count.value);
    CHECK(refusal_with("count", "1") == "params.count: expected an integer, found string");
}

namespace {

struct WithText {
    std::optional<JsonText> sent;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("sent", self.sent);
    }
};

} // namespace

TEST_CASE("JSON as text keeps every byte of it, and is checked as strictly") {
    const std::string text = R"({"b": 1.0, "a":[1e400,12345678901234567890, "\u00e9\""]})";
    WithText out;
    out.sent = RawJson::parse(text);
    const std::string message = to_json(out);
    CHECK(Json::parse(message)["sent"] == text);
    CHECK(from_json<WithText>(message, "params").sent->text() == text);
    CHECK_FALSE(from_json<WithText>("{}", "params").sent);
    for (const char* bad :
         {R"({"sent":"{\"a\":1,\"a\":2}"})", R"({"sent":""})", R"({"sent":"[1] 2"})", R"({"sent":{}})"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(from_json<WithText>(bad, "params"), Error);
    }
}

TEST_CASE("a wrong type is refused with the path, what was expected and what was found") {
    CHECK(refusal_with("text", 1) == "params.text: expected a string, found 1");
    CHECK(refusal_with("flag", 0) == "params.flag: expected a boolean, found 0");
    CHECK(refusal_with("flag", "true") == "params.flag: expected a boolean, found string");
    CHECK(refusal_with("seconds", nullptr) == "params.seconds: expected a number, found null");
    CHECK(refusal_with("color", "blue") == R"(params.color: expected one of "red", "green", found "blue")");
    CHECK(refusal_with("color", 1) == "params.color: expected a string, found 1");
    CHECK(refusal_with("list", Json::object()) == "params.list: expected an array, found object");
    CHECK(refusal_with("list", {Json{{"number", 1}}, 2}) == "params.list[1]: expected an object, found 2");
    CHECK(refusal_with("byName", Json::array()) == "params.byName: expected an object, found array");
    CHECK(refusal_with("byName", {{"x", {{"number", "1"}}}}) ==
          "params.byName.x.number: expected an integer, found string");
    CHECK(refusal_with("maybeInner", {{"number", 1}, {"more", 2}}) ==
          R"(params.maybeInner: expected only known members, found "more")");
    CHECK(refusal<Outer>("[]") == "params: expected an object, found array");
    CHECK(refusal<Outer>("null") == "params: expected an object, found null");
    CHECK(refusal<Inner>("{}") == "params.number: expected a value, found none");
}

TEST_CASE("integers are taken exactly or not at all") {
    CHECK(read_as<Inner>(R"({"number":9223372036854775807})").number == std::numeric_limits<std::int64_t>::max());
    CHECK(read_as<Inner>(R"({"number":-0})").number == 0);
    for (const char* number : {"9223372036854775808", "-9223372036854775809", "1.0", "1e3", "0.5", "true"}) {
        CAPTURE(number);
        CHECK(refusal<Inner>(std::string(R"({"number":)") + number + "}") != "none");
    }
    CHECK(refusal_with("small", 2147483648) != "none");
    CHECK(refusal_with("size", -1) == "params.size: expected an integer that is not negative, found -1");
}

TEST_CASE("a number that a double cannot hold is refused, not made infinite") {
    CHECK(refusal<Outer>(std::string(whole.dump()).replace(whole.dump().find("0.1"), 3, "1e999")) ==
          "params.seconds: expected a number, found 1e999");
    Outer infinite = read_as<Outer>(whole.dump());
    infinite.seconds = std::numeric_limits<double>::infinity();
    CHECK_THROWS_AS(to_json(infinite), Error);
}

TEST_CASE("doubles are written so that they are read back the same") {
    for (const double value : {0.1, 1e-9, 1e21, 123456.789, 5e-324, 1.7976931348623157e308, -0.0}) {
        const std::string text = to_json(std::vector<double>{value});
        CAPTURE(text);
        CHECK_FALSE(check_json(text));
        CHECK(from_json<std::vector<double>>(RawJson::parse(text), "")[0] == value);
    }
}

TEST_CASE("a refusal cannot smuggle invisible text or grow without bound") {
    const std::string message = refusal<Inner>("{\"number\":1,\"\\u202e\":1}");
    CHECK(message == R"(params: expected only known members, found "\u{202e}")");
    CHECK(refusal<Inner>("{\"number\":1" + std::string(5000, '0') + "}").size() < 200);
    CHECK(refusal_with("color", std::string(5000, 'x')).size() < 200);
}

TEST_CASE("an enum's value has its name, and the name its value") {
    CHECK(enum_name(Color::green) == "green");
    CHECK(parse_enum<Color>("red") == Color::red);
    CHECK_FALSE(parse_enum<Color>("Red"));
    CHECK_FALSE(parse_enum<Color>(""));
    CHECK_THROWS_AS(enum_name(static_cast<Color>(7)), Error);
}
