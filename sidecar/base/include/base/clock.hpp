#pragma once
// `Clock` is the source of time: code that waits or measures gets a Clock. async/ has the real one, fake_clock.hpp one
// that tests move by hand.

#include "base/task.hpp"

#include <chrono>
#include <optional>

namespace cellgate {

using Duration = std::chrono::steady_clock::duration;
using Instant = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;

struct Clock {
    virtual ~Clock() = default;
    virtual Instant now() const = 0;
    virtual WallTime wall() const = 0;
    virtual Task<void> sleep_until(Instant instant) = 0;
};

// Seconds as the protocol writes them. Values that a Duration cannot hold become the longest it can.
Duration from_seconds(double seconds);
double to_seconds(Duration duration);

Task<void> sleep_for(Clock& clock, Duration duration);

// Waits for `event`, at most until `deadline`; no deadline waits for ever. False when the time ran out first.
// Throws Cancelled when the event goes away.
Task<bool> wait_until(Clock& clock, Event& event, std::optional<Instant> deadline);

} // namespace cellgate
