#include "enter.hpp"

#include "bridge.hpp"
#include "landlock.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <signal.h>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cellgate::helper {

namespace {

constexpr const char* places_file = "/.cellgate/places";
constexpr const char* writable_file = "/.cellgate/writable";
constexpr int usage_error = 2;
constexpr int cannot_prepare = 125; // as env and nohup end for a reason of their own
constexpr int cannot_execute = 126;
constexpr int not_found = 127;

// Nothing, and a line on stderr, when it cannot be read.
std::optional<std::string> read_list(const char* file) {
    const int fd = ::open(file, O_RDONLY | O_CLOEXEC);
    std::string text;
    ssize_t size = fd < 0 ? -1 : 1;
    while (size > 0) {
        char part[4096];
        size = ::read(fd, part, sizeof part);
        text.append(part, size > 0 ? static_cast<std::size_t>(size) : 0);
    }
    if (size < 0) {
        std::fprintf(stderr, "cellgate: cannot read %s: %s\n", file, std::strerror(errno));
    }
    ::close(fd);
    return size < 0 ? std::nullopt : std::optional(text);
}

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

// The last step: what stands guard in here before (the bridge, the one that waits for the end of processor time) stays
// outside of the domain, so that the command can neither trace nor signal it.
bool restrict_writing() {
    const std::optional<std::string> writable = read_list(writable_file);
    const std::string problem = writable ? restrict_by_landlock(*writable) : "";
    if (!problem.empty()) {
        std::fprintf(stderr, "cellgate: cannot restrict the sandbox by Landlock: %s\n", problem.c_str());
    }
    return writable && problem.empty();
}

// `more`: how far beyond the limit the process can go itself.
bool set_limit(decltype(RLIMIT_CORE) which, rlim_t value, rlim_t more = 0) {
    const rlimit limit{value, value + more};
    return ::setrlimit(which, &limit) == 0;
}

// "memory=1073741824". One of processor time is only noted: it is not this program's, but COMMAND's.
bool limit_by(std::string_view text, std::optional<rlim_t>& cpu_seconds) {
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const std::string_view digits = equals == std::string_view::npos ? "" : text.substr(equals + 1);
    rlim_t value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status != std::errc() || end != digits.data() + digits.size()) {
        return false;
    }
    if (name == "cpu") {
        cpu_seconds = value;
        return true;
    }
    return (name == "memory" && set_limit(RLIMIT_DATA, value)) ||
           (name == "processes" && set_limit(RLIMIT_NPROC, value)) ||
           (name == "open-files" && set_limit(RLIMIT_NOFILE, value)) ||
           (name == "file-size" && set_limit(RLIMIT_FSIZE, value));
}

// Of one process with all its threads, also when it has ended and nobody has reaped it. 0 when it cannot be told.
rlim_t used_cpu_seconds(pid_t pid) {
    const int fd = ::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
    char text[1024];
    const ssize_t size = fd < 0 ? -1 : ::read(fd, text, sizeof text - 1);
    ::close(fd);
    text[size > 0 ? size : 0] = 0;
    const char* fields = std::strrchr(text, ')'); // ends the name, which may hold anything
    rlim_t user = 0;
    rlim_t system = 0;
    if (fields == nullptr ||
        std::sscanf(fields + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) {
        return 0;
    }
    return (user + system) / static_cast<rlim_t>(::sysconf(_SC_CLK_TCK));
}

// Runs the rest of the program in a child with that limit. This process waits for it and ends as it did, in the way of
// shells; only that a process which went on after SIGXCPU, and was killed for it, ends by SIGXCPU too: nobody outside
// could tell such a SIGKILL from any other.
void go_on_with_cpu_limit(rlim_t seconds) {
    const pid_t child = ::fork();
    constexpr rlim_t last_seconds = 2; // after SIGXCPU, until SIGKILL
    if (child <= 0) {
        if (child < 0 || !set_limit(RLIMIT_CPU, seconds, last_seconds)) {
            std::fprintf(stderr, "cellgate: cannot limit processor time: %s\n", std::strerror(errno));
            ::_exit(cannot_prepare);
        }
        return;
    }
    ::close_range(0, ~0U, 0); // they are the child's alone
    ::signal(SIGINT, SIG_IGN);
    siginfo_t ended{};
    while (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    constexpr int signals = 128;
    if (ended.si_code == CLD_EXITED) {
        ::_exit(ended.si_status);
    }
    const bool by_limit = ended.si_status == SIGKILL && used_cpu_seconds(child) >= seconds;
    ::_exit(signals + (by_limit ? SIGXCPU : ended.si_status));
}

} // namespace

int enter_main(int argc, char** argv) {
    int next = 1;
    while (next < argc && std::string_view(argv[next]) != "--") {
        ++next;
    }
    char** const limits_end = argv + next;
    char** const command = limits_end + 1;
    if (next + 1 >= argc) {
        std::fputs("usage: cellgate enter [landlock] [bridge=PORT:SOCKET] [LIMIT=VALUE…] -- COMMAND…\n", stderr);
        return usage_error;
    }
    const std::optional<std::string> places = read_list(places_file);
    if (!places) {
        return cannot_prepare;
    }
    if (!places_hold(*places)) {
        std::fputs("cellgate: files of the workspace were exchanged while the sandbox was set up; start the session "
                   "again\n",
                   stderr);
        return cannot_prepare;
    }
    const bool with_landlock = std::string_view(argv[1]) == "landlock";
    char** limit = argv + (with_landlock ? 2 : 1);
    constexpr std::string_view bridge = "bridge=";
    if (std::string_view(*limit).starts_with(bridge)) {
        if (!start_bridge(*limit + bridge.size())) {
            std::fprintf(stderr, "cellgate: cannot listen for the network inside of the sandbox: %s\n",
                         std::strerror(errno));
            return cannot_prepare;
        }
        ++limit;
    }
    std::optional<rlim_t> cpu_seconds;
    for (; limit != limits_end; ++limit) {
        if (!limit_by(*limit, cpu_seconds)) {
            std::fprintf(stderr, "cellgate: cannot limit %s: %s\n", *limit, std::strerror(errno));
            return cannot_prepare;
        }
    }
    set_limit(RLIMIT_CORE, 0);
    if (cpu_seconds) {
        go_on_with_cpu_limit(*cpu_seconds);
    }
    if (with_landlock && !restrict_writing()) {
        return cannot_prepare;
    }
    ::execvp(command[0], command);
    const int error = errno;
    std::fprintf(stderr, "cellgate: cannot start %s: %s\n", command[0], std::strerror(error));
    return error == ENOENT ? not_found : cannot_execute;
}

} // namespace cellgate::helper
