#pragma once
// `ExecutionClock` is the clock of one execution: it measures how long the execution ran, without the time in which an
// approval was pending. Any number of approvals may be pending at once; the clock is paused while there is at least
// one.

#include "base/clock.hpp"

namespace cellgate::session {

class ExecutionClock {
  public:
    explicit ExecutionClock(Clock& clock) : clock_(clock) {}

    void start();
    // The number of pending approvals of this execution, now.
    void set_pending(std::size_t pending);
    std::size_t pending() const { return pending_; }
    // Stops for good.
    void stop();

    Duration total() const;  // since start()
    Duration waited() const; // of that, with an approval pending
    // Returns when the counted time has reached `limit`.
    Task<void> reached(Duration limit);

  private:
    Instant end() const { return stopped_.value_or(clock_.now()); }

    Clock& clock_;
    std::optional<Instant> started_;
    std::optional<Instant> stopped_;
    std::size_t pending_ = 0;
    std::optional<Instant> waiting_since_;
    Duration waited_{};
    Event changed_;
};

} // namespace cellgate::session
