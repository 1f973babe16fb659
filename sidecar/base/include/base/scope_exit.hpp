#pragma once
// `ScopeExit` is a cleanup that runs when its scope ends, whichever way. It throws nothing. A cleanup that awaits
// something is given to finally() of base/sync.hpp.

#include <utility>

namespace cellgate {

template <class Cleanup>
class [[nodiscard]] ScopeExit {
  public:
    explicit ScopeExit(Cleanup cleanup) : cleanup_(std::move(cleanup)) {}
    ScopeExit(const ScopeExit&) = delete;
    ScopeExit& operator=(const ScopeExit&) = delete;
    ~ScopeExit() { cleanup_(); }

  private:
    Cleanup cleanup_;
};

} // namespace cellgate
