#include "base/json.hpp"
#include "output_records.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::session;

namespace {

jupyter::Output stream(const std::string& text_as_json) {
    return {jupyter::OutputType::stream,
            RawJson::parse(R"({"output_type":"stream","name":"stdout","text":)" + text_as_json + "}")};
}

std::string joined(const std::vector<RawJson>& records) {
    std::string text;
    for (const RawJson& record : records) {
        REQUIRE_FALSE(check_json(record.text()));
        const Json value = record.value();
        CHECK(value.at("output_type") == "stream");
        CHECK(value.at("name") == "stdout");
        text += value.at("text").get<std::string>();
    }
    return text;
}

} // namespace

TEST_CASE("short text is one record, unchanged") {
    const jupyter::Output output = stream(R"("hello\n")");
    const std::vector<RawJson> records = to_records(output, 1000);
    REQUIRE(records.size() == 1);
    CHECK(records.front() == output.body);
}

TEST_CASE("long text is cut, wherever the cut falls, into whole records that give it back") {
    // Escapes, escaped backslashes, characters of every length, surrogate pairs; every offset against the limit.
    const std::string unit = R"(a\\\"\n\u00e9é€😀\ud83d\ude00\\u0041)";
    for (std::size_t padding = 0; padding < 40; ++padding) {
        std::string content(padding, 'x');
        for (int i = 0; i < 20; ++i) {
            content += unit;
        }
        const jupyter::Output output = stream("\"" + content + "\"");
        for (const std::size_t limit : {12, 13, 50, 101}) {
            CAPTURE(padding);
            CAPTURE(limit);
            const std::vector<RawJson> records = to_records(output, limit);
            CHECK(records.size() > content.size() / (limit + 1));
            CHECK(joined(records) == output.body.value().at("text").get<std::string>());
        }
    }
}

TEST_CASE("only text is cut") {
    const jupyter::Output picture{jupyter::OutputType::display_data,
                                  RawJson::of({{"output_type", "display_data"}, {"data", std::string(5000, 'x')}})};
    CHECK(to_records(picture, 100).size() == 1);
}
