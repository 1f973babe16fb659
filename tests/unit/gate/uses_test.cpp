// Allow rules that end after a number of actions.

#include "gate_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gate_fixture;

namespace {

struct Sink final : gate::RecordSink {
    std::vector<std::string> used_up;

    void on_decided(const gate::Decision& /*decision*/, const protocol::PastDecision& /*past*/) override {}
    void on_ended(gate::ActionId /*action*/, const protocol::Outcome& /*outcome*/) override {}
    void on_used_up(const Rule& rule) override { used_up.push_back(rule.id); }
};

struct WithSink {
    Sink sink; // outlives the gate
};

struct Limited : WithSink, Fixture {
    Limited() {
        record = &sink;
        restart();
    }
};

RuleSpec limited(std::int64_t uses) {
    RuleSpec spec = rule(Effect::allow, ActionKind::tool, "files");
    spec.uses = uses;
    return spec;
}

std::optional<std::int64_t> left(const Fixture& fixture, const std::string& id) {
    const std::vector<Rule> rules = fixture.gate->policy_list().rules;
    const auto found = std::find_if(rules.begin(), rules.end(), [&id](const Rule& each) { return each.id == id; });
    return found == rules.end() ? std::nullopt : found->uses;
}

} // namespace

TEST_CASE("a rule with uses allows so many actions, whatever holds it, and is gone then") {
    for (const Scope scope : {Scope::session, Scope::workspace, Scope::always}) {
        Limited fixture;
        const Rule rule = fixture.add(limited(2), scope);
        CHECK(fixture.ask(tool("{}", "stat", "other"))->waits()); // uses nothing
        CHECK(fixture.explain(tool("{}")).effect == Effect::allow);
        CHECK(left(fixture, rule.id) == 2);
        const auto first = fixture.ask(tool("{}"));
        REQUIRE(first->allowed());
        CHECK(first->decision->rule->uses == 1);
        CHECK(first->decision->reason.ends_with("for 1 more call"));
        CHECK(left(fixture, rule.id) == 1);
        CHECK(fixture.sink.used_up.empty());
        const auto last = fixture.ask(tool("{}"));
        REQUIRE(last->allowed());
        CHECK(last->decision->reason.ends_with("for the last time"));
        CHECK(fixture.sink.used_up == std::vector<std::string>{rule.id});
        CHECK_FALSE(left(fixture, rule.id));
        CHECK(fixture.ask(tool("{}"))->waits());
        if (scope != Scope::session) {
            fixture.restart();
            CHECK(fixture.ask(tool("{}"))->waits()); // it is gone from the disk, too
        }
    }
}

TEST_CASE("a rule without uses takes no turn off the loop, and is not written again") {
    Fixture fixture;
    fixture.add(rule(Effect::allow, ActionKind::tool, "files"), Scope::always);
    const std::size_t before = fixture.worker.jobs;
    CHECK(fixture.ask(tool("{}"))->allowed());
    CHECK(fixture.worker.jobs == before);
}

TEST_CASE("two sidecars never allow more together than a stored rule has uses") {
    Fixture fixture;
    fixture.add(limited(3), Scope::always);
    gate::GateOptions options;
    options.root = fixture.root.string();
    options.policy_directory = fixture.policy.string();
    options.run_blocking = fixture.worker.run_blocking();
    gate::Gate other(fixture.clock, options);
    // All have seen three uses before the first one is taken.
    fixture.worker.held = true;
    std::vector<std::shared_ptr<Outcome>> calls;
    for (gate::Gate* gate : {fixture.gate.get(), &other, fixture.gate.get(), &other, fixture.gate.get(), &other}) {
        gate::Request request;
        request.action = tool("{}");
        auto outcome = std::make_shared<Outcome>();
        fixture.calls.spawn(keep_outcome(gate, std::move(request), outcome));
        CHECK(outcome->waits());
        calls.push_back(outcome);
    }
    fixture.worker.release();
    CHECK(std::count_if(calls.begin(), calls.end(), [](const auto& call) { return call->allowed(); }) == 3);
    fixture.calls.spawn(other.close());
}

TEST_CASE("calls that wait are allowed by a new rule as long as it has uses, and asked about after that") {
    Fixture fixture;
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 4; ++i) {
        calls.push_back(fixture.ask(tool("{}")));
    }
    for (const Scope scope : {Scope::session, Scope::always}) {
        fixture.add(limited(1), scope);
    }
    CHECK(std::count_if(calls.begin(), calls.end(), [](const auto& call) { return call->allowed(); }) == 2);
    CHECK(fixture.user.pending().size() == 2);
}

TEST_CASE("where a use cannot be taken nothing is allowed") {
    Fixture fixture;
    fixture.add(limited(5), Scope::always);
    CHECK(fixture.ask(tool("{}"))->allowed()); // control
    std::filesystem::permissions(fixture.policy,
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    const auto call = fixture.ask(tool("{}"));
    std::filesystem::permissions(fixture.policy, std::filesystem::perms::owner_all);
    if (::geteuid() != 0) { // whom permissions do not stop
        REQUIRE(call->denied());
        CHECK(call->decision->reason.find("cannot be taken") != std::string::npos);
    }
    CHECK(fixture.ask(tool("{}"))->allowed());
}

TEST_CASE("what is only a part of an allowed action takes no use") {
    Fixture fixture;
    const Rule rule = fixture.add(limited(1));
    gate::Request request;
    request.action = tool("{}");
    request.session_id = "s";
    request.deny_rules_only = true;
    CHECK(fixture.ask(std::move(request))->allowed());
    CHECK(left(fixture, rule.id) == 1);
}

TEST_CASE("uses are refused in a rule that does not allow, and beyond their limits") {
    Fixture fixture;
    RuleSpec denies = rule(Effect::deny);
    denies.uses = 1;
    for (const RuleSpec& spec : {denies, limited(0), limited(1'000'001)}) {
        CHECK(error_of([&] { fixture.add(spec); }) == ErrorCode::rule_invalid);
    }
    CHECK(fixture.gate->policy_words(limited(10)) == "allow tool of files, for 10 more calls");
}
