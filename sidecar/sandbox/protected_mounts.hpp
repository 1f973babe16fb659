#pragma once
// A place of the machine with its guarded files (sandbox/protected_files.hpp) kept from the cell.

#include "mount_plan.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

// `top` is canonical, a folder or a file; `reason` says why it is shown; `homes` and `also_obeyed` are as
// those of find_protected_files(), as what is thrown.
void show_guarded(MountPlan& plan, const std::string& top, bool writable, Reason reason,
                  const std::vector<std::string>& homes, const std::vector<std::string>& also_obeyed = {});

// What guarded names lead to may lie in any place that is shown for writing: once all these are planned.
void guard_leads(MountPlan& plan);

} // namespace cellgate::sandbox
