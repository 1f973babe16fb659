#pragma once
// `IdleTracker` is the decision when the sidecar of a workspace may end. It is needed while a client is connected;
// after an editor's connection was lost, for as long as the editor requested (`lingerSeconds`), counted from the loss
// or, if that is later, from the end of the last execution. Any editor that connects satisfies a pending reconnect. A
// client that exits cleanly is not waited for.

#include "base/clock.hpp"

#include <cstddef>
#include <optional>

namespace cellgate::service {

class IdleTracker {
  public:
    explicit IdleTracker(Clock& clock) : clock_(clock) {}

    void client_connected();
    // A client disconnected and is expected back within `linger`; zero if it is not.
    void client_left(Duration linger);
    // A client is expected within `linger`. The first client ever satisfies it.
    void expect_reconnect(Duration linger);
    // No client is expected any more.
    void cancel_reconnect();
    // The remaining time of a pending reconnect, at least; zero without one.
    Duration reconnect_remaining() const;

    void execution_began();
    void execution_ended();

    // No further client can connect: waits only for connected ones and for running executions.
    void drain();

    bool needed() const;
    Task<void> wait_idle(); // returns when the sidecar is not needed

  private:
    Clock& clock_;
    bool had_client_ = false;
    std::size_t clients_ = 0;
    std::size_t executions_ = 0;
    std::optional<Duration> linger_; // of the pending reconnect
    Instant since_{};
    bool draining_ = false;
    Event changed_;
};

} // namespace cellgate::service
