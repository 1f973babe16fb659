#include "loop_clock.hpp"

#include "uv_handle.hpp"

namespace cellgate::async {

namespace {

struct Timer {
    uv_timer_t handle{};
    Event fired;
};

// Closes the timer however the wait ends.
struct TimerCloser {
    std::shared_ptr<Timer> timer;
    ~TimerCloser() { close_handle<Timer>(timer->handle); }
};

} // namespace

Task<void> LoopClock::sleep_until(Instant instant) {
    while (instant > now()) {
        auto timer = std::make_shared<Timer>();
        uv_timer_init(loop_, &timer->handle);
        adopt(timer->handle, timer);
        const TimerCloser closer{timer};
        // libuv counts from the start of the turn, in whole milliseconds.
        uv_update_time(loop_);
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(instant - now());
        uv_timer_start(
            &timer->handle, [](uv_timer_t* handle) { owner_of<Timer>(handle)->fired.set(); },
            static_cast<std::uint64_t>(std::max<std::int64_t>(left.count(), 0)), 0);
        co_await timer->fired.wait();
    }
}

} // namespace cellgate::async
