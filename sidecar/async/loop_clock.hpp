#pragma once
// `LoopClock` is the real Clock, on the loop's timers. Owned by the Loop.

#include "base/clock.hpp"

struct uv_loop_s;

namespace cellgate::async {

class LoopClock final : public Clock {
  public:
    explicit LoopClock(uv_loop_s* loop) : loop_(loop) {}

    Instant now() const override { return std::chrono::steady_clock::now(); }
    WallTime wall() const override { return std::chrono::system_clock::now(); }
    Task<void> sleep_until(Instant instant) override;

  private:
    uv_loop_s* loop_;
};

} // namespace cellgate::async
