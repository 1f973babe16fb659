#include "gate_fixture.hpp"

#include <doctest/doctest.h>

using namespace gate_fixture;

namespace {

using Status = protocol::OutcomeStatus;

// Keeps what it receives, in order: "1 allowed", "1 succeeded".
struct Sink final : gate::RecordSink {
    std::vector<std::string> told;
    std::vector<protocol::Outcome> outcomes;

    void on_decided(const gate::Decision& decision, const protocol::PastDecision& past) override {
        told.push_back(std::to_string(decision.action_id) + (decision.allowed ? " allowed" : " denied") +
                       (past.approval_id ? " by answer" : ""));
    }
    void on_ended(gate::ActionId action, const protocol::Outcome& outcome) override {
        const char* status = outcome.status == Status::succeeded ? " succeeded"
                             : outcome.status == Status::failed  ? " failed"
                                                                 : " cancelled";
        told.push_back(std::to_string(action) + status);
        outcomes.push_back(outcome);
    }
};

// Keeps a decision only once it is released, or never.
struct SlowSink final : gate::RecordSink {
    Event released;
    std::optional<Error> problem;
    bool required = false;
    std::vector<protocol::OutcomeStatus> outcomes;

    void on_decided(const gate::Decision& /*decision*/, const protocol::PastDecision& /*past*/) override {}
    void on_ended(gate::ActionId /*action*/, const protocol::Outcome& outcome) override {
        outcomes.push_back(outcome.status);
    }
    bool is_required() const override { return required; }
    Task<void> stored() override {
        co_await released.wait();
        if (problem) {
            throw Error(*problem);
        }
    }
};

struct WithSlowSink {
    SlowSink sink; // outlives the gate
};

struct SlowlyRecorded : WithSlowSink, Fixture {
    SlowlyRecorded() {
        record = &sink;
        restart();
        add(rule(Effect::allow, ActionKind::tool, "files"));
    }
};

struct WithSink {
    Sink sink; // outlives the gate
};

struct Recorded : WithSink, Fixture {
    Recorded() {
        record = &sink;
        restart();
    }
    gate::Decision allowed(const std::string& arguments = R"({"path":"a"})") {
        return ask(tool(arguments))->decision.value();
    }
};

} // namespace

TEST_CASE("a sink receives each decision, and the outcome of each action that was allowed") {
    Recorded fixture;
    const auto asked = fixture.ask(tool(R"({"path":"a"})"));
    fixture.deny();
    gate::OutcomeReport none = fixture.gate->outcome_report(asked->decision.value());
    none.succeeded(); // of what was denied there is no outcome
    const auto answered = fixture.ask(tool(R"({"path":"b"})"));
    fixture.allow();
    fixture.add(rule(Effect::allow, ActionKind::tool, "files"));
    const gate::Decision by_rule = fixture.allowed();
    gate::OutcomeReport first = fixture.gate->outcome_report(answered->decision.value());
    gate::OutcomeReport second = fixture.gate->outcome_report(by_rule);
    second.failed("no\nsuch file");
    second.succeeded();
    fixture.clock.advance(std::chrono::seconds(60));
    first.carried(3, 4);
    first.succeeded();
    CHECK(fixture.sink.told == std::vector<std::string>{"1 denied by answer", "2 allowed by answer", "3 allowed",
                                                        "3 failed", "2 succeeded"});
    CHECK(fixture.sink.outcomes.at(1).bytes_sent == 3);
    CHECK(fixture.sink.outcomes.at(1).bytes_received == 4);

    const auto past = fixture.gate->policy_decisions().decisions;
    REQUIRE(past.size() == 3);
    CHECK(past[0].outcome.value().error == "no\\nsuch file"); // safe to show
    CHECK(past[1].outcome.value().status == Status::succeeded);
    CHECK(past[1].outcome->ended_at > past[1].decided_at);
    CHECK_FALSE(past[2].outcome);
}

TEST_CASE("an action whose report is dropped was cancelled, and one outlives its gate") {
    Recorded fixture;
    fixture.add(rule(Effect::allow, ActionKind::tool, "files"));
    gate::OutcomeReport late;
    {
        const gate::OutcomeReport dropped = fixture.gate->outcome_report(fixture.allowed());
        gate::OutcomeReport moved = fixture.gate->outcome_report(fixture.allowed());
        late = std::move(moved);
    }
    CHECK(fixture.sink.told.back() == "1 cancelled");
    fixture.restart();
    late.succeeded();
    CHECK(fixture.sink.told.back() == "1 cancelled");
}

TEST_CASE("a call that was cancelled before it learned that a user allowed it never ran") {
    Recorded fixture;
    std::shared_ptr<Outcome> call;
    fixture.run_execution("e", protocol::ApprovalMode::ask, [&call](std::size_t pending) {
        if (pending == 0) {
            call->cancel->cancel();
        }
    });
    call = fixture.ask(tool(R"({"path":"a"})"), "e");
    fixture.allow();
    CHECK(call->error == ErrorCode::request_cancelled);
    CHECK(fixture.sink.told == std::vector<std::string>{"1 allowed by answer", "1 cancelled"});
}

TEST_CASE("no action runs before its decision is recorded") {
    SlowlyRecorded fixture;
    const auto call = fixture.ask(tool(R"({"path":"a"})"));
    CHECK_FALSE(call->decision);
    fixture.sink.released.set();
    REQUIRE(call->decision);
    CHECK(call->decision->allowed);
    CHECK(fixture.sink.outcomes.empty());
}

TEST_CASE(
    "a rule's yes is not waited for where the enforcement point waits with the result, unless a user wants that") {
    for (const bool required : {false, true}) {
        SlowlyRecorded fixture;
        fixture.sink.required = required;
        gate::Request request;
        request.action = tool(R"({"path":"a"})");
        request.session_id = "s";
        request.awaits_record = true;
        const auto call = fixture.ask(std::move(request));
        CHECK(call->decision.has_value() == !required);
        fixture.sink.released.set();
        CHECK(call->decision.has_value());
    }
}

TEST_CASE("an action that was allowed and must not run unrecorded is denied, and has failed") {
    SlowlyRecorded fixture;
    fixture.sink.problem.emplace(ErrorCode::store_failed, "no space left");
    fixture.sink.released.set();
    const auto call = fixture.ask(tool(R"({"path":"a"})"));
    REQUIRE(call->decision);
    CHECK_FALSE(call->decision->allowed);
    CHECK(call->decision->reason.find("no space left") != std::string::npos);
    CHECK(fixture.sink.outcomes == std::vector<Status>{Status::failed});
}

TEST_CASE("a call that is cancelled while its decision is recorded never ran") {
    SlowlyRecorded fixture;
    const auto call = fixture.ask(tool(R"({"path":"a"})"));
    call->cancel->cancel();
    CHECK(call->error == ErrorCode::request_cancelled);
    CHECK(fixture.sink.outcomes == std::vector<Status>{Status::cancelled});
}
