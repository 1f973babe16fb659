#pragma once
// `FakeClock` is a clock for tests: time moves only by advance(), which wakes sleepers in the order of their instants.

#include "base/clock.hpp"

#include <map>
#include <memory>

namespace cellgate {

class FakeClock final : public Clock {
  public:
    Instant now() const override { return now_; }
    WallTime wall() const override;
    Task<void> sleep_until(Instant instant) override;

    void advance(Duration duration);
    std::size_t sleepers() const { return sleepers_.size(); }

  private:
    Instant now_{std::chrono::hours(1)};
    std::multimap<Instant, std::shared_ptr<Event>> sleepers_;
};

} // namespace cellgate
