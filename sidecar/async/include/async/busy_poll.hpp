#pragma once
// `BusyPoll` makes the loop poll for events for a moment instead of sleeping. Sleeping and waking takes tens of
// microseconds, on some virtual machines longer than the awaited event itself. Used where the peer usually answers
// within that time, and only when another processor can run the peer.

#include "async/loop.hpp"

#include <memory>

namespace cellgate::async {

class BusyPoll {
  public:
    explicit BusyPoll(Loop& loop);
    BusyPoll(const BusyPoll&) = delete;
    BusyPoll& operator=(const BusyPoll&) = delete;
    ~BusyPoll();

    // Busy-polls for up to this long: an event that arrives in time needs no wake-up; otherwise that much CPU is
    // wasted.
    static constexpr Duration window = std::chrono::microseconds(250);
    void arm();

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace cellgate::async
