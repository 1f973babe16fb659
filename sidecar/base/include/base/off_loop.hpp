#pragma once
// How a room that knows no event loop gets work done that may block: Loop::off_loop, outside of tests.

#include "base/task.hpp"

#include <functional>

namespace cellgate {

// Runs `work` where it may block, and returns when it is done. Rethrows what it threw.
using OffLoop = std::function<Task<void>(std::function<void()> work)>;

// An OffLoop for where there is no loop: here, before it returns.
inline Task<void> work_at_once(std::function<void()> work) {
    work();
    co_return;
}

} // namespace cellgate
