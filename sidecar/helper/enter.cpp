#include "enter.hpp"

#include "bridge.hpp"
#include "init.hpp"
#include "landlock.hpp"
#include "process_facts.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cellgate::helper {

namespace {

constexpr const char* places_file = "/.cellgate/places";
constexpr const char* writable_file = "/.cellgate/writable";
constexpr const char* names_file = "/.cellgate/guarded-names";
constexpr const char* filter_file = "/.cellgate/guard-filter";
constexpr int usage_error = 2;
constexpr int cannot_execute = 126;
constexpr int not_found = 127;

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

struct Limit {
    const char* text; // "memory=1073741824"
    decltype(RLIMIT_CORE) resource = RLIMIT_CORE;
    rlimit value{};
};

std::optional<Limit> parse_limit(const char* argument) {
    const std::string_view text = argument;
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const std::string_view digits = equals == std::string_view::npos ? "" : text.substr(equals + 1);
    Limit limit{.text = argument};
    rlim_t& value = limit.value.rlim_cur;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status != std::errc() || end != digits.data() + digits.size()) {
        return std::nullopt;
    }
    constexpr rlim_t last_seconds = 2; // after SIGXCPU, until SIGKILL
    limit.value.rlim_max = name == "cpu" ? value + last_seconds : value;
    constexpr std::pair<std::string_view, decltype(RLIMIT_CORE)> resources[] = {{"memory", RLIMIT_DATA},
                                                                                {"processes", RLIMIT_NPROC},
                                                                                {"open-files", RLIMIT_NOFILE},
                                                                                {"file-size", RLIMIT_FSIZE},
                                                                                {"cpu", RLIMIT_CPU}};
    for (const auto& [known, resource] : resources) {
        if (name == known) {
            limit.resource = resource;
            return limit;
        }
    }
    return std::nullopt;
}

std::optional<rlim_t> cpu_seconds(const std::vector<Limit>& limits) {
    for (const Limit& limit : limits) {
        if (limit.resource == RLIMIT_CPU) {
            return limit.value.rlim_cur;
        }
    }
    return std::nullopt;
}

// Says why, and ends.
[[noreturn]] void give_up(const char* what, const char* of = "") {
    std::fprintf(stderr, "cellgate: cannot %s%s: %s\n", what, of, std::strerror(errno));
    ::_exit(cannot_prepare);
}

std::string must_read(const char* file) {
    std::optional<std::string> text = read_file(file);
    if (!text) {
        give_up("read ", file);
    }
    return std::move(*text);
}

void restrict_writing() {
    const std::string problem = restrict_by_landlock(must_read(writable_file));
    if (!problem.empty()) {
        std::fprintf(stderr, "cellgate: cannot restrict the sandbox by Landlock: %s\n", problem.c_str());
        ::_exit(cannot_prepare);
    }
}

// In the command's process, once it is guarded.
[[noreturn]] void become_command(const char* bridge, const std::vector<Limit>& limits, char** command) {
    if (bridge != nullptr && !start_bridge(bridge)) {
        give_up("listen for the network inside of the sandbox");
    }
    for (const Limit& limit : limits) {
        if (::setrlimit(limit.resource, &limit.value) != 0) {
            give_up("limit ", limit.text);
        }
    }
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::execvp(command[0], command);
    const int error = errno;
    std::fprintf(stderr, "cellgate: cannot start %s: %s\n", command[0], std::strerror(error));
    ::_exit(error == ENOENT ? not_found : cannot_execute);
}

} // namespace

int enter_main(int argc, char** argv) {
    int next = 1;
    const auto take = [&](std::string_view prefix) -> const char* {
        const bool there = next < argc && std::string_view(argv[next]).starts_with(prefix);
        return there ? argv[next++] + prefix.size() : nullptr;
    };
    const bool guarded = take("guard") != nullptr;
    const bool with_landlock = take("landlock") != nullptr;
    const char* bridge = take("bridge=");
    std::vector<Limit> limits;
    for (; next < argc && std::string_view(argv[next]) != "--"; ++next) {
        const std::optional<Limit> limit = parse_limit(argv[next]);
        if (!limit) {
            break;
        }
        limits.push_back(*limit);
    }
    if (next + 1 >= argc || std::string_view(argv[next]) != "--") {
        std::fputs("usage: cellgate enter [guard] [landlock] [bridge=PORT:SOCKET] [LIMIT=VALUE…] -- COMMAND…\n",
                   stderr);
        return usage_error;
    }
    if (!places_hold(must_read(places_file))) {
        std::fputs("cellgate: files of the workspace were exchanged while the sandbox was set up; start the session "
                   "again\n",
                   stderr);
        return cannot_prepare;
    }
    ::prctl(PR_SET_DUMPABLE, 0); // before anything runs that could want to look into this process
    const std::string filter = guarded ? must_read(filter_file) : "";
    std::optional<GuardedNames> names;
    if (guarded) {
        names.emplace(must_read(names_file));
    }
    // The guard makes files for the command, so it may no more than that.
    if (with_landlock) {
        restrict_writing();
    }
    Init init;
    if (!init.fork_command(guarded)) {
        init.live(std::move(names), cpu_seconds(limits));
    }
    // Once more: from a domain within the guard's, the guard can be neither traced nor signalled.
    if (with_landlock) {
        restrict_writing();
    }
    if (guarded && !init.guard_calls(filter)) {
        give_up("guard names of files");
    }
    become_command(bridge, limits, argv + next + 1);
}

int can_guard_main() {
    std::string why = why_not_to_answer();
    const std::optional<std::string> filter = read_file(filter_file);
    if (why.empty() && (!filter || install_filter(*filter).get() < 0)) {
        why = std::strerror(errno);
    }
    std::printf("guarded-names: %s\n", why.empty() ? "yes" : why.c_str());
    return 0;
}

} // namespace cellgate::helper
