#include "launch/bwrap_launcher.hpp"

#include "base/error.hpp"
#include "launch/bwrap_start.hpp"
#include "mounts/image_mounts.hpp"
#include "mounts/kernel_mounts.hpp"
#include "mounts/mount_check.hpp"
#include "mounts/mount_plan.hpp"
#include "mounts/paths.hpp"
#include "mounts/system_mounts.hpp"
#include "protected/protected_paths.hpp"
#include "sandbox/build.hpp"

#include <fmt/format.h>

namespace cellgate::sandbox {

constexpr IsolationTraits BwrapLauncher::traits = {
    .name = "bwrap", .isolates = true, .mounts = true, .own_network = true, .installs = true, .agents = true};

void BwrapLauncher::check() {
    available_bwrap(environment_);
}

void BwrapLauncher::check_limits(const Limits& limits) const {
    apply_limits(limits); // to a group that nothing runs in
}

Launch BwrapLauncher::wrap(async::Command command, const Profile& profile) {
    const Bwrap bwrap = available_bwrap(environment_);
    return wrap_kernel(bwrap, plan_kernel_mounts(profile, environment_), std::move(command), profile, environment_);
}

Launch wrap_build(async::Command command, const BuildProfile& profile, const Environment& own) {
    const Bwrap bwrap = available_bwrap(own);
    Links links;
    const ProtectedPaths places = protected_paths(own, profile.hidden);
    Links not_shown;
    const std::string workspace = canonical_path(profile.workspace, "the workspace", not_shown);

    MountPlan plan;
    const std::string home = private_home(places);
    const auto add_own_system = profile.image ? add_system_of_image : add_system;
    add_own_system(plan, home, std::nullopt);
    add_home(plan, home, std::nullopt);
    if (profile.network == Network::host) {
        add_names_of_the_network(plan);
    }
    for (const std::string& given : profile.read_only) {
        const std::string path = canonical_path(given, "a read-only path of the build sandbox", links);
        refuse_if_private(path, "the read-only path", places);
        if (is_within(workspace, path)) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("'{}' would show the workspace '{}' to a build", path, workspace),
                        "Make the environment in a folder of its own, such as '.venv'.");
        }
        if (!plan.shows(path)) {
            plan.read_only(path);
        }
    }
    if (profile.shows_workspace) {
        refuse_if_private(workspace, "the workspace", places);
        plan.read_only(workspace);
    }
    if (!profile.packages.empty()) {
        show_packages(plan, profile.packages, false, links);
    }
    if (!profile.node_modules.empty()) {
        show_packages(plan, profile.node_modules, true, links);
    }
    if (!profile.directory.empty()) {
        const std::string directory = canonical_path(profile.directory, "the build's directory", not_shown);
        check_private(directory, "the build's directory");
        plan.put({.place = build_place, .source = directory, .writable = true});
    }
    if (profile.image) {
        add_image(plan, *profile.image);
    } else {
        check_program(plan, command.argv.at(0), links);
    }
    add_links(plan, links);
    command.lifeline_fd = first_free_descriptor(command);
    ResourceLimits hold = apply_limits(Limits{});
    add_command_arguments({.limits = hold.arguments()}, command.argv);
    check_mounts(plan, {workspace}, {.lifeline_fd = *command.lifeline_fd}, command.argv);
    const Environment environment = clean_environment(own, home, std::move(command.environment));
    Launch launch = launch_in(bwrap, plan, std::move(command), home, environment,
                              profile.network == Network::host ? Rights::network : Rights::none);
    add_hold(launch, std::move(hold));
    return launch;
}

} // namespace cellgate::sandbox
