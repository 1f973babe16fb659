#pragma once
// `KernelMounts` is the plan of what a kernel's sandbox shows of the machine: the system, an empty home, the workspace
// with its protected files, the interpreter, and what a settings file adds or takes away. Launchers mount it, `cellgate
// sandbox explain` reads it.

#include "base/environment.hpp"
#include "mounts/mount_plan.hpp"
#include "sandbox/profile.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cellgate::sandbox {

struct KernelMounts {
    MountPlan plan;
    std::string workspace; // canonical
    std::string home;
    std::map<std::string, std::string> links; // on the way to what is shown: their paths and targets
    std::vector<std::string> exchangeable;    // places in which a cell may have exchanged something (mount_check.hpp)
    std::vector<std::string> notices;         // what the settings file asks for and does not get
    std::string session_dir = {};             // canonical, where nothing is mounted
    std::string tmp = {};                     // in place of /tmp, where nothing is mounted
    bool without_namespaces = false;          // nothing is mounted: the guard enforces the plan
    std::shared_ptr<const Image> image = {};  // whose files are its system; nullptr: the machine's are
};

// Shows installed packages, read-only: at their own path, or as Profile::node_modules says. Adds the links on the way.
void show_packages(MountPlan& plan, const std::string& folder, bool node_modules,
                   std::map<std::string, std::string>& links);

// Throws Error{config_invalid, sandbox_unavailable} as Launcher::wrap() does.
KernelMounts plan_kernel_mounts(const Profile& profile, const Environment& environment);

// The same where nothing can be mounted: scratch space is in the session's directory, where it is made, and the few
// files that would be made for the sandbox are the machine's.
KernelMounts plan_without_mounts(const Profile& profile, const Environment& environment);

} // namespace cellgate::sandbox
