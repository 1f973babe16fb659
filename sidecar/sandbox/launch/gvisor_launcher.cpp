#include "launch/gvisor_launcher.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "launch/bwrap_start.hpp"
#include "launch/gvisor_bundle.hpp"
#include "launch/run_program.hpp"
#include "mounts/kernel_mounts.hpp"
#include "mounts/mount_check.hpp"
#include "mounts/system_mounts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <mutex>
#include <set>

namespace cellgate::sandbox {

namespace {

constexpr std::string_view gvisor_limitations[] = {
    "slower: a kernel takes two seconds to start, and each look at a file several times as long",
    "more memory: about 100 MiB for gVisor's own kernel",
    "no graphics cards",
    "a limit of memory needs a control group, and ends the kernel; without one, memory has no limit",
    "code may change what is gVisor's own: its devices, its kernel's settings, namespaces in it",
    "what code sees of the machine is gVisor's: another version of Linux, and root as its user's name",
};

Runtime runtime_of(const std::string& runsc, const UniqueFd& helper) {
    return [&runsc, &helper](MountPlan& plan, const RuntimeCommand& command) {
        return add_gvisor_bundle(plan, runsc, helper.get(), command);
    };
}

// Starts a shell in it. What holds does so for all launchers, so it is remembered.
void try_gvisor(const Bwrap& bwrap, const std::string& runsc) {
    static std::mutex mutex;
    static std::set<std::string> works;
    const std::lock_guard lock(mutex);
    if (works.contains(runsc)) {
        return;
    }
    MountPlan plan;
    add_system(plan, "/home/user", std::nullopt);
    const UniqueFd helper = open_helper();
    async::Command command;
    command.argv = {"/bin/sh", "-c", "echo in gVisor"};
    add_command_arguments({}, command.argv);
    command.argv = add_gvisor_bundle(plan, runsc, helper.get(), {command.argv, "/", {{"PATH", system_path}}});
    command.argv.insert(command.argv.begin(), "--");
    check_mounts(plan, {}, {.landlock = false}, command.argv);
    const Launch launch = launch_in(bwrap, plan, std::move(command), "/", {{"PATH", system_path}}, Rights::of_runtime);
    const RunOutput output = run_program(launch.command.argv, launch.descriptors);
    if (!output.success || output.out != "in gVisor\n") {
        throw Error(ErrorCode::sandbox_unavailable,
                    fmt::format("gVisor does not run here ({}): {}", runsc,
                                output.error.empty() ? "it said nothing" : output.error),
                    "It needs to trace its own processes (ptrace), which a container around cellgate may refuse.");
    }
    works.insert(runsc);
}

std::string available_runsc(const Bwrap& bwrap, const Environment& environment) {
    std::string runsc = find_runsc(bwrap_directories(environment));
    try_gvisor(bwrap, runsc);
    return runsc;
}

} // namespace

std::string find_runsc(const std::vector<std::string>& directories) {
    for (const std::string& directory : directories) {
        std::string candidate = directory + "/runsc";
        if (is_program(candidate)) {
            return candidate;
        }
    }
    throw Error(ErrorCode::sandbox_unavailable,
                fmt::format("the gVisor launcher needs `runsc`, which is not in {}", fmt::join(directories, ", ")),
                "Install it: `apt install runsc` (Debian), or as https://gvisor.dev/docs/user_guide/install/ says.");
}

constexpr IsolationTraits GvisorLauncher::traits = {.name = "gvisor",
                                                    .isolates = true,
                                                    .mounts = true,
                                                    .own_network = true,
                                                    .installs = true,
                                                    .agents = true,
                                                    .limitations = gvisor_limitations};

void GvisorLauncher::check() {
    available_runsc(available_bwrap(environment_), environment_);
}

void GvisorLauncher::check_limits(const Limits& limits) const {
    apply_limits_of_runtime(limits); // to a group that nothing runs in
}

Launch GvisorLauncher::wrap(async::Command command, const Profile& profile) {
    const Bwrap bwrap = available_bwrap(environment_);
    const std::string runsc = available_runsc(bwrap, environment_);
    if (profile.settings && profile.settings->gpu) {
        throw Error(ErrorCode::sandbox_unavailable, "graphics cards were asked for, and the gVisor launcher shows none",
                    "Use the default sandbox, or leave out `gpu`.");
    }
    UniqueFd helper = open_helper();
    Launch launch = wrap_kernel(bwrap, plan_kernel_mounts(profile, environment_), std::move(command), profile,
                                environment_, runtime_of(runsc, helper));
    launch.descriptors.push_back(std::move(helper));
    launch.layers.insert(launch.layers.begin(), "gvisor");
    return launch;
}

std::string describe_gvisor(const Environment& environment) {
    const std::string runsc = available_runsc(available_bwrap(environment), environment);
    const std::string said = run_program({runsc, "--version"}, {}).out;
    return fmt::format("{} {}", runsc, said.substr(0, said.find('\n')));
}

} // namespace cellgate::sandbox
