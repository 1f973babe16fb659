#pragma once
// Looking for events for a moment without going to sleep. To be put to sleep and woken up again takes tens of
// microseconds, on some virtual machines more than what is waited for. It is for a conversation in which the other side
// has just answered within such a time, and only where another processor is there to run it.

#include "async/loop.hpp"

#include <memory>

namespace cellgate::async {

class Alertness {
  public:
    explicit Alertness(Loop& loop);
    Alertness(const Alertness&) = delete;
    Alertness& operator=(const Alertness&) = delete;
    ~Alertness();

    // What comes within this time costs no waking up; when nothing comes, the processor was busy for so long.
    static constexpr Duration moment = std::chrono::microseconds(250);
    void expect_something();

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace cellgate::async
