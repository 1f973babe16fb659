#include "confine.hpp"

#include "capabilities.hpp"
#include "command_start.hpp"
#include "file_rules.hpp"
#include "guard.hpp"
#include "init.hpp"
#include "landlock.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cellgate::helper {

namespace {

constexpr int usage_error = 2;
constexpr const char* terminals = "/dev/pts";

// Reads a descriptor that was handed over, and closes it: nothing uses it later.
std::string take_file(const char* number) {
    const std::string path = std::string("/proc/self/fd/") + number;
    std::string text = must_read(path.c_str());
    ::close(std::atoi(number));
    return text;
}

[[noreturn]] void give_up_for(const std::string& problem) {
    std::fprintf(stderr, "cellgate: cannot set up the sandbox: %s\n", problem.c_str());
    ::_exit(cannot_prepare);
}

// For the guard, what the command may have done for it.
std::vector<LandlockGrant> grants_of_guard(const FileRules& rules) {
    std::vector<LandlockGrant> grants = {
        {"/proc", LandlockRight::read}, {terminals, LandlockRight::read}, {terminals, LandlockRight::use_device}};
    for (const auto& [path, right] : rules.all()) {
        if (right == FileRules::Right::nothing) {
            continue;
        }
        grants.push_back({path, LandlockRight::read});
        if (right == FileRules::Right::device) {
            grants.push_back({path, LandlockRight::use_device});
        } else if (right != FileRules::Right::read) {
            grants.push_back({path, LandlockRight::write});
        }
    }
    return grants;
}

// What the command does without asking: it executes, and opens the other end of a terminal that it made.
std::vector<LandlockGrant> grants_of_command(const FileRules& rules) {
    std::vector<LandlockGrant> grants;
    for (const auto& [path, right] : rules.all()) {
        if (path == terminals) {
            grants.push_back({path, LandlockRight::use_device});
        }
        if (path == terminals || (right != FileRules::Right::nothing && right != FileRules::Right::device)) {
            grants.push_back({path, LandlockRight::read});
        }
    }
    return grants;
}

void require_restricted(const std::vector<LandlockGrant>& grants) {
    const std::string problem = restrict_by_landlock_alone(grants);
    if (!problem.empty()) {
        give_up_for("Landlock: " + problem);
    }
}

void require_filtered(const std::string& filter) {
    if (!filter_calls(filter)) {
        die("filter system calls");
    }
}

FileRules must_parse(const std::string& text) {
    try {
        return FileRules(text);
    } catch (const std::invalid_argument& error) {
        give_up_for(error.what());
    }
}

} // namespace

int confine_main(int argc, char** argv) {
    constexpr int files = 5;
    int next = 1 + files;
    const std::vector<Limit> limits = take_limits(argc, argv, next);
    if (next + 1 >= argc || std::string_view(argv[next]) != "--") {
        std::fputs("usage: cellgate confine HELPER FILTER GUARD_FILTER RULES NAMES [LIMIT=VALUE…] -- COMMAND…\n",
                   stderr);
        return usage_error;
    }
    ::close(std::atoi(argv[1]));
    const std::string filter = take_file(argv[2]);
    const std::string guard_filter = take_file(argv[3]);
    FileRules rules = must_parse(take_file(argv[4]));
    ProtectedNames names(take_file(argv[5]));
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !drop_capabilities()) {
        die("give up privileges");
    }
    ::prctl(PR_SET_DUMPABLE, 0);
    // What the command leaves behind stays below this process, and ends with it.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    require_filtered(filter);
    const std::vector<LandlockGrant> of_command = grants_of_command(rules);
    require_restricted(grants_of_guard(rules));
    Init init;
    if (!init.fork_command(true)) {
        init.live(AccessPolicy(std::move(names), std::move(rules)), cpu_seconds(limits), UniqueFd());
    }
    // Without the guard nothing that it is asked about is done; what else runs is the supervisor's to end.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    require_restricted(of_command);
    if (!init.guard_calls(guard_filter)) {
        die("guard files");
    }
    exec_command(limits, argv + next + 1);
}

int can_confine_main() {
    const auto is_refused = [](int result, int error) { return result < 0 && errno == error; };
    const char* problem = nullptr;
    if (!is_refused(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), EACCES)) {
        problem = "files are not judged";
    } else if (::open("/proc/self/status", O_RDONLY | O_CLOEXEC) < 0) {
        problem = "files are not opened for a command";
    } else if (!is_refused(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), EOPNOTSUPP)) {
        problem = "sockets are not refused";
    } else if (!is_refused(::kill(::getppid(), 0), EPERM)) {
        problem = "processes outside can be signalled";
    } else if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) {
        problem = "new privileges can be gained";
    }
    std::printf("confined: %s\n", problem == nullptr ? "yes" : problem);
    return problem == nullptr ? 0 : 1;
}

} // namespace cellgate::helper
