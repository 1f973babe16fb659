#include "sandbox/doctor.hpp"

#include "base/error.hpp"
#include "launch/bwrap_probe.hpp"
#include "launch/gvisor_launcher.hpp"
#include "launch/landlock.hpp"
#include "launch/landlock_launcher.hpp"
#include "sandbox/control_group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

// No machine is refused for want of Landlock: the mounts hold without.
Finding examine_landlock() {
    const int version = landlock_version();
    if (version >= oldest_landlock) {
        return {"landlock", true, fmt::format("version {}, beneath the mounts of each sandbox", version), {}};
    }
    const std::string reason = version == 0 ? std::strerror(errno) : fmt::format("version {}", version);
    return {
        "landlock", true, fmt::format("not available ({}); a sandbox has its mounts only", reason),
        "A second guard beneath them needs Linux 5.19 or newer that was started with `landlock` in its list `lsm=`."};
}

// No machine is refused for want of control groups: limits of each process hold anyway.
Finding examine_limits() {
    const GroupPlaces places = find_group_places();
    const auto describe = [](const char* what, const std::optional<GroupPlace>& place, const char* otherwise) {
        return place ? fmt::format("{} by a control group below {} (version {})", what, place->folder,
                                   place->version == GroupVersion::one ? 1 : 2)
                     : fmt::format("{} {}", what, otherwise);
    };
    const char* counted = ::geteuid() == 0 ? "not at all, as root's are not counted" : "by the sandbox's own count";
    Finding finding{"limits", true, describe("memory", places.memory, "of each process only"), places.hint};
    finding.detail += ", " + describe("processes", places.processes, counted);
    finding.detail += ", " + describe("processors", places.processors, "not at all");
    if (!places.problem.empty()) {
        finding.detail += ": " + places.problem;
    }
    return finding;
}

// No machine is refused for want of it: what exists when a kernel starts is guarded by mounts.
Finding describe_guard(const std::string& unguarded) {
    if (unguarded.empty()) {
        return {"guarded names", true, "cells can make none that programs outside run or obey", {}};
    }
    return {"guarded names", true,
            fmt::format("where a .git, .vscode or .mcp.json does not exist yet, cells can make one: {}", unguarded),
            "Guarding them needs Linux 5.19, that no program around cellgate (a container's runtime) listens for "
            "system calls already, and that a process may look into its children. Until then, look at such files "
            "before you use them."};
}

// No machine is refused for want of gVisor: it is a user's to choose.
Finding examine_gvisor(const Environment& environment) {
    try {
        return {"gvisor", true, describe_gvisor(environment) + ", for sessions and tool servers that name it", {}};
    } catch (const Error& error) {
        return {"gvisor", true, "not available: " + error.message, error.hint};
    }
}

// Where bubblewrap does not work: whether a user may choose the weaker sandbox, and what that would mean.
Finding describe_weaker() {
    const std::string why = why_no_landlock_launcher();
    if (!why.empty()) {
        return {"weaker sandbox", true, fmt::format("not available either (the landlock launcher): {}", why), {}};
    }
    std::string hint = "It is yours to choose, and never taken unasked: `cellgate run --sandbox landlock`, or "
                       "`\"sandbox\": {\"launcher\": \"landlock\"}` for a session. It lacks:";
    for (const std::string_view limitation : LandlockLauncher::traits.limitations) {
        hint += fmt::format("\n- {}", limitation);
    }
    return {"weaker sandbox", true, "available: the landlock launcher needs no user namespaces", hint};
}

} // namespace

std::vector<Finding> examine(const Environment& environment) {
    std::vector<Finding> findings;
    std::string bwrap;
    try {
        bwrap = find_bwrap(bwrap_directories(environment));
        findings.push_back({"bubblewrap", true, fmt::format("{} {}", bwrap, version_of(bwrap)), {}});
    } catch (const Error& error) {
        findings.push_back({"bubblewrap", false, error.message, error.hint});
        findings.push_back(describe_weaker());
        return findings;
    }
    try {
        const Probed found = probe(bwrap);
        findings.push_back({"sandbox", true, fmt::format("{}", fmt::join(found.layers, ", ")), {}});
        findings.push_back(describe_guard(found.unguarded));
    } catch (const Error& error) {
        findings.push_back({"sandbox", false, error.message, error.hint});
        findings.push_back(describe_weaker());
        return findings;
    }
    findings.push_back(examine_landlock());
    findings.push_back(examine_limits());
    findings.push_back(examine_gvisor(environment));
    return findings;
}

} // namespace cellgate::sandbox
