#include "bwrap_launcher.hpp"

#include "base/error.hpp"
#include "bwrap_probe.hpp"
#include "mount_check.hpp"
#include "mount_plan.hpp"
#include "paths.hpp"
#include "sandbox/build.hpp"
#include "sandbox/guarded_files.hpp"
#include "system_calls.hpp"
#include "system_mounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <pwd.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

constexpr const char* system_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
// bwrap takes 9,000 arguments; before that, its time grows with the square of the mounts: these take about two seconds.
constexpr std::size_t most_arguments = 9'000;
constexpr std::size_t most_workspace_mounts = 500;
constexpr std::array passed_variables = {"LANG", "LANGUAGE", "TZ", "TERM"};

using Links = std::map<std::string, std::string>;

// A value with a NUL would be read by bwrap as further options.
void refuse_nul(std::string_view text, std::string_view what) {
    if (text.find('\0') != std::string_view::npos) {
        throw Error(ErrorCode::config_invalid, fmt::format("{} holds a NUL byte", what), "Remove it.");
    }
}

// The person's own home directories: HOME, and the one that the system knows, if HOME was changed.
std::vector<std::string> real_homes(const Environment& environment) {
    std::vector<std::string> homes;
    auto home = environment.find("HOME");
    if (home != environment.end()) {
        homes.push_back(home->second);
    }
    if (const passwd* entry = ::getpwuid(::geteuid())) {
        homes.emplace_back(entry->pw_dir);
    }
    std::erase_if(homes, [](std::string& path) {
        char* resolved = path.starts_with('/') ? ::realpath(path.c_str(), nullptr) : nullptr;
        path = resolved == nullptr ? "/" : resolved;
        ::free(resolved);
        return path == "/";
    });
    return homes;
}

// `what`: "the session's directory".
void check_private(const std::string& path, std::string_view what) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
        (status.st_mode & 077) != 0) {
        throw Error(ErrorCode::sandbox_unavailable,
                    fmt::format("{} '{}' must be a directory of this user with mode 0700", what, path),
                    "Remove it and try again.");
    }
}

// `shown` is about to appear in the sandbox: nothing private may be in it, nor it in something private.
void refuse_if_private(const std::string& shown, std::string_view what, const std::vector<std::string>& homes,
                       const std::vector<std::string>& hidden) {
    for (const std::string& home : homes) {
        if (is_within(home, shown)) {
            throw Error(
                ErrorCode::config_invalid,
                fmt::format("{} '{}' contains your home directory '{}', which a cell must not see", what, shown, home),
                "Open a folder below your home directory, one for each project.");
        }
    }
    for (const std::string& path : hidden) {
        if (is_within(path, shown) || is_within(shown, path)) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("{} '{}' would show cellgate's own files in '{}' to a cell", what, shown, path),
                        "Open another folder, or move cellgate's by XDG_STATE_HOME, XDG_CONFIG_HOME, XDG_DATA_HOME "
                        "and XDG_RUNTIME_DIR.");
        }
    }
}

void refuse_system_workspace(const std::string& workspace) {
    for (std::string_view path : {"/usr", "/etc", "/tmp", "/var", "/run", "/home", "/root", "/boot", "/opt"}) {
        if (is_within(path, workspace)) {
            throw Error(
                ErrorCode::config_invalid,
                fmt::format("'{}' cannot be a workspace: it is, or contains, the system's '{}'", workspace, path),
                "Open a folder that holds your project only.");
        }
    }
    for (std::string_view path : {"/proc", "/sys", "/dev"}) {
        if (is_within(workspace, path)) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("'{}' cannot be a workspace: '{}' is the machine's", workspace, path),
                        "Open a folder that holds your project only.");
        }
    }
}

// Where the person's own would be, so that ~/project in a cell is what it is outside; but not on top of what the
// sandbox shows of the system (the homes of service users).
std::string private_home(const std::vector<std::string>& homes) {
    bool usable = !homes.empty();
    for (std::string_view path : {"/usr", "/etc", "/proc", "/dev", "/sys"}) {
        usable = usable && !is_within(homes.front(), path);
    }
    return usable ? homes.front() : "/home/user";
}

Environment clean_environment(const Environment& own, const std::string& home, Environment added) {
    const char* user = ::getuid() == 0 ? "root" : "user";
    Environment result = {{"PATH", system_path}, {"HOME", home},       {"USER", user},
                          {"LOGNAME", user},     {"SHELL", "/bin/sh"}, {"LANG", "C.UTF-8"}};
    for (const auto& [name, value] : own) {
        if (name.starts_with("LC_") ||
            std::find(passed_variables.begin(), passed_variables.end(), name) != passed_variables.end()) {
            result[name] = value;
        }
    }
    for (auto& [name, value] : added) {
        if (name.empty() || name.find('=') != std::string::npos) {
            throw Error(ErrorCode::config_invalid, fmt::format("'{}' is not a name of an environment variable", name),
                        "Use a name that is not empty and has no '='.");
        }
        refuse_nul(name, "the name of an environment variable");
        refuse_nul(value, fmt::format("the environment variable {}", name));
        result[name] = std::move(value);
    }
    return result;
}

// The variables by which programs find a proxy. It is an HTTP proxy to all of them, whatever they want to fetch: it
// speaks SOCKS5 too, but many programs would need a module for that.
void add_proxy_variables(Environment& environment) {
    const std::string proxy = fmt::format("http://127.0.0.1:{}", proxy_port);
    for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}) {
        environment.emplace(name, proxy);
    }
    for (const char* name : {"NO_PROXY", "no_proxy"}) {
        environment.emplace(name, "localhost,127.0.0.1,::1"); // the sandbox's own
    }
    environment.emplace("NODE_USE_ENV_PROXY", "1"); // or Node reads none of these
}

void add_workspace(MountPlan& plan, const std::string& workspace) {
    plan.read_write(workspace);
    GuardedFiles guarded = find_guarded_files(workspace);
    for (const std::string& path : guarded.read_only) {
        plan.read_only(path);
    }
    std::string wrappers = workspace + "/mcptools";
    struct stat status = {};
    if (::lstat(wrappers.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
        plan.read_only(wrappers);
    }
    for (const std::string& path : guarded.secret_directories) {
        plan.unreadable_directory(path);
    }
    for (const std::string& path : guarded.secret_files) {
        plan.unreadable_file(path);
    }
}

// Once all is planned that lies in the workspace.
void settle_workspace(MountPlan& plan, const std::string& workspace) {
    plan.pin_folders(workspace);
    const std::vector<std::filesystem::path> places = plan.places_below(workspace);
    if (places.size() <= most_workspace_mounts) {
        return;
    }
    std::map<std::filesystem::path, std::size_t> folders;
    for (const std::filesystem::path& place : places) {
        ++folders[place.parent_path()];
    }
    const auto [folder, count] = *std::max_element(folders.begin(), folders.end(),
                                                   [](const auto& a, const auto& b) { return a.second < b.second; });
    throw Error(
        ErrorCode::sandbox_unavailable,
        fmt::format("expected at most {} files and folders to guard in the workspace {} (secrets, what programs "
                    "outside run or obey, and the folders above them), found {}; most of them, {}, lie in {}",
                    most_workspace_mounts, workspace, places.size(), count, folder.string()),
        fmt::format("Look at {}: a cell may have made them. Remove what is not needed, move it out of the "
                    "workspace, or open a folder further down.",
                    folder.string()));
}

// The program as it was named must lead to a file that can be seen in there.
void check_program(const MountPlan& plan, const std::string& program, Links& links) {
    if (program.empty() || program[0] != '/') {
        return;
    }
    std::string resolved = canonical_path(program, "the kernel's program", links);
    if (!plan.shows(resolved)) {
        throw Error(
            ErrorCode::config_invalid,
            fmt::format("the kernel's program '{}' is '{}', which cannot be seen in the sandbox", program, resolved),
            "Choose an interpreter of the system, of the workspace, or one whose prefix is known.");
    }
}

int first_free_descriptor(const async::Command& command) {
    return command.descriptors.empty() ? 3 : std::max(3, command.descriptors.rbegin()->first + 1);
}

// Remembered for all launchers: each session has one of its own, and to look takes longer than to start bwrap. Another
// program at the same path is looked at again. wrap() may run off the loop, for several sessions, hence the lock.
std::vector<std::string> layers_of(const std::string& bwrap) {
    static std::mutex mutex;
    static std::map<std::string, std::vector<std::string>> seen;
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
    std::vector<std::string> layers;
};

Bwrap available_bwrap(const Environment& environment) {
    std::string program = find_bwrap(bwrap_directories(environment));
    std::vector<std::string> layers = layers_of(program);
    return Bwrap{std::move(program), std::move(layers)};
}

std::vector<std::string> real_paths(const std::vector<std::string>& paths) {
    std::vector<std::string> real;
    for (const std::string& path : paths) {
        // One that is not there yet may be made while the kernel runs.
        real.push_back(std::filesystem::weakly_canonical(path).string());
    }
    return real;
}

void add_links(MountPlan& plan, const Links& links) {
    for (const auto& [place, target] : links) {
        if (!plan.shows(place)) {
            plan.symlink(target, place);
        }
    }
}

// bwrap's own command for a plan that is complete. `command.argv` is what runs inside, `environment` all that it gets.
Launch launch_in(const Bwrap& bwrap, const MountPlan& plan, async::Command command, const std::string& cwd,
                 const Environment& environment, Network network) {
    int first = first_free_descriptor(command);
    MountPlan::Arguments mounts = plan.arguments(first + 1);
    std::vector<std::string> options = isolation_arguments(network);
    options.insert(options.end(), mounts.arguments.begin(), mounts.arguments.end());
    mounts.files.push_back(system_call_filter(network));
    options.insert(options.end(), {"--seccomp", std::to_string(first + static_cast<int>(mounts.files.size()))});
    options.insert(options.end(), {"--chdir", cwd, "--clearenv"});
    for (const auto& [name, value] : environment) {
        options.insert(options.end(), {"--setenv", name, value});
    }
    constexpr std::size_t of_bwrap_itself = 4;
    if (const std::size_t count = options.size() + command.argv.size() + of_bwrap_itself; count > most_arguments) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("expected at most {} arguments for bubblewrap, found {}: the command has {}, and the "
                                "environment {} variables of 3 each",
                                most_arguments, count, command.argv.size(), environment.size()),
                    "Pass less in the session's environment; a file of the workspace holds as much as you like.");
    }
    std::string packed;
    for (const std::string& option : options) {
        packed += option;
        packed += '\0';
    }

    Launch launch;
    launch.descriptors.push_back(anonymous_file(packed));
    for (Descriptor& file : mounts.files) {
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
    launch.layers = bwrap.layers;
    if (network == Network::host) {
        std::erase(launch.layers, "network-namespace");
    }
    launch.layers.insert(launch.layers.end(), {"private-home", "clean-environment"});
    return launch;
}

// The last step: a group that is made for nothing has to be removed again.
void limit(Launch& launch, const Limits& limits) {
    std::string problem;
    launch.group = ControlGroup::make(find_group_places(), group_limits(limits), problem);
    require_enforceable(limits, launch.group.get(), problem);
    if (launch.group) {
        launch.command.groups = launch.group->folders();
        const std::vector<std::string> layers = launch.group->layers();
        launch.layers.insert(launch.layers.end(), layers.begin(), layers.end());
    }
    const std::vector<std::string> layers = limit_layers(limits);
    launch.layers.insert(launch.layers.end(), layers.begin(), layers.end());
}

} // namespace

void BwrapLauncher::check() {
    available_bwrap(environment_);
}

Launch BwrapLauncher::wrap(async::Command command, const Profile& profile) {
    const Bwrap bwrap = available_bwrap(environment_);
    Links links;
    const std::vector<std::string> homes = real_homes(environment_);
    const std::vector<std::string> hidden = real_paths(profile.hidden);
    std::string workspace = canonical_path(profile.workspace, "the workspace", links);
    std::string session_dir = canonical_path(profile.session_dir, "the session's directory", links);
    refuse_system_workspace(workspace);
    refuse_if_private(workspace, "the workspace", homes, hidden);
    check_private(session_dir, "the session's directory");
    if (is_within(session_dir, workspace) || is_within(workspace, session_dir)) {
        throw Error(
            ErrorCode::config_invalid,
            fmt::format("the session's directory '{}' and the workspace '{}' must lie apart", session_dir, workspace),
            "Set XDG_RUNTIME_DIR to a directory outside the workspace.");
    }

    MountPlan plan;
    std::string home = private_home(homes);
    add_system(plan, home, profile.limits.disk_bytes);
    add_workspace(plan, workspace);
    for (const std::string& given : profile.read_only) {
        std::string path = canonical_path(given, "a read-only path of the sandbox", links);
        refuse_if_private(path, "the read-only path", homes, hidden);
        if (path == workspace) {
            throw Error(
                ErrorCode::config_invalid,
                fmt::format("the workspace '{}' is itself the interpreter's prefix, so it could not be written", path),
                "Make the environment in a folder of its own, such as '.venv'.");
        }
        if (!plan.shows(path) || is_within(path, workspace)) {
            plan.read_only(path);
        }
    }
    settle_workspace(plan, workspace);
    if (!profile.packages.empty()) {
        plan.read_only(canonical_path(profile.packages, "the folder of installed packages", links));
    }
    plan.read_write(session_dir);
    check_program(plan, command.argv.at(0), links);

    std::string cwd = canonical_path(command.cwd.empty() ? workspace : command.cwd, "the working directory", links);
    if (!plan.shows(cwd)) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("the working directory '{}' cannot be seen in the sandbox", cwd),
                    "Choose one in the workspace.");
    }
    add_links(plan, links);
    check_mounts(plan, workspace, profile.limits, profile.proxy, command.argv);
    Environment environment = clean_environment(environment_, home, std::move(command.environment));
    if (!profile.proxy.empty()) {
        add_proxy_variables(environment);
    }
    Launch launch = launch_in(bwrap, plan, std::move(command), cwd, environment, Network::none);
    launch.layers.emplace_back("guarded-files");
    if (!profile.proxy.empty()) {
        launch.layers.emplace_back("network-proxy");
    }
    limit(launch, profile.limits);
    return launch;
}

Launch wrap_build(async::Command command, const BuildProfile& profile, const Environment& own) {
    const Bwrap bwrap = available_bwrap(own);
    Links links;
    const std::vector<std::string> homes = real_homes(own);
    const std::vector<std::string> hidden = real_paths(profile.hidden);
    Links not_shown;
    const std::string workspace = canonical_path(profile.workspace, "the workspace", not_shown);

    MountPlan plan;
    const std::string home = private_home(homes);
    add_system(plan, home, std::nullopt);
    if (profile.network == Network::host) {
        add_names_of_the_network(plan);
    }
    for (const std::string& given : profile.read_only) {
        const std::string path = canonical_path(given, "a read-only path of the build sandbox", links);
        refuse_if_private(path, "the read-only path", homes, hidden);
        if (is_within(workspace, path)) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("'{}' would show the workspace '{}' to a build", path, workspace),
                        "Make the environment in a folder of its own, such as '.venv'.");
        }
        if (!plan.shows(path)) {
            plan.read_only(path);
        }
    }
    if (!profile.directory.empty()) {
        const std::string directory = canonical_path(profile.directory, "the build's directory", not_shown);
        check_private(directory, "the build's directory");
        plan.read_write(directory, build_place);
    }
    check_program(plan, command.argv.at(0), links);
    add_links(plan, links);
    check_mounts(plan, workspace, Limits{}, {}, command.argv);
    const Environment environment = clean_environment(own, home, std::move(command.environment));
    Launch launch = launch_in(bwrap, plan, std::move(command), home, environment, profile.network);
    limit(launch, Limits{});
    return launch;
}

async::ExitStatus BwrapLauncher::exit_of(async::ExitStatus outer) const {
    constexpr int signals = 128;
    if (outer.signal == 0 && outer.code > signals && outer.code <= signals + 64) {
        return async::ExitStatus{.code = 0, .signal = outer.code - signals};
    }
    return outer;
}

} // namespace cellgate::sandbox
