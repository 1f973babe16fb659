#pragma once
// `ReconnectDelay` is the time until a connection is made again: none after one that worked, then 50 ms, twice as much
// after each further one that did not, ten seconds at most.

#include "base/clock.hpp"

#include <algorithm>
#include <utility>

namespace cellgate::jupyter {

class ReconnectDelay {
  public:
    // A proxy that cannot reach its server may open a connection and drop it: only an answer or its age shows that it
    // worked.
    static bool has_worked(Duration lived, bool was_answered) { return was_answered || lived >= longest; }

    Duration next(bool worked) {
        following_ = worked ? Duration::zero() : following_;
        return std::exchange(following_, std::clamp<Duration>(following_ * 2, first, longest));
    }

  private:
    static constexpr Duration first = std::chrono::milliseconds(50);
    static constexpr Duration longest = std::chrono::seconds(10);
    Duration following_ = first;
};

} // namespace cellgate::jupyter
