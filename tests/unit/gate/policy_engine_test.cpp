#include "gate_fixture.hpp"
#include "policy_engine.hpp"
#include "rules.hpp"

#include <doctest/doctest.h>

using namespace gate_fixture;
using gate::Payload;
using gate::PolicyResult;
using gate::RequestContext;

namespace {

// A policy engine without a gate.
struct Engine {
    Engine() {
        std::filesystem::create_directory(folder.path / "root");
        engine.emplace(clock, worker.run_blocking(), (folder.path / "root").string(), policy.string());
    }
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    ~Engine() { tasks.spawn(engine->close()); }

    void configure(const RuleSpec& spec) {
        engine->rules().configure(gate::make_rule(spec, protocol::RuleSource::user, engine->rules().now()));
    }
    template <class T>
    std::shared_ptr<Result<T>> start(Task<T> task) {
        auto result = std::make_shared<Result<T>>();
        tasks.spawn(keep_result(std::move(task), result));
        return result;
    }
    std::shared_ptr<Result<PolicyResult>> evaluate(const Payload& payload) {
        return start(engine->evaluate(payload, in_session));
    }
    protocol::PolicyExplainResult explain(protocol::PolicyExplainParams params) {
        return start(engine->explain(std::move(params)))->take();
    }
    Rule added(RuleSpec spec, Scope scope, std::optional<std::string> session = std::nullopt) const {
        return engine->make_added_rule(protocol::PolicyAddParams{std::move(spec), scope, std::move(session)});
    }

    TempFolder folder{fast_parent()};
    const std::filesystem::path policy = folder.path / "policy";
    FakeClock clock;
    Worker worker;
    const RequestContext in_session{"s", std::nullopt};
    TaskScope tasks;
    std::optional<gate::PolicyEngine> engine;
};

} // namespace

TEST_CASE("an evaluation that needs a path waits until the path is resolved off the loop") {
    Engine fixture;
    fixture.configure(with(rule(Effect::allow, ActionKind::tool, "files"), "/path", under("data")));
    const Action inside = tool(R"({"path":"data/x"})");
    const Action outside = tool(R"({"path":"/etc/passwd"})");
    const Payload allowed(inside);
    const Payload other(outside);
    fixture.worker.held = true;
    const auto first = fixture.evaluate(allowed);
    const auto second = fixture.evaluate(other);
    CHECK_FALSE(first->ended());
    fixture.worker.release();
    CHECK(first->take().effect == Effect::allow);
    CHECK(second->take().effect == Effect::ask);
    CHECK(fixture.worker.jobs > 0);
}

TEST_CASE("an evaluation without paths takes no turn of the loop") {
    Engine fixture;
    fixture.worker.held = true;
    const Action action = tool(R"({"path":"data/x"})");
    const Payload payload(action);
    CHECK(fixture.evaluate(payload)->take().effect == Effect::ask);
    fixture.configure(rule(Effect::deny, ActionKind::tool, "files"));
    CHECK(fixture.evaluate(payload)->take().effect == Effect::deny);
    CHECK(fixture.worker.jobs == 0);
}

TEST_CASE("a path that does not resolve in time is allowed by no rule and denied by each") {
    Engine fixture;
    const auto effect_after_two_seconds = [&fixture](Effect effect) {
        fixture.configure(with(rule(effect, ActionKind::tool, "files"), "/path", under("data")));
        const Action action = tool(R"({"path":"data/x"})");
        const Payload payload(action);
        const auto result = fixture.evaluate(payload);
        CHECK_FALSE(result->ended());
        fixture.clock.advance(std::chrono::seconds(2));
        return result->take().effect;
    };
    fixture.worker.held = true;
    CHECK(effect_after_two_seconds(Effect::allow) == Effect::ask);
    CHECK(effect_after_two_seconds(Effect::deny) == Effect::deny);
    fixture.worker.release();
}

TEST_CASE("an added rule belongs to its scope, and is not yet in force") {
    Engine fixture;
    const RuleSpec spec = rule(Effect::deny, ActionKind::tool, "files");
    const Rule of_session = fixture.added(spec, Scope::session, "s");
    CHECK(of_session.source == protocol::RuleSource::session);
    CHECK(of_session.session_id == "s");
    const Rule of_workspace = fixture.added(spec, Scope::workspace, "s");
    CHECK(of_workspace.source == protocol::RuleSource::workspace_store);
    CHECK_FALSE(of_workspace.session_id);
    CHECK(fixture.added(spec, Scope::always).source == protocol::RuleSource::user_store);
    CHECK(fixture.engine->rules().in_force().empty());
    CHECK(error_of([&] { fixture.added(spec, Scope::session); }) == ErrorCode::invalid_params);
    CHECK(error_of([&] { fixture.added(spec, Scope::once); }) == ErrorCode::invalid_params);
    CHECK(error_of([&] { fixture.added(spec, Scope::execution); }) == ErrorCode::invalid_params);
    CHECK(error_of([&] { fixture.added(rule(Effect::allow, std::nullopt), Scope::always); }) ==
          ErrorCode::rule_invalid);
}

TEST_CASE("explaining names the rule that decides, and asks for what it needs") {
    Engine fixture;
    protocol::PolicyExplainParams params;
    params.action = gate::to_protocol(tool(R"({"path":"x"})"));
    CHECK(fixture.explain(params).effect == Effect::ask);
    CHECK_FALSE(fixture.explain(params).rule);
    fixture.configure(rule(Effect::deny, ActionKind::tool, "files"));
    const protocol::PolicyExplainResult denied = fixture.explain(params);
    CHECK(denied.effect == Effect::deny);
    CHECK(denied.rule.value().server == "files");

    params.action.arguments_text.reset();
    CHECK(error_of([&] { fixture.explain(params); }) == ErrorCode::invalid_params);
}

TEST_CASE("nothing is explained while stored rules cannot be read, and every action is denied") {
    Engine fixture;
    std::filesystem::create_directory(fixture.policy);
    write_text(fixture.policy / "user.json", "broken");
    CHECK(fixture.engine->rules().refresh());
    protocol::PolicyExplainParams params;
    const Action action = tool("{}");
    params.action = gate::to_protocol(action);
    CHECK(error_of([&] { fixture.explain(params); }) == ErrorCode::policy_unreadable);
    const Payload payload(action);
    CHECK(fixture.evaluate(payload)->take().effect == Effect::deny);
}
