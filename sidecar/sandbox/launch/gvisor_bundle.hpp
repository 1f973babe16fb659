#pragma once
// `add_gvisor_bundle` adds to a mount plan what `runsc` needs to run a command in it: an OCI bundle, whose root is the
// sandbox's own, the helper, and a folder for its state, which the command does not see.

#include "launch/bwrap_start.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

// Returns runsc's command line. `helper` is the descriptor of the helper program, open until bwrap has started. Throws
// Error{config_invalid} for texts that JSON cannot hold.
std::vector<std::string> add_gvisor_bundle(MountPlan& plan, const std::string& runsc, int helper,
                                           const RuntimeCommand& command);

} // namespace cellgate::sandbox
