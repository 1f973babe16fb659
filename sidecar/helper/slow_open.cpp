#include "slow_open.hpp"

#include "process_facts.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

namespace cellgate::helper {

namespace {

// While a call is with the guard, nothing but its end interrupts it: for what may take long, signals are looked for.
bool is_to_be_interrupted(pid_t thread) {
    const auto bits = [thread](const char* name) { return status_number(thread, name, 16).value_or(0); };
    return ((bits("SigPnd") | bits("ShdPnd")) & ~bits("SigBlk") & ~bits("SigIgn")) != 0;
}

[[noreturn]] void try_until_answered(const Caller& caller, const std::function<int()>& attempt) {
    ::prctl(PR_SET_NAME, "cellgate-open");
    struct sigaction nothing{};
    nothing.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &nothing, nullptr);
    constexpr suseconds_t moment = 20'000;
    const itimerval timer{{0, moment}, {0, moment}};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
    while (caller.waits()) {
        const int error = attempt();
        if (error > 0 && error != EINTR) {
            caller.answer(error);
        } else if (error == EINTR && is_to_be_interrupted(caller.thread())) {
            constexpr int restart_or_interrupt = 512; // the system's ERESTARTSYS: what the signal's handler asks for
            caller.answer(restart_or_interrupt);
        }
    }
    ::_exit(0);
}

} // namespace

std::string own_link(const UniqueFd& descriptor) {
    return "/proc/self/fd/" + std::to_string(descriptor.get());
}

UniqueFd open_again(const UniqueFd& held, int flags) {
    // A terminal is not to become ours.
    return UniqueFd(::open(own_link(held).c_str(), (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC | O_NOCTTY));
}

void answer_slowly(const Caller& caller, const std::function<int()>& attempt) {
    const pid_t other = ::fork();
    if (other == 0) {
        try_until_answered(caller, attempt);
    }
    if (other < 0) {
        throw CallError{errno};
    }
}

void open_slowly(const Caller& caller, const UniqueFd& held, int flags) {
    answer_slowly(caller, [&] {
        const UniqueFd opened = open_again(held, flags);
        if (opened.get() < 0) {
            return errno;
        }
        caller.give(opened, flags);
        return 0;
    });
}

} // namespace cellgate::helper
