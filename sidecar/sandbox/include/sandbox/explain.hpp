#pragma once
// `explain_path` and `explain_host` answer what a cell would see of a path, and whether it could reach a host, with the
// reason: a line of the settings file, one of cellgate's own guards, or the baseline of every sandbox. The answer for a
// path is read off the same plan that is mounted.

#include "base/environment.hpp"
#include "sandbox/cause.hpp"
#include "sandbox/domains.hpp"
#include "sandbox/isolation.hpp"
#include "sandbox/profile.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

struct KernelMounts;

enum class Visibility {
    read_write,
    read_only,
    own,        // the sandbox has one of its own there: the home, /tmp, /dev
    unreadable, // it exists, and is hidden or not for this user
    absent,
};

struct PathExplanation {
    Visibility visibility = Visibility::absent;
    std::string path; // with all links resolved as a cell would
    std::string reason;
    Cause cause = Cause::baseline;
};

struct Explained {
    std::vector<PathExplanation> paths; // in the order that they were asked for
    std::vector<std::string> notices;
};

// `paths`: absolute, or from the workspace. The notices also say what the isolation lacks. Throws what Launcher::wrap()
// does about the profile.
Explained explain_paths(const Profile& profile, const Environment& environment, const std::vector<std::string>& paths,
                        Isolation isolation = default_isolation);

// `path` is absolute; `mounts` are those of a sandbox that was started (Launch::mounts). Looks at files, so it may
// block.
PathExplanation explain_path(const KernelMounts& mounts, const Environment& environment, const std::string& path);

enum class Reach { allowed, denied, asked };

struct HostExplanation {
    Reach reach = Reach::asked;
    std::string reason;
};

HostExplanation explain_host(const Settings* settings, const HostQuery& host);

} // namespace cellgate::sandbox
