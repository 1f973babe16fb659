#pragma once
// `secret_from_command` is what a user's program prints, without the last line break. It runs outside every sandbox.

#include "async/process.hpp"
#include "base/clock.hpp"

#include <string>

namespace cellgate::store {

// Throws Error{store_failed} with the end of its stderr when it fails or takes longer than `timeout`, and as
// require_secret_value(). Then, and when the task is cancelled, no process of it is left. `loop` outlives the task.
Task<std::string> secret_from_command(async::Loop* loop, std::string name, async::Command command, Duration timeout);

// Throws Error{store_failed} for a value that is empty, has a NUL or more than 64 KiB.
void require_secret_value(const std::string& name, const std::string& value);

} // namespace cellgate::store
