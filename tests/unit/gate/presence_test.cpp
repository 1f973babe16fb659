#include "gate_house.hpp"

#include <doctest/doctest.h>

using namespace gate_house;

TEST_CASE("with nobody attached a call is denied at once, and rules still decide") {
    House house;
    house.gate->detach(house.person, Duration(0));
    const auto call = house.ask(tool("{}"));
    REQUIRE(call->denied());
    CHECK(call->decision->by == ResolvedBy::no_client);
    CHECK(call->decision->reason.find("nobody") != std::string::npos);
    CHECK(house.explain(tool("{}")).effect == Effect::deny);
    house.add(rule(Effect::allow, ActionKind::tool, "files", "stat"));
    CHECK(house.ask(tool("{}", "stat"))->allowed());
}

TEST_CASE("when the last person vanishes, what is pending waits for the linger time and is denied then") {
    House house;
    Person other;
    house.gate->attach(other);
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 70; ++i) {
        calls.push_back(house.ask(tool(R"({"n":)" + std::to_string(i) + "}")));
    }
    house.gate->detach(house.person, std::chrono::seconds(1));
    house.clock.advance(std::chrono::hours(1));
    CHECK(calls[0]->waits()); // one is still there
    house.gate->detach(other, std::chrono::seconds(600));
    house.clock.advance(std::chrono::seconds(599));
    CHECK(calls[0]->waits());
    calls.push_back(house.ask(tool("{}"))); // a new one waits as well, no longer
    CHECK(calls.back()->waits());
    house.clock.advance(std::chrono::seconds(1));
    for (const auto& call : calls) {
        REQUIRE(call->denied());
        CHECK(call->decision->by == ResolvedBy::no_client);
    }
    CHECK(house.gate->list({}).approvals.empty());
    CHECK(house.ask(tool("{}"))->denied()); // nobody is expected any more
}

TEST_CASE("while a person is expected back a call waits, also when none waited before") {
    House house;
    house.gate->detach(house.person, std::chrono::seconds(600));
    const auto call = house.ask(tool("{}"));
    CHECK(call->waits());
    CHECK(house.explain(tool("{}")).effect == Effect::ask);
    Person back;
    house.gate->attach(back);
    house.answer(back.last_id(), Verdict::allow);
    CHECK(call->allowed());
    house.gate->detach(back, Duration(0));
}

TEST_CASE("a person who comes back in time finds what is pending and answers it") {
    House house;
    const auto call = house.ask(tool("{}"));
    house.gate->detach(house.person, std::chrono::seconds(600));
    house.clock.advance(std::chrono::seconds(599));
    Person later;
    house.gate->attach(later);
    CHECK(house.clock.sleepers() == 0);
    house.clock.advance(std::chrono::hours(1));
    CHECK(call->waits());
    CHECK(later.requested.size() == 1);
    REQUIRE(house.gate->list({}).approvals.size() == 1);
    CHECK(house.gate->list({}).approvals[0].approval_id == house.person.last_id());
    house.answer(house.gate->list({}).approvals[0].approval_id, Verdict::allow);
    CHECK(call->allowed());
    CHECK(later.resolved.size() == 1);
    house.gate->detach(later, Duration(0));
}

TEST_CASE("a client that has said goodbye leaves nothing waiting") {
    House house;
    const auto call = house.ask(tool("{}"));
    house.gate->detach(house.person, Duration(0));
    CHECK(call->denied());
    CHECK(house.person.resolved.empty());
}

TEST_CASE("pending approvals are listed oldest first") {
    House house;
    for (const char* path : {"a", "b", "c"}) {
        house.ask(tool(std::string(R"({"path":")") + path + "\"}"));
    }
    house.answer(house.person.requested[1].approval_id, Verdict::allow);
    const auto pending = house.gate->list({}).approvals;
    REQUIRE(pending.size() == 2);
    CHECK(pending[0].approval_id == house.person.requested[0].approval_id);
    CHECK(pending[1].approval_id == house.person.requested[2].approval_id);
}
