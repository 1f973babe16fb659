#pragma once
// A place of the machine with its guarded files (sandbox/guarded_files.hpp) kept from the cell.

#include "mount_plan.hpp"

#include <string>

namespace cellgate::sandbox {

// `top` is canonical, a folder or a file; `reason` says why it is shown. Throws as find_guarded_files() does.
void show_guarded(MountPlan& plan, const std::string& top, bool writable, Reason reason);

} // namespace cellgate::sandbox
