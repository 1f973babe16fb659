#include "exec/turns.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace cellgate::exec {

namespace {

constexpr std::size_t most_waiting = 16;

} // namespace

Turns::Turn::~Turn() {
    if (turns_ != nullptr) {
        turns_->pass_on();
    }
}

Task<Turns::Turn> Turns::take(const char* what) {
    if (!taken_) {
        taken_ = true;
        co_return Turn(*this);
    }
    if (waiting_.size() >= most_waiting) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("expected at most {} that wait for {}, found as many already", most_waiting, what),
                    "try again when those have ended");
    }
    const auto turn = std::make_shared<Event>();
    waiting_.push_back(turn);
    std::exception_ptr cancelled;
    try {
        co_await turn->wait();
    } catch (const Cancelled&) {
        cancelled = std::current_exception();
    }
    if (cancelled) {
        const auto entry = std::find(waiting_.begin(), waiting_.end(), turn);
        if (entry == waiting_.end()) {
            pass_on(); // it had become ours in the same moment
        } else {
            waiting_.erase(entry);
        }
        std::rethrow_exception(cancelled);
    }
    co_return Turn(*this);
}

void Turns::pass_on() {
    if (waiting_.empty()) {
        taken_ = false;
        return;
    }
    const std::shared_ptr<Event> next = std::move(waiting_.front());
    waiting_.pop_front();
    next->set();
}

} // namespace cellgate::exec
