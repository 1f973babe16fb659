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

// What holds from before a command's first instruction on.
struct FromTheStart {
    int lifeline_fd = -1;       // async::Command::lifeline_fd
    bool protected_names = false; // create_guard.hpp
    std::string proxy = {};     // what a bridge leads to; empty: none
    Limits limits = {};
};

// Adds to `plan` the list of what has to stand at the places in `writable_roots`, all that a cell of any session may be able to
// exchange, and puts before `argv` what the helper's `enter` takes, which compares them and does what `start` says;
// where it can be had also Landlock (landlock.hpp), by what is writable in `plan`. Throws Error{sandbox_unavailable}
// when one of the files has changed already.
void check_mounts(MountPlan& plan, const std::vector<std::string>& writable_roots, const FromTheStart& start,
                  std::vector<std::string>& argv);

} // namespace cellgate::sandbox
