#include "session/execution_queue.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::session {

namespace {

// Finished executions that are kept; a journal is removed with its execution.
constexpr std::size_t max_finished = 1000;
constexpr std::size_t max_finished_code = std::size_t{32} << 20;

// A client that exceeds this is faulty.
constexpr std::size_t max_waiting = 10'000;
constexpr std::size_t max_waiting_code = std::size_t{32} << 20;

} // namespace

void ExecutionQueue::require_space(const std::string& id, std::size_t code_bytes) const {
    if (by_id_.contains(id)) {
        throw Error(ErrorCode::execution_exists,
                    fmt::format("expected a new execution id, found {}, which was used", id));
    }
    if (waiting_.size() >= max_waiting) {
        throw Error(ErrorCode::busy,
                    fmt::format("{} executions wait in the session \"{}\" already", waiting_.size(), session_id_),
                    "wait for some to finish, or cancel them");
    }
    if (waiting_code_ + code_bytes > max_waiting_code) {
        throw Error(ErrorCode::busy,
                    fmt::format("{} bytes of code wait in the session \"{}\" already", waiting_code_, session_id_),
                    "wait for some executions to finish, or cancel them");
    }
}

std::int64_t ExecutionQueue::push(ExecutionPtr execution) {
    by_id_[execution->id] = execution;
    waiting_code_ += execution->params.code.size();
    waiting_.push_back(std::move(execution));
    return static_cast<std::int64_t>(waiting_.size()) - 1 + (running_ ? 1 : 0);
}

const ExecutionQueue::ExecutionPtr& ExecutionQueue::take() {
    running_ = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_code_ -= running_->params.code.size();
    return running_;
}

void ExecutionQueue::remove(const ExecutionPtr& waiting) {
    waiting_code_ -= waiting->params.code.size();
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), waiting));
}

std::vector<ExecutionQueue::ExecutionPtr> ExecutionQueue::remove_all(std::optional<ClientId> client) {
    std::deque<ExecutionPtr> kept;
    std::vector<ExecutionPtr> removed;
    for (ExecutionPtr& execution : waiting_) {
        if (!client || execution->client == *client) {
            waiting_code_ -= execution->params.code.size();
            removed.push_back(std::move(execution));
        } else {
            kept.push_back(std::move(execution));
        }
    }
    waiting_ = std::move(kept);
    return removed;
}

void ExecutionQueue::keep(const Execution& finished) {
    finished_.push_back(finished.id);
    finished_code_ += finished.params.code.size();
    while (finished_.size() > max_finished || finished_code_ > max_finished_code) {
        const auto oldest = by_id_.find(finished_.front());
        finished_code_ -= oldest->second->params.code.size();
        by_id_.erase(oldest);
        finished_.pop_front();
    }
}

ExecutionQueue::ExecutionPtr ExecutionQueue::find(const std::string& id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
}

ExecutionQueue::ExecutionPtr ExecutionQueue::latest() const {
    if (running_ || finished_.empty()) {
        return running_;
    }
    return by_id_.at(finished_.back());
}

std::vector<ExecutionQueue::ExecutionPtr> ExecutionQueue::all() const {
    std::vector<ExecutionPtr> all;
    for (const std::string& id : finished_) {
        all.push_back(by_id_.at(id));
    }
    if (running_) {
        all.push_back(running_);
    }
    all.insert(all.end(), waiting_.begin(), waiting_.end());
    return all;
}

std::optional<std::int64_t> ExecutionQueue::position(const Execution& execution) const {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
        if (waiting_[i].get() == &execution) {
            return static_cast<std::int64_t>(i) + (running_ ? 1 : 0);
        }
    }
    return std::nullopt;
}

bool ExecutionQueue::has_other_agent(const gate::Agent& agent) const {
    const auto is_other = [&agent](const ExecutionPtr& execution) {
        return execution->agent && execution->agent->client != agent.client;
    };
    return (running_ && is_other(running_)) || std::any_of(waiting_.begin(), waiting_.end(), is_other);
}

} // namespace cellgate::session
