#pragma once
// `Watchdog` is for programs of which a test does not know that they end: when one is late, it reports where each of
// its processes waits, and ends them, so that the test fails by what it expected of them.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace cellgate::sandbox {

class Watchdog {
  public:
    explicit Watchdog(std::chrono::seconds patience);
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
    ~Watchdog();

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool ended_ = false;
    std::thread thread_;
};

} // namespace cellgate::sandbox
