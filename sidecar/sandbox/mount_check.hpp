#pragma once
// bwrap opens what it mounts by its name, some milliseconds after we have planned it: enough for a cell of another
// session to exchange a folder of the workspace for a link that leads out of it. So the files that are meant are noted
// when they are planned, and before anything else runs in a sandbox, our own helper (helper/enter.hpp) compares them
// with those that are there.

#include "mount_plan.hpp"
#include "sandbox/limits.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

// Adds to `plan` the list of what has to stand at the places in `tops`, all that a cell of any session may be able to
// exchange, and puts the comparison before `argv`, as well as a bridge to `proxy`, if there is one, `limits`, and
// where it can be had Landlock (landlock.hpp) by what is writable in `plan`, which hold from then on. Throws
// Error{sandbox_unavailable} when one of the files has changed already.
void check_mounts(MountPlan& plan, const std::vector<std::string>& tops, const Limits& limits, const std::string& proxy,
                  std::vector<std::string>& argv);

} // namespace cellgate::sandbox
