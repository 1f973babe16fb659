#include "guard.hpp"

#include "caller.hpp"
#include "guarded_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cellgate::helper {

namespace {

int set_filter(const std::string& filter, unsigned long flags) {
    std::vector<sock_filter> steps(filter.size() / sizeof(sock_filter));
    filter.copy(reinterpret_cast<char*>(steps.data()), steps.size() * sizeof(sock_filter));
    const sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
    return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

} // namespace

UniqueFd install_filter(const std::string& filter) {
    // The second: once the guard has taken a call, only the caller's end interrupts it. Else one that was made would be
    // made again after a signal.
    return UniqueFd(set_filter(filter, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV));
}

bool filter_calls(const std::string& filter) {
    return set_filter(filter, 0) == 0;
}

std::string why_not_to_answer() {
    static char text[] = "/";
    const pid_t child = ::fork();
    if (child == 0) {
        ::pause();
        ::_exit(0);
    }
    if (child < 0) {
        return std::strerror(errno);
    }
    seccomp_notif call{};
    call.pid = static_cast<__u32>(child);
    const Caller caller(-1, call);
    std::string why;
    try {
        caller.opened(AT_FDCWD);
        why = caller.text(reinterpret_cast<std::uintptr_t>(text)) == text ? "" : "a process's memory reads otherwise";
    } catch (const CallError& error) {
        why = std::string(
                  "no process may look into another (see kernel.yama.ptrace_scope, and SELinux's deny_ptrace): ") +
              std::strerror(error.error);
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return why;
}

Guard::Guard(UniqueFd listener, AccessPolicy policy) : listener_(std::move(listener)), policy_(std::move(policy)) {
    // Callers run where we did as soon as we wait: both do nothing but wait for each other. Since Linux 6.6, newer than
    // the header.
    constexpr unsigned long set_flags = SECCOMP_IOW(4, __u64);
    constexpr unsigned long wake_up_here = 1;
    ::ioctl(listener_.get(), set_flags, wake_up_here);
}

void Guard::answer_one() {
    // The system may know of more than this header does, and fills in what it knows.
    static const std::size_t size = [] {
        seccomp_notif_sizes sizes{};
        ::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
        return std::max<std::size_t>(sizes.seccomp_notif, sizeof(seccomp_notif));
    }();
    std::vector<unsigned char> memory(size);
    auto* call = reinterpret_cast<seccomp_notif*>(memory.data());
    if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, call) == 0) {
        make_call(Caller(listener_.get(), *call), policy_, own_sockets_);
    }
}

} // namespace cellgate::helper
