#include "init.hpp"

#include "process_facts.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cellgate::helper {

namespace {

// A message of one byte and one descriptor.
struct Parcel {
    char byte = 0;
    iovec text{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};

    Parcel() {
        message.msg_iov = &text;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
    }
};

bool send_descriptor(int way, int descriptor) {
    Parcel parcel;
    cmsghdr* header = CMSG_FIRSTHDR(&parcel.message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    return ::sendmsg(way, &parcel.message, 0) == 1;
}

// -1 when the other side ended without one.
UniqueFd receive_descriptor(int way) {
    Parcel parcel;
    int descriptor = -1;
    if (::recvmsg(way, &parcel.message, MSG_CMSG_CLOEXEC) == 1) {
        if (const cmsghdr* header = CMSG_FIRSTHDR(&parcel.message)) {
            std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
        }
    }
    return UniqueFd(descriptor);
}

sigset_t just_children() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGCHLD);
    return set;
}

} // namespace

bool Init::fork_command(bool guarded) {
    std::array<int, 2> ends = {-1, -1};
    const sigset_t children = just_children();
    ::sigprocmask(SIG_BLOCK, &children, nullptr);
    command_ = guarded && ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0 ? -1 : ::fork();
    if (command_ < 0) {
        std::fprintf(stderr, "cellgate: cannot start a process in the sandbox: %s\n", std::strerror(errno));
        ::_exit(cannot_prepare);
    }
    UniqueFd here(ends[0]);
    UniqueFd there(ends[1]);
    way_ = std::move(command_ == 0 ? there : here);
    if (command_ == 0) {
        ::sigprocmask(SIG_UNBLOCK, &children, nullptr);
        ::setsid(); // signals to its group are not for the first process
    }
    return command_ == 0;
}

bool Init::guard_calls(const std::string& filter) {
    const UniqueFd listener = install_filter(filter);
    const bool given = listener.get() >= 0 && send_descriptor(way_.get(), listener.get());
    way_ = UniqueFd();
    return given;
}

void Init::live(std::optional<AccessPolicy> policy, std::optional<rlim_t> cpu_seconds, UniqueFd lifeline) {
    // Stdio and what else there is are the command's alone.
    close_all_but({way_.get(), lifeline.get()}, STDIN_FILENO);
    std::optional<Guard> guard;
    if (policy) {
        UniqueFd listener = receive_descriptor(way_.get());
        if (listener.get() >= 0) {
            guard.emplace(std::move(listener), std::move(*policy));
        }
    }
    way_ = UniqueFd();
    const sigset_t children = just_children();
    const UniqueFd ended(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
    while (ended.get() >= 0) {
        std::array<pollfd, 3> sources = {pollfd{ended.get(), POLLIN, 0},
                                         pollfd{guard ? guard->listener() : -1, POLLIN, 0},
                                         pollfd{lifeline.get(), POLLIN, 0}};
        ::poll(sources.data(), sources.size(), -1);
        if (sources[0].revents != 0) {
            signalfd_siginfo told{};
            while (::read(ended.get(), &told, sizeof told) == sizeof told) {
            }
            reap(cpu_seconds);
        }
        if ((sources[1].revents & POLLIN) != 0) {
            guard->answer_one();
        } else if (sources[1].revents != 0) {
            guard.reset(); // no process is left that could ask
        }
        if (sources[2].revents != 0) {
            break;
        }
    }
    ::_exit(cannot_prepare);
}

void Init::reap(std::optional<rlim_t> cpu_seconds) const {
    siginfo_t ended{};
    while (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 && ended.si_pid != 0) {
        if (ended.si_pid == command_) {
            constexpr int signals = 128;
            const bool by_limit = ended.si_code != CLD_EXITED && ended.si_status == SIGKILL && cpu_seconds &&
                                  used_cpu_seconds(command_) >= *cpu_seconds;
            ::_exit(ended.si_code == CLD_EXITED ? ended.si_status : signals + (by_limit ? SIGXCPU : ended.si_status));
        }
        ::waitpid(ended.si_pid, nullptr, __WALL);
        ended = {};
    }
}

} // namespace cellgate::helper
