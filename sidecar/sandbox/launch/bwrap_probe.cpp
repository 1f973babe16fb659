#include "launch/bwrap_probe.hpp"

#include "base/error.hpp"
#include "filters/system_calls.hpp"
#include "launch/bwrap_mounts.hpp"
#include "launch/launch_steps.hpp"
#include "launch/run_program.hpp"
#include "mounts/mount_plan.hpp"
#include "mounts/system_mounts.hpp"
#include "protected/create_guard.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <linux/seccomp.h>
#include <sstream>
#include <sys/prctl.h>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

constexpr const char* own_choice =
    "Yours alone to choose: the weaker sandbox that needs no user namespaces "
    "(`--sandbox landlock`, or `sandbox: {launcher: landlock}` for a session; `cellgate "
    "doctor` says what it lacks), or none, with all your rights (`--no-sandbox`, `sandbox: "
    "false`).";

std::string first_word_of_file(const char* path) {
    std::ifstream file(path);
    std::string word;
    file >> word;
    return word;
}

std::string one_line(const std::string& text) {
    std::string line = text.substr(0, text.find_last_not_of("\n ") + 1);
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
}

Error unavailable(std::string message, const std::string& hint) {
    return Error(ErrorCode::sandbox_unavailable, std::move(message), hint + " " + own_choice);
}

struct Layer {
    const char* name;
    const char* link; // in /proc/self/ns
};
constexpr std::array namespaces = {Layer{"user-namespace", "user"},   Layer{"mount-namespace", "mnt"},
                                   Layer{"network-namespace", "net"}, Layer{"pid-namespace", "pid"},
                                   Layer{"ipc-namespace", "ipc"},     Layer{"uts-namespace", "uts"}};

} // namespace

std::vector<std::string> isolation_arguments(Rights rights) {
    // --unshare-all would go on without a user namespace where it has other rights; this does not.
    std::vector<std::string> arguments = {"--unshare-user",       "--unshare-ipc", "--unshare-pid", "--unshare-uts",
                                          "--unshare-cgroup-try", "--new-session", "--hostname",    "cellgate"};
    if (rights == Rights::of_runtime) {
        arguments.insert(arguments.end(), {"--cap-add", "ALL", "--uid", "0", "--gid", "0"});
    } else {
        arguments.insert(arguments.end(), {"--disable-userns", "--cap-drop", "ALL"});
    }
    if (rights != Rights::network) {
        arguments.emplace_back("--unshare-net");
    }
    return arguments;
}

std::vector<std::string> bwrap_directories(const Environment& environment) {
    std::vector<std::string> directories = {"/usr/bin", "/usr/local/bin", "/bin"};
    const std::vector<std::string> searched = search_path(environment);
    directories.insert(directories.end(), searched.begin(), searched.end());
    return directories;
}

std::string find_bwrap(const std::vector<std::string>& directories) {
    for (const std::string& directory : directories) {
        std::string candidate = directory + "/bwrap";
        if (is_program(candidate)) {
            return candidate;
        }
    }
    throw unavailable(
        fmt::format("the sandbox needs bubblewrap, and there is no `bwrap` in {}", fmt::join(directories, ", ")),
        "Install it: `apt install bubblewrap` (Debian, Ubuntu), `dnf install bubblewrap` (Fedora), "
        "`pacman -S bubblewrap` (Arch).");
}

std::string version_of(const std::string& bwrap) {
    std::string said = one_line(run_program({bwrap, "--version"}, {}).out);
    return said.starts_with("bubblewrap ") ? said.substr(said.find(' ') + 1) : said;
}

namespace {

// Runs a shell in the isolation of every sandbox, which prints what the layers can be read from.
RunOutput look_inside(const std::string& bwrap) {
    MountPlan plan;
    add_system(plan, "/home/user", std::nullopt);
    add_guard_filter(plan);
    BwrapMounts mounts = bwrap_mounts(plan, 3);
    std::vector<std::string> argv = {bwrap};
    std::vector<std::string> isolation = isolation_arguments(Rights::none);
    argv.insert(argv.end(), isolation.begin(), isolation.end());
    argv.insert(argv.end(), mounts.arguments.begin(), mounts.arguments.end());
    std::string look =
        fmt::format("/proc/self/fd/{} can-guard; cat /proc/self/status && exec readlink", 3 + mounts.files.size());
    mounts.files.push_back(open_helper());
    for (const Layer& layer : namespaces) {
        look += fmt::format(" /proc/self/ns/{}", layer.link);
    }
    argv.insert(argv.end(), {"--seccomp", std::to_string(3 + mounts.files.size())});
    mounts.files.push_back(system_call_filter(Network::none));
    argv.insert(argv.end(), {"--setenv", "PATH", "/usr/bin:/bin", "--", "/bin/sh", "-c", look});
    return run_program(std::move(argv), mounts.files);
}

struct InsideFacts {
    bool no_capabilities = false;
    bool no_new_privileges = false;
    bool filtered = false;
    std::vector<std::string> namespaces; // "net:[4026531840]"
    std::string unguarded = "it cannot be tried";
};

InsideFacts parse_inside(const std::string& text) {
    InsideFacts facts;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (constexpr std::string_view answer = "protected-names: "; line.starts_with(answer)) {
            facts.unguarded = line == "protected-names: yes" ? "" : line.substr(answer.size());
        }
        facts.no_capabilities |= line == "CapBnd:\t0000000000000000";
        facts.no_new_privileges |= line == "NoNewPrivs:\t1";
        facts.filtered |= line == "Seccomp:\t2";
        if (line.ends_with(']') && line.find(":[") != std::string::npos) {
            facts.namespaces.push_back(line);
        }
    }
    return facts;
}

} // namespace

Probed probe(const std::string& bwrap) {
    const RunOutput output = look_inside(bwrap);
    if (!output.success) {
        throw explain_refusal(bwrap, one_line(output.error), read_host_facts());
    }
    InsideFacts inside = parse_inside(output.out);
    std::vector<std::string> layers = {"bwrap"};
    auto require = [&](bool holds, const char* layer) {
        if (!holds) {
            throw unavailable(
                fmt::format("bubblewrap ran ({}), but inside it the layer '{}' does not hold", bwrap, layer),
                "Use bubblewrap as your distribution packages it.");
        }
        layers.emplace_back(layer);
    };
    for (std::size_t i = 0; i < namespaces.size(); ++i) {
        std::error_code error;
        std::string ours = fs::read_symlink(std::string("/proc/self/ns/") + namespaces[i].link, error).string();
        require(!error && inside.namespaces.size() == namespaces.size() && inside.namespaces[i] != ours,
                namespaces[i].name);
    }
    require(inside.no_capabilities, "capabilities");
    require(inside.no_new_privileges, "no-new-privileges");
    require(inside.filtered, "seccomp");
    layers.emplace_back("no-nested-namespaces"); // bwrap fails when it cannot set this up
    return {std::move(layers), std::move(inside.unguarded)};
}

bool guards_names(const Environment& environment) {
    try {
        return probe(find_bwrap(bwrap_directories(environment))).unguarded.empty();
    } catch (const Error&) {
        return false; // nothing starts here, and each attempt fails with the reason
    }
}

HostFacts read_host_facts() {
    HostFacts facts;
    facts.root = ::geteuid() == 0;
    facts.apparmor_restricts = first_word_of_file("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1";
    facts.clone_forbidden = first_word_of_file("/proc/sys/kernel/unprivileged_userns_clone") == "0";
    facts.no_namespaces_allowed = first_word_of_file("/proc/sys/user/max_user_namespaces") == "0";
    facts.in_container = fs::exists("/.dockerenv") || fs::exists("/run/.containerenv");
    facts.filtered = ::prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER;
    return facts;
}

Error explain_refusal(const std::string& bwrap, const std::string& said, const HostFacts& facts) {
    auto error = [&](std::string_view cause, const std::string& hint) {
        return unavailable(
            fmt::format("{}: tried `{}` with user, mount, network, pid, ipc and uts namespaces; it said: {}", cause,
                        bwrap, said.empty() ? "nothing" : said),
            hint);
    };
    if (said.find("nknown option") != std::string::npos) {
        return error("this bubblewrap is too old for the sandbox", "Install bubblewrap 0.8.0 or newer.");
    }
    if (facts.no_namespaces_allowed) {
        return error("this machine allows no user namespaces (user.max_user_namespaces is 0)",
                     "Allow them: `sudo sysctl -w user.max_user_namespaces=15000`, and the same line without `-w` in "
                     "/etc/sysctl.d/ to keep it.");
    }
    if (facts.clone_forbidden && !facts.root) {
        return error("this machine allows user namespaces to root only (kernel.unprivileged_userns_clone is 0)",
                     "Allow them: `sudo sysctl -w kernel.unprivileged_userns_clone=1`, and the same setting in "
                     "/etc/sysctl.d/ to keep it.");
    }
    if (facts.apparmor_restricts && !facts.root) {
        return error(
            "AppArmor refuses user namespaces to programs without a profile "
            "(kernel.apparmor_restrict_unprivileged_userns is 1)",
            fmt::format("Give bubblewrap one: put `abi <abi/4.0>, include <tunables/global> profile bwrap {} "
                        "flags=(unconfined) {{ userns, }}` into /etc/apparmor.d/bwrap and run `sudo apparmor_parser -r "
                        "/etc/apparmor.d/bwrap`. Or lift the restriction for all programs: `sudo sysctl -w "
                        "kernel.apparmor_restrict_unprivileged_userns=0`.",
                        bwrap));
    }
    if (facts.in_container) {
        return error("the container around us refuses what a sandbox needs",
                     "Start the container with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined "
                     "--security-opt systempaths=unconfined` (docker) or `--security-opt unmask=ALL` (podman), or run "
                     "cellgate outside it.");
    }
    if (facts.filtered) {
        return error(
            "a filter of system calls around us (seccomp), such as a container's or a service's, may refuse what "
            "a sandbox needs",
            "Let it allow user namespaces, mounts and pivot_root: start a container with `seccomp=unconfined`, a "
            "systemd service without `RestrictNamespaces=` and `SystemCallFilter=`. Or run cellgate outside it.");
    }
    return error("the sandbox cannot be set up here",
                 "If we already run in a sandbox, container or CI job, that is what refuses: allow it user namespaces "
                 "and a fresh /proc. Else check `bwrap --unshare-all --ro-bind / / true`.");
}

} // namespace cellgate::sandbox
