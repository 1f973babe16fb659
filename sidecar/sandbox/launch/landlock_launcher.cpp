#include "launch/landlock_launcher.hpp"

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "launch/confinement.hpp"
#include "launch/landlock.hpp"
#include "launch/run_program.hpp"
#include "mounts/kernel_mounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

namespace cellgate::sandbox {

namespace {

constexpr std::string_view limitations[] = {
    "no network at all, not even the sandbox's own: no TCP, no UDP, no way through cellgate's proxy",
    "of all files of the machine, code sees whether they exist, their sizes and dates, and the targets of links",
    "code sees the numbers of other processes, and of their open files (not what they run or hold)",
    "the machine's names are its own: host, users, groups, mounts, settings of the kernel",
    "no shared memory and no semaphores by name: multiprocessing has no locks",
    "no datagram sockets, and none with an abstract name",
    "a file that is hidden in the workspace can still be executed where its mode allows that, and so be read",
    "/tmp and /dev/shm are closed: scratch space is TMPDIR, in the runtime directory, without a size of its own",
    "one layer less: a flaw in the system's calls or in the guard is not held by a namespace behind it",
    "packages cannot be installed: that needs the other sandbox",
    "limits: processes are counted by a control group only, scratch space has none",
};

// Some are of a namespace's count, or of a mount's size.
std::vector<std::string> limit_arguments_without_namespaces(const Limits& limits) {
    if (limits.disk_bytes) {
        throw Error(ErrorCode::sandbox_unavailable,
                    "a limit of scratch space was asked for, and the landlock launcher has none: nothing is mounted",
                    "Leave out limits.diskBytes.");
    }
    std::vector<std::string> arguments = limit_arguments(limits);
    std::erase_if(arguments, [](const std::string& each) { return each.starts_with("processes="); });
    return arguments;
}

// Without a user namespace, the system's own limit would count all processes of the user.
void add_hold_of_group(Launch& launch, ResourceLimits hold) {
    const Limits limits = hold.of_each;
    add_hold(launch, std::move(hold));
    std::erase(launch.layers, "process-limit");
    const bool counted = launch.group && launch.group->holds().process_count;
    if (limits.process_count && !counted) {
        throw Error(ErrorCode::sandbox_unavailable,
                    "a limit of processes was asked for, and there is no control group to count them: the landlock "
                    "launcher has no user namespace that would",
                    "See `cellgate doctor`, or leave out limits.processCount.");
    }
}

// It runs as a kernel would, and looks from inside.
std::string look_from_inside() {
    MountPlan nothing_shown;
    Confinement inside = confine(nothing_shown, {}, {}, {}, 3);
    // The helper once more, which is open in there under no name.
    std::vector<std::string> argv = inside.arguments;
    argv.insert(argv.end(), {"/proc/self/fd/" + std::to_string(3 + inside.files.size()), "can-confine"});
    inside.files.push_back(open_helper());
    const RunOutput output = run_program(std::move(argv), inside.files);
    if (output.success && output.out == "confined: yes\n") {
        return {};
    }
    const std::string said = output.error + output.out;
    return said.empty() ? "it said nothing" : said.substr(0, said.find('\n'));
}

} // namespace

std::string why_no_landlock_launcher() {
    const int version = landlock_version();
    if (version < oldest_landlock_alone) {
        return version == 0
                   ? "this kernel has no Landlock, or was started without it"
                   : fmt::format("this kernel has version {} of Landlock, and version {} (Linux 6.12) is needed",
                                 version, oldest_landlock_alone);
    }
    // Looked at once: it is the kernel's, and what is around us, that may refuse it.
    static std::mutex mutex;
    static bool held = false;
    const std::lock_guard lock(mutex);
    const std::string why = held ? std::string() : look_from_inside();
    held = why.empty();
    return why;
}

constexpr IsolationTraits LandlockLauncher::traits = {
    .name = "landlock", .isolates = true, .weaker = true, .limitations = limitations};

void LandlockLauncher::check() {
    const std::string why = why_no_landlock_launcher();
    if (!why.empty()) {
        throw Error(ErrorCode::sandbox_unavailable, fmt::format("the landlock launcher is not available here: {}", why),
                    "It needs Linux 6.12 that was started with `landlock` in its list `lsm=`, that no program around "
                    "cellgate (a container's runtime) listens for system calls already, and that a process may look "
                    "into its children (kernel.yama.ptrace_scope at most 1).");
    }
}

void LandlockLauncher::check_limits(const Limits& limits) const {
    limit_arguments_without_namespaces(limits);
    Launch tried;
    add_hold_of_group(tried, apply_limits(limits));
}

Launch LandlockLauncher::wrap(async::Command command, const Profile& profile) {
    check();
    ResourceLimits hold = apply_limits(profile.limits);
    const std::vector<std::string> limits = limit_arguments_without_namespaces(hold.of_each);
    KernelMounts mounts = plan_without_mounts(profile, environment_);
    Links links;
    check_program(mounts.plan, command.argv.at(0), links);
    const std::string cwd = working_directory(mounts.plan, command.cwd.empty() ? mounts.workspace : command.cwd, links);

    const int first = first_free_descriptor(command);
    Confinement confinement = confine(mounts.plan, mounts.exchangeable, {mounts.session_dir}, limits, first);
    Launch launch;
    for (UniqueFd& file : confinement.files) {
        command.descriptors[first + static_cast<int>(launch.descriptors.size())] = file.get();
        launch.descriptors.push_back(std::move(file));
    }
    command.argv.insert(command.argv.begin(), confinement.arguments.begin(), confinement.arguments.end());
    command.environment.emplace("TMPDIR", mounts.tmp);
    command.environment = clean_environment(environment_, mounts.home, std::move(command.environment));
    command.cwd = cwd;
    launch.command = std::move(command);
    launch.layers = {"landlock",        "capabilities",    "no-new-privileges", "seccomp",          "no-network",
                     "protected-files", "protected-names", "private-home",      "clean-environment"};
    launch.notices = std::move(mounts.notices);
    launch.mounts = std::make_shared<const KernelMounts>(std::move(mounts));
    add_hold_of_group(launch, std::move(hold));
    return launch;
}

} // namespace cellgate::sandbox
