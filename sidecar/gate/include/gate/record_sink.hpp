#pragma once
// `RecordSink` keeps what the gate decides, and the outcome of each action that it allowed. An enforcement point
// reports the outcome through an `OutcomeReport`.

#include "base/clock.hpp"
#include "base/task.hpp"
#include "gate/decision.hpp"
#include "protocol/messages/policy.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace cellgate::gate {

struct RecordSink {
    // Before the enforcement point has the decision. `past` is it as it is kept, with the title of its action: without
    // the action itself and its outcome.
    virtual void on_decided(const Decision& decision, const protocol::PastDecision& past) = 0;
    // At most once for each action that was allowed, in any order.
    virtual void on_ended(ActionId action, const protocol::Outcome& outcome) = 0;
    // An allow rule is gone, since its last use was taken. Before the decision that took it.
    virtual void on_used_up(const protocol::Rule& /*rule*/) {}
    // How an allowed action of this execution is named to the tool server that it is sent to; empty: not at all.
    virtual std::string trace_parent(ActionId /*action*/, const std::optional<std::string>& /*execution_id*/) const {
        return {};
    }
    // Until all that it received is kept. Throws Error if no action may run that is not.
    virtual Task<void> stored() { co_return; }
    // Whether no action may run before its decision is kept.
    virtual bool is_required() const { return false; }

  protected:
    ~RecordSink() = default;
};

// Reports the outcome of one allowed action. If it ends without a report, the action was cancelled.
class [[nodiscard]] OutcomeReport {
  public:
    using Status = protocol::OutcomeStatus;

    OutcomeReport() = default; // of no action: reports nothing
    explicit OutcomeReport(std::function<void(protocol::Outcome)> report) : report_(std::move(report)) {}
    OutcomeReport(OutcomeReport&& other) noexcept : report_(std::exchange(other.report_, nullptr)) {}
    OutcomeReport& operator=(OutcomeReport&& other) noexcept {
        cancelled();
        report_ = std::exchange(other.report_, nullptr);
        return *this;
    }
    ~OutcomeReport() { cancelled(); }

    // The first report is the one that counts.
    void succeeded() { send(Status::succeeded, {}); }
    void failed(std::string error) { send(Status::failed, std::move(error)); }
    // The client that asked carries it out itself.
    void left_to_client() { send(Status::unknown, {}); }
    // How much a connection carried, for the report that follows.
    void carried(std::int64_t sent, std::int64_t received) {
        outcome_.bytes_sent = sent;
        outcome_.bytes_received = received;
    }

  private:
    void cancelled() { send(Status::cancelled, {}); }
    void send(Status status, std::string error);

    std::function<void(protocol::Outcome)> report_; // none once it was reported
    protocol::Outcome outcome_;
};

// Awaits `body`, which is what was allowed, and reports its failure. What it returns may not be the end of the action,
// so its success is for the caller to report.
template <class T>
Task<T> reporting_failure(OutcomeReport& report, Task<T> body) {
    try {
        co_return co_await std::move(body);
    } catch (const Cancelled&) {
        throw;
    } catch (const std::exception& error) {
        report.failed(error.what());
        throw;
    }
}

} // namespace cellgate::gate
