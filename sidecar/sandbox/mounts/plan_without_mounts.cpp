#include "mounts/kernel_mounts.hpp"
#include "mounts/paths.hpp"
#include "sandbox/isolation.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

// Where the C library looks names up.
constexpr const char* names_of_the_machine[] = {"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts"};

} // namespace

KernelMounts plan_without_mounts(const Profile& profile, const Environment& environment) {
    KernelMounts mounts = plan_kernel_mounts(profile, environment);
    mounts.without_namespaces = true;
    MountPlan& plan = mounts.plan;
    for (const fs::path& place : plan.places_below("/")) {
        const Mount& mount = *plan.at(place);
        if (!mount.shows_machine() && !mount.is_hidden()) {
            plan.remove(place);
        }
    }
    plan.set_reason({"the machine's own: without namespaces there are no others"});
    for (const char* path : names_of_the_machine) {
        plan.read_only(path);
    }
    plan.set_reason({"the sandbox's own, empty at the start"});
    const std::string session_dir = fs::canonical(profile.session_dir);
    mounts.exchangeable.push_back(session_dir);
    mounts.session_dir = session_dir;
    mounts.home = session_dir + "/home";
    mounts.tmp = session_dir + "/tmp";
    for (const std::string& folder : {mounts.home, mounts.tmp}) {
        fs::create_directory(folder);
        fs::permissions(folder, fs::perms::owner_all);
        plan.read_write(folder);
    }
    const IsolationTraits& traits = traits_of(Isolation::landlock);
    for (const std::string_view limitation : traits.limitations) {
        mounts.notices.push_back(fmt::format("the {} launcher lacks: {}", traits.name, limitation));
    }
    return mounts;
}

} // namespace cellgate::sandbox
