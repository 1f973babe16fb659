#pragma once
// `require_short_queue` is the bound of what waits for a mutex.

#include "base/sync.hpp"

#include <string_view>

namespace cellgate::packages {

// Throws Error{limit_exceeded} when too many wait already. `what`: what they wait for.
void require_short_queue(const Mutex& mutex, std::string_view what);

} // namespace cellgate::packages
