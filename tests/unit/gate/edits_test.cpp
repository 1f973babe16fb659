#include "gate_house.hpp"

#include <doctest/doctest.h>

using namespace gate_house;

namespace {

// A door whose tool takes {"path": string} and nothing else.
gate::Request editable(const Action& action) {
    gate::Request request;
    request.action = action;
    request.session_id = "s";
    request.edit = [action](const RawJson& arguments) {
        const Json value = arguments.value();
        if (value.size() != 1 || !value.contains("path") || !value["path"].is_string()) {
            throw Error(ErrorCode::arguments_invalid, "arguments.path: expected a string, found something else");
        }
        Action edited = action;
        edited.arguments = arguments;
        return edited;
    };
    return request;
}

std::optional<ErrorCode> edit(House& house, const std::string& arguments, Scope scope = Scope::once,
                              std::optional<RuleSpec> spec = std::nullopt, Verdict verdict = Verdict::allow) {
    protocol::ApprovalRespondParams params;
    params.approval_ids = {house.person.last_id()};
    params.decision = verdict;
    params.scope = scope;
    params.rule = std::move(spec);
    params.arguments = RawJson::parse(arguments);
    return error_of([&] { house.respond(params); });
}

} // namespace

TEST_CASE("edited arguments run in place of those that were shown, exactly as they were written") {
    House house;
    const auto call = house.ask(editable(tool(R"({"path":"a"})")));
    CHECK_FALSE(edit(house, R"({ "path":"b" })"));
    REQUIRE(call->allowed());
    CHECK(call->decision->edited);
    CHECK(call->decision->action.arguments->text() == R"({ "path":"b" })");
}

TEST_CASE("an edit that does not fit the tool is refused and the approval stays") {
    House house;
    const auto call = house.ask(editable(tool(R"({"path":"a"})")));
    CHECK(edit(house, R"({"path":1})") == ErrorCode::edit_invalid);
    CHECK(edit(house, R"([])") == ErrorCode::edit_invalid);
    CHECK(edit(house, R"({"path":")" + std::string(std::size_t{8} << 20, 'x') + "\"}") == ErrorCode::edit_invalid);
    CHECK(edit(house, R"({"path":"b"})", Scope::once, std::nullopt, Verdict::deny) == ErrorCode::edit_invalid);
    CHECK(call->waits());
    CHECK(house.person.resolved.empty());
    house.allow();
    CHECK(call->allowed());
    CHECK(call->decision->action.arguments->text() == R"({"path":"a"})");
}

TEST_CASE("an action that cannot be edited says so") {
    House house;
    const auto start = house.ask(launch({"/usr/bin/npx"}));
    CHECK(edit(house, "{}") == ErrorCode::edit_invalid);
    CHECK(start->waits());
}

TEST_CASE("an edit cannot reach what a deny rule forbids") {
    House house;
    house.add(with(rule(Effect::deny), "/path", glob("secret/**")), Scope::workspace);
    const auto call = house.ask(editable(tool(R"({"path":"a"})")));
    CHECK(edit(house, R"({"path":"secret/key"})") == ErrorCode::edit_invalid);
    CHECK(edit(house, R"({"path":"a/../secret/key"})") == ErrorCode::edit_invalid);
    CHECK(call->waits());
    CHECK_FALSE(edit(house, R"({"path":"open"})"));
    CHECK(call->allowed());
}

TEST_CASE("an edit answers one approval, and covers exactly itself") {
    House house;
    const Action action = tool(R"({"path":"a"})");
    const auto first = house.ask(editable(action));
    const auto second = house.ask(editable(tool(R"({"path":"c"})")));
    protocol::ApprovalRespondParams both;
    both.approval_ids = {house.person.requested[0].approval_id, house.person.requested[1].approval_id};
    both.decision = Verdict::allow;
    both.arguments = RawJson::parse(R"({"path":"b"})");
    CHECK(error_of([&] { house.respond(both); }) == ErrorCode::invalid_params);
    CHECK(edit(house, R"({"path":"b"})", Scope::session, rule(Effect::allow, ActionKind::tool, "files", "read_file")) ==
          ErrorCode::rule_invalid);
    CHECK(first->waits());
    CHECK(second->waits());
    CHECK_FALSE(edit(house, R"({"path":"b"})", Scope::session));
    CHECK(second->allowed());
    CHECK(house.ask(tool(R"({"path":"b"})"))->allowed()); // what ran
    CHECK(house.ask(tool(R"({"path":"c"})"))->waits());   // what was asked
}

TEST_CASE("a door whose edit returns another action is caught") {
    House house;
    const Action action = tool(R"({"path":"a"})");
    gate::Request request = editable(action);
    request.edit = [action](const RawJson& arguments) {
        Action other = action;
        other.tool = "remove_everything";
        other.arguments = arguments;
        return other;
    };
    const auto call = house.ask(std::move(request));
    CHECK(edit(house, R"({"path":"b"})") == ErrorCode::internal_error);
    CHECK(call->waits());
}
