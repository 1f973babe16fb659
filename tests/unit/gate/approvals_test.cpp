#include "gate_house.hpp"

#include <doctest/doctest.h>

using namespace gate_house;

namespace {

protocol::ApprovalRespondParams answer_to(std::vector<std::string> ids, Verdict verdict) {
    protocol::ApprovalRespondParams params;
    params.approval_ids = std::move(ids);
    params.decision = verdict;
    return params;
}

} // namespace

TEST_CASE("a call waits for a person, and what was shown is what may run, byte for byte") {
    House house;
    const std::string bytes = R"({ "n":1.0e1 ,"path":"a", "big":123456789012345678901234567890})";
    const auto call = house.ask(tool(bytes));
    REQUIRE(house.person.requested.size() == 1);
    CHECK(call->waits());
    CHECK(house.person.requested[0].action.arguments->text() == bytes);
    house.allow();
    REQUIRE(call->allowed());
    CHECK(call->decision->action.arguments->text() == bytes);
    CHECK_FALSE(call->decision->edited);
    REQUIRE(house.person.resolved.size() == 1);
    CHECK(house.person.resolved[0].decision == Verdict::allow);
    CHECK(house.person.resolved[0].by == ResolvedBy::person);
    CHECK(house.gate->list({}).approvals.empty());
}

TEST_CASE("the reason of a denial reaches the code, and a denial without one has words too") {
    House house;
    const auto first = house.ask(tool("{}"));
    protocol::ApprovalRespondParams params = answer_to({house.person.last_id()}, Verdict::deny);
    params.reason = "not on a Friday";
    house.respond(params);
    CHECK(first->decision->reason == "not on a Friday");
    const auto second = house.ask(tool("{}"));
    house.deny();
    CHECK_FALSE(second->decision->reason.empty());
    CHECK(house.person.resolved[0].reason == "not on a Friday");
}

TEST_CASE("arguments that name a key twice never become an action") {
    CHECK(error_of([] { RawJson::parse(R"({"path":"shown","path":"run"})"); }) == ErrorCode::parse_error);
    CHECK(error_of([] { RawJson::parse(R"({"path":"shown","p\u0061th":"run"})"); }) == ErrorCode::parse_error);
    // Control: a lenient reader takes the last one.
    CHECK(Json::parse(R"({"path":"shown","path":"run"})")["path"] == "run");
}

TEST_CASE("of two answers the first wins, and the second is told that it came late") {
    House house;
    Person other;
    house.gate->attach(other);
    const auto call = house.ask(tool("{}"));
    const std::string id = house.person.last_id();
    CHECK(other.last_id() == id);
    house.answer(id, Verdict::deny);
    CHECK(error_of([&] { house.answer(id, Verdict::allow); }) == ErrorCode::approval_resolved);
    CHECK(call->denied());
    CHECK(house.person.resolved.size() == 1);
    CHECK(other.resolved.size() == 1);
    house.gate->detach(other, Duration(0));
}

TEST_CASE("answers to what never was, or is not one's to answer, change nothing") {
    House house;
    const auto call = house.ask(tool("{}"));
    CHECK(error_of([&] { house.answer("nothing", Verdict::allow); }) == ErrorCode::approval_not_found);
    CHECK(error_of([&] { house.respond(answer_to({}, Verdict::allow)); }) == ErrorCode::invalid_params);
    const std::string id = house.person.last_id();
    CHECK(error_of([&] { house.respond(answer_to({id, id}, Verdict::allow)); }) == ErrorCode::invalid_params);
    CHECK(call->waits());
}

TEST_CASE("several approvals are answered all, or none") {
    House house;
    const auto a = house.ask(tool(R"({"path":"a"})"));
    const auto b = house.ask(tool(R"({"path":"b"})", "stat"));
    const auto c = house.ask(tool(R"({"path":"c"})"));
    const std::vector<protocol::Approval> asked = house.person.requested;
    SUBCASE("all") {
        house.respond(answer_to({asked[0].approval_id, asked[2].approval_id}, Verdict::allow));
        CHECK(a->allowed());
        CHECK(b->waits());
        CHECK(c->allowed());
    }
    SUBCASE("none when one is wrong") {
        CHECK(error_of([&] {
                  house.respond(answer_to({asked[0].approval_id, "wrong", asked[2].approval_id}, Verdict::allow));
              }) == ErrorCode::approval_not_found);
        CHECK(a->waits());
        CHECK(c->waits());
    }
    SUBCASE("none when one was answered meanwhile") {
        house.answer(asked[2].approval_id, Verdict::deny);
        CHECK(error_of([&] {
                  house.respond(answer_to({asked[0].approval_id, asked[2].approval_id}, Verdict::allow));
              }) == ErrorCode::approval_resolved);
        CHECK(a->waits());
    }
    SUBCASE("none when the rule does not match one of them, and no rule is left behind") {
        protocol::ApprovalRespondParams params =
            answer_to({asked[0].approval_id, asked[1].approval_id}, Verdict::allow);
        params.scope = Scope::session;
        params.rule = rule(Effect::allow, ActionKind::tool, "files", "read_file");
        CHECK(error_of([&] { house.respond(params); }) == ErrorCode::rule_invalid);
        CHECK(a->waits());
        CHECK(b->waits());
        CHECK(house.gate->policy_list().rules.empty());
    }
    SUBCASE("one rule is recorded once") {
        protocol::ApprovalRespondParams params =
            answer_to({asked[0].approval_id, asked[2].approval_id}, Verdict::allow);
        params.scope = Scope::session;
        params.rule = rule(Effect::allow, ActionKind::tool, "files", "read_file");
        house.respond(params);
        CHECK(a->decision->rule->id == c->decision->rule->id);
        CHECK(house.gate->policy_list().rules.size() == 1);
    }
}

TEST_CASE("a rule that does not fit the action, or is not one, is refused and the approval stays") {
    House house;
    house.run_execution("e");
    const auto call = house.ask(tool(R"({"path":"a/b"})"), "e");
    const auto refused = [&](Scope scope, const RuleSpec& spec, Verdict verdict = Verdict::allow) {
        return error_of([&] { house.answer(house.person.last_id(), verdict, scope, spec); }) == ErrorCode::rule_invalid;
    };
    const RuleSpec good = rule(Effect::allow, ActionKind::tool, "files", "read_file");
    CHECK(refused(Scope::session, rule(Effect::allow, ActionKind::tool, "files", "other")));
    CHECK(refused(Scope::session, rule(Effect::allow, ActionKind::host, "files")));
    CHECK(refused(Scope::session, with(good, "/path", under("elsewhere"))));
    CHECK(refused(Scope::session, with(good, "/other", glob("**"))));
    CHECK(refused(Scope::session, with(good, "path", glob("**"))));
    CHECK(refused(Scope::session, with(good, "/path", Matcher{})));
    CHECK(refused(Scope::once, good));
    CHECK(refused(Scope::session, rule(Effect::deny, ActionKind::tool, "files")));
    CHECK(refused(Scope::session, good, Verdict::deny));
    CHECK(refused(Scope::session, rule(Effect::allow, std::nullopt, "files")));
    CHECK(refused(Scope::always, rule(Effect::allow, ActionKind::tool))); // everything, everywhere
    RuleSpec expired = good;
    expired.expires_at = "2020-01-01T00:00:00Z";
    CHECK(refused(Scope::session, expired));
    CHECK(call->waits());
    CHECK(house.gate->policy_list().rules.empty());
    CHECK(house.person.resolved.empty());
    house.allow(Scope::session, with(good, "/path", under("a")));
    CHECK(call->allowed());
    CHECK(house.ask(tool(R"({"path":"a/c"})"), "e")->allowed());
    CHECK(house.ask(tool(R"({"path":"c"})"), "e")->waits());
}

TEST_CASE("an answer cannot hold for an execution or a session that is not there") {
    House house;
    house.run_execution("e");
    const auto call = house.ask(tool("{}"), "e");
    house.gate->end_execution("e");
    CHECK(error_of([&] { house.allow(Scope::execution); }) == ErrorCode::rule_invalid);
    CHECK(call->waits());
    house.allow(Scope::session);
    CHECK(call->allowed());
    gate::Request request;
    request.action = tool("{}", "stat");
    const auto without = house.ask(std::move(request));
    CHECK(error_of([&] { house.allow(Scope::session); }) == ErrorCode::rule_invalid);
    CHECK(error_of([&] { house.allow(Scope::execution); }) == ErrorCode::rule_invalid);
    house.allow();
    CHECK(without->allowed());
}

TEST_CASE("a deny rule that comes while a call waits decides it") {
    House house;
    const auto call = house.ask(tool("{}"));
    const Rule added = house.add(rule(Effect::deny), Scope::workspace);
    CHECK(call->denied());
    CHECK(house.person.resolved.back().by == ResolvedBy::rule);
    CHECK(house.person.resolved.back().rule_id == added.id);
}

TEST_CASE("a call that is cancelled withdraws its approval, and everybody is told") {
    House house;
    const auto call = house.ask(tool("{}"));
    const auto other = house.ask(tool("{}"));
    call->cancel->cancel();
    CHECK(call->error == ErrorCode::request_cancelled);
    REQUIRE(house.person.resolved.size() == 1);
    CHECK(house.person.resolved[0].by == ResolvedBy::cancelled);
    CHECK(house.person.resolved[0].decision == Verdict::deny);
    CHECK(error_of([&] { house.answer(house.person.requested[0].approval_id, Verdict::allow); }) ==
          ErrorCode::approval_resolved);
    CHECK(other->waits());
    CHECK(house.gate->list({}).approvals.size() == 1);
}

TEST_CASE("the end of a session ends what waits in it") {
    House house;
    const auto call = house.ask(tool("{}"));
    const auto other = house.ask(tool("{}"), "", "t");
    house.gate->end_session("s");
    CHECK(call->denied());
    CHECK(call->decision->by == ResolvedBy::cancelled);
    CHECK(other->waits());
}

TEST_CASE("an approval with a timeout expires, and without one waits") {
    House house(std::chrono::seconds(60));
    const auto call = house.ask(tool("{}"));
    const auto answered = house.ask(tool("{}"));
    CHECK(house.person.requested[0].expires_at == "2026-01-01T01:01:00.000Z");
    house.allow();
    CHECK(house.clock.sleepers() == 1); // nothing is kept for the one that was answered
    house.clock.advance(std::chrono::seconds(59));
    CHECK(call->waits());
    house.clock.advance(std::chrono::seconds(1));
    CHECK(call->denied());
    CHECK(call->decision->by == ResolvedBy::expired);
    CHECK(answered->allowed());
    CHECK(house.clock.sleepers() == 0);

    House patient;
    const auto waits = patient.ask(tool("{}"));
    patient.clock.advance(std::chrono::hours(24 * 365));
    CHECK(waits->waits());
}

TEST_CASE("64 approvals of a session are pending, the rest wait their turn in order") {
    House house;
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 70; ++i) {
        calls.push_back(house.ask(tool(R"({"n":)" + std::to_string(i) + "}")));
    }
    CHECK(house.person.requested.size() == 64);
    CHECK(house.gate->list({}).approvals.size() == 64);
    const auto other_session = house.ask(tool("{}"), "", "t");
    CHECK(house.person.requested.size() == 65); // a full session does not hold up another
    house.answer(house.person.requested[3].approval_id, Verdict::deny);
    REQUIRE(house.person.requested.size() == 66);
    CHECK(house.person.requested.back().action.arguments->text() == R"({"n":64})");
    calls[65]->cancel->cancel();
    CHECK(calls[65]->error == ErrorCode::request_cancelled);
    CHECK(house.person.resolved.size() == 1); // it was never shown
    calls[0]->cancel->cancel();
    CHECK(house.person.requested.back().action.arguments->text() == R"({"n":66})");
}

TEST_CASE("a call whose turn comes is judged by the rules of that moment") {
    House house;
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 64; ++i) {
        calls.push_back(house.ask(tool(R"({"n":)" + std::to_string(i) + "}")));
    }
    const auto allowed = house.ask(tool("{}", "stat"));
    const auto forbidden = house.ask(tool("{}", "remove"));
    house.add(rule(Effect::allow, ActionKind::tool, "files", "stat"));
    house.add(rule(Effect::deny, ActionKind::tool, "files", "remove"));
    CHECK(allowed->waits());
    house.answer(house.person.requested[0].approval_id, Verdict::deny);
    CHECK(allowed->allowed());
    CHECK(forbidden->denied());
    CHECK(house.person.requested.size() == 64);
}

TEST_CASE("10,000 waiting calls are all answered, each shown once") {
    House house;
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 10'000; ++i) {
        calls.push_back(house.ask(tool(R"({"n":)" + std::to_string(i) + "}")));
    }
    std::size_t next = 0;
    while (next < house.person.requested.size()) {
        const std::string id = house.person.requested[next++].approval_id;
        house.answer(id, Verdict::allow);
    }
    CHECK(next == 10'000);
    CHECK(std::all_of(calls.begin(), calls.end(), [](const auto& call) { return call->allowed(); }));
    CHECK(house.person.resolved.size() == 10'000);
}

TEST_CASE("10,000 waiting calls that one rule covers end at once, without recursion") {
    House house;
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 10'000; ++i) {
        calls.push_back(house.ask(tool(R"({"n":)" + std::to_string(i) + "}")));
    }
    house.allow(Scope::session, rule(Effect::allow, ActionKind::tool, "files", "read_file"));
    CHECK(std::all_of(calls.begin(), calls.end(), [](const auto& call) { return call->allowed(); }));
    CHECK(house.person.requested.size() == 64);
}

TEST_CASE("an execution hears how many of its calls wait, also of those whose turn has not come") {
    House house;
    std::vector<std::size_t> heard;
    house.run_execution("e", protocol::ApprovalMode::ask, [&heard](std::size_t pending) { heard.push_back(pending); });
    house.run_execution("f");
    const auto a = house.ask(tool(R"({"n":1})"), "e");
    house.ask(tool(R"({"n":2})"), "f");
    CHECK(heard == std::vector<std::size_t>{1});
    const auto b = house.ask(tool(R"({"n":3})"), "e");
    house.answer(house.person.requested[0].approval_id, Verdict::allow);
    b->cancel->cancel();
    CHECK(heard == std::vector<std::size_t>{1, 2, 1, 0});
    for (int i = 0; i < 100; ++i) {
        house.ask(tool(R"({"m":)" + std::to_string(i) + "}"), "e");
    }
    CHECK(heard.back() == 100);
    house.gate->end_execution("e");
    heard.clear();
    house.gate->end_session("s");
    CHECK(heard.empty());
}

TEST_CASE("a client that answers from inside the notification gets its answer, and others hear in order") {
    House house;
    Person second;
    house.gate->attach(second);
    house.person.at_once = [&](const protocol::Approval& approval) {
        house.start(then_true(house.gate->respond(answer_to({approval.approval_id}, Verdict::allow))));
    };
    const auto call = house.ask(tool("{}"));
    CHECK(call->allowed());
    REQUIRE(second.requested.size() == 1);
    CHECK(second.heard == std::vector<std::string>{"requested " + second.last_id(), "resolved " + second.last_id()});
    house.gate->detach(second, Duration(0));
}

TEST_CASE("a client that fails to be told does not stop the others") {
    House house;
    Person second;
    house.gate->attach(second);
    house.person.at_once = [](const protocol::Approval&) { throw Error(ErrorCode::internal_error, "gone"); };
    const auto call = house.ask(tool("{}"));
    REQUIRE(second.requested.size() == 1);
    house.answer(second.last_id(), Verdict::allow);
    CHECK(call->allowed());
    house.gate->detach(second, Duration(0));
}

TEST_CASE("a client that leaves while others are being told hears nothing more") {
    House house;
    Person second;
    house.gate->attach(second);
    house.person.at_once = [&](const protocol::Approval&) { house.gate->detach(second, Duration(0)); };
    house.ask(tool("{}"));
    CHECK(house.person.requested.size() == 1);
    CHECK(second.heard.empty());
}

TEST_CASE("an action that is not complete, or larger than can be judged, is refused") {
    House house;
    Action nameless = tool("{}");
    nameless.server_identity.reset();
    CHECK(house.ask(nameless)->error == ErrorCode::internal_error);
    Action list = tool("{}");
    list.arguments = RawJson::parse("[]");
    CHECK(house.ask(list)->error == ErrorCode::invalid_params);
    const std::string large(std::size_t{8} << 20, 'x');
    CHECK(house.ask(tool(R"({"a":")" + large + R"("})"))->error == ErrorCode::limit_exceeded);
    CHECK(house.person.requested.empty());
}

TEST_CASE("after close() nothing waits and nothing is asked") {
    House house;
    const auto call = house.ask(tool("{}"));
    house.calls.spawn(house.gate->close());
    CHECK(call->denied());
    CHECK(call->decision->by == ResolvedBy::cancelled);
    CHECK(house.ask(tool("{}"))->denied());
}
