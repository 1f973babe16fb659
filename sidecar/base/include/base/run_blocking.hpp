#pragma once
// `RunBlocking` is how a module that does not know the event loop runs work that may block: Loop::run_blocking, except
// in tests.

#include "base/task.hpp"

#include <functional>

namespace cellgate {

// Runs `work` on a thread that may block, and returns when it is done. Rethrows what `work` throws.
using RunBlocking = std::function<Task<void>(std::function<void()> work)>;

// A RunBlocking without a loop: runs the work in the calling thread, before it returns.
inline Task<void> run_inline(std::function<void()> work) {
    work();
    co_return;
}

} // namespace cellgate
