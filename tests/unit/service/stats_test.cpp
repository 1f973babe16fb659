#include "base/fake_clock.hpp"
#include "stats.hpp"
#include "store/journals.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

using namespace cellgate;
using namespace cellgate::service;
using namespace std::chrono_literals;

namespace {

struct Sink final : gate::RecordSink {
    int told = 0;
    void on_decided(const gate::Decision&, const protocol::PastDecision&) override { ++told; }
    void on_ended(gate::ActionId, const protocol::Outcome&) override { ++told; }
    bool is_required() const override { return true; }
};

struct Counted {
    FakeClock clock;
    Sink record;
    Stats stats{clock, record};
    gate::ActionId last = 0;

    gate::ActionId decide(gate::Action action, bool allowed, const std::optional<std::string>& approval_id = {},
                          protocol::ResolvedBy by = protocol::ResolvedBy::user) {
        gate::Decision decision;
        decision.action_id = ++last;
        decision.action = std::move(action);
        decision.allowed = allowed;
        decision.by = by;
        protocol::PastDecision past;
        past.approval_id = approval_id;
        stats.on_decided(decision, past);
        return last;
    }
    void call(Duration takes) {
        const gate::ActionId id = decide(gate::ToolCall{}, true, std::nullopt, protocol::ResolvedBy::rule);
        clock.advance(takes);
        stats.on_ended(id, {});
    }
};

} // namespace

TEST_CASE("how long tool calls took is counted, and of nothing else") {
    Counted counted;
    CHECK(counted.stats.counted().tool_calls.count == 0);
    CHECK_FALSE(counted.stats.counted().tool_calls.p50_seconds);
    for (int i = 1; i <= 101; ++i) {
        counted.call(std::chrono::seconds(i));
    }
    counted.stats.on_ended(counted.decide(gate::Connection{}, true), {});
    counted.decide(gate::HostCall{}, false);
    const protocol::Latencies calls = counted.stats.counted().tool_calls;
    CHECK(calls.count == 101);
    CHECK(calls.p50_seconds == 51);
    CHECK(calls.p95_seconds == 96);
    CHECK(counted.record.told == 2 * 101 + 3);
    CHECK(counted.stats.is_required());
}

TEST_CASE("the last 1,000 durations are kept, and all are counted") {
    Counted counted;
    for (int i = 0; i < 1000; ++i) {
        counted.call(1s);
    }
    for (int i = 0; i < 949; ++i) {
        counted.call(2s);
    }
    protocol::Latencies calls = counted.stats.counted().tool_calls;
    CHECK(calls.count == 1949);
    CHECK(calls.p50_seconds == 2);
    counted.call(3s);
    for (int i = 0; i < 999; ++i) {
        counted.call(4s);
    }
    calls = counted.stats.counted().tool_calls;
    CHECK(calls.p50_seconds == 4);
    CHECK(calls.count == 2949);
}

TEST_CASE("an answer's time counts from when it was first shown, and only if a user gave it") {
    Counted counted;
    counted.stats.approval_shown("a");
    counted.clock.advance(2s);
    counted.stats.approval_shown("a"); // by another client
    counted.stats.approval_shown("b");
    CHECK(counted.stats.counted().pending_approvals == 2);
    counted.clock.advance(1s);
    counted.decide(gate::ToolCall{}, false, "a");
    counted.decide(gate::ToolCall{}, false, "b", protocol::ResolvedBy::cancelled);
    const protocol::StatsResult result = counted.stats.counted();
    CHECK(result.pending_approvals == 0);
    CHECK(result.approvals.count == 1);
    CHECK(result.approvals.p50_seconds == 3);
}

TEST_CASE("executions that have ended are counted") {
    Counted counted;
    const TempFolder folder;
    store::Journals journals(folder.path, run_inline);
    session::Execution execution("one", {}, 1, "s", journals, counted.clock);
    for (const auto state :
         {protocol::ExecutionState::queued, protocol::ExecutionState::running, protocol::ExecutionState::finished}) {
        execution.state = state;
        counted.stats.execution_changed(execution);
    }
    CHECK(counted.stats.counted().executions.finished == 1);
}
