// What may block is done off the loop: the worker of these tests holds it up, as a dead mount or a slow disk would.

#include "gate_house.hpp"

#include <doctest/doctest.h>

using namespace gate_house;

namespace {

Action in_data() {
    return tool(R"({"path":"data/x"})");
}

RuleSpec only_data(Effect effect) {
    return with(rule(effect, ActionKind::tool, "files", "read_file"), "/path", under("data"));
}

protocol::ApprovalRespondParams allow_always(const std::string& id) {
    protocol::ApprovalRespondParams params;
    params.approval_ids = {id};
    params.decision = Verdict::allow;
    params.scope = Scope::always;
    return params;
}

} // namespace

TEST_CASE("a path that hangs holds up its own call alone, and then counts as one that cannot be told") {
    House house;
    std::filesystem::create_directories(house.root / "data");
    house.add(only_data(Effect::allow));
    CHECK(house.ask(in_data())->allowed()); // control: the rule covers it
    house.worker.held = true;
    const auto call = house.ask(in_data());
    CHECK(call->waits());
    CHECK(house.person.requested.empty());
    // Others do not wait for it, whatever they need.
    const auto asked = house.ask(tool("{}", "stat"));
    CHECK(house.person.requested.size() == 1);
    house.allow();
    CHECK(asked->allowed());
    house.clock.advance(std::chrono::seconds(2));
    CHECK(house.person.requested.size() == 1); // the folder for its choices hangs as well
    house.clock.advance(std::chrono::seconds(2));
    REQUIRE(house.person.requested.size() == 2); // no rule covers what cannot be told
    for (const protocol::Choice& choice : house.person.requested.back().choices) {
        CHECK_FALSE((choice.rule && choice.rule->arguments)); // nor is a folder offered
    }
    house.deny();
    CHECK(call->denied());
    house.worker.release();
}

TEST_CASE("a deny rule holds for a path that hangs") {
    House house;
    house.add(rule(Effect::allow, ActionKind::tool, "files"));
    house.add(only_data(Effect::deny));
    CHECK(house.ask(tool(R"({"path":"other"})"))->allowed()); // control
    house.worker.held = true;
    const auto call = house.ask(tool(R"({"path":"other"})"));
    CHECK(call->waits());
    house.clock.advance(std::chrono::seconds(2));
    CHECK(call->denied());
    house.worker.release();
}

TEST_CASE("paths that hang take one thread, however many calls name them") {
    House house;
    house.add(only_data(Effect::allow));
    const std::size_t before = house.worker.jobs;
    house.worker.held = true;
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 100; ++i) {
        calls.push_back(house.ask(tool(R"({"path":"data/)" + std::to_string(i) + "\"}")));
    }
    CHECK(house.worker.jobs == before + 1);
    calls.front()->cancel->cancel();
    CHECK(calls.front()->error == ErrorCode::request_cancelled);
    house.worker.release();
    CHECK(std::all_of(calls.begin() + 1, calls.end(), [](const auto& call) { return call->allowed(); }));
}

TEST_CASE("a call that no path decides takes no turn off the loop") {
    House house;
    house.add(rule(Effect::allow, ActionKind::tool, "files"));
    house.add(with(rule(Effect::deny, ActionKind::tool, "web"), "/path", under("data")));
    const std::size_t before = house.worker.jobs;
    CHECK(house.ask(in_data())->allowed());
    CHECK(house.worker.jobs == before);
}

TEST_CASE("a rule that comes while a path is looked at counts") {
    House house;
    house.add(only_data(Effect::allow));
    house.worker.held = true;
    const auto call = house.ask(in_data());
    house.add(rule(Effect::deny, ActionKind::tool, "files"));
    house.worker.release();
    CHECK(call->denied());
}

TEST_CASE("what waits is judged by a new rule on paths when they are known") {
    House house;
    const auto call = house.ask(in_data());
    const auto other = house.ask(tool(R"({"path":"other"})"));
    house.worker.held = true;
    house.add(only_data(Effect::allow));
    CHECK(call->waits());
    house.worker.release();
    CHECK(call->allowed());
    CHECK(other->waits());
}

TEST_CASE("an answer that is stored holds when it is on the disk, and a second one waits for it") {
    House house;
    const auto call = house.ask(tool("{}"));
    const auto other = house.ask(tool("{}", "stat"));
    const std::string id = house.person.requested[0].approval_id;
    house.worker.held = true;
    const auto first = house.start(then_true(house.gate->respond(allow_always(id))));
    protocol::ApprovalRespondParams no;
    no.approval_ids = {id};
    const auto second = house.start(then_true(house.gate->respond(no)));
    CHECK_FALSE(first->ended());
    CHECK_FALSE(second->ended());
    CHECK(call->waits());
    CHECK(house.person.resolved.empty());
    // An answer to something else does not wait for the disk.
    house.answer(house.person.requested[1].approval_id, Verdict::deny);
    CHECK(other->denied());
    house.worker.release();
    CHECK(first->take());
    CHECK(call->allowed());
    CHECK(error_of([&] { second->take(); }) == ErrorCode::approval_resolved);
    CHECK(house.gate->policy_list().rules.size() == 1);
}

TEST_CASE("when an answer cannot be stored, the one that waited for it counts") {
    House house;
    const auto call = house.ask(tool("{}"));
    const std::string id = house.person.last_id();
    write_text(house.policy, "a file in the way");
    house.worker.held = true;
    const auto first = house.start(then_true(house.gate->respond(allow_always(id))));
    protocol::ApprovalRespondParams no;
    no.approval_ids = {id};
    const auto second = house.start(then_true(house.gate->respond(no)));
    house.worker.release();
    CHECK(error_of([&] { first->take(); }) == ErrorCode::store_failed);
    CHECK(second->take());
    CHECK(call->denied());
    CHECK(call->decision->by == ResolvedBy::person);
}

TEST_CASE("a call that is withdrawn while its answer is stored ends at once, and the rule stays") {
    House house;
    const auto call = house.ask(tool("{}"));
    house.worker.held = true;
    const auto answer = house.start(then_true(house.gate->respond(allow_always(house.person.last_id()))));
    call->cancel->cancel();
    CHECK(call->error == ErrorCode::request_cancelled);
    house.worker.release();
    CHECK(answer->take());
    CHECK(house.ask(tool("{}"))->allowed());
}

TEST_CASE("rules are stored in the order in which they were given") {
    House house;
    house.worker.held = true;
    std::vector<std::shared_ptr<Result<Rule>>> added;
    for (int i = 0; i < 5; ++i) {
        protocol::PolicyAddParams params;
        params.rule = rule(Effect::deny, ActionKind::tool, "s" + std::to_string(i));
        params.scope = Scope::workspace;
        added.push_back(house.start(house.gate->policy_add(std::move(params))));
    }
    CHECK(house.gate->policy_list().rules.empty()); // reading does not wait
    house.worker.release();
    const auto rules = house.gate->policy_list().rules;
    REQUIRE(rules.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(rules[i].server == "s" + std::to_string(i));
        CHECK(added[i]->take().id == rules[i].id);
    }
}
