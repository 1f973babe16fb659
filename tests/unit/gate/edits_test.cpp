#include "gate_fixture.hpp"

#include <doctest/doctest.h>

using namespace gate_fixture;

namespace {

// A request of an enforcement point, for a tool that takes {"path": string} and nothing else.
gate::Request editable(const gate::ToolCall& action) {
    gate::Request request;
    request.action = action;
    request.session_id = "s";
    request.edit = [action](const RawJson& arguments) {
        const Json value = arguments.value();
        if (value.size() != 1 || !value.contains("path") || !value["path"].is_string()) {
            throw Error(ErrorCode::arguments_invalid, "arguments.path: expected a string, found something else");
        }
        gate::ToolCall edited = action;
        edited.arguments = arguments;
        return edited;
    };
    return request;
}

std::optional<ErrorCode> edit(Fixture& fixture, const std::string& arguments, Scope scope = Scope::once,
                              std::optional<RuleSpec> spec = std::nullopt, Verdict verdict = Verdict::allow) {
    protocol::ApprovalRespondParams params;
    params.approval_ids = {fixture.user.last_id()};
    params.decision = verdict;
    params.scope = scope;
    params.rule = std::move(spec);
    params.arguments_text = arguments;
    return error_of([&] { fixture.respond(params); });
}

} // namespace

TEST_CASE("edited arguments run in place of those that were shown, exactly as they were written") {
    Fixture fixture;
    const auto call = fixture.ask(editable(tool(R"({"path":"a"})")));
    CHECK_FALSE(edit(fixture, R"({ "path":"b" })"));
    REQUIRE(call->allowed());
    CHECK(call->decision->edited);
    CHECK(arguments_of(*call).text() == R"({ "path":"b" })");
}

TEST_CASE("an edit that does not fit the tool is refused and the approval stays") {
    Fixture fixture;
    const auto call = fixture.ask(editable(tool(R"({"path":"a"})")));
    CHECK(edit(fixture, R"({"path":1})") == ErrorCode::edit_invalid);
    CHECK(edit(fixture, R"([])") == ErrorCode::edit_invalid);
    CHECK(edit(fixture, R"({"path":")" + std::string(std::size_t{8} << 20, 'x') + "\"}") == ErrorCode::edit_invalid);
    CHECK(edit(fixture, R"({"path":"b"})", Scope::once, std::nullopt, Verdict::deny) == ErrorCode::edit_invalid);
    CHECK(call->waits());
    CHECK(fixture.user.resolved.empty());
    fixture.allow();
    CHECK(call->allowed());
    CHECK(arguments_of(*call).text() == R"({"path":"a"})");
}

TEST_CASE("an edit that is not JSON is refused with the line") {
    Fixture fixture;
    const auto call = fixture.ask(editable(tool(R"({"path":"a"})")));
    protocol::ApprovalRespondParams params;
    params.approval_ids = {fixture.user.last_id()};
    params.decision = Verdict::allow;
    for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
             {"", "line 1: expected JSON, found the end of the text"},
             {"{\n  \"path\": \"a\",\n  \"path\": \"b\"\n}", "line 4: expected JSON, found the key \"path\" twice"},
             {"{\n  \"path\": \"a\"\n}\n\n}", "line 5: "}}) {
        params.arguments_text = text;
        try {
            fixture.respond(params);
            FAIL("it was taken: " << text);
        } catch (const Error& error) {
            CHECK(error.code == ErrorCode::edit_invalid);
            CHECK(error.message.starts_with(expected));
        }
    }
    CHECK(call->waits());
}

TEST_CASE("arguments are laid out for an editor with every digit, name and order as sent") {
    Fixture fixture;
    const auto text_of = [&fixture](const std::string& arguments) {
        fixture.ask(editable(tool(arguments)));
        return fixture.user.requested.back().edit_text;
    };
    CHECK(text_of("{}") == "{}");
    CHECK(text_of(R"({ "b":1.0,"a":[1e400, 12345678901234567890,{}] , "":{"x": null} })") ==
          "{\n  \"b\": 1.0,\n  \"a\": [\n    1e400,\n    12345678901234567890,\n    {}\n  ],\n  \"\": {\n    \"x\": "
          "null\n  }\n}");
    CHECK(text_of(R"({"a":"]}\",:{[ \\"})") == "{\n  \"a\": \"]}\\\",:{[ \\\\\"\n}");
    // An escape of JSON, never a character that cannot be seen.
    CHECK(text_of("{\"\u202e\":\"a\U000e0041\u00e9\\u202e\"}") ==
          "{\n  \"\\u202e\": \"a\\udb40\\udc41\u00e9\\u202e\"\n}");
    // It means what was sent, and is taken as an answer.
    for (const char* arguments : {R"({"path":"a b"})", "{\"path\":\"\u200b\"}"}) {
        const auto call = fixture.ask(editable(tool(arguments)));
        CHECK_FALSE(edit(fixture, fixture.user.requested.back().edit_text.value()));
        REQUIRE(call->allowed());
        CHECK(std::get<gate::ToolCall>(call->decision->action).arguments.value() == RawJson::parse(arguments).value());
    }
}

TEST_CASE("arguments too large to lay out, and other actions, are not offered for editing") {
    Fixture fixture;
    std::string deep = "[[[[[[[[[[[[[[[[[[[[";
    for (int i = 0; i < 1'000'000; ++i) {
        deep += "1,";
    }
    fixture.ask(editable(tool(R"({"a":)" + deep + "1" + std::string(20, ']') + "}")));
    CHECK_FALSE(fixture.user.requested.back().edit_text);
    fixture.ask(launch({"/usr/bin/npx"}));
    CHECK_FALSE(fixture.user.requested.back().edit_text);
    fixture.ask(tool(R"({"path":"a"})")); // that its enforcement point would not edit
    CHECK_FALSE(fixture.user.requested.back().edit_text);
}

TEST_CASE("an action that cannot be edited says so") {
    Fixture fixture;
    const auto start = fixture.ask(launch({"/usr/bin/npx"}));
    CHECK(edit(fixture, "{}") == ErrorCode::edit_invalid);
    CHECK(start->waits());
}

TEST_CASE("an edit cannot reach what a deny rule forbids") {
    Fixture fixture;
    fixture.add(with(rule(Effect::deny), "/path", glob("secret/**")), Scope::workspace);
    const auto call = fixture.ask(editable(tool(R"({"path":"a"})")));
    CHECK(edit(fixture, R"({"path":"secret/key"})") == ErrorCode::edit_invalid);
    CHECK(edit(fixture, R"({"path":"a/../secret/key"})") == ErrorCode::edit_invalid);
    CHECK(call->waits());
    CHECK_FALSE(edit(fixture, R"({"path":"open"})"));
    CHECK(call->allowed());
}

TEST_CASE("an edit answers one approval, and covers exactly itself") {
    Fixture fixture;
    const gate::ToolCall action = tool(R"({"path":"a"})");
    const auto first = fixture.ask(editable(action));
    const auto second = fixture.ask(editable(tool(R"({"path":"c"})")));
    protocol::ApprovalRespondParams both;
    both.approval_ids = {fixture.user.requested[0].approval_id, fixture.user.requested[1].approval_id};
    both.decision = Verdict::allow;
    both.arguments_text = R"({"path":"b"})";
    CHECK(error_of([&] { fixture.respond(both); }) == ErrorCode::invalid_params);
    CHECK(edit(fixture, R"({"path":"b"})", Scope::session,
               rule(Effect::allow, ActionKind::tool, "files", "read_file")) == ErrorCode::rule_invalid);
    CHECK(first->waits());
    CHECK(second->waits());
    CHECK_FALSE(edit(fixture, R"({"path":"b"})", Scope::session));
    CHECK(second->allowed());
    CHECK(fixture.ask(tool(R"({"path":"b"})"))->allowed()); // what ran
    CHECK(fixture.ask(tool(R"({"path":"c"})"))->waits());   // what was asked
}

TEST_CASE("an enforcement point whose edit returns another action is caught") {
    Fixture fixture;
    const gate::ToolCall action = tool(R"({"path":"a"})");
    gate::Request request = editable(action);
    request.edit = [action](const RawJson& arguments) {
        gate::ToolCall other = action;
        other.tool = "remove_everything";
        other.arguments = arguments;
        return other;
    };
    const auto call = fixture.ask(std::move(request));
    CHECK(edit(fixture, R"({"path":"b"})") == ErrorCode::internal_error);
    CHECK(call->waits());
}
