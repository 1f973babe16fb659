#include "base/sync.hpp"

#include <algorithm>

namespace cellgate {

Task<Mutex::Lock> Mutex::lock() {
    if (!locked_) {
        locked_ = true;
        co_return Lock(*this);
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
            pass_on();
        } else {
            waiting_.erase(entry);
        }
        std::rethrow_exception(cancelled);
    }
    co_return Lock(*this);
}

void Mutex::pass_on() {
    if (waiting_.empty()) {
        locked_ = false;
        return;
    }
    const std::shared_ptr<Event> next = std::move(waiting_.front());
    waiting_.pop_front();
    next->set();
}

} // namespace cellgate
