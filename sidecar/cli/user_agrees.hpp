#pragma once
// `user_agrees` asks at the terminal for a yes, where anything else is a no.

#include "async/loop.hpp"

#include <string>

namespace cellgate::cli {

// `question` is safe to show. Without a terminal: Error{denied} that says what --yes does: "adds it".
Task<bool> user_agrees(async::Loop* loop, std::string question, std::string what_yes_does);

} // namespace cellgate::cli
