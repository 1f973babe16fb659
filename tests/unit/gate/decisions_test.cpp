#include "gate_house.hpp"

#include <doctest/doctest.h>

using namespace gate_house;

namespace {

std::vector<protocol::PastDecision> decided(House& house) {
    return house.gate->policy_decisions().decisions;
}

} // namespace

TEST_CASE("what a rule let through without a question is listed, with the rule as it was") {
    House house;
    house.run_execution("e");
    const Rule allows = house.add(rule(Effect::allow, ActionKind::tool, "files"));
    gate::Request request;
    request.action = tool(R"({"path":"a\u202e"})");
    request.session_id = "s";
    request.execution_id = "e";
    request.from_code = true;
    request.agent = gate::Agent{7, "helper"};
    request.origin = protocol::Origin{"file:///plan.py", 3, "read(\x1b[2J)"};
    REQUIRE(house.ask(std::move(request))->allowed());
    house.remove(allows.id);

    const auto past = decided(house);
    REQUIRE(past.size() == 1);
    CHECK(past[0].decision == Verdict::allow);
    CHECK(past[0].by == ResolvedBy::rule);
    CHECK(past[0].rule.value().id == allows.id);
    CHECK(past[0].rule->source == protocol::RuleSource::session);
    CHECK(past[0].action.value().arguments == RawJson::parse(R"({"path":"a\u202e"})"));
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
    CHECK(house.person.requested.empty());
}

TEST_CASE("what was denied at once is listed, with the reason") {
    House house;
    SUBCASE("by a rule") {
        const Rule denies = house.add(rule(Effect::deny, ActionKind::tool, "files"));
        REQUIRE(house.ask(tool(R"({"path":"a"})"))->denied());
        CHECK(decided(house).at(0).rule.value().id == denies.id);
    }
    SUBCASE("as nobody was there") {
        house.gate->detach(house.person, Duration::zero());
        REQUIRE(house.ask(tool(R"({"path":"a"})"))->denied());
        CHECK(decided(house).at(0).by == ResolvedBy::no_client);
        CHECK_FALSE(decided(house).at(0).rule);
    }
    CHECK(decided(house).at(0).decision == Verdict::deny);
    CHECK_FALSE(decided(house).at(0).reason.empty());
}

TEST_CASE("what a person was asked about is listed with the answer, newest first") {
    House house;
    const auto denied = house.ask(tool(R"({"path":"a"})"));
    const std::string denied_id = house.person.last_id();
    protocol::ApprovalRespondParams no;
    no.approval_ids = {denied_id};
    no.decision = Verdict::deny;
    no.reason = "not\nthis";
    house.respond(std::move(no));
    house.clock.advance(std::chrono::seconds(60));
    const auto allowed = house.ask(tool(R"({"path":"b"})"));
    const std::string allowed_id = house.person.last_id();
    house.allow(Scope::session);
    const auto withdrawn = house.ask(tool(R"({"path":"c"})"));
    withdrawn->cancel->cancel();

    const auto past = decided(house);
    REQUIRE(past.size() == 3);
    CHECK(past[0].by == ResolvedBy::cancelled);
    CHECK(past[1].approval_id == allowed_id);
    CHECK(past[1].by == ResolvedBy::person);
    CHECK(past[1].rule.value().source == protocol::RuleSource::session);
    CHECK(past[2].approval_id == denied_id);
    CHECK(past[2].reason == "not\\nthis");
    CHECK_FALSE(past[2].rule);
    CHECK(past[2].decided_at < past[1].decided_at);
}

TEST_CASE("an edited call is listed as it ran") {
    House house;
    gate::Request request;
    request.action = tool(R"({"path":"a"})");
    request.edit = [](const RawJson& arguments) {
        Action action = tool("{}");
        action.arguments = arguments;
        return action;
    };
    const auto call = house.ask(std::move(request));
    protocol::ApprovalRespondParams edited;
    edited.approval_ids = {house.person.last_id()};
    edited.decision = Verdict::allow;
    edited.arguments = RawJson::parse(R"({"path":"b"})");
    house.respond(std::move(edited));
    REQUIRE(call->allowed());
    CHECK(decided(house).at(0).action.value().arguments == RawJson::parse(R"({"path":"b"})"));
    CHECK(decided(house).at(0).edited == true);
}

TEST_CASE("a part of what was allowed is listed only where a rule denies it") {
    House house;
    gate::Request request;
    request.action = tool(R"({"path":"a"})");
    request.session_id = "s";
    request.unless_denied = true;
    REQUIRE(house.ask(request)->allowed());
    CHECK(decided(house).empty());
    house.add(rule(Effect::deny, ActionKind::tool, "files"));
    REQUIRE(house.ask(request)->denied());
    CHECK(decided(house).size() == 1);
}

TEST_CASE("a flood of calls that a rule decides takes its own place alone") {
    House house;
    const auto answered = house.ask(tool(R"({"path":"mine"})"));
    house.deny();
    house.add(rule(Effect::allow, ActionKind::tool, "files"));
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(house.ask(tool(R"({"path":"flood"})"))->allowed());
    }
    const protocol::PolicyDecisionsResult result = house.gate->policy_decisions();
    CHECK(result.decisions.size() == 201);
    CHECK(result.forgotten == 800);
    CHECK(result.decisions.back().by == ResolvedBy::person);
}

TEST_CASE("questions that the code withdraws take no place of a person's answers") {
    House house;
    const auto answered = house.ask(tool(R"({"path":"mine"})"));
    const std::string id = house.person.last_id();
    house.deny();
    for (int i = 0; i < 300; ++i) {
        const auto call = house.ask(tool(R"({"path":"flood"})"));
        call->cancel->cancel();
    }
    REQUIRE(house.person.requested.size() == 301);
    const protocol::PolicyDecisionsResult result = house.gate->policy_decisions();
    CHECK(result.decisions.size() == 201);
    CHECK(result.decisions.back().approval_id == id);
}

TEST_CASE("the list has a bound, whatever the code and its agent send") {
    House house;
    house.add(rule(Effect::allow, ActionKind::tool, "files"));
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
        REQUIRE(house.ask(std::move(request))->allowed());
    }
    const protocol::PolicyDecisionsResult result = house.gate->policy_decisions();
    CHECK(to_json(result).size() < (std::size_t{9} << 20));
    CHECK(!result.decisions.empty());
    CHECK(result.forgotten + static_cast<std::int64_t>(result.decisions.size()) == 250);
    CHECK(result.decisions.front().number == 250);
}

TEST_CASE("a payload that is too large to keep is left out, and what kind of action it was stays") {
    House house;
    house.add(rule(Effect::allow, ActionKind::tool, "files"));
    const auto path_of = [](std::size_t bytes) { return R"({"path":")" + std::string(bytes, 'x') + R"("})"; };
    REQUIRE(house.ask(tool(path_of(8000)))->allowed());
    REQUIRE(house.ask(tool(path_of(9000)))->allowed());
    const auto past = decided(house);
    CHECK_FALSE(past.at(0).action);
    CHECK(past.at(0).display == std::vector<std::string>{"tool read_file of files"});
    CHECK(past.at(1).action.value().arguments == RawJson::parse(path_of(8000)));
}
