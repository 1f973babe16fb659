#pragma once
// `BwrapMounts` is a mount plan in bubblewrap's terms: options, and the files that these name by their descriptors.

#include "base/unique_fd.hpp"
#include "mounts/mount_plan.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

struct BwrapMounts {
    std::vector<std::string> arguments;
    std::vector<UniqueFd> files;
};

// `first_descriptor` is the number under which bwrap finds the first of the files. Throws Error{internal_error} for a
// file that cannot be opened or made.
BwrapMounts bwrap_mounts(const MountPlan& plan, int first_descriptor);

} // namespace cellgate::sandbox
