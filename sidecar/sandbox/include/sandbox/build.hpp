#pragma once
// `wrap_build` makes the sandbox for a program that makes files, such as pip. The program sees the system and the paths
// of its profile; no workspace unless that says so, no home, no secret. It writes one directory, and scratch space that
// is removed at its end. It may be given the machine's network: then it reaches whatever a program of yours would reach
// by TCP and UDP, and no unix socket. The other layers are those of a kernel's sandbox; when one is not available, the
// start is refused.

#include "base/environment.hpp"
#include "sandbox/image.hpp"
#include "sandbox/launch.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cellgate::sandbox {

enum class Network {
    none,
    host, // the machine's
};

// Paths are absolute, exist, and may go through symlinks.
struct BuildProfile {
    std::string directory;              // 0700 and ours: read-write at `build_place`; empty: nothing is written
    std::string workspace;              // shown is only what `read_only` names of it: a virtual environment
    bool shows_workspace = false;       // all of it, read-only
    std::string packages;               // installed for the workspace; empty: none is shown
    std::string node_modules;           // the same of npm, shown as /node_modules; empty: none
    std::vector<std::string> read_only; // interpreter prefixes, certificates
    std::vector<std::string> hidden;    // as in a kernel's Profile
    Network network = Network::none;
    std::shared_ptr<const Image> image = {}; // its system; nullptr: the machine's
};

inline constexpr const char* build_place = "/cellgate";

// `command.environment`: as for Launcher::wrap(); it starts in the empty home. `environment` is this process's own.
// Throws Error{sandbox_unavailable, config_invalid}.
Launch wrap_build(async::Command command, const BuildProfile& profile, const Environment& environment);

} // namespace cellgate::sandbox
