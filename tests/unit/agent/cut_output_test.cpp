#include "base/text.hpp"
#include "cut_output.hpp"
#include "output_reader.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

using namespace cellgate::agent;
using Json = nlohmann::ordered_json;

namespace {

Json numbers(int count) {
    Json all = Json::array();
    for (int i = 0; i < count; ++i) {
        all.push_back(i);
    }
    return all;
}

Json cut(const Json& value, std::size_t characters) {
    const auto text = cut_json(value.dump(), characters);
    REQUIRE(text);
    CHECK(cellgate::count_characters(*text) <= characters);
    return Json::parse(*text);
}

} // namespace

TEST_CASE("a shortened document has the first and the last items, and how many are not there") {
    const Json shown = cut({{"z", numbers(1000)}, {"a", "kept"}}, 200);
    CHECK(shown.begin().key() == "z"); // the order stays
    CHECK(shown["a"] == "kept");
    CHECK(shown["z"].front() == 0);
    CHECK(shown["z"].back() == 999);
    CHECK(shown["z"].dump().find(" of 1000 items left out") != std::string::npos);
}

TEST_CASE("long strings lose their middle, objects members") {
    const Json shown = cut({{"text", "begin" + std::string(5000, 'x') + "end"}}, 200);
    const auto text = shown["text"].get<std::string>();
    CHECK(text.starts_with("begin"));
    CHECK(text.ends_with("end"));
    Json many = Json::object();
    for (int i = 0; i < 1000; ++i) {
        many["name" + std::to_string(i)] = i;
    }
    const Json fewer = cut(many, 300);
    CHECK(fewer["name0"] == 0);
    CHECK(fewer["name999"] == 999);
    CHECK(fewer.contains("…"));
}

TEST_CASE("what is no document, or stays too long, is not cut") {
    CHECK_FALSE(cut_json("done\n{\"a\":1}", 100));
    CHECK_FALSE(cut_json("{'a': 1}", 100));
    CHECK_FALSE(cut_json("", 100));
    CHECK_FALSE(cut_json("[1", 100));
    CHECK_FALSE(cut_json(Json{{"a", numbers(100)}, {"b", numbers(100)}}.dump(), 20));
    CHECK_FALSE(cut_json(std::string(100'000, '[') + std::string(100'000, ']'), 1000));
}

TEST_CASE("what is kept is written as it was") {
    const std::string padding = R"(,"t":")" + std::string(500, 'x') + "\"}";
    const auto text = cut_json(R"({"n": 12345678901234567890123, "d": 1.10, "e": [], "s": "\u00e4\n")" + padding, 300);
    REQUIRE(text);
    CHECK(text->starts_with(R"({"n":12345678901234567890123,"d":1.10,"e":[],"s":"\u00e4\n","t":"xx)"));
}

TEST_CASE("an end begins with a line") {
    CHECK(end_of("one\ntwo\nthree\n", 9) == "three\n");
    CHECK(end_of("one\ntwo\nthree\n", 7) == "three\n");
    CHECK(end_of("short", 9) == "short");
    CHECK(end_of(std::string(50, 'x') + "\n", 9) == "xxxxxxxx\n");
    CHECK(end_of("äöüäöü", 2) == "öü");
}
