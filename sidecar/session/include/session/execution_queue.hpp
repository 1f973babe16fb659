#pragma once
// `ExecutionQueue` is the record of a session's executions: those that wait, in their order, the one that runs, and the
// finished ones that are still kept. It knows no kernel and no time. Each list is bounded.

#include "session/execution.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

class ExecutionQueue {
  public:
    using ExecutionPtr = std::shared_ptr<Execution>;

    // `session_id` is for messages.
    explicit ExecutionQueue(std::string session_id) : session_id_(std::move(session_id)) {}

    // Throws Error{execution_exists} for an id that was used, Error{busy} if too much waits already.
    void require_space(const std::string& id, std::size_t code_bytes) const;
    // Appends it. Returns its position.
    std::int64_t push(ExecutionPtr execution);
    // The first one that waits; nullptr if none does.
    ExecutionPtr next() const { return waiting_.empty() ? nullptr : waiting_.front(); }
    // The first one that waits becomes the running one. There must be one, and none that runs.
    const ExecutionPtr& take();
    void remove(const ExecutionPtr& waiting);
    // Removes those that wait, only `client`'s if it is given.
    std::vector<ExecutionPtr> remove_all(std::optional<ClientId> client);
    // The running one ends: none runs now.
    void release() { running_ = nullptr; }
    // Keeps a finished one, and drops the oldest ones beyond the limits.
    void keep(const Execution& finished);

    bool empty() const { return waiting_.empty(); }
    std::size_t size() const { return waiting_.size(); }
    // nullptr if none runs.
    const ExecutionPtr& running() const { return running_; }
    // nullptr if there is none with that id.
    ExecutionPtr find(const std::string& id) const;
    // The running one, else the one that finished last; nullptr if there is neither.
    ExecutionPtr latest() const;
    // The finished ones, the running one, those that wait.
    std::vector<ExecutionPtr> all() const;
    // The number of executions before it, with the running one; nothing unless it waits.
    std::optional<std::int64_t> position(const Execution& execution) const;
    // Whether one that runs or waits was sent by another agent than `agent`.
    bool has_other_agent(const gate::Agent& agent) const;

  private:
    std::string session_id_;
    std::deque<ExecutionPtr> waiting_;
    std::size_t waiting_code_ = 0; // bytes
    ExecutionPtr running_;
    std::map<std::string, ExecutionPtr> by_id_; // all of them
    std::deque<std::string> finished_;          // the oldest first
    std::size_t finished_code_ = 0;             // bytes
};

} // namespace cellgate::session
