#include "base/json_codec.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/kernels.hpp"
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
    CHECK(problem_with<ExecuteParams>(R"({"code":"","cell":{"uri":"a:b","line":"3"}})") ==
          "params.cell.line: expected an integer, found string");
    CHECK(problem_with<ExecuteParams>(R"({"code":"","cell":{"uri":"a:b","line":1.5}})") ==
          "params.cell.line: expected an integer, found 1.5");
    CHECK(problem_with<ExecuteParams>(R"({"code":"","approvals":"maybe"})") ==
          R"(params.approvals: expected one of "ask", "deny", "allow", found "maybe")");
    CHECK(problem_with<SessionCreateParams>(R"({"toolServers":["a",1]})") ==
          "params.toolServers[1]: expected a string, found 1");
    CHECK(problem_with<RuleSpec>(R"({"effect":"allow","kind":"tool","tol":"x"})") ==
          R"(params: expected only known members, found "tol")");
}

TEST_CASE("a value beyond a limit is refused with the path to it and the limit in words") {
    CHECK(problem_with<ExecuteParams>(R"({"code":"","timeoutSeconds":0})") ==
          "params.timeoutSeconds: expected more than 0, found 0");
    CHECK(problem_with<ExecuteParams>(R"({"code":"","timeoutSeconds":0.001})") == "none");
    CHECK(problem_with<ExecuteParams>(R"({"code":"a\u0000"})") ==
          R"(params.code: expected text without U+0000, found "a\u0000")");
    CHECK(problem_with<ExecuteParams>(R"({"code":"","cell":{"uri":"a:b","line":-1}})") ==
          "params.cell.line: expected 0 or more, found -1");
    CHECK(problem_with<ExecuteParams>(R"({"code":"","executionId":"../x"})") ==
          R"(params.executionId: expected 1 to 64 letters, digits, "_", "-" and ".", of which the first is no "-" or )"
          R"(".", found "../x")");
    CHECK(problem_with<SessionCreateParams>(R"({"limits":{"openFiles":63}})") ==
          "params.limits.openFiles: expected 64 to 1048576, found 63");
    CHECK(problem_with<SessionCreateParams>(R"({"limits":{"openFiles":64}})") == "none");
    CHECK(problem_with<SessionCreateParams>(R"({"limits":{"cpuCores":1025}})") ==
          "params.limits.cpuCores: expected more than 0, and at most 1024, found 1025");
    CHECK(problem_with<KernelInspectParams>(R"({"code":"","cursorPos":0,"detailLevel":2})") ==
          "params.detailLevel: expected 0 or 1, found 2");
    CHECK(problem_with<CancelRequestParams>(R"({"id":1.5})") ==
          "params.id: expected an integer or a string, found 1.5");
    CHECK(problem_with<PolicyExplainParams>(R"({"action":{"kind":"tool","argumentsText":"[]"}})") ==
          R"(params.action.argumentsText: expected an object, as text, found "[]")");
    CHECK(problem_with<PolicyAddParams>(R"({"rule":{"effect":"deny"},"scope":"once"})") ==
          R"(params.scope: expected "session" or "workspace" or "always", found "once")");
}

TEST_CASE("an element of a list is named by its number") {
    CHECK(problem_with<ExecuteParams>(R"({"code":"","allowedDomains":["example.org","a b"]})") ==
          "params.allowedDomains[1]: expected a host such as example.org, *.example.org or 192.0.2.1:8080, found "
          "\"a b\"");
    CHECK(problem_with<ApprovalRespondParams>(R"({"approvalIds":[],"decision":"deny"})") ==
          "params.approvalIds: expected at least one, found []");
    CHECK(problem_with<ApprovalRespondParams>(R"({"approvalIds":["a","b","a"],"decision":"deny"})") ==
          R"(params.approvalIds: expected no value twice, found ["a","b","a"])");
    CHECK(problem_with<ApprovalRespondParams>(R"({"approvalIds":["a","b"],"decision":"deny"})") == "none");
}

TEST_CASE("lengths are counted in characters, as JSON Schema counts") {
    constexpr std::size_t most = std::size_t{1} << 20;
    std::string code;
    for (std::size_t i = 0; i < most; ++i) {
        code += "é";
    }
    CHECK(problem_with<KernelCompleteParams>(R"({"cursorPos":0,"code":")" + code + "\"}") == "none");
    CHECK(problem_with<KernelCompleteParams>(R"({"cursorPos":0,"code":"a)" + code + "\"}")
              .starts_with("params.code: expected at most 1048576 characters, found \"aé"));
}

TEST_CASE("members that exclude or need each other are named") {
    CHECK(problem_with<SessionCreateParams>(R"({"kernel":{"name":"a","interpreter":"/b"}})") ==
          "params.kernel: expected name or interpreter or connectionFile or server, found more than one");
    CHECK(problem_with<SessionCreateParams>(R"({"kernel":{}})") ==
          "params.kernel: expected name or interpreter or connectionFile or server, found neither");
    CHECK(problem_with<SessionCreateParams>(R"({"kernel":{"name":"a"}})") == "none");
    CHECK(
        problem_with<SessionCreateParams>(R"({"sandbox":{}})") ==
        "params.sandbox: expected at least one of launcher, image, configFile, allowRead, allowWrite, gpu, found none");
    CHECK(problem_with<SessionRestartParams>(R"({"sessionId":"a","sandbox":{"gpu":true}})") == "none");
}

TEST_CASE("an unknown member of what restricts is refused with the nearest name") {
    try {
        from_json<SessionCreateParams>(RawJson::parse(R"({"limits":{"memoryByte":1}})"), "params");
        FAIL("it was read");
    } catch (const Error& error) {
        CHECK(error.message == R"(params.limits: expected only known members, found "memoryByte")");
        CHECK(error.hint.starts_with("Did you mean memoryBytes? There are: memoryBytes, processCount, "));
    }
    CHECK(problem_with<SessionCreateParams>(R"({"kernel":{"name":"a","nmae":"b"}})") ==
          R"(params.kernel: expected only known members, found "nmae")");
}

TEST_CASE("what cellgate itself sends is not checked again") {
    const std::string text = R"({"executionId":"-","state":"running"})";
    CHECK(to_json(from_json<ExecuteChangedParams>(RawJson::parse(text), "params")) == text);
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
