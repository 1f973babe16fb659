#include "launch/bwrap_launcher.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "filters/system_calls.hpp"
#include "launch/bwrap_mounts.hpp"
#include "launch/bwrap_probe.hpp"
#include "launch/landlock.hpp"
#include "launch/launch_steps.hpp"
#include "launch/relays.hpp"
#include "mounts/kernel_mounts.hpp"
#include "mounts/mount_check.hpp"
#include "mounts/mount_plan.hpp"
#include "mounts/paths.hpp"
#include "mounts/system_mounts.hpp"
#include "protected/protected_paths.hpp"
#include "sandbox/build.hpp"
#include "sandbox/protected_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

// bwrap takes 9,000 arguments; before that, its time grows with the square of the mounts: these take about two seconds.
constexpr std::size_t max_arguments = 9'000;

// The variables by which programs find a proxy. It is an HTTP proxy to all of them, whatever they want to fetch: it
// speaks SOCKS5 too, but many programs would need a module for that.
void add_proxy_variables(Environment& environment) {
    const std::string proxy = fmt::format("http://127.0.0.1:{}", proxy_port);
    for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}) {
        environment.emplace(name, proxy);
    }
    for (const char* name : {"NO_PROXY", "no_proxy"}) {
        environment.emplace(name, "localhost,127.0.0.1,::1,[::1]"); // the sandbox's own
    }
    environment.emplace("NODE_USE_ENV_PROXY", "1"); // or Node reads none of these
}

// Remembered for all launchers: each session has one of its own, and to look takes longer than to start bwrap. Another
// program at the same path is looked at again. wrap() may run off the loop, for several sessions, hence the lock.
Probed probed(const std::string& bwrap) {
    static std::mutex mutex;
    static std::map<std::string, Probed> seen;
    struct stat file{};
    ::stat(bwrap.c_str(), &file);
    const std::string identity =
        fmt::format("{}:{}:{}:{}.{}", bwrap, file.st_dev, file.st_ino, file.st_ctim.tv_sec, file.st_ctim.tv_nsec);
    const std::lock_guard lock(mutex);
    auto found = seen.find(identity);
    if (found == seen.end()) {
        found = seen.emplace(identity, probe(bwrap)).first;
    }
    return found->second;
}

struct Bwrap {
    std::string program;
    Probed found;
};

Bwrap available_bwrap(const Environment& environment) {
    std::string program = find_bwrap(bwrap_directories(environment));
    Probed found = probed(program);
    return Bwrap{std::move(program), std::move(found)};
}

// bwrap's own command for a plan that is complete. `command.argv` is what the helper is to do inside (check_mounts()),
// `environment` all that it and what it starts get.
Launch launch_in(const Bwrap& bwrap, const MountPlan& plan, async::Command command, const std::string& cwd,
                 const Environment& environment, Network network) {
    int first = first_free_descriptor(command);
    BwrapMounts mounts = bwrap_mounts(plan, first + 1);
    std::vector<std::string> options = isolation_arguments(network);
    // Our helper is the first process itself: bwrap's own could be traced by a cell, and has no guard before its calls.
    // It ends with the supervisor, too: of what bwrap has for that (--die-with-parent), a child that it has just made
    // hears nothing.
    options.emplace_back("--as-pid-1");
    options.insert(options.end(), mounts.arguments.begin(), mounts.arguments.end());
    mounts.files.push_back(system_call_filter(network));
    options.insert(options.end(), {"--seccomp", std::to_string(first + static_cast<int>(mounts.files.size()))});
    // It has no name in there: a copy of it would take bwrap half a millisecond.
    mounts.files.push_back(open_helper());
    const std::string helper = std::to_string(first + static_cast<int>(mounts.files.size()));
    command.argv.insert(command.argv.begin(), {"/proc/self/fd/" + helper, "enter", helper});
    options.insert(options.end(), {"--chdir", cwd, "--clearenv"});
    for (const auto& [name, value] : environment) {
        options.insert(options.end(), {"--setenv", name, value});
    }
    constexpr std::size_t of_bwrap_itself = 4;
    if (const std::size_t count = options.size() + command.argv.size() + of_bwrap_itself; count > max_arguments) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("expected at most {} arguments for bubblewrap, found {}: the command has {}, and the "
                                "environment {} variables of 3 each",
                                max_arguments, count, command.argv.size(), environment.size()),
                    "Pass less in the session's environment; a file of the workspace holds as much as you like.");
    }
    std::string packed;
    for (const std::string& option : options) {
        packed += option;
        packed += '\0';
    }

    Launch launch;
    launch.descriptors.push_back(anonymous_file(packed));
    for (UniqueFd& file : mounts.files) {
        launch.descriptors.push_back(std::move(file));
    }
    for (std::size_t i = 0; i < launch.descriptors.size(); ++i) {
        command.descriptors[first + static_cast<int>(i)] = launch.descriptors[i].get();
    }
    std::vector<std::string> argv = {bwrap.program, "--args", std::to_string(first), "--"};
    argv.insert(argv.end(), command.argv.begin(), command.argv.end());
    command.argv = std::move(argv);
    command.environment = {{"PATH", system_path}};
    command.cwd = "/";
    launch.command = std::move(command);
    launch.layers = bwrap.found.layers;
    if (network == Network::host) {
        std::erase(launch.layers, "network-namespace");
    }
    launch.layers.insert(launch.layers.end(), {"private-home", "clean-environment"});
    if (has_landlock()) {
        launch.layers.emplace_back("landlock"); // by check_mounts()
    }
    return launch;
}

} // namespace

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
    KernelMounts mounts = plan_kernel_mounts(profile, environment_);
    MountPlan& plan = mounts.plan;
    Links& links = mounts.links;
    const std::string& workspace = mounts.workspace;
    check_program(plan, command.argv.at(0), links);

    const std::string cwd = working_directory(plan, command.cwd.empty() ? workspace : command.cwd, links);
    add_links(plan, links);
    const bool protected_names = bwrap.found.unguarded.empty();
    command.lifeline_fd = first_free_descriptor(command);
    ResourceLimits hold = apply_limits(profile.limits);
    Relays relays = relays_of(profile.allowed_hosts);
    check_mounts(
        plan, mounts.exchangeable,
        {*command.lifeline_fd, protected_names, profile.proxy, relays.arguments, profile.kernel_sockets, hold.of_each},
        command.argv);
    Environment environment = clean_environment(environment_, mounts.home, std::move(command.environment));
    if (!profile.proxy.empty()) {
        add_proxy_variables(environment);
        if (!relays.ports.empty()) {
            environment.emplace(relayed_ports_variable, relays.ports);
        }
    }
    Launch launch = launch_in(bwrap, plan, std::move(command), cwd, environment, Network::none);
    launch.notices = std::move(mounts.notices);
    launch.notices.insert(launch.notices.end(), relays.notices.begin(), relays.notices.end());
    launch.layers.emplace_back("protected-files");
    if (protected_names) {
        launch.layers.emplace_back("protected-names");
    }
    if (!profile.proxy.empty()) {
        launch.layers.emplace_back("network-proxy");
    }
    launch.mounts = std::make_shared<const KernelMounts>(std::move(mounts));
    add_hold(launch, std::move(hold));
    return launch;
}

Launch wrap_build(async::Command command, const BuildProfile& profile, const Environment& own) {
    const Bwrap bwrap = available_bwrap(own);
    Links links;
    const ProtectedPaths places = protected_paths(own, profile.hidden);
    Links not_shown;
    const std::string workspace = canonical_path(profile.workspace, "the workspace", not_shown);

    MountPlan plan;
    const std::string home = private_home(places);
    add_system(plan, home, std::nullopt);
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
    check_program(plan, command.argv.at(0), links);
    add_links(plan, links);
    command.lifeline_fd = first_free_descriptor(command);
    ResourceLimits hold = apply_limits(Limits{});
    check_mounts(plan, {workspace}, {.lifeline_fd = *command.lifeline_fd, .limits = hold.of_each}, command.argv);
    const Environment environment = clean_environment(own, home, std::move(command.environment));
    Launch launch = launch_in(bwrap, plan, std::move(command), home, environment, profile.network);
    add_hold(launch, std::move(hold));
    return launch;
}

} // namespace cellgate::sandbox
