#include "session/execution_clock.hpp"

namespace cellgate::session {

void ExecutionClock::start() {
    started_ = clock_.now();
}

void ExecutionClock::set_pending(std::size_t pending) {
    pending_ = pending;
    update();
}

void ExecutionClock::begin_prompt() {
    ++prompts_;
    update();
}

void ExecutionClock::end_prompt() {
    --prompts_;
    update();
}

void ExecutionClock::update() {
    const bool waits = pending_ > 0 || prompts_ > 0;
    if (stopped_ || waiting_since_.has_value() == waits) {
        return;
    }
    if (waits) {
        waiting_since_ = clock_.now();
    } else {
        waited_ += clock_.now() - *waiting_since_;
        waiting_since_.reset();
    }
    changed_.set();
}

void ExecutionClock::stop() {
    stopped_ = clock_.now();
    if (waiting_since_) {
        waited_ += *stopped_ - *waiting_since_;
        waiting_since_.reset();
    }
}

Duration ExecutionClock::total() const {
    return started_ ? end() - *started_ : Duration{};
}

Duration ExecutionClock::waited() const {
    return waited_ + (waiting_since_ ? end() - *waiting_since_ : Duration{});
}

Task<void> ExecutionClock::reached(Duration limit) {
    while (total() - waited() < limit) {
        changed_.reset();
        std::optional<Instant> deadline;
        if (!waiting_since_) {
            deadline = clock_.now() + (limit - (total() - waited()));
        }
        co_await wait_until(clock_, changed_, deadline);
    }
}

} // namespace cellgate::session
