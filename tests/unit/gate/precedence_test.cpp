#include "gate_fixture.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace gate_fixture;

namespace {

Effect effect_of(const Outcome& outcome) {
    return outcome.waits() ? Effect::ask : outcome.allowed() ? Effect::allow : Effect::deny;
}

// The places that rules come from, as bits of a set.
enum Given : unsigned {
    configured_allow = 1,
    stored_allow = 2,
    user_allow = 4,
    ask_rule = 8,
    session_grant = 16,
    execution_grant = 32,
    session_deny = 64,
    stored_deny = 128,
    configured_deny = 256,
};

Effect expected(unsigned given) {
    if ((given & (session_deny | stored_deny | configured_deny)) != 0) {
        return Effect::deny;
    }
    if ((given & (session_grant | execution_grant)) != 0) {
        return Effect::allow;
    }
    if ((given & ask_rule) != 0) {
        return Effect::ask;
    }
    return (given & (configured_allow | stored_allow | user_allow)) != 0 ? Effect::allow : Effect::ask;
}

// Rules and actions, always the same sequence, of few names and values, so that rules often apply.
class RandomPolicy {
  public:
    unsigned below(unsigned bound) { return random_() % bound; }
    template <class T>
    T pick(const std::vector<T>& from) {
        return from[random_() % from.size()];
    }
    Action action() {
        switch (below(4)) {
        case 0:
            return launch({pick(std::vector<std::string>{"/bin/a", "/bin/b"})}, pick(servers_));
        case 1:
            return host(pick(values_), pick(names_));
        default:
            return tool(pick(values_), pick(names_), pick(servers_));
        }
    }
    RuleSpec rule() {
        const auto kind = pick(std::vector{ActionKind::tool, ActionKind::host, ActionKind::server});
        RuleSpec spec = gate_fixture::rule(pick(std::vector{Effect::allow, Effect::ask, Effect::deny}), kind);
        if (below(2) == 0) {
            spec.server = pick(servers_);
        }
        if (below(2) == 0) {
            spec.tool = pick(names_);
        }
        if (below(2) == 0) {
            const char* pointer = below(2) == 0 ? "/path" : "/n";
            spec = with(std::move(spec), pointer, pick(matchers_));
        }
        return spec;
    }
    protocol::ApprovalMode mode() {
        return pick(std::vector{protocol::ApprovalMode::ask, protocol::ApprovalMode::ask, protocol::ApprovalMode::deny,
                                protocol::ApprovalMode::allow});
    }

  private:
    std::mt19937 random_{20260105};
    const std::vector<std::string> values_{R"({"path":"a/x","n":1})",
                                           R"({"path":"b/../a","n":1.0})",
                                           R"({"path":"~/x"})",
                                           R"({"path":"a","n":9007199254740993})",
                                           "{}",
                                           R"({"path":["a"]})"};
    const std::vector<std::string> names_{"read_file", "write_file", "run_command"};
    const std::vector<std::string> servers_{"files", "host", "web"};
    const std::vector<Matcher> matchers_{
        under("a"), under("."), glob("a/*"), glob("**"), equals("1"), equals("9007199254740992"), equals(R"("a")")};
};

} // namespace

TEST_CASE("deny > grant of execution or session > ask rule > allow rule or stored grant > ask, in every combination") {
    for (unsigned given = 0; given < 512; ++given) {
        CAPTURE(given);
        Fixture fixture;
        fixture.run_execution("e");
        const Action action = tool(R"({"path":"x"})");
        if ((given & execution_grant) != 0) {
            const auto first = fixture.ask(action, "e");
            fixture.allow(Scope::execution);
            REQUIRE(first->allowed());
        }
        const auto configure = [&](Effect effect, protocol::RuleSource source) {
            fixture.gate->configure(rule(effect), source);
        };
        if ((given & configured_allow) != 0) {
            configure(Effect::allow, protocol::RuleSource::user);
        }
        if ((given & stored_allow) != 0) {
            fixture.add(rule(Effect::allow), Scope::workspace);
        }
        if ((given & user_allow) != 0) {
            fixture.add(rule(Effect::allow), Scope::always);
        }
        if ((given & ask_rule) != 0) {
            configure(Effect::ask, protocol::RuleSource::default_rule);
        }
        if ((given & session_grant) != 0) {
            fixture.add(rule(Effect::allow), Scope::session);
        }
        if ((given & session_deny) != 0) {
            fixture.add(rule(Effect::deny), Scope::session);
        }
        if ((given & stored_deny) != 0) {
            fixture.add(rule(Effect::deny), Scope::workspace);
        }
        if ((given & configured_deny) != 0) {
            configure(Effect::deny, protocol::RuleSource::command_line);
        }
        CHECK(effect_of(*fixture.ask(action, "e")) == expected(given));
        CHECK(fixture.explain(action, "e").effect == expected(given));
    }
}

TEST_CASE("a rule of a session does not reach another session") {
    Fixture fixture;
    fixture.add(rule(Effect::allow), Scope::session, "other");
    CHECK(fixture.ask(tool("{}"), "", "s")->waits());
    CHECK(fixture.ask(tool("{}"), "", "other")->allowed());
}

TEST_CASE("an execution with approvals \"deny\" raises no prompt, and what a rule allows still runs") {
    Fixture fixture;
    fixture.run_execution("e", protocol::ApprovalMode::deny);
    CHECK(fixture.ask(tool("{}"), "e")->denied());
    CHECK(fixture.user.requested.empty());
    CHECK(fixture.explain(tool("{}"), "e").effect == Effect::deny);
    fixture.add(rule(Effect::allow, ActionKind::tool, "files", "read_file"));
    CHECK(fixture.ask(tool("{}"), "e")->allowed());
    fixture.add(rule(Effect::ask), Scope::workspace);
    fixture.add(rule(Effect::allow, ActionKind::tool, "other"), Scope::workspace);
    CHECK(fixture.ask(tool("{}", "read_file", "other"), "e")->denied());
}

TEST_CASE("an execution with approvals \"allow\" is a recorded grant that deny rules beat, and that ends with it") {
    Fixture fixture;
    fixture.run_execution("e", protocol::ApprovalMode::allow);
    REQUIRE(fixture.gate->policy_list().rules.size() == 1);
    CHECK(fixture.gate->policy_list().rules.front().execution_id == "e");
    CHECK(fixture.ask(tool("{}"), "e")->allowed());
    CHECK(fixture.ask(host(R"({"path":"x","content":"y"})", "write_file"), "e")->allowed());
    CHECK(fixture.explain(tool("{}"), "e").effect == Effect::allow);
    CHECK(fixture.ask(tool("{}"), "another")->waits());

    SUBCASE("deny rules win") {
        fixture.add(rule(Effect::deny, ActionKind::tool, "files"), Scope::workspace);
        CHECK(fixture.ask(tool("{}"), "e")->denied());
    }
    SUBCASE("a program that a workspace names is not started by it") {
        CHECK(fixture.ask(launch({"/usr/bin/evil"}), "e")->waits());
    }
    SUBCASE("it ends with the execution") {
        fixture.gate->end_execution("e");
        CHECK(fixture.gate->policy_list().rules.empty());
        CHECK(fixture.ask(tool("{}"), "e")->waits());
    }
}

TEST_CASE("policy/explain agrees with decide(), for any rules and any action") {
    RandomPolicy random;
    unsigned seen[3] = {0, 0, 0};
    for (int round = 0; round < 150; ++round) {
        Fixture fixture;
        fixture.run_execution("e", random.mode());
        if (random.below(8) == 0) {
            fixture.gate->detach(fixture.user, Duration(0));
        }
        for (unsigned i = random.below(4); i > 0; --i) {
            const RuleSpec spec = random.rule();
            const Scope scope = random.pick(std::vector{Scope::session, Scope::workspace, Scope::always});
            error_of([&] { fixture.add(spec, scope); }); // a rule that could never apply is refused
        }
        for (int i = 0; i < 5; ++i) {
            const Action action = random.action();
            CAPTURE(to_json(gate::to_protocol(action)));
            const std::string execution = random.below(2) == 0 ? "e" : "";
            const Effect explained = fixture.explain(action, execution).effect;
            const Effect done = effect_of(*fixture.ask(action, execution));
            CHECK(explained == done);
            ++seen[static_cast<int>(done)];
        }
    }
    CHECK(*std::min_element(std::begin(seen), std::end(seen)) > 50);
}
