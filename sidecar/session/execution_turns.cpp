#include "session/execution_turns.hpp"

#include <algorithm>

namespace cellgate::session {

std::unique_ptr<ExecutionTurns::Turn> ExecutionTurns::ask(std::function<void()> on_come) {
    std::unique_ptr<Turn> turn(new Turn(*this, std::move(on_come)));
    if (running_ < at_a_time_) {
        turn->has_come_ = true;
        ++running_;
    } else {
        waiting_.push_back(turn.get());
    }
    return turn;
}

// What is called may end this turn, or another one.
void ExecutionTurns::give() {
    while (running_ < at_a_time_ && !waiting_.empty()) {
        Turn* turn = waiting_.front();
        waiting_.pop_front();
        turn->has_come_ = true;
        ++running_;
        const std::function<void()> on_come = turn->on_come_;
        on_come();
    }
}

ExecutionTurns::Turn::~Turn() {
    if (!has_come_) {
        std::erase(turns_.waiting_, this);
    } else if (counts()) {
        --turns_.running_;
        turns_.give();
    }
}

std::int64_t ExecutionTurns::Turn::behind() const {
    const std::deque<Turn*>& waiting = turns_.waiting_;
    const auto before = std::find(waiting.begin(), waiting.end(), this) - waiting.begin();
    return static_cast<std::int64_t>(turns_.running_) + before;
}

void ExecutionTurns::Turn::set_waits_for_user(bool waits) {
    if (waits == waits_for_user_) {
        return;
    }
    const bool counted = counts();
    waits_for_user_ = waits;
    if (counted && waits) {
        --turns_.running_;
        turns_.give();
    } else if (counts()) {
        ++turns_.running_;
    }
}

} // namespace cellgate::session
