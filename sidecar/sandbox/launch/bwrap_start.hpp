#pragma once
// `wrap_kernel` is the start of a kernel in bubblewrap's namespaces, with the mounts of a plan, its limits, its guard
// and its way to the network. Launchers give it their plan, and may put a runtime between: a program that runs the
// command in a system of its own, such as gVisor. bwrap receives all options over a descriptor, so that no value is in
// a command line that others can read, and none can act on bwrap.

#include "launch/bwrap_probe.hpp"
#include "launch/launch_steps.hpp"
#include "mounts/kernel_mounts.hpp"
#include "sandbox/launcher.hpp"

#include <functional>
#include <string>
#include <vector>

namespace cellgate::sandbox {

struct Bwrap {
    std::string program;
    Probed found;
};

// Throws Error{sandbox_unavailable}.
Bwrap available_bwrap(const Environment& environment);

// bwrap's own command for a plan that is complete. `command.argv` is what the helper is to do inside (check_mounts()),
// `environment` all that it and what it starts get.
Launch launch_in(const Bwrap& bwrap, const MountPlan& plan, async::Command command, const std::string& cwd,
                 const Environment& environment, Rights rights);

// What a runtime is to run: arguments of the helper's `enter` after its first, and the command.
struct RuntimeCommand {
    std::vector<std::string> argv;
    std::string cwd;
    Environment environment;
};
// Adds what it needs to the plan, and returns the runtime's command line.
using Runtime = std::function<std::vector<std::string>(MountPlan& plan, RuntimeCommand command)>;

// `own` is this process's environment. Without `runtime` the command runs in bwrap's sandbox itself. Throws what
// Launcher::wrap() does.
Launch wrap_kernel(const Bwrap& bwrap, KernelMounts mounts, async::Command command, const Profile& profile,
                   const Environment& own, const Runtime& runtime = nullptr);

} // namespace cellgate::sandbox
