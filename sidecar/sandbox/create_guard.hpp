#pragma once
// What the guard of names in a sandbox (helper/guard.hpp) goes by: a filter of system calls, and a list.

#include "mount_plan.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

// As the helper reads it (helper/protected_names.hpp).
struct NamePlaces {
    std::vector<std::string> scratch; // mounts that go with the sandbox
    std::vector<std::string> shown;   // folders of the machine that can be written, or that a user shows
    std::vector<std::string> own;     // of these, what was made for the sandbox
};
std::string list_protected_names(const MountPlan& plan, const NamePlaces& where);

void add_guard_filter(MountPlan& plan);

// `shown`: the folders of the machine that are shown there. All else that `plan` has must be in it already.
void add_guarded_names(MountPlan& plan, const std::vector<std::string>& shown);

} // namespace cellgate::sandbox
