#include "launch/bwrap_start.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "filters/system_calls.hpp"
#include "launch/bwrap_mounts.hpp"
#include "launch/landlock.hpp"
#include "launch/relays.hpp"
#include "mounts/mount_check.hpp"

#include <fmt/format.h>

#include <mutex>
#include <sys/stat.h>

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

UniqueFd filter_of(Rights rights) {
    if (rights == Rights::of_runtime) {
        return runtime_system_call_filter();
    }
    return system_call_filter(rights == Rights::network ? Network::host : Network::none);
}

std::vector<std::string> layers_of(const Bwrap& bwrap, Rights rights) {
    std::vector<std::string> layers = bwrap.found.layers;
    layers.insert(layers.end(), {"private-home", "clean-environment"});
    if (rights == Rights::network) {
        std::erase(layers, "network-namespace");
    }
    if (rights == Rights::of_runtime) {
        std::erase(layers, "seccomp");
        std::erase(layers, "no-nested-namespaces");
    } else if (has_landlock()) {
        layers.emplace_back("landlock"); // by check_mounts()
    }
    return layers;
}

} // namespace

Bwrap available_bwrap(const Environment& environment) {
    std::string program = find_bwrap(bwrap_directories(environment));
    Probed found = probed(program);
    return Bwrap{std::move(program), std::move(found)};
}

Launch launch_in(const Bwrap& bwrap, const MountPlan& plan, async::Command command, const std::string& cwd,
                 const Environment& environment, Rights rights) {
    int first = first_free_descriptor(command);
    BwrapMounts mounts = bwrap_mounts(plan, first + 1);
    std::vector<std::string> options = isolation_arguments(rights);
    // Our helper is the first process itself: bwrap's own could be traced by a cell, and has no guard before its calls.
    // It ends with the supervisor, too: of what bwrap has for that (--die-with-parent), a child that it has just made
    // hears nothing.
    options.emplace_back("--as-pid-1");
    options.insert(options.end(), mounts.arguments.begin(), mounts.arguments.end());
    mounts.files.push_back(filter_of(rights));
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
    launch.layers = layers_of(bwrap, rights);
    return launch;
}

Launch wrap_kernel(const Bwrap& bwrap, KernelMounts mounts, async::Command command, const Profile& profile,
                   const Environment& own, const Runtime& runtime) {
    MountPlan& plan = mounts.plan;
    Links& links = mounts.links;
    if (!mounts.image) { // or it was found there (image.hpp)
        check_program(plan, command.argv.at(0), links);
    }
    const std::string cwd = working_directory(plan, command.cwd.empty() ? mounts.workspace : command.cwd, links);
    add_links(plan, links);
    const bool protected_names = bwrap.found.unguarded.empty();
    command.lifeline_fd = first_free_descriptor(command);
    ResourceLimits hold = runtime ? apply_limits_of_runtime(profile.limits) : apply_limits(profile.limits);
    Relays relays = relays_of(profile.allowed_hosts);
    Environment environment = clean_environment(own, mounts.home, std::move(command.environment));
    if (!profile.proxy.empty()) {
        add_proxy_variables(environment);
        if (!relays.ports.empty()) {
            environment.emplace(relayed_ports_variable, relays.ports);
        }
    }
    add_command_arguments({profile.proxy, relays.arguments, profile.kernel_sockets, hold.arguments()}, command.argv);
    Rights rights = Rights::none;
    if (runtime) {
        rights = Rights::of_runtime;
        command.argv = runtime(plan, RuntimeCommand{std::move(command.argv), cwd, std::move(environment)});
        environment = {{"PATH", system_path}};
        command.argv.insert(command.argv.begin(), "--");
    }
    check_mounts(plan, mounts.exchangeable, {*command.lifeline_fd, protected_names, !runtime}, command.argv);
    Launch launch = launch_in(bwrap, plan, std::move(command), runtime ? "/" : cwd, environment, rights);
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

} // namespace cellgate::sandbox
