#include "shown_output.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::service;

namespace {

std::string shown(const std::string& output) {
    store::JournalRecord record;
    record.output = RawJson::checked(output);
    return shown_text(record);
}

} // namespace

TEST_CASE("all text of an output is shown as it is") {
    CHECK(shown(R"({"output_type":"stream","name":"stdout","text":"a\u001b[1mb\n"})") == "a\x1b[1mb\n");
    CHECK(shown(R"({"output_type":"execute_result","execution_count":3,"data":{"text/plain":"7"},"metadata":{}})") ==
          "Out[3]: 7\n");
    CHECK(shown(R"({"output_type":"display_data","data":{"text/html":"<p>","text/plain":"p"},"metadata":{"a":"b"},)"
                R"("transient":{"display_id":"c"},"other":"d"})") ==
          "[text/html]\n<p>\np\n[metadata] {\"a\":\"b\"}\n[transient] {\"display_id\":\"c\"}\n[other] d\n");
    CHECK(shown(R"({"output_type":"display_data","data":{"application/json":{"a":1}},"metadata":{}})") ==
          "[application/json]\n{\"a\":1}\n");
    CHECK(shown(R"({"output_type":"error","ename":"KeyError","evalue":"x","traceback":["one","two"]})") ==
          "one\ntwo\nKeyError: x\n");
}

TEST_CASE("pictures and large data are named by type and size, and what is lost by its size") {
    CHECK(
        shown(R"({"output_type":"display_data","data":{"image/png":"AAAA","text/plain":"<Figure>"},"metadata":{}})") ==
        "[image/png, 4 bytes]\n<Figure>\n");
    const std::string large(100'000, 'x');
    CHECK(shown(R"({"output_type":"display_data","data":{"text/html":")" + large + R"("},"metadata":{}})") ==
          "[text/html, 100000 bytes]\n");
    CHECK(shown(R"({"output_type":"display_data","data":{"text/plain":")" + large + R"("},"metadata":{}})") ==
          large + "\n");
    store::JournalRecord lost;
    lost.bytes = 12;
    CHECK(shown_text(lost) == "[12 bytes of output are not kept]\n");
}

TEST_CASE("a result's error and notes are shown where the output lacks them") {
    protocol::ExecuteResult result;
    result.error.emplace();
    result.error->ename = "KeyError";
    result.error->evalue = "x";
    result.error->traceback = {"one"};
    result.error->frames = {{std::nullopt, 2, "f"}};
    protocol::Note& note = result.notes.emplace().emplace_back();
    note.text = "the path /x is not there";
    note.remedy = "add it";
    CHECK(shown_text(result, "one\nKeyError: x\n") == "at code line 3, f\n[the path /x is not there; add it]\n");
    CHECK(shown_text(result, "") == "KeyError: x\none\nat code line 3, f\n[the path /x is not there; add it]\n");
}

TEST_CASE("a tool's result is shown with all that is in it") {
    const auto result = from_json<protocol::CallToolResult>(
        R"({"content":[{"type":"text","text":"a"},{"type":"text","text":"b","annotations":{"c":1}}],)"
        R"("structuredContent":{"d":2}})",
        "result");
    CHECK(shown_text(result) == "a\n{\"type\":\"text\",\"text\":\"b\",\"annotations\":{\"c\":1}}\n"
                                "[structuredContent] {\"d\":2}\n");
}
