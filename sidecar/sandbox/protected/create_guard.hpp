#pragma once
// `add_guard_filter` and `add_protected_names` give the guard in a sandbox (helper/guard.hpp) its filter of system
// calls and its list of names.

#include "mounts/mount_plan.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

// As the helper reads it (helper/protected_names.hpp).
struct NamePlaces {
    std::vector<std::string> scratch; // mounts that are removed with the sandbox
    std::vector<std::string> shown;   // folders of the machine that can be written, or that a user shows
    std::vector<std::string> own;     // of these, what was made for the sandbox
};
std::string list_protected_names(const MountPlan& plan, const NamePlaces& where);

void add_guard_filter(MountPlan& plan);

// `shown`: the folders of the machine that are shown there. All else that `plan` has must be in it already.
void add_protected_names(MountPlan& plan, const std::vector<std::string>& shown);

} // namespace cellgate::sandbox
