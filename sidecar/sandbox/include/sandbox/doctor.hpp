#pragma once
// `examine` makes the findings of `cellgate doctor` about isolation on this machine.

#include "base/environment.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

struct Finding {
    std::string subject; // "bubblewrap", "sandbox", "landlock", "limits", "gvisor"
    bool good = false;
    std::string detail; // what was found
    std::string hint;   // what to do; when good, what there could be beyond it, or nothing
};

std::vector<Finding> examine(const Environment& environment);

} // namespace cellgate::sandbox
