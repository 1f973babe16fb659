#include "supervise.hpp"

#include "descriptor.hpp"
#include "process_facts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <optional>
#include <poll.h>
#include <signal.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unordered_set>
#include <vector>

namespace cellgate::helper {

namespace {

constexpr int usage_error = 2;
constexpr int cannot_execute = 127; // as shells say it

struct ProcessEntry {
    pid_t pid = 0;
    char state = 0;
    pid_t parent = 0;
    pid_t group = 0;
    pid_t session = 0;
};

std::optional<int> to_number(std::string_view text) {
    int number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    return status == std::errc() && end == text.data() + text.size() ? std::optional<int>(number) : std::nullopt;
}

std::optional<ProcessEntry> read_process(int pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    const std::string text = read_file(path.c_str()).value_or("");
    // The program's name is in parentheses and may itself contain parentheses.
    const char* fields = std::strrchr(text.c_str(), ')');
    ProcessEntry entry{.pid = pid};
    if (fields == nullptr ||
        std::sscanf(fields + 1, " %c %d %d %d", &entry.state, &entry.parent, &entry.group, &entry.session) != 4) {
        return std::nullopt;
    }
    return entry;
}

// All descendants of this process. Those whose parent has ended are its children: it is their subreaper.
std::vector<ProcessEntry> find_descendants() {
    std::vector<ProcessEntry> all;
    if (DIR* directory = ::opendir("/proc")) {
        while (const dirent* entry = ::readdir(directory)) {
            if (const std::optional<int> pid = to_number(entry->d_name)) {
                if (const std::optional<ProcessEntry> process = read_process(*pid)) {
                    all.push_back(*process);
                }
            }
        }
        ::closedir(directory);
    }
    std::unordered_set<pid_t> family{::getpid()};
    std::vector<ProcessEntry> found;
    for (bool grew = true; grew;) {
        grew = false;
        for (const ProcessEntry& process : all) {
            if (family.contains(process.parent) && family.insert(process.pid).second) {
                found.push_back(process);
                grew = true;
            }
        }
    }
    return found;
}

class Supervisor {
  public:
    Supervisor(int control_fd, pid_t command) : control_fd_(control_fd), command_(command) {}

    // The wait status of the command, after it and all descendants have ended.
    int run(const sigset_t& signals);

  private:
    void handle_signals(int signal_fd);
    bool reap();
    void kill_descendants();

    int control_fd_;
    pid_t command_;
    std::optional<int> status_;
};

int Supervisor::run(const sigset_t& signals) {
    const int signal_fd = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    while (!status_ && signal_fd >= 0) {
        pollfd sources[] = {{control_fd_, POLLIN, 0}, {signal_fd, POLLIN, 0}};
        if (::poll(sources, 2, -1) < 0 && errno != EINTR) {
            break;
        }
        if (sources[0].revents != 0) {
            char byte = 0;
            if (::read(control_fd_, &byte, 1) <= 0) {
                break;
            }
        }
        if (sources[1].revents != 0) {
            handle_signals(signal_fd);
        }
    }
    kill_descendants();
    return status_.value_or(SIGKILL);
}

void Supervisor::handle_signals(int signal_fd) {
    signalfd_siginfo info{};
    while (::read(signal_fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD) {
            reap();
        } else if (!status_) {
            ::kill(command_, static_cast<int>(info.ssi_signo));
        }
    }
}

// True when nothing is left: every descendant has this process as its last resort, so no child means no descendant.
bool Supervisor::reap() {
    while (true) {
        int status = 0;
        const pid_t pid = ::waitpid(-1, &status, WNOHANG | __WALL);
        if (pid == command_) {
            status_ = status;
        } else if (pid <= 0) {
            return pid < 0 && errno == ECHILD;
        }
    }
}

void Supervisor::kill_descendants() {
    const pid_t own_session = ::getsid(0);
    sigset_t child_ended;
    ::sigemptyset(&child_ended);
    ::sigaddset(&child_ended, SIGCHLD);
    constexpr long max_pause = 64'000'000;
    timespec moment{0, 1'000'000};
    while (!reap()) {
        // Stopped first, all of them, so that none can make another or restart one while the killing goes on.
        // A few rounds at most: what forks and ends all the time is never seen whole, and falls to its group's end
        // below.
        std::unordered_set<pid_t> stopped;
        bool found_more = true;
        for (int round = 0; round < 8 && found_more; ++round) {
            found_more = false;
            for (const ProcessEntry& process : find_descendants()) {
                if (process.state != 'Z' && stopped.insert(process.pid).second) {
                    ::kill(process.pid, SIGSTOP);
                    found_more = true;
                }
            }
        }
        bool any = false;
        bool beyond_us = false;
        for (const ProcessEntry& process : find_descendants()) {
            if (process.state == 'Z') {
                continue;
            }
            // A group is killed at one instant, whatever its members fork meanwhile. One in another session than ours
            // holds descendants only.
            if (process.session != own_session && process.group > 1) {
                ::kill(-process.group, SIGKILL);
            }
            if (::kill(process.pid, SIGKILL) == 0 || errno == ESRCH) {
                any = true;
            } else {
                beyond_us = true; // another user's, through a setuid program
            }
        }
        if (beyond_us && !any) {
            return;
        }
        // For what takes its time to die, the looking gets rarer.
        ::sigtimedwait(&child_ended, nullptr, &moment);
        moment.tv_nsec = std::min(2 * moment.tv_nsec, max_pause);
    }
}

bool is_of_version_one(const char* group) {
    return ::access((std::string(group) + "/tasks").c_str(), F_OK) == 0;
}

// As it does so itself, before it becomes the command, nothing of the command ever runs outside of the group. Of
// version 1 its one thread moves alone: to move a process, the system waits until all processors have noticed, 5 to 16
// ms.
bool join_group(const char* group) {
    const char* file = is_of_version_one(group) ? "/tasks" : "/cgroup.procs";
    const UniqueFd fd(::open((std::string(group) + file).c_str(), O_WRONLY | O_CLOEXEC));
    const bool joined = fd.valid() && ::write(fd.get(), "0", 1) == 1;
    if (!joined) {
        ::dprintf(STDERR_FILENO, "cellgate: cannot join the control group %s: %s\n", group, std::strerror(errno));
    }
    return joined;
}

// A copy of this process that is born in this group of version 2, and so never has to move: that would take as long as
// of version 1. Like fork, for a process with one thread. -1 where the system has no such call, or will not.
pid_t fork_into(const char* group) {
    const UniqueFd fd(::open(group, O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) {
        return -1;
    }
    clone_args arguments{};
    arguments.flags = CLONE_INTO_CGROUP;
    arguments.exit_signal = SIGCHLD;
    arguments.cgroup = static_cast<std::uint64_t>(fd.get());
    return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

// A copy of this process, as fork returns it. It still has to join those that are left of `groups`.
pid_t fork_in_groups(std::vector<const char*>& groups) {
    const auto born_in =
        std::find_if(groups.begin(), groups.end(), [](const char* group) { return !is_of_version_one(group); });
    if (born_in != groups.end()) {
        if (const pid_t child = fork_into(*born_in); child >= 0) {
            groups.erase(born_in);
            return child;
        }
    }
    return ::fork();
}

// A pipe whose one end is the supervisor's alone, and whose other is the command's, under a number of its own.
struct Lifeline {
    int number = -1;
    std::array<int, 2> ends = {-1, -1};

    void make() {
        if (number >= 0 && ::pipe2(ends.data(), O_CLOEXEC) != 0) {
            std::perror("cellgate supervise: cannot make a pipe");
            std::exit(cannot_execute);
        }
    }
    bool give() const { return ends[0] == number ? ::fcntl(number, F_SETFD, 0) == 0 : ::dup2(ends[0], number) >= 0; }
};

[[noreturn]] void exec_command(char** command, const std::vector<const char*>& groups, pid_t supervisor, int control_fd,
                               const Lifeline& lifeline) {
    ::close(control_fd);
    for (const char* group : groups) {
        if (!join_group(group)) {
            ::_exit(cannot_execute);
        }
    }
    // Nothing of the terminal that the sidecar runs on reaches the command: a ^C there is not meant for it.
    ::setsid();
    // When the supervisor itself is killed, which may have come before this.
    if (lifeline.number < 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != supervisor) {
            ::_exit(cannot_execute);
        }
    } else if (!lifeline.give()) {
        ::dprintf(STDERR_FILENO, "cellgate: cannot pass on the lifeline pipe: %s\n", std::strerror(errno));
        ::_exit(cannot_execute);
    }
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) {
        ::sigaction(signal, &standard, nullptr);
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvp(command[0], command);
    ::dprintf(STDERR_FILENO, "cellgate: cannot start %s: %s\n", command[0], std::strerror(errno));
    ::_exit(cannot_execute);
}

[[noreturn]] void die_by(int signal) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(signal, SIG_DFL);
    sigset_t just_this;
    ::sigemptyset(&just_this);
    ::sigaddset(&just_this, signal);
    ::kill(::getpid(), signal);
    ::sigprocmask(SIG_UNBLOCK, &just_this, nullptr);
    ::_exit(128 + signal);
}

struct SuperviseArguments {
    std::vector<int> descriptors; // the control pipe first, then those that are kept
    std::vector<const char*> groups;
    Lifeline lifeline;
    char** command = nullptr; // nothing: the arguments are wrong
};

SuperviseArguments parse_arguments(int argc, char** argv) {
    SuperviseArguments parsed;
    int next = 1;
    for (; next < argc && std::string_view(argv[next]) != "--"; ++next) {
        if (std::string_view(argv[next]) == "--group" && next + 1 < argc) {
            parsed.groups.push_back(argv[++next]);
            continue;
        }
        const bool is_lifeline = std::string_view(argv[next]) == "--lifeline" && next + 1 < argc;
        const std::optional<int> fd = to_number(argv[is_lifeline ? ++next : next]);
        if (!fd || *fd <= STDERR_FILENO) {
            break;
        }
        if (is_lifeline) {
            parsed.lifeline.number = *fd;
        } else {
            parsed.descriptors.push_back(*fd);
        }
    }
    if (!parsed.descriptors.empty() && next + 1 < argc && std::string_view(argv[next]) == "--") {
        parsed.command = argv + next + 1;
    }
    return parsed;
}

// The ends of the command's pipes must be the command's alone, or the readers do not see when it closes them.
void close_ends_of_command(const SuperviseArguments& given) {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDOUT_FILENO);
    for (std::size_t i = 1; i < given.descriptors.size(); ++i) {
        ::close(given.descriptors[i]);
    }
    ::close(given.lifeline.ends[0]);
}

} // namespace

int supervise_main(int argc, char** argv) {
    SuperviseArguments given = parse_arguments(argc, argv);
    if (given.command == nullptr) {
        std::fputs("usage: cellgate supervise CONTROL_FD [KEPT_FD…] [--lifeline FD] [--group FOLDER]… -- COMMAND…\n",
                   stderr);
        return usage_error;
    }
    if (!close_all_but(given.descriptors, STDERR_FILENO + 1)) {
        std::perror("cellgate supervise: cannot close inherited descriptors");
        return cannot_execute;
    }
    const int control_fd = given.descriptors.front();

    // Every signal is held back: what should reach the command is read and passed on, the rest changes nothing.
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    ::signal(SIGCHLD, SIG_DFL); // ignored, it would hide how the command ended
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
        std::perror("cellgate supervise: cannot become the reaper of descendants");
        return cannot_execute;
    }

    given.lifeline.make();
    const pid_t self = ::getpid();
    std::vector<const char*> to_join = given.groups;
    const pid_t command = fork_in_groups(to_join);
    if (command < 0) {
        std::perror("cellgate supervise: cannot fork");
        return cannot_execute;
    }
    if (command == 0) {
        exec_command(given.command, to_join, self, control_fd, given.lifeline);
    }
    close_ends_of_command(given);

    sigset_t watched;
    ::sigemptyset(&watched);
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
        ::sigaddset(&watched, signal);
    }
    const int status = Supervisor(control_fd, command).run(watched);
    if (WIFSIGNALED(status)) {
        die_by(WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

} // namespace cellgate::helper
