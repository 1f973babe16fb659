#include "base/clock.hpp"

#include <cmath>

namespace cellgate {

namespace {

Task<void> set_after(Clock* clock, Instant instant, Event* event) {
    co_await clock->sleep_until(instant);
    event->set();
}

enum class Race { open, happened, event_gone };

Task<void> set_with(Event* source, Event* event, Race* race) {
    try {
        co_await source->wait();
        *race = Race::happened;
    } catch (const Cancelled&) {
        // Either the race was already decided, or the event was destroyed.
        if (!event->is_set()) {
            *race = Race::event_gone;
        }
    }
    event->set();
}

} // namespace

Duration from_seconds(double seconds) {
    constexpr double max_seconds = 3e8; // nine years; far from where the count of nanoseconds overflows
    return std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(std::min(std::max(seconds, 0.0), max_seconds)));
}

double to_seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

Task<void> sleep_for(Clock& clock, Duration duration) {
    return clock.sleep_until(clock.now() + duration);
}

Task<bool> wait_until(Clock& clock, Event& event, std::optional<Instant> deadline) {
    if (!deadline) {
        co_await event.wait();
        co_return true;
    }
    Event either;
    Race race = Race::open;
    TaskScope racers;
    racers.spawn(set_after(&clock, *deadline, &either));
    racers.spawn(set_with(&event, &either, &race));
    std::exception_ptr error;
    try {
        co_await either.wait();
    } catch (const Cancelled&) {
        error = std::current_exception();
    }
    racers.cancel();
    co_await shielded(racers.join());
    if (error) {
        std::rethrow_exception(error);
    }
    if (race == Race::event_gone) {
        throw Cancelled();
    }
    co_return race == Race::happened;
}

} // namespace cellgate
