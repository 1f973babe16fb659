#pragma once
// `check_mounts` makes the helper check that the mounted files are the planned ones. bwrap opens what it mounts by its
// name, some milliseconds after we have planned it: enough for a cell of another session to exchange a folder of the
// workspace for a link out of it. So the intended files are noted when they are planned, and before anything else runs
// in a sandbox, our own helper (helper/enter.hpp) compares them with the mounted ones.

#include "mounts/mount_plan.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

// What holds from before a command's first instruction on.
struct FromTheStart {
    int lifeline_fd = -1;         // async::Command::lifeline_fd
    bool protected_names = false; // create_guard.hpp
    bool landlock = true;         // where it is available (landlock.hpp), by what is writable in the plan
};

// Adds to `plan` the list of the files that have to be mounted below `writable_roots`, which a cell of any session may
// be able to exchange, and puts the arguments of the helper's `enter` before `argv`, which compares them and does what
// `start` says. Throws Error{sandbox_unavailable} when one of the files has changed already.
void check_mounts(MountPlan& plan, const std::vector<std::string>& writable_roots, const FromTheStart& start,
                  std::vector<std::string>& argv);

// What is set up for the command itself.
struct CommandStart {
    std::string proxy = {};               // the socket behind the bridge; empty: no bridge
    std::vector<std::string> relays = {}; // arguments of the helper (relays.hpp)
    std::string kernel_sockets = {};      // as Profile::kernel_sockets
    std::vector<std::string> limits = {}; // arguments of the helper (limits.hpp)
};

// Puts the arguments of the helper's `enter` for it before `argv`, which is the command's.
void add_command_arguments(const CommandStart& start, std::vector<std::string>& argv);

} // namespace cellgate::sandbox
