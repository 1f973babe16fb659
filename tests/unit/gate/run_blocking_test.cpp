// What may block is done off the loop: the worker of these tests holds it up, as a dead mount or a slow disk would.

#include "gate_fixture.hpp"

#include <doctest/doctest.h>

using namespace gate_fixture;

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

TEST_CASE("a path that hangs delays only its own call, and then counts as unresolvable") {
    Fixture fixture;
    std::filesystem::create_directories(fixture.root / "data");
    fixture.add(only_data(Effect::allow));
    CHECK(fixture.ask(in_data())->allowed()); // control: the rule covers it
    fixture.worker.held = true;
    const auto call = fixture.ask(in_data());
    CHECK(call->waits());
    CHECK(fixture.user.requested.empty());
    // Others do not wait for it, whatever they need.
    const auto asked = fixture.ask(tool("{}", "stat"));
    CHECK(fixture.user.requested.size() == 1);
    fixture.allow();
    CHECK(asked->allowed());
    fixture.clock.advance(std::chrono::seconds(2));
    CHECK(fixture.user.requested.size() == 1); // the folder for its choices hangs as well
    fixture.clock.advance(std::chrono::seconds(2));
    REQUIRE(fixture.user.requested.size() == 2); // no rule covers an unresolvable path
    for (const protocol::Choice& choice : fixture.user.requested.back().choices) {
        CHECK_FALSE((choice.rule && choice.rule->arguments)); // nor is a folder offered
    }
    fixture.deny();
    CHECK(call->denied());
    fixture.worker.release();
}

TEST_CASE("a deny rule holds for a path that hangs") {
    Fixture fixture;
    fixture.add(rule(Effect::allow, ActionKind::tool, "files"));
    fixture.add(only_data(Effect::deny));
    CHECK(fixture.ask(tool(R"({"path":"other"})"))->allowed()); // control
    fixture.worker.held = true;
    const auto call = fixture.ask(tool(R"({"path":"other"})"));
    CHECK(call->waits());
    fixture.clock.advance(std::chrono::seconds(2));
    CHECK(call->denied());
    fixture.worker.release();
}

TEST_CASE("paths that hang take one thread, however many calls name them") {
    Fixture fixture;
    fixture.add(only_data(Effect::allow));
    const std::size_t before = fixture.worker.jobs;
    fixture.worker.held = true;
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 100; ++i) {
        calls.push_back(fixture.ask(tool(R"({"path":"data/)" + std::to_string(i) + "\"}")));
    }
    CHECK(fixture.worker.jobs == before + 1);
    calls.front()->cancel->cancel();
    CHECK(calls.front()->error == ErrorCode::request_cancelled);
    fixture.worker.release();
    CHECK(std::all_of(calls.begin() + 1, calls.end(), [](const auto& call) { return call->allowed(); }));
}

TEST_CASE("a call that no path decides takes no turn off the loop") {
    Fixture fixture;
    fixture.add(rule(Effect::allow, ActionKind::tool, "files"));
    fixture.add(with(rule(Effect::deny, ActionKind::tool, "web"), "/path", under("data")));
    const std::size_t before = fixture.worker.jobs;
    CHECK(fixture.ask(in_data())->allowed());
    CHECK(fixture.worker.jobs == before);
}

TEST_CASE("a rule that comes while a path is looked at counts") {
    Fixture fixture;
    fixture.add(only_data(Effect::allow));
    fixture.worker.held = true;
    const auto call = fixture.ask(in_data());
    fixture.add(rule(Effect::deny, ActionKind::tool, "files"));
    fixture.worker.release();
    CHECK(call->denied());
}

TEST_CASE("what waits is judged by a new rule on paths when they are known") {
    Fixture fixture;
    const auto call = fixture.ask(in_data());
    const auto other = fixture.ask(tool(R"({"path":"other"})"));
    fixture.worker.held = true;
    fixture.add(only_data(Effect::allow));
    CHECK(call->waits());
    fixture.worker.release();
    CHECK(call->allowed());
    CHECK(other->waits());
}

TEST_CASE("an answer that is stored holds when it is on the disk, and a second one waits for it") {
    Fixture fixture;
    const auto call = fixture.ask(tool("{}"));
    const auto other = fixture.ask(tool("{}", "stat"));
    const std::string id = fixture.user.requested[0].approval_id;
    fixture.worker.held = true;
    const auto first = fixture.start(then_true(fixture.gate->respond(allow_always(id))));
    protocol::ApprovalRespondParams no;
    no.approval_ids = {id};
    const auto second = fixture.start(then_true(fixture.gate->respond(no)));
    CHECK_FALSE(first->ended());
    CHECK_FALSE(second->ended());
    CHECK(call->waits());
    CHECK(fixture.user.resolved.empty());
    // An answer to something else does not wait for the disk.
    fixture.answer(fixture.user.requested[1].approval_id, Verdict::deny);
    CHECK(other->denied());
    fixture.worker.release();
    CHECK(first->take());
    CHECK(call->allowed());
    CHECK(error_of([&] { second->take(); }) == ErrorCode::approval_resolved);
    CHECK(fixture.gate->policy_list().rules.size() == 1);
}

TEST_CASE("when an answer cannot be stored, the one that waited for it counts") {
    Fixture fixture;
    const auto call = fixture.ask(tool("{}"));
    const std::string id = fixture.user.last_id();
    write_text(fixture.policy, "a file in the way");
    fixture.worker.held = true;
    const auto first = fixture.start(then_true(fixture.gate->respond(allow_always(id))));
    protocol::ApprovalRespondParams no;
    no.approval_ids = {id};
    const auto second = fixture.start(then_true(fixture.gate->respond(no)));
    fixture.worker.release();
    CHECK(error_of([&] { first->take(); }) == ErrorCode::store_failed);
    CHECK(second->take());
    CHECK(call->denied());
    CHECK(call->decision->by == ResolvedBy::user);
}

TEST_CASE("a call that is withdrawn while its answer is stored ends at once, and the rule stays") {
    Fixture fixture;
    const auto call = fixture.ask(tool("{}"));
    fixture.worker.held = true;
    const auto answer = fixture.start(then_true(fixture.gate->respond(allow_always(fixture.user.last_id()))));
    call->cancel->cancel();
    CHECK(call->error == ErrorCode::request_cancelled);
    fixture.worker.release();
    CHECK(answer->take());
    CHECK(fixture.ask(tool("{}"))->allowed());
}

TEST_CASE("rules are stored in the order in which they were given") {
    Fixture fixture;
    fixture.worker.held = true;
    std::vector<std::shared_ptr<Result<Rule>>> added;
    for (int i = 0; i < 5; ++i) {
        protocol::PolicyAddParams params;
        params.rule = rule(Effect::deny, ActionKind::tool, "s" + std::to_string(i));
        params.scope = Scope::workspace;
        added.push_back(fixture.start(fixture.gate->policy_add(std::move(params))));
    }
    CHECK(fixture.gate->policy_list().rules.empty()); // reading does not wait
    fixture.worker.release();
    const auto rules = fixture.gate->policy_list().rules;
    REQUIRE(rules.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(rules[i].server == "s" + std::to_string(i));
        CHECK(added[i]->take().id == rules[i].id);
    }
}
