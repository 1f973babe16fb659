#include "base/fake_clock.hpp"

#include "base/scope_exit.hpp"

namespace cellgate {

WallTime FakeClock::wall() const {
    return WallTime(std::chrono::seconds(1767225600)) +
           std::chrono::duration_cast<WallTime::duration>(now_.time_since_epoch());
}

Task<void> FakeClock::sleep_until(Instant instant) {
    if (instant <= now_) {
        co_return;
    }
    auto event = std::make_shared<Event>();
    const auto entry = sleepers_.emplace(instant, event);
    const ScopeExit forget([&] {
        if (!event->is_set()) {
            sleepers_.erase(entry);
        }
    });
    co_await event->wait();
}

void FakeClock::advance(Duration duration) {
    const Instant end = now_ + duration;
    while (!sleepers_.empty() && sleepers_.begin()->first <= end) {
        now_ = sleepers_.begin()->first;
        const std::shared_ptr<Event> event = sleepers_.begin()->second;
        sleepers_.erase(sleepers_.begin());
        event->set();
    }
    now_ = end;
}

} // namespace cellgate
