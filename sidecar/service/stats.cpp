#include "stats.hpp"

#include "base/encoding.hpp"

#include <algorithm>
#include <cmath>

namespace cellgate::service {

namespace {

constexpr std::size_t max_kept = 1000;

// The value at the nearest rank.
double quantile(const std::vector<double>& sorted, double part) {
    return sorted[static_cast<std::size_t>(std::lround(part * static_cast<double>(sorted.size() - 1)))];
}

bool is_tool_call(const gate::Action& action) {
    return std::holds_alternative<gate::ToolCall>(action) || std::holds_alternative<gate::HostCall>(action);
}

} // namespace

void LatencyRing::add(Duration duration) {
    ++count_;
    if (seconds_.size() < max_kept) {
        seconds_.push_back(to_seconds(duration));
        return;
    }
    seconds_[next_] = to_seconds(duration);
    next_ = (next_ + 1) % max_kept;
}

protocol::Latencies LatencyRing::latencies() const {
    protocol::Latencies result;
    result.count = count_;
    if (!seconds_.empty()) {
        std::vector<double> sorted = seconds_;
        std::sort(sorted.begin(), sorted.end());
        result.p50_seconds = quantile(sorted, 0.5);
        result.p95_seconds = quantile(sorted, 0.95);
    }
    return result;
}

void Stats::on_decided(const gate::Decision& decision, const protocol::PastDecision& past) {
    note_decision(decision, past.approval_id);
    record_.on_decided(decision, past);
}

void Stats::note_decision(const gate::Decision& decision, const std::optional<std::string>& approval_id) {
    if (decision.allowed && is_tool_call(decision.action)) {
        calls_[decision.action_id] = clock_.now();
    }
    const auto shown = approval_id ? shown_.find(*approval_id) : shown_.end();
    if (shown == shown_.end()) {
        return;
    }
    using By = protocol::ResolvedBy;
    if (decision.by == By::user || decision.by == By::elicitation) {
        answer_times_.add(clock_.now() - shown->second);
    }
    shown_.erase(shown);
}

void Stats::on_ended(gate::ActionId action, const protocol::Outcome& outcome) {
    if (const auto call = calls_.find(action); call != calls_.end()) {
        call_times_.add(clock_.now() - call->second);
        calls_.erase(call);
    }
    record_.on_ended(action, outcome);
}

void Stats::execution_changed(const session::Execution& execution) {
    finished_ += execution.state == protocol::ExecutionState::finished ? 1 : 0;
}

protocol::StatsResult Stats::counted() const {
    protocol::StatsResult result;
    result.started_at = to_rfc3339(started_at_);
    result.executions.finished = finished_;
    result.tool_calls = call_times_.latencies();
    result.approvals = answer_times_.latencies();
    result.pending_approvals = static_cast<std::int64_t>(shown_.size());
    return result;
}

} // namespace cellgate::service
