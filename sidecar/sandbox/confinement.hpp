#pragma once
// What a sandbox without namespaces is made of (helper/confine.hpp), for a command or for a look at whether it can be
// had.

#include "mount_plan.hpp"
#include "sandbox/descriptor.hpp"
#include "sandbox/limits.hpp"
#include "base/unique_fd.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

struct Confinement {
    std::vector<std::string> arguments; // before the command's own
    std::vector<UniqueFd> files;      // under the numbers from the first on
};

// By what `plan` shows. `writable_roots`: the folders in it that can be written, whose own paths may hold guarded names; `own`:
// those of them that were made for the sandbox.
Confinement confine(const MountPlan& plan, const std::vector<std::string>& writable_roots, const std::vector<std::string>& own,
                    const std::vector<std::string>& limits, int first_descriptor);

} // namespace cellgate::sandbox
