#pragma once
// `ExecutionTurns` bounds how many executions of agents run at a time in a workspace. Turns come in the order in which
// they were asked for. A session asks for one at a time, so that none has more than its share. An execution that waits
// for a user does not count; when it goes on it does not wait for another turn, so that there may be more for a while.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

namespace cellgate::session {

class ExecutionTurns {
  public:
    // `at_a_time` is at least 1.
    explicit ExecutionTurns(std::size_t at_a_time) : at_a_time_(at_a_time) {}
    ExecutionTurns(const ExecutionTurns&) = delete;
    ExecutionTurns& operator=(const ExecutionTurns&) = delete;

    // Waits in the line, or has come, for as long as it lives. Must not outlive the ExecutionTurns.
    class Turn {
      public:
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        ~Turn();

        bool has_come() const { return has_come_; }
        // How many come before it: those that run, and those that wait longer.
        std::int64_t behind() const;
        // Whether its execution waits for a user now.
        void set_waits_for_user(bool waits);

      private:
        friend class ExecutionTurns;
        Turn(ExecutionTurns& turns, std::function<void()> on_come) : turns_(turns), on_come_(std::move(on_come)) {}

        bool counts() const { return has_come_ && !waits_for_user_; }

        ExecutionTurns& turns_;
        std::function<void()> on_come_;
        bool has_come_ = false;
        bool waits_for_user_ = false;
    };

    // `on_come` is called when the turn comes, unless that is at once.
    std::unique_ptr<Turn> ask(std::function<void()> on_come);

  private:
    void give();

    const std::size_t at_a_time_;
    std::size_t running_ = 0;
    std::deque<Turn*> waiting_;
};

} // namespace cellgate::session
