#pragma once
// `show_guarded` shows a place of the machine, and keeps its protected files (sandbox/protected_files.hpp) from the
// cell.

#include "mounts/mount_plan.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

// `top` is canonical, a folder or a file; `reason` says why it is shown; `homes` and `also_obeyed` are as
// those of find_protected_files(), as what is thrown. Returns
// notices for users.
[[nodiscard]] std::vector<std::string> show_guarded(MountPlan& plan, const std::string& top, bool writable,
                                                    Reason reason, const std::vector<std::string>& homes,
                                                    const std::vector<std::string>& also_obeyed = {});

// Protects the targets of protected names, which may be in any place that is shown for writing. Called once all of
// these are planned.
void guard_targets(MountPlan& plan);

} // namespace cellgate::sandbox
