#include "base/text.hpp"
#include "output_reader.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::agent;

namespace {

std::string written(const std::vector<std::string>& parts) {
    std::string text;
    std::ptrdiff_t characters = 0;
    for (const std::string& part : parts) {
        characters += append_written(text, plain_text(part));
    }
    CHECK(characters == static_cast<std::ptrdiff_t>(count_characters(text)));
    return text;
}

std::optional<std::string> readable(const std::map<std::string, std::string>& texts) {
    std::map<std::string, RawJson> data;
    for (const auto& [type, json] : texts) {
        data.emplace(type, RawJson::parse(json));
    }
    return readable_text(data);
}

} // namespace

TEST_CASE("a progress bar is its last state, however it was written") {
    CHECK(written({"\r  0%", "\r 50% ä", "\r100%\n", "done\n"}) == "100%\ndone\n");
    CHECK(written({"start\n\r  0%\r 50%\r100%\ndone"}) == "start\n100%\ndone");
    CHECK(written({"0%\r", "1%\r", "2%\r"}) == "2%\r");
    CHECK(written({"before ", "\rafter"}) == "after");
    CHECK(written({"a\r\nb\r\n"}) == "a\nb\n");
    CHECK(written({"a\r", "\nb"}) == "a\nb");
    CHECK(written({"\x1b[31mred\x1b[0m"}) == "red");
}

TEST_CASE("of what is displayed the text that says most is read") {
    CHECK(readable({{"text/plain", R"("42")"}, {"text/html", R"("<b>42</b>")"}}) == "42");
    const std::string object = R"("<IPython.core.display.Markdown object>")";
    CHECK(readable({{"text/plain", object}, {"text/markdown", R"("Total: **42**")"}}) == "Total: **42**");
    CHECK(readable({{"text/plain", object}, {"text/latex", R"("$x$")"}}) == "$x$");
    CHECK(readable({{"text/plain", object}, {"application/json", R"({"a":1})"}}) == R"({"a":1})");
    CHECK(readable({{"text/plain", object}}) == "<IPython.core.display.Markdown object>");
    CHECK(readable({{"text/markdown", R"("only")"}}) == "only");
    CHECK_FALSE(readable({{"image/png", R"("AAAA")"}}));
}
