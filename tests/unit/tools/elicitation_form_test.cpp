#include "base/error.hpp"
#include "elicitation_form.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace cellgate;
using namespace cellgate::tools;
using protocol::ElicitationFieldType;

namespace {

ElicitationForm form_of(const std::string& properties, const std::string& required = "[]") {
    return ElicitationForm(
        RawJson::parse(R"({"type":"object","properties":)" + properties + R"(,"required":)" + required + "}"));
}

// What is wrong with these values; empty: nothing.
std::string problem(const ElicitationForm& form, const std::string& values) {
    try {
        form.content(RawJson::parse(values));
        return {};
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::answer_invalid);
        return error.message;
    }
}

bool is_form(const std::string& property) {
    try {
        form_of(R"({"x":)" + property + "}");
        return true;
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::invalid_params);
        return false;
    }
}

} // namespace

TEST_CASE("every kind of field, in the server's order") {
    const ElicitationForm form = form_of(R"({
        "day":{"type":"string","title":"Day","format":"date","description":"When?"},
        "people":{"type":"integer","minimum":1,"maximum":8,"default":4},
        "share":{"type":"number"},
        "outside":{"type":"boolean","default":false},
        "old":{"type":"string","enum":["a","b"],"enumNames":["A","B"],"default":"b"},
        "room":{"type":"string","oneOf":[{"const":"hall","title":"The hall"}]},
        "extras":{"type":"array","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"f","title":"Flowers"},
            {"const":"m","title":"Music"}]},"default":["f"]},
        "plain":{"type":"array","items":{"type":"string","enum":["1","2"]}}})",
                                         R"(["day"])");
    const std::vector<protocol::ElicitationField>& fields = form.fields();
    REQUIRE(fields.size() == 8);
    CHECK(fields[0].title == "Day");
    CHECK(fields[0].required);
    CHECK(fields[0].format == protocol::ElicitationFormat::date);
    CHECK(fields[1].title == "people");
    CHECK(fields[1].initial->text() == "4");
    CHECK(fields[3].initial->text() == "false");
    CHECK(fields[4].type == ElicitationFieldType::choice);
    CHECK((*fields[4].options)[1].title == "B");
    CHECK((*fields[5].options)[0].value == "hall");
    CHECK(fields[6].type == ElicitationFieldType::choices);
    CHECK(fields[6].maximum == 2);
    CHECK((*fields[7].options)[0].title == "1");
}

TEST_CASE("without values the defaults are sent, byte for byte, and a missing required field is named") {
    const ElicitationForm form = form_of(R"({"a":{"type":"number","default":95.50},"b":{"type":"string"}})");
    CHECK(form.content(std::nullopt).text() == R"({"a":95.50})");
    CHECK(form.content(RawJson::parse("{}")).text() == "{}"); // what the user emptied is left out
    const ElicitationForm strict = form_of(R"({"b":{"type":"string","title":"Bee"}})", R"(["b"])");
    CHECK_THROWS_WITH_AS(strict.content(std::nullopt), "Bee: has to be filled in", Error);
}

TEST_CASE("a default that does not fit is no default") {
    CHECK_FALSE(form_of(R"({"a":{"type":"integer","maximum":3,"default":4}})").fields()[0].initial);
    CHECK_FALSE(form_of(R"({"a":{"type":"string","enum":["x"],"default":"y"}})").fields()[0].initial);
    CHECK(form_of(R"({"a":{"type":"integer","maximum":4,"default":4}})").fields()[0].initial);
}

TEST_CASE("values that do not fit name the field") {
    struct Case {
        const char* field;
        std::vector<std::string> fit;
        std::vector<std::string> wrong;
    };
    const Case cases[] = {
        {R"({"type":"string","minLength":2,"maxLength":3})", {R"("ab")", R"("äöü")"}, {R"("a")", R"("äöüß")", "7"}},
        {R"({"type":"string","format":"email"})", {R"("a@b")"}, {R"("a")", R"("@b")", R"("a@")", R"("a b@c")"}},
        {R"({"type":"string","format":"uri"})", {R"("https://a")", R"("urn:x")"}, {R"("a")", R"(":a")", R"("1:a")"}},
        {R"({"type":"string","format":"date"})",
         {R"("2026-01-31")", R"("2024-02-29")"},
         {R"("2026-02-29")", R"("2026-13-01")", R"("2026-1-1")", R"("2026-01-00")", R"("2026/01/01")"}},
        {R"({"type":"string","format":"date-time"})",
         {R"("2026-01-31T09:30:00Z")", R"("2026-01-31T09:30:00.5+02:00")"},
         {R"("2026-01-31")", R"("2026-01-31T24:30:00Z")", R"("2026-01-31T09:30:00")", R"("2026-01-31T09:30:00.Z")"}},
        {R"({"type":"integer","minimum":1,"maximum":8})", {"1", "8", "2.0"}, {"0", "9", "1.5", R"("1")", "1e400"}},
        {R"({"type":"number","minimum":0.5})", {"0.5", "1e3"}, {"0.4", "true"}},
        {R"({"type":"boolean"})", {"true"}, {R"("true")", "1", "null"}},
        {R"({"type":"string","enum":["a","b"]})", {R"("a")"}, {R"("c")", R"(["a"])"}},
        {R"({"type":"array","minItems":1,"maxItems":2,"items":{"enum":["a","b","c"]}})",
         {R"(["a"])", R"(["b","a"])"},
         {"[]", R"(["a","b","c"])", R"(["a","a"])", R"(["d"])", R"("a")", "[7]"}},
    };
    for (const Case& each : cases) {
        const ElicitationForm form = form_of(std::string(R"({"x":)") + each.field + "}");
        for (const std::string& value : each.fit) {
            CHECK_MESSAGE(problem(form, R"({"x":)" + value + "}").empty(), each.field, value);
        }
        for (const std::string& value : each.wrong) {
            CHECK_MESSAGE(problem(form, R"({"x":)" + value + "}").starts_with("x: "), each.field, value);
        }
    }
    CHECK(problem(form_of("{}"), R"({"y":1})") == "y: the form has no such field");
}

TEST_CASE("a schema that is no flat form is refused") {
    CHECK(is_form(R"({"type":"string"})")); // the control
    for (const char* property :
         {R"({"type":"object","properties":{}})", R"({"type":"array","items":{"type":"object"}})",
          R"({"type":"array","items":{"type":"string"}})", R"({"type":["string","null"]})", R"({"$ref":"#/x"})",
          R"({"type":"string","anyOf":[{"const":"a"}]})", R"({"type":"string","oneOf":[{"type":"string"}]})",
          R"({"type":"string","enum":[]})", R"({"type":"string","enum":["a","a"]})", R"({"type":"string","enum":[1]})",
          R"({"type":"integer","enum":[1]})", R"({"type":"string","format":"password"})",
          R"({"type":"string","minLength":"2"})", R"({"type":"null"})", "7", "{}"}) {
        CHECK_FALSE_MESSAGE(is_form(property), property);
    }
    for (const char* schema : {"[]", "{}", R"({"type":"object"})", R"({"type":"string","properties":{}})",
                               R"({"type":"object","properties":[]})"}) {
        CHECK_THROWS_AS(ElicitationForm(RawJson::parse(schema)), Error);
    }
}

TEST_CASE("a form of more fields than a user can look at is refused") {
    std::string fields = "{";
    for (int i = 0; i < 65; ++i) {
        fields += (i > 0 ? ",\"f" : "\"f") + std::to_string(i) + R"(":{"type":"boolean"})";
    }
    CHECK_THROWS_AS(form_of(fields + "}"), Error);
}

TEST_CASE("titles cannot hide or reorder anything") {
    const ElicitationForm form =
        form_of(R"({"x":{"type":"string","title":"a\u202eb\nc","enum":["\u200bv"],"description":"l1\nl2\u0007"}})");
    const protocol::ElicitationField& field = form.fields()[0];
    CHECK(field.title == R"(a\u{202e}b\nc)");
    CHECK(field.description == "l1\nl2\\x07");
    CHECK(field.options->at(0).value == "\xe2\x80\x8bv"); // what is sent
    CHECK(field.options->at(0).title == R"(\u{200b}v)");
}

TEST_CASE("fields for secrets are found, by name and by title") {
    for (const char* secret :
         {"password", "Password", "user_password", "your pass-word", "apiKey", "API key", "api_key", "accessToken",
          "token", "client_secret", "creditCardNumber", "CVV", "PIN", "pass phrase"}) {
        CHECK_MESSAGE(names_secret(secret), secret);
    }
    for (const char* plain : {"day", "max_tokens", "spin", "pinned", "key", "keyboard", "secretary", "passenger",
                              "card", "name", "compass"}) {
        CHECK_FALSE_MESSAGE(names_secret(plain), plain);
    }
    CHECK(form_of(R"({"x":{"type":"string","title":"Your token"}})").secret() == "Your token");
    CHECK_FALSE(form_of(R"({"token":{"type":"boolean"}})").secret());
    CHECK_FALSE(form_of(R"({"day":{"type":"string"}})").secret());
}
