#pragma once
// `clean_environment`, `check_program`, `working_directory`, `open_helper` and `apply_limits` are the steps of a launch
// that launchers share.

#include "base/environment.hpp"
#include "mounts/mount_plan.hpp"
#include "sandbox/launch.hpp"
#include "sandbox/limits.hpp"

#include <map>
#include <string>
#include <vector>

namespace cellgate::sandbox {

inline constexpr const char* system_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

using Links = std::map<std::string, std::string>;

// Nothing of this process's but language and time zone; `added` beside it. CELLGATE_HOME is `home`, too: what programs
// make there is removed with the sandbox (kernel/bootstrap.py asks). Throws Error{config_invalid}.
Environment clean_environment(const Environment& own, const std::string& home, Environment added);

// The program as it was named must resolve to a file that can be seen in there. Throws Error{config_invalid}.
void check_program(const MountPlan& plan, const std::string& program, Links& links);

// `cwd` without links. Throws Error{config_invalid} when it cannot be seen in there.
std::string working_directory(const MountPlan& plan, const std::string& cwd, Links& links);

// Behind stdio and what the command has already.
int first_free_descriptor(const async::Command& command);

// The helper program (sidecar/helper), to be read by a launched program. Throws Error{internal_error}.
UniqueFd open_helper();

// The limits of a launch: a group for all of its processes, where one is available, and the limits of each process.
struct ResourceLimits {
    std::unique_ptr<ControlGroup> group;
    Limits of_each;
    bool counts_root = false; // processes of root's as well, as gVisor's kernel does

    // As limit_arguments() and limit_layers().
    std::vector<std::string> arguments() const;
    std::vector<std::string> layers() const;
};

// Throws Error{sandbox_unavailable} for a limit that would not hold.
ResourceLimits apply_limits(const Limits& limits);
// The same for a runtime that counts the sandbox's processes itself (its own threads, which a group would count too,
// are more than these) and no memory.
ResourceLimits apply_limits_of_runtime(const Limits& limits);
// The layers, and the groups to be joined.
void add_hold(Launch& launch, ResourceLimits hold);

// The helper reports a signal of the command's as 128 and its number.
async::ExitStatus exit_of_helper(async::ExitStatus outer);

} // namespace cellgate::sandbox
