#pragma once
// `StartState` is what a start of a kernel depends on: its programs, its command, and all that its sandbox shows, hides
// and limits. A kernel that was started before it was asked for is as good as a new one while its state is that of a
// start now, in the same directory.

#include "async/process.hpp"
#include "jupyter/kernel_choice.hpp"
#include "sandbox/profile.hpp"

#include <optional>
#include <string>

namespace cellgate::session {

struct StartState {
    std::string programs; // the interpreter and the folders of its packages, by their latest changes
    std::string command;
    std::string environment;
    sandbox::Limits limits;
    std::string sandbox; // sandbox::fingerprint_of()
};

// All but `sandbox`. `command` is not sandboxed yet. Blocks.
StartState state_of_start(const jupyter::KernelChoice& choice, const async::Command& command,
                          const sandbox::Profile& profile);

// What is another one, for the log; nothing if the two are equal.
std::optional<std::string> difference_of(const StartState& before, const StartState& now);

} // namespace cellgate::session
