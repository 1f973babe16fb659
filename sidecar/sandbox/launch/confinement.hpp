#pragma once
// `Confinement` is the input of the helper for a sandbox without namespaces (helper/confine.hpp): for a command, or for
// the test whether such a sandbox is available.

#include "base/unique_fd.hpp"
#include "mounts/mount_plan.hpp"
#include "sandbox/limits.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

struct Confinement {
    std::vector<std::string> arguments; // before the command's own
    std::vector<UniqueFd> files;        // under the numbers from the first on
};

// Its rules are those of `plan`. `writable_roots`: the folders in it that can be written, whose own paths may contain
// protected names; `own`: those of them that were made for the sandbox.
Confinement confine(const MountPlan& plan, const std::vector<std::string>& writable_roots,
                    const std::vector<std::string>& own, const std::vector<std::string>& limits, int first_descriptor);

} // namespace cellgate::sandbox
