#include "enter.hpp"

#include "bridge.hpp"
#include "command_start.hpp"
#include "init.hpp"
#include "kernel_bridge.hpp"
#include "landlock.hpp"
#include "process_facts.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace cellgate::helper {

namespace {

constexpr const char* places_file = "/.cellgate/places";
constexpr const char* writable_file = "/.cellgate/writable";
constexpr const char* names_file = "/.cellgate/protected-names";
constexpr const char* filter_file = "/.cellgate/guard-filter";
constexpr int usage_error = 2;

// Whether each place holds what it should. A list that does not end as it should is none.
bool places_hold(const std::string& places) {
    std::size_t at = 0;
    const auto next = [&]() -> const char* {
        const std::size_t end = places.find('\0', at);
        const char* text = end == std::string::npos ? nullptr : places.c_str() + at;
        at = end == std::string::npos ? places.size() : end + 1;
        return text;
    };
    while (at < places.size()) {
        const char* place = next();
        const char* meant = next();
        struct stat status{};
        if (place == nullptr || meant == nullptr || ::lstat(place, &status) != 0 ||
            std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) != meant) {
            return false;
        }
    }
    return true;
}

void restrict_writing() {
    const std::string problem = restrict_by_landlock(must_read(writable_file));
    if (!problem.empty()) {
        std::fprintf(stderr, "cellgate: cannot restrict the sandbox by Landlock: %s\n", problem.c_str());
        ::_exit(cannot_prepare);
    }
}

// Before the filter: the bridge connects outside, and no process, the guard included, may look into it.
void start_bridges(const char* proxy, const std::vector<const char*>& relays, const char* kernel) {
    if (proxy != nullptr && !start_bridge(proxy, relays)) {
        die("listen for the network inside of the sandbox");
    }
    if (kernel != nullptr && !start_kernel_bridge(kernel)) {
        die("listen for the kernel's channels");
    }
}

} // namespace

int enter_main(int argc, char** argv) {
    int next = 2;
    const auto take = [&](std::string_view prefix) -> const char* {
        const bool there = next < argc && std::string_view(argv[next]).starts_with(prefix);
        return there ? argv[next++] + prefix.size() : nullptr;
    };
    const char* lifeline_number = take("lifeline=");
    UniqueFd lifeline(lifeline_number == nullptr ? -1 : std::atoi(lifeline_number));
    ::fcntl(lifeline.get(), F_SETFD, FD_CLOEXEC);
    const bool check_places = take("places") != nullptr;
    const bool guarded = take("guard") != nullptr;
    const bool with_landlock = take("landlock") != nullptr;
    const char* bridge = take("bridge=");
    std::vector<const char*> relays;
    while (const char* relay = take("relay=")) {
        relays.push_back(relay);
    }
    const char* kernel_bridge = take("kernel=");
    const std::vector<Limit> limits = take_limits(argc, argv, next);
    if (next + 1 >= argc || std::string_view(argv[next]) != "--") {
        std::fputs("usage: cellgate enter HELPER [lifeline=FD] [places] [guard] [landlock] [bridge=PORT:SOCKET "
                   "[relay=FAMILY:PORT:HOST]…] [kernel=PORT:SOCKETS] [LIMIT=VALUE…] -- COMMAND…\n",
                   stderr);
        return usage_error;
    }
    ::close(std::atoi(argv[1]));
    if (check_places && !places_hold(must_read(places_file))) {
        std::fputs("cellgate: files of the workspace were exchanged while the sandbox was set up; start the session "
                   "again\n",
                   stderr);
        return cannot_prepare;
    }
    ::prctl(PR_SET_DUMPABLE, 0); // before anything runs that could want to look into this process
    const std::string filter = guarded ? must_read(filter_file) : "";
    std::optional<AccessPolicy> policy;
    if (guarded) {
        policy.emplace(ProtectedNames(must_read(names_file)));
    }
    // The guard makes files for the command, so it may no more than that.
    if (with_landlock) {
        restrict_writing();
    }
    Init init;
    if (!init.fork_command(guarded)) {
        init.live(std::move(policy), cpu_seconds(limits), std::move(lifeline));
    }
    // Once more: from a domain within the guard's, the guard can be neither traced nor signalled.
    if (with_landlock) {
        restrict_writing();
    }
    start_bridges(bridge, relays, kernel_bridge);
    if (guarded && !init.guard_calls(filter)) {
        die("guard names of files");
    }
    exec_command(limits, argv + next + 1);
}

int can_guard_main() {
    std::string why = why_not_to_answer();
    const std::optional<std::string> filter = read_file(filter_file);
    if (why.empty() && (!filter || install_filter(*filter).get() < 0)) {
        why = std::strerror(errno);
    }
    std::printf("protected-names: %s\n", why.empty() ? "yes" : why.c_str());
    return 0;
}

} // namespace cellgate::helper
