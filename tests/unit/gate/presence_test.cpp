#include "gate_fixture.hpp"

#include <doctest/doctest.h>

using namespace gate_fixture;

TEST_CASE("without a user a call is denied immediately, and rules still decide") {
    Fixture fixture;
    fixture.gate->detach(fixture.user, Duration(0));
    const auto call = fixture.ask(tool("{}"));
    REQUIRE(call->denied());
    CHECK(call->decision->by == ResolvedBy::no_client);
    CHECK(call->decision->reason.find("no user is connected") != std::string::npos);
    CHECK(fixture.explain(tool("{}")).effect == Effect::deny);
    fixture.add(rule(Effect::allow, ActionKind::tool, "files", "stat"));
    CHECK(fixture.ask(tool("{}", "stat"))->allowed());
}

TEST_CASE("when the last user vanishes, what is pending waits for the linger time and is denied then") {
    Fixture fixture;
    User other;
    fixture.gate->attach(other);
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 70; ++i) {
        calls.push_back(fixture.ask(tool(R"({"n":)" + std::to_string(i) + "}")));
    }
    fixture.gate->detach(fixture.user, std::chrono::seconds(1));
    fixture.clock.advance(std::chrono::hours(1));
    CHECK(calls[0]->waits()); // one is still there
    fixture.gate->detach(other, std::chrono::seconds(600));
    fixture.clock.advance(std::chrono::seconds(599));
    CHECK(calls[0]->waits());
    calls.push_back(fixture.ask(tool("{}"))); // a new one waits as well, no longer
    CHECK(calls.back()->waits());
    fixture.clock.advance(std::chrono::seconds(1));
    for (const auto& call : calls) {
        REQUIRE(call->denied());
        CHECK(call->decision->by == ResolvedBy::no_client);
    }
    CHECK(fixture.ask(tool("{}"))->denied()); // no client is expected any more
}

TEST_CASE("while a user is expected back a call waits, also when none waited before") {
    Fixture fixture;
    fixture.gate->detach(fixture.user, std::chrono::seconds(600));
    const auto call = fixture.ask(tool("{}"));
    CHECK(call->waits());
    CHECK(fixture.explain(tool("{}")).effect == Effect::ask);
    User back;
    fixture.gate->attach(back);
    fixture.answer(back.last_id(), Verdict::allow);
    CHECK(call->allowed());
    fixture.gate->detach(back, Duration(0));
}

TEST_CASE("a user who comes back in time finds what is pending and answers it") {
    Fixture fixture;
    const auto call = fixture.ask(tool("{}"));
    fixture.gate->detach(fixture.user, std::chrono::seconds(600));
    fixture.clock.advance(std::chrono::seconds(599));
    User later;
    fixture.gate->attach(later);
    CHECK(fixture.clock.sleepers() == 0);
    fixture.clock.advance(std::chrono::hours(1));
    CHECK(call->waits());
    REQUIRE(later.requested.size() == 1);
    CHECK(later.last_id() == fixture.user.last_id());
    fixture.answer(later.last_id(), Verdict::allow);
    CHECK(call->allowed());
    CHECK(later.resolved.size() == 1);
    fixture.gate->detach(later, Duration(0));
}

TEST_CASE("a client that has said goodbye leaves nothing waiting") {
    Fixture fixture;
    const auto call = fixture.ask(tool("{}"));
    fixture.gate->detach(fixture.user, Duration(0));
    CHECK(call->denied());
    CHECK(fixture.user.resolved.empty());
}

TEST_CASE("a client that comes is notified of what is pending, oldest first") {
    Fixture fixture;
    for (const char* path : {"a", "b", "c"}) {
        fixture.ask(tool(std::string(R"({"path":")") + path + "\"}"));
    }
    fixture.answer(fixture.user.requested[1].approval_id, Verdict::allow);
    User later;
    fixture.gate->attach(later);
    REQUIRE(later.requested.size() == 2);
    CHECK(later.requested[0].approval_id == fixture.user.requested[0].approval_id);
    CHECK(later.requested[1].approval_id == fixture.user.requested[2].approval_id);
    fixture.gate->detach(later, Duration(0));
}
