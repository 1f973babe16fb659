#include "gate_fixture.hpp"

#include <doctest/doctest.h>

using namespace gate_fixture;

namespace {

std::vector<protocol::PastDecision> decided(Fixture& fixture) {
    return fixture.gate->policy_decisions().decisions;
}

} // namespace

TEST_CASE("an action that a rule allowed is listed, with the rule as it was") {
    Fixture fixture;
    fixture.run_execution("e");
    const Rule allows = fixture.add(rule(Effect::allow, ActionKind::tool, "files"));
    gate::Request request;
    request.action = tool(R"({"path":"a\u202e"})");
    request.session_id = "s";
    request.execution_id = "e";
    request.from_code = true;
    request.agent = gate::Agent{7, "helper"};
    request.origin = protocol::Origin{"file:///plan.py", 3, "read(\x1b[2J)"};
    REQUIRE(fixture.ask(std::move(request))->allowed());
    fixture.remove(allows.id);

    const auto past = decided(fixture);
    REQUIRE(past.size() == 1);
    CHECK(past[0].decision == Verdict::allow);
    CHECK(past[0].by == ResolvedBy::rule);
    CHECK(past[0].rule.value().id == allows.id);
    CHECK(past[0].rule->source == protocol::RuleSource::session);
    CHECK(past[0].action.value().arguments_text == RawJson::parse(R"({"path":"a\u202e"})"));
    CHECK(past[0].display.front() == "tool read_file of files");
    CHECK_FALSE(past[0].approval_id);
    CHECK(past[0].session_id == "s");
    CHECK(past[0].execution_id == "e");
    CHECK(past[0].agent == "helper");
    CHECK(past[0].origin.value().line == 3);
    for (const std::string& line : past[0].display) {
        CHECK(line.find("\xe2\x80\xae") == std::string::npos);
    }
    CHECK(past[0].origin->text.find('\x1b') == std::string::npos);
    CHECK(fixture.user.requested.empty());
}

TEST_CASE("what was denied at once is listed, with the reason") {
    Fixture fixture;
    SUBCASE("by a rule") {
        const Rule denies = fixture.add(rule(Effect::deny, ActionKind::tool, "files"));
        REQUIRE(fixture.ask(tool(R"({"path":"a"})"))->denied());
        CHECK(decided(fixture).at(0).rule.value().id == denies.id);
    }
    SUBCASE("as no user was attached") {
        fixture.gate->detach(fixture.user, Duration::zero());
        REQUIRE(fixture.ask(tool(R"({"path":"a"})"))->denied());
        CHECK(decided(fixture).at(0).by == ResolvedBy::no_client);
        CHECK_FALSE(decided(fixture).at(0).rule);
    }
    CHECK(decided(fixture).at(0).decision == Verdict::deny);
    CHECK_FALSE(decided(fixture).at(0).reason.empty());
}

TEST_CASE("what a user was asked about is listed with the answer, newest first") {
    Fixture fixture;
    const auto denied = fixture.ask(tool(R"({"path":"a"})"));
    const std::string denied_id = fixture.user.last_id();
    protocol::ApprovalRespondParams no;
    no.approval_ids = {denied_id};
    no.decision = Verdict::deny;
    no.reason = "not\nthis";
    fixture.respond(std::move(no));
    fixture.clock.advance(std::chrono::seconds(60));
    const auto allowed = fixture.ask(tool(R"({"path":"b"})"));
    const std::string allowed_id = fixture.user.last_id();
    fixture.allow(Scope::session);
    const auto withdrawn = fixture.ask(tool(R"({"path":"c"})"));
    withdrawn->cancel->cancel();

    const auto past = decided(fixture);
    REQUIRE(past.size() == 3);
    CHECK(past[0].by == ResolvedBy::cancelled);
    CHECK(past[1].approval_id == allowed_id);
    CHECK(past[1].by == ResolvedBy::user);
    CHECK(past[1].rule.value().source == protocol::RuleSource::session);
    CHECK(past[2].approval_id == denied_id);
    CHECK(past[2].reason == "not\\nthis");
    CHECK_FALSE(past[2].rule);
    CHECK(past[2].decided_at < past[1].decided_at);
}

TEST_CASE("an edited call is listed as it ran") {
    Fixture fixture;
    gate::Request request;
    request.action = tool(R"({"path":"a"})");
    request.edit = [](const RawJson& arguments) {
        gate::ToolCall action = tool("{}");
        action.arguments = arguments;
        return action;
    };
    const auto call = fixture.ask(std::move(request));
    protocol::ApprovalRespondParams edited;
    edited.approval_ids = {fixture.user.last_id()};
    edited.decision = Verdict::allow;
    edited.arguments_text = R"({"path":"b"})";
    fixture.respond(std::move(edited));
    REQUIRE(call->allowed());
    CHECK(decided(fixture).at(0).action.value().arguments_text == RawJson::parse(R"({"path":"b"})"));
    CHECK(decided(fixture).at(0).edited == true);
}

TEST_CASE("a part of what was allowed is listed only where a rule denies it") {
    Fixture fixture;
    gate::Request request;
    request.action = tool(R"({"path":"a"})");
    request.session_id = "s";
    request.deny_rules_only = true;
    REQUIRE(fixture.ask(request)->allowed());
    CHECK(decided(fixture).empty());
    fixture.add(rule(Effect::deny, ActionKind::tool, "files"));
    REQUIRE(fixture.ask(request)->denied());
    CHECK(decided(fixture).size() == 1);
}

TEST_CASE("a flood of calls that a rule decides takes its own place alone") {
    Fixture fixture;
    const auto answered = fixture.ask(tool(R"({"path":"mine"})"));
    fixture.deny();
    fixture.add(rule(Effect::allow, ActionKind::tool, "files"));
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(fixture.ask(tool(R"({"path":"flood"})"))->allowed());
    }
    const protocol::PolicyDecisionsResult result = fixture.gate->policy_decisions();
    CHECK(result.decisions.size() == 201);
    CHECK(result.forgotten == 800);
    CHECK(result.decisions.back().by == ResolvedBy::user);
}

TEST_CASE("entries that the code withdraws take no place of a user's answers") {
    Fixture fixture;
    const auto answered = fixture.ask(tool(R"({"path":"mine"})"));
    const std::string id = fixture.user.last_id();
    fixture.deny();
    for (int i = 0; i < 300; ++i) {
        const auto call = fixture.ask(tool(R"({"path":"flood"})"));
        call->cancel->cancel();
    }
    REQUIRE(fixture.user.requested.size() == 301);
    const protocol::PolicyDecisionsResult result = fixture.gate->policy_decisions();
    CHECK(result.decisions.size() == 201);
    CHECK(result.decisions.back().approval_id == id);
}

TEST_CASE("the list has a bound, whatever the code and its agent send") {
    Fixture fixture;
    fixture.add(rule(Effect::allow, ActionKind::tool, "files"));
    std::string nested = "1";
    for (int i = 0; i < 60; ++i) {
        nested = "[" + nested + ",\"\\u202e\"]";
    }
    std::string many = nested;
    while (many.size() + nested.size() < 7000) {
        many += "," + nested;
    }
    for (int i = 0; i < 250; ++i) {
        gate::Request request;
        request.action = tool("{\"a\":[" + many + "]}");
        request.session_id = "s";
        request.origin = protocol::Origin{std::string(65536, '\1'), 3, std::string(100'000, '\1')};
        REQUIRE(fixture.ask(std::move(request))->allowed());
    }
    const protocol::PolicyDecisionsResult result = fixture.gate->policy_decisions();
    CHECK(to_json(result).size() < (std::size_t{9} << 20));
    CHECK(!result.decisions.empty());
    CHECK(result.forgotten + static_cast<std::int64_t>(result.decisions.size()) == 250);
    CHECK(result.decisions.front().number == 250);
}

TEST_CASE("a payload that is too large to keep is left out, and what kind of action it was stays") {
    Fixture fixture;
    fixture.add(rule(Effect::allow, ActionKind::tool, "files"));
    const auto path_of = [](std::size_t bytes) { return R"({"path":")" + std::string(bytes, 'x') + R"("})"; };
    REQUIRE(fixture.ask(tool(path_of(8000)))->allowed());
    REQUIRE(fixture.ask(tool(path_of(9000)))->allowed());
    const auto past = decided(fixture);
    CHECK_FALSE(past.at(0).action);
    CHECK(past.at(0).display == std::vector<std::string>{"tool read_file of files"});
    CHECK(past.at(1).action.value().arguments_text == RawJson::parse(path_of(8000)));
}
