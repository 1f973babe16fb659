#include "base/error.hpp"
#include "base/json.hpp"
#include "jupyter/kernel_query.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::jupyter;

namespace {

Json content_of(const KernelQuery& query) {
    return Json::parse(query.content);
}

} // namespace

TEST_CASE("questions are asked as Jupyter's protocol says") {
    CHECK(completion_query("α.x", 3).type == "complete");
    CHECK(content_of(completion_query("α.x", 3)) == Json({{"code", "α.x"}, {"cursor_pos", 3}}));
    CHECK(content_of(inspection_query("len", 3, 1)) == Json({{"code", "len"}, {"cursor_pos", 3}, {"detail_level", 1}}));
    const Json variables = content_of(evaluation_query("all(\"x\")"));
    CHECK(variables["user_expressions"] == Json({{"value", "all(\"x\")"}}));
    CHECK(variables["code"] == "");
    CHECK(variables["silent"] == true);
    CHECK(variables["store_history"] == false);
}

TEST_CASE("a completion has the types that the kernel tells of") {
    const Completion completion = read_completion(
        R"({"status":"ok","matches":["split","spam"],"cursor_start":5,"cursor_end":7,"metadata":
            {"_jupyter_types_experimental":[{"text":"split","type":"function","start":5},{"text":"other","type":"x"}]}})",
        7);
    CHECK(completion.matches == std::vector<std::string>{"split", "spam"});
    REQUIRE(completion.types);
    CHECK(*completion.types == std::vector<std::string>{"function", ""});
    CHECK(completion.cursor_start == 5);
    CHECK(completion.cursor_end == 7);
    CHECK(!read_completion(R"({"matches":["a"],"metadata":{}})", 0).types);
}

TEST_CASE("a match that would be other code than it looks like is dropped") {
    const Completion completion = read_completion(
        R"({"matches":["good","two\nlines","\u202eturned","\u001b[2J","hid\u200bden","schön"],"cursor_start":0,
            "cursor_end":0})",
        0);
    CHECK(completion.matches == std::vector<std::string>{"good", "schön"});
    const std::string longest = "\"" + std::string(1001, 'x') + "\"";
    CHECK(read_completion(R"({"matches":[)" + longest + R"(]})", 0).matches.empty());
}

TEST_CASE("a completion replaces only what comes before the cursor, whatever the kernel says") {
    const auto range = [](const std::string& start, const std::string& end) {
        const Completion completion =
            read_completion(R"({"matches":["x"],"cursor_start":)" + start + R"(,"cursor_end":)" + end + "}", 5);
        return std::pair(completion.cursor_start, completion.cursor_end);
    };
    CHECK(range("2", "5") == std::pair<std::int64_t, std::int64_t>(2, 5));
    CHECK(range("-7", "99") == std::pair<std::int64_t, std::int64_t>(0, 5));
    CHECK(range("9", "1") == std::pair<std::int64_t, std::int64_t>(5, 5));
}

TEST_CASE("matches and variables are bounded") {
    std::string matches;
    std::string variables;
    for (int i = 0; i < 2000; ++i) {
        matches += (i == 0 ? "\"m" : ",\"m") + std::to_string(i) + "\"";
        variables +=
            (i == 0 ? "" : ",") + std::string(R"({"name":"n","type":"t","value":")") + std::string(600, 'v') + R"("})";
    }
    CHECK(read_completion(R"({"matches":[)" + matches + "]}", 0).matches.size() == 1000);
    const auto found = read_variables(
        R"({"user_expressions":{"value":{"status":"ok","data":{"application/json":{"truncated":false,"variables":[)" +
        variables + "]}}}}}");
    REQUIRE(found);
    CHECK(found->all.size() == 1000);
    CHECK(found->truncated);
    CHECK(found->all[0].value.size() <= 600);
}

TEST_CASE("an inspection is text without colours, and safe to show") {
    CHECK(read_inspection(R"({"status":"ok","found":true,"data":{"text/plain":
        "\u001b[0;31mSignature:\u001b[0m len(obj)\nDoc:\u001b]0;title\u0007 \u202ex","text/html":"<b>"}})") ==
          "Signature: len(obj)\nDoc:\\x1b]0;title\\x07 \\u{202e}x");
    CHECK(!read_inspection(R"({"found":false,"data":{}})"));
    CHECK(!read_inspection(R"({"found":true,"data":{"text/html":"<b>"}})"));
    CHECK(!read_inspection(R"({"status":"error"})"));
    CHECK(read_inspection(R"({"found":true,"data":{"text/plain":"\u001b[31"}})") == "");
    std::string bells;
    for (int i = 0; i < 60'000; ++i) {
        bells += "\\u0007";
    }
    CHECK(read_inspection(R"({"found":true,"data":{"text/plain":")" + bells + "\"}}")->size() <= 65536);
}

TEST_CASE("a kernel that cannot tell of its variables says so by having none to tell of") {
    CHECK(!read_variables(R"({"status":"error","ename":"x"})"));
    CHECK(!read_variables(R"({"status":"ok","user_expressions":{"value":{"status":"error","ename":"E"}}})"));
    CHECK(!read_variables(R"({"status":"ok","user_expressions":{}})"));
    const auto found = read_variables(
        R"({"user_expressions":{"value":{"data":{"application/json":{"variables":[
            {"name":"x","type":"str","value":"a\nb\u001b[2J","size":"4"}],"truncated":false}}}}})");
    REQUIRE(found);
    CHECK(found->all.at(0).value == "a\\nb\\x1b[2J");
    CHECK(found->all.at(0).size == "4");
}
