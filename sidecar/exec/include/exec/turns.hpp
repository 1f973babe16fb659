#pragma once
// One after the other, in the order in which they came. Who waits can be cancelled, and no more wait than is sensible.

#include "base/task.hpp"

#include <deque>
#include <memory>
#include <utility>

namespace cellgate::exec {

class Turns {
  public:
    // Ends when it is destroyed, and then it is the next one's.
    class Turn {
      public:
        explicit Turn(Turns& turns) : turns_(&turns) {}
        Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)) {}
        Turn& operator=(Turn&&) = delete;
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        ~Turn();

      private:
        Turns* turns_;
    };

    // `what`: for the sentence of the error. Throws Error{limit_exceeded} when too many wait already.
    Task<Turn> take(const char* what);

  private:
    void pass_on();

    bool taken_ = false;
    std::deque<std::shared_ptr<Event>> waiting_;
};

} // namespace cellgate::exec
