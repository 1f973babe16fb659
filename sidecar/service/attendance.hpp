#pragma once
// Whether anybody still needs the sidecar of a root. It is needed while a client is there; after an editor vanished,
// for as long as that asked for (`lingerSeconds`), counted from when it went or, if that is later, from when the last
// cell has ended. An editor that comes is the one that was waited for. A client that said goodbye is not waited for.

#include "base/clock.hpp"

#include <cstddef>
#include <optional>

namespace cellgate::service {

class Attendance {
  public:
    explicit Attendance(Clock& clock) : clock_(clock) {}

    void joined();
    // A client has gone, and is expected back within `linger`; zero when it is not.
    void left(Duration linger);
    // Somebody who is not there is expected within `linger`. Whoever comes first of all is who was expected.
    void expect(Duration linger);
    // Nobody is expected any more.
    void expect_nobody();
    // How long the one who is expected is still waited for, at least; zero when nobody is.
    Duration expected_for() const;

    void execution_began();
    void execution_ended();

    // Nobody can come any more: what is there and what runs may end.
    void drain();

    bool needed() const;
    Task<void> over(); // returns when it is not needed

  private:
    Clock& clock_;
    bool anybody_came_ = false;
    std::size_t clients_ = 0;
    std::size_t executions_ = 0;
    std::optional<Duration> linger_; // for somebody who is expected
    Instant since_{};
    bool draining_ = false;
    Event changed_;
};

} // namespace cellgate::service
