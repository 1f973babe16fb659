#include "attendance.hpp"

#include <algorithm>
#include <utility>

namespace cellgate::service {

void Attendance::joined() {
    if (!std::exchange(anybody_came_, true)) {
        linger_.reset();
    }
    ++clients_;
    changed_.set();
}

void Attendance::left(Duration linger) {
    --clients_;
    if (linger > Duration::zero()) {
        expect(linger);
    }
    changed_.set();
}

void Attendance::expect(Duration linger) {
    linger_ = std::max(linger, expected_for());
    since_ = clock_.now();
    changed_.set();
}

void Attendance::expect_nobody() {
    linger_.reset();
    changed_.set();
}

Duration Attendance::expected_for() const {
    return linger_ ? std::max(since_ + *linger_ - clock_.now(), Duration::zero()) : Duration::zero();
}

void Attendance::execution_began() {
    ++executions_;
}

void Attendance::execution_ended() {
    --executions_;
    since_ = clock_.now();
    changed_.set();
}

void Attendance::drain() {
    draining_ = true;
    changed_.set();
}

bool Attendance::needed() const {
    if (clients_ > 0) {
        return true;
    }
    if (executions_ > 0) {
        return draining_ || linger_; // without either, what runs has nobody who wants it
    }
    return !draining_ && expected_for() > Duration::zero();
}

Task<void> Attendance::over() {
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
