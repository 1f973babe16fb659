#include "idle_tracker.hpp"

#include <algorithm>
#include <utility>

namespace cellgate::service {

void IdleTracker::client_connected() {
    if (!std::exchange(had_client_, true)) {
        linger_.reset();
    }
    ++clients_;
    changed_.set();
}

void IdleTracker::client_left(Duration linger) {
    --clients_;
    if (linger > Duration::zero()) {
        expect_reconnect(linger);
    }
    changed_.set();
}

void IdleTracker::expect_reconnect(Duration linger) {
    linger_ = std::max(linger, reconnect_remaining());
    since_ = clock_.now();
    changed_.set();
}

void IdleTracker::cancel_reconnect() {
    linger_.reset();
    changed_.set();
}

Duration IdleTracker::reconnect_remaining() const {
    return linger_ ? std::max(since_ + *linger_ - clock_.now(), Duration::zero()) : Duration::zero();
}

void IdleTracker::execution_began() {
    ++executions_;
}

void IdleTracker::execution_ended() {
    --executions_;
    since_ = clock_.now();
    changed_.set();
}

void IdleTracker::drain() {
    draining_ = true;
    changed_.set();
}

bool IdleTracker::needed() const {
    if (clients_ > 0) {
        return true;
    }
    if (executions_ > 0) {
        return draining_ || linger_; // otherwise no client wants the result
    }
    return !draining_ && reconnect_remaining() > Duration::zero();
}

Task<void> IdleTracker::wait_idle() {
    while (needed()) {
        changed_.reset();
        std::optional<Instant> until;
        if (clients_ == 0 && executions_ == 0) {
            until = since_ + *linger_;
        }
        co_await wait_until(clock_, changed_, until);
    }
}

} // namespace cellgate::service
