#pragma once
// `ExecutionClock` is the clock of one execution: it measures how long the execution ran, without the time in which it
// waited for a user, who had an approval or a prompt of its code to answer. Any number of them may wait at once; the
// clock is paused while there is at least one.

#include "base/clock.hpp"

namespace cellgate::session {

class ExecutionClock {
  public:
    explicit ExecutionClock(Clock& clock) : clock_(clock) {}

    void start();
    // The number of pending approvals of this execution, now.
    void set_pending(std::size_t pending);
    std::size_t pending() const { return pending_; }
    // Around each prompt of its code.
    void begin_prompt();
    void end_prompt();
    // Stops for good.
    void stop();

    Duration total() const;  // since start()
    Duration waited() const; // of that, for a user
    // Returns when the counted time has reached `limit`.
    Task<void> reached(Duration limit);

  private:
    void update();
    Instant end() const { return stopped_.value_or(clock_.now()); }

    Clock& clock_;
    std::optional<Instant> started_;
    std::optional<Instant> stopped_;
    std::size_t pending_ = 0;
    std::size_t prompts_ = 0;
    std::optional<Instant> waiting_since_;
    Duration waited_{};
    Event changed_;
};

} // namespace cellgate::session
