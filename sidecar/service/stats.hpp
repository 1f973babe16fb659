#pragma once
// `Stats` is what a sidecar counts since it began: executions that ended, and how long tool calls took and answers were
// waited for. It keeps the last 1,000 durations of each kind. The gate reports to it what it passes on to the record.

#include "base/clock.hpp"
#include "gate/record_sink.hpp"
#include "protocol/messages/stats.hpp"
#include "session/execution.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::service {

// The last 1,000 durations.
class LatencyRing {
  public:
    void add(Duration duration);
    protocol::Latencies latencies() const;

  private:
    std::vector<double> seconds_;
    std::size_t next_ = 0; // the place of the next one, once all are taken
    std::int64_t count_ = 0;
};

class Stats final : public gate::RecordSink {
  public:
    // Both must outlive it.
    Stats(Clock& clock, gate::RecordSink& record) : clock_(clock), record_(record), started_at_(clock.wall()) {}

    void on_decided(const gate::Decision& decision, const protocol::PastDecision& past) override;
    void on_ended(gate::ActionId action, const protocol::Outcome& outcome) override;
    void on_used_up(const protocol::Rule& rule) override { record_.on_used_up(rule); }
    std::string trace_parent(gate::ActionId action, const std::optional<std::string>& execution_id) const override {
        return record_.trace_parent(action, execution_id);
    }
    Task<void> stored() override { return record_.stored(); }
    bool is_required() const override { return record_.is_required(); }

    // A client shows it. Those that several clients show count once.
    void approval_shown(const std::string& approval_id) { shown_.try_emplace(approval_id, clock_.now()); }
    void execution_changed(const session::Execution& execution);

    // All but the sessions, this process's memory, and what waits and runs.
    protocol::StatsResult counted() const;

  private:
    void note_decision(const gate::Decision& decision, const std::optional<std::string>& approval_id);

    Clock& clock_;
    gate::RecordSink& record_;
    WallTime started_at_;
    std::map<std::string, Instant> shown_;    // approvals without an answer
    std::map<gate::ActionId, Instant> calls_; // that go on
    LatencyRing call_times_;
    LatencyRing answer_times_;
    std::int64_t finished_ = 0; // executions
};

} // namespace cellgate::service
