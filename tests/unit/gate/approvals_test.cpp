#include "gate_fixture.hpp"

#include <doctest/doctest.h>

using namespace gate_fixture;

namespace {

protocol::ApprovalRespondParams answer_to(std::vector<std::string> ids, Verdict verdict) {
    protocol::ApprovalRespondParams params;
    params.approval_ids = std::move(ids);
    params.decision = verdict;
    return params;
}

} // namespace

TEST_CASE("a call waits for a user, and what was shown is what may run, byte for byte") {
    Fixture fixture;
    const std::string bytes = R"({ "n":1.0e1 ,"path":"a", "big":123456789012345678901234567890})";
    const auto call = fixture.ask(tool(bytes));
    REQUIRE(fixture.user.requested.size() == 1);
    CHECK(call->waits());
    CHECK(fixture.user.requested[0].action.arguments->text() == bytes);
    fixture.allow();
    REQUIRE(call->allowed());
    CHECK(call->decision->action.arguments->text() == bytes);
    CHECK_FALSE(call->decision->edited);
    REQUIRE(fixture.user.resolved.size() == 1);
    CHECK(fixture.user.resolved[0].decision == Verdict::allow);
    CHECK(fixture.user.resolved[0].by == ResolvedBy::user);
    CHECK(fixture.user.pending().empty());
}

TEST_CASE("the reason of a denial reaches the code, and a denial without one has words too") {
    Fixture fixture;
    const auto first = fixture.ask(tool("{}"));
    protocol::ApprovalRespondParams params = answer_to({fixture.user.last_id()}, Verdict::deny);
    params.reason = "not on a Friday";
    fixture.respond(params);
    CHECK(first->decision->reason == "not on a Friday");
    const auto second = fixture.ask(tool("{}"));
    fixture.deny();
    CHECK_FALSE(second->decision->reason.empty());
    CHECK(fixture.user.resolved[0].reason == "not on a Friday");
}

TEST_CASE("arguments that name a key twice never become an action") {
    CHECK(error_of([] { RawJson::parse(R"({"path":"shown","path":"run"})"); }) == ErrorCode::parse_error);
    CHECK(error_of([] { RawJson::parse(R"({"path":"shown","p\u0061th":"run"})"); }) == ErrorCode::parse_error);
    // Control: a lenient reader takes the last one.
    CHECK(Json::parse(R"({"path":"shown","path":"run"})")["path"] == "run");
}

TEST_CASE("of two answers the first wins, and the second is refused as late") {
    Fixture fixture;
    User other;
    fixture.gate->attach(other);
    const auto call = fixture.ask(tool("{}"));
    const std::string id = fixture.user.last_id();
    CHECK(other.last_id() == id);
    fixture.answer(id, Verdict::deny);
    CHECK(error_of([&] { fixture.answer(id, Verdict::allow); }) == ErrorCode::approval_resolved);
    CHECK(call->denied());
    CHECK(fixture.user.resolved.size() == 1);
    CHECK(other.resolved.size() == 1);
    fixture.gate->detach(other, Duration(0));
}

TEST_CASE("answers to what never was, or is not one's to answer, change nothing") {
    Fixture fixture;
    const auto call = fixture.ask(tool("{}"));
    CHECK(error_of([&] { fixture.answer("nothing", Verdict::allow); }) == ErrorCode::approval_not_found);
    CHECK(error_of([&] { fixture.respond(answer_to({}, Verdict::allow)); }) == ErrorCode::invalid_params);
    const std::string id = fixture.user.last_id();
    CHECK(error_of([&] { fixture.respond(answer_to({id, id}, Verdict::allow)); }) == ErrorCode::invalid_params);
    CHECK(call->waits());
}

TEST_CASE("several approvals are answered all, or none") {
    Fixture fixture;
    const auto a = fixture.ask(tool(R"({"path":"a"})"));
    const auto b = fixture.ask(tool(R"({"path":"b"})", "stat"));
    const auto c = fixture.ask(tool(R"({"path":"c"})"));
    const std::vector<protocol::Approval> asked = fixture.user.requested;
    SUBCASE("all") {
        fixture.respond(answer_to({asked[0].approval_id, asked[2].approval_id}, Verdict::allow));
        CHECK(a->allowed());
        CHECK(b->waits());
        CHECK(c->allowed());
    }
    SUBCASE("none when one is wrong") {
        CHECK(error_of([&] {
                  fixture.respond(answer_to({asked[0].approval_id, "wrong", asked[2].approval_id}, Verdict::allow));
              }) == ErrorCode::approval_not_found);
        CHECK(a->waits());
        CHECK(c->waits());
    }
    SUBCASE("none when one was answered meanwhile") {
        fixture.answer(asked[2].approval_id, Verdict::deny);
        CHECK(error_of([&] {
                  fixture.respond(answer_to({asked[0].approval_id, asked[2].approval_id}, Verdict::allow));
              }) == ErrorCode::approval_resolved);
        CHECK(a->waits());
    }
    SUBCASE("none when the rule does not match one of them, and no rule is left behind") {
        protocol::ApprovalRespondParams params =
            answer_to({asked[0].approval_id, asked[1].approval_id}, Verdict::allow);
        params.scope = Scope::session;
        params.rule = rule(Effect::allow, ActionKind::tool, "files", "read_file");
        CHECK(error_of([&] { fixture.respond(params); }) == ErrorCode::rule_invalid);
        CHECK(a->waits());
        CHECK(b->waits());
        CHECK(fixture.gate->policy_list().rules.empty());
    }
    SUBCASE("one rule is recorded once") {
        protocol::ApprovalRespondParams params =
            answer_to({asked[0].approval_id, asked[2].approval_id}, Verdict::allow);
        params.scope = Scope::session;
        params.rule = rule(Effect::allow, ActionKind::tool, "files", "read_file");
        fixture.respond(params);
        CHECK(a->decision->rule->id == c->decision->rule->id);
        CHECK(fixture.gate->policy_list().rules.size() == 1);
    }
}

TEST_CASE("a rule that does not fit the action, or is not one, is refused and the approval stays") {
    Fixture fixture;
    fixture.run_execution("e");
    const auto call = fixture.ask(tool(R"({"path":"a/b"})"), "e");
    const auto refused = [&](Scope scope, const RuleSpec& spec, Verdict verdict = Verdict::allow) {
        return error_of([&] { fixture.answer(fixture.user.last_id(), verdict, scope, spec); }) ==
               ErrorCode::rule_invalid;
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
    CHECK(fixture.gate->policy_list().rules.empty());
    CHECK(fixture.user.resolved.empty());
    fixture.allow(Scope::session, with(good, "/path", under("a")));
    CHECK(call->allowed());
    CHECK(fixture.ask(tool(R"({"path":"a/c"})"), "e")->allowed());
    CHECK(fixture.ask(tool(R"({"path":"c"})"), "e")->waits());
}

TEST_CASE("an answer cannot hold for an execution or a session that is not there") {
    Fixture fixture;
    fixture.run_execution("e");
    const auto call = fixture.ask(tool("{}"), "e");
    fixture.gate->end_execution("e");
    CHECK(error_of([&] { fixture.allow(Scope::execution); }) == ErrorCode::rule_invalid);
    CHECK(call->waits());
    fixture.allow(Scope::session);
    CHECK(call->allowed());
    gate::Request request;
    request.action = tool("{}", "stat");
    const auto without = fixture.ask(std::move(request));
    CHECK(error_of([&] { fixture.allow(Scope::session); }) == ErrorCode::rule_invalid);
    CHECK(error_of([&] { fixture.allow(Scope::execution); }) == ErrorCode::rule_invalid);
    fixture.allow();
    CHECK(without->allowed());
}

TEST_CASE("a deny rule that comes while a call waits decides it") {
    Fixture fixture;
    const auto call = fixture.ask(tool("{}"));
    const Rule added = fixture.add(rule(Effect::deny), Scope::workspace);
    CHECK(call->denied());
    CHECK(fixture.user.resolved.back().by == ResolvedBy::rule);
    CHECK(fixture.user.resolved.back().rule_id == added.id);
}

TEST_CASE("a call that is cancelled withdraws its approval, and every client is notified") {
    Fixture fixture;
    const auto call = fixture.ask(tool("{}"));
    const auto other = fixture.ask(tool("{}"));
    call->cancel->cancel();
    CHECK(call->error == ErrorCode::request_cancelled);
    REQUIRE(fixture.user.resolved.size() == 1);
    CHECK(fixture.user.resolved[0].by == ResolvedBy::cancelled);
    CHECK(fixture.user.resolved[0].decision == Verdict::deny);
    CHECK(error_of([&] { fixture.answer(fixture.user.requested[0].approval_id, Verdict::allow); }) ==
          ErrorCode::approval_resolved);
    CHECK(other->waits());
    CHECK(fixture.user.pending().size() == 1);
}

TEST_CASE("the end of a session ends what waits in it") {
    Fixture fixture;
    const auto call = fixture.ask(tool("{}"));
    const auto other = fixture.ask(tool("{}"), "", "t");
    fixture.gate->end_session("s");
    CHECK(call->denied());
    CHECK(call->decision->by == ResolvedBy::cancelled);
    CHECK(other->waits());
}

TEST_CASE("an approval waits for ever") {
    Fixture fixture;
    const auto call = fixture.ask(tool("{}"));
    fixture.clock.advance(std::chrono::hours(24 * 365));
    CHECK(call->waits());
}

TEST_CASE("64 approvals of a session are pending, the rest wait their turn in order") {
    Fixture fixture;
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 70; ++i) {
        calls.push_back(fixture.ask(tool(R"({"n":)" + std::to_string(i) + "}")));
    }
    CHECK(fixture.user.requested.size() == 64);
    CHECK(fixture.user.pending().size() == 64);
    const auto other_session = fixture.ask(tool("{}"), "", "t");
    CHECK(fixture.user.requested.size() == 65); // a full session does not hold up another
    fixture.answer(fixture.user.requested[3].approval_id, Verdict::deny);
    REQUIRE(fixture.user.requested.size() == 66);
    CHECK(fixture.user.requested.back().action.arguments->text() == R"({"n":64})");
    calls[65]->cancel->cancel();
    CHECK(calls[65]->error == ErrorCode::request_cancelled);
    CHECK(fixture.user.resolved.size() == 1); // it was never shown
    calls[0]->cancel->cancel();
    CHECK(fixture.user.requested.back().action.arguments->text() == R"({"n":66})");
}

TEST_CASE("a call whose turn comes is judged by the rules of that moment") {
    Fixture fixture;
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 64; ++i) {
        calls.push_back(fixture.ask(tool(R"({"n":)" + std::to_string(i) + "}")));
    }
    const auto allowed = fixture.ask(tool("{}", "stat"));
    const auto forbidden = fixture.ask(tool("{}", "remove"));
    fixture.add(rule(Effect::allow, ActionKind::tool, "files", "stat"));
    fixture.add(rule(Effect::deny, ActionKind::tool, "files", "remove"));
    CHECK(allowed->waits());
    fixture.answer(fixture.user.requested[0].approval_id, Verdict::deny);
    CHECK(allowed->allowed());
    CHECK(forbidden->denied());
    CHECK(fixture.user.requested.size() == 64);
}

TEST_CASE("10,000 waiting calls are all answered, each shown once") {
    Fixture fixture;
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 10'000; ++i) {
        calls.push_back(fixture.ask(tool(R"({"n":)" + std::to_string(i) + "}")));
    }
    std::size_t next = 0;
    while (next < fixture.user.requested.size()) {
        const std::string id = fixture.user.requested[next++].approval_id;
        fixture.answer(id, Verdict::allow);
    }
    CHECK(next == 10'000);
    CHECK(std::all_of(calls.begin(), calls.end(), [](const auto& call) { return call->allowed(); }));
    CHECK(fixture.user.resolved.size() == 10'000);
}

TEST_CASE("10,000 waiting calls that one rule covers end at once, without recursion") {
    Fixture fixture;
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 10'000; ++i) {
        calls.push_back(fixture.ask(tool(R"({"n":)" + std::to_string(i) + "}")));
    }
    fixture.allow(Scope::session, rule(Effect::allow, ActionKind::tool, "files", "read_file"));
    CHECK(std::all_of(calls.begin(), calls.end(), [](const auto& call) { return call->allowed(); }));
    CHECK(fixture.user.requested.size() == 64);
}

TEST_CASE("an execution hears how many of its calls wait, also of those whose turn has not come") {
    Fixture fixture;
    std::vector<std::size_t> heard;
    fixture.run_execution("e", protocol::ApprovalMode::ask,
                          [&heard](std::size_t pending) { heard.push_back(pending); });
    fixture.run_execution("f");
    const auto a = fixture.ask(tool(R"({"n":1})"), "e");
    fixture.ask(tool(R"({"n":2})"), "f");
    CHECK(heard == std::vector<std::size_t>{1});
    const auto b = fixture.ask(tool(R"({"n":3})"), "e");
    fixture.answer(fixture.user.requested[0].approval_id, Verdict::allow);
    b->cancel->cancel();
    CHECK(heard == std::vector<std::size_t>{1, 2, 1, 0});
    for (int i = 0; i < 100; ++i) {
        fixture.ask(tool(R"({"m":)" + std::to_string(i) + "}"), "e");
    }
    CHECK(heard.back() == 100);
    fixture.gate->end_execution("e");
    heard.clear();
    fixture.gate->end_session("s");
    CHECK(heard.empty());
}

TEST_CASE("a client that answers from inside the notification gets its answer, and others hear in order") {
    Fixture fixture;
    User second;
    fixture.gate->attach(second);
    fixture.user.record_immediate = [&](const protocol::Approval& approval) {
        fixture.start(then_true(fixture.gate->respond(answer_to({approval.approval_id}, Verdict::allow))));
    };
    const auto call = fixture.ask(tool("{}"));
    CHECK(call->allowed());
    REQUIRE(second.requested.size() == 1);
    CHECK(second.heard == std::vector<std::string>{"requested " + second.last_id(), "resolved " + second.last_id()});
    fixture.gate->detach(second, Duration(0));
}

TEST_CASE("a client that fails in a notification does not stop the others") {
    Fixture fixture;
    User second;
    fixture.gate->attach(second);
    fixture.user.record_immediate = [](const protocol::Approval&) { throw Error(ErrorCode::internal_error, "gone"); };
    const auto call = fixture.ask(tool("{}"));
    REQUIRE(second.requested.size() == 1);
    fixture.answer(second.last_id(), Verdict::allow);
    CHECK(call->allowed());
    fixture.gate->detach(second, Duration(0));
}

TEST_CASE("a client that leaves during a notification receives nothing more") {
    Fixture fixture;
    User second;
    fixture.gate->attach(second);
    fixture.user.record_immediate = [&](const protocol::Approval&) { fixture.gate->detach(second, Duration(0)); };
    fixture.ask(tool("{}"));
    CHECK(fixture.user.requested.size() == 1);
    CHECK(second.heard.empty());
}

TEST_CASE("an action that is not complete, or larger than can be judged, is refused") {
    Fixture fixture;
    Action nameless = tool("{}");
    nameless.server_identity.reset();
    CHECK(fixture.ask(nameless)->error == ErrorCode::internal_error);
    Action list = tool("{}");
    list.arguments = RawJson::parse("[]");
    CHECK(fixture.ask(list)->error == ErrorCode::invalid_params);
    const std::string large(std::size_t{8} << 20, 'x');
    CHECK(fixture.ask(tool(R"({"a":")" + large + R"("})"))->error == ErrorCode::limit_exceeded);
    CHECK(fixture.user.requested.empty());
}

TEST_CASE("after close() nothing waits and nothing is asked") {
    Fixture fixture;
    const auto call = fixture.ask(tool("{}"));
    fixture.calls.spawn(fixture.gate->close());
    CHECK(call->denied());
    CHECK(call->decision->by == ResolvedBy::cancelled);
    CHECK(fixture.ask(tool("{}"))->denied());
}
