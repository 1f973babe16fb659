#include "base/json_codec.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/lifecycle.hpp"
#include "protocol/messages/sessions.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::protocol;

namespace {

template <class T>
std::string problem_with(const std::string& json) {
    try {
        from_json<T>(RawJson::parse(json), "params");
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::invalid_params);
        return error.message;
    }
    return "none";
}

} // namespace

TEST_CASE("a message that lacks a field or has a wrong type is refused with the path to it") {
    CHECK(problem_with<ExecuteParams>(R"({})") == "params.code: expected a value, found none");
    CHECK(problem_with<ExecuteParams>(R"({"code":1})") == "params.code: expected a string, found 1");
    CHECK(problem_with<ExecuteParams>(R"({"code":"","cell":{"uri":"u","line":"3"}})") ==
          "params.cell.line: expected an integer, found string");
    CHECK(problem_with<ExecuteParams>(R"({"code":"","cell":{"uri":"u","line":1.5}})") ==
          "params.cell.line: expected an integer, found 1.5");
    CHECK(problem_with<ExecuteParams>(R"({"code":"","approvals":"maybe"})") ==
          R"(params.approvals: expected one of "ask", "deny", "allow", found "maybe")");
    CHECK(problem_with<SessionCreateParams>(R"({"toolServers":["a",1]})") ==
          "params.toolServers[1]: expected a string, found 1");
    CHECK(problem_with<RuleSpec>(R"({"effect":"allow","kind":"tool","tol":"x"})") ==
          R"(params: expected only known members, found "tol")");
}

TEST_CASE("unknown fields are ignored, null is absent, absent is not written") {
    const auto params = from_json<ExecuteParams>(RawJson::parse(R"({"code":"x","new":{},"sessionId":null})"), "params");
    CHECK_FALSE(params.session_id);
    CHECK(to_json(params) == R"({"code":"x"})");
    CHECK(to_json(Nullable<std::int64_t>{}) == "null");
}

TEST_CASE("free-form parts keep their bytes") {
    const std::string arguments = R"({"b":1.0,"a":12345678901234567890123,"c":"\u00e9\/"})";
    const auto call = from_json<ToolsCallParams>(
        RawJson::parse(R"({"server":"s","tool":"t","arguments":)" + arguments + "}"), "params");
    CHECK(call.arguments.text() == arguments);
}
