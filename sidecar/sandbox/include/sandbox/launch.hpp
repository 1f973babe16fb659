#pragma once
// `Launch` is a sandboxed command for one start, with the layers of isolation that hold in it. Keep it until
// start_process() has returned: the command's descriptors are owned here.

#include "async/process.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/control_group.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cellgate::sandbox {

struct KernelMounts;

struct Launch {
    async::Command command;
    std::vector<std::string> layers;
    std::vector<std::string> notices; // what the settings ask for and do not get; for users to read
    std::vector<UniqueFd> descriptors;
    // What is shown in there, for explain_path(); nothing without a sandbox.
    std::shared_ptr<const KernelMounts> mounts = nullptr;
    // The group of all processes in there; nothing where none is available. To be kept until the process has ended.
    std::unique_ptr<ControlGroup> group;
};

// Another one for each launch that would differ in what it starts, shows, hides, protects or says: the command and what
// its files hold. Only the control group is not in it. Blocks.
std::string fingerprint_of(const Launch& launch);

} // namespace cellgate::sandbox
