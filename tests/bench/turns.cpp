// Loaded into the cellgate that is measured (LD_PRELOAD): times each turn of its event loop, from the return of one
// wait for events to the next wait, and at the end appends "TURNS LONG LONGEST" (LONG: over 50 ms; LONGEST in seconds)
// to the file that BENCH_TURNS names.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace {

constexpr double long_turn = 0.050;

using Wait = int (*)(int, epoll_event*, int, int, const sigset_t*);

struct Watch {
    // Only the thread that runs the loop counts: the first that waits and is the process's main one.
    Wait wait = reinterpret_cast<Wait>(::dlsym(RTLD_NEXT, "epoll_pwait"));
    double woken = 0;
    unsigned long turns = 0;
    unsigned long long_turns = 0;
    double longest = 0;

    ~Watch() {
        const char* file = std::getenv("BENCH_TURNS");
        if (file == nullptr || turns == 0) {
            return;
        }
        if (std::FILE* out = std::fopen(file, "a")) {
            std::fprintf(out, "%lu %lu %f\n", turns, long_turns, longest);
            std::fclose(out);
        }
    }
};
Watch watch;

double now() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

int timed_wait(int epoll, epoll_event* events, int most, int timeout, const sigset_t* mask) {
    if (::gettid() != ::getpid()) { // ZeroMQ's own threads
        return watch.wait(epoll, events, most, timeout, mask);
    }
    if (watch.woken != 0) {
        const double turn = now() - watch.woken;
        ++watch.turns;
        watch.long_turns += turn > long_turn ? 1 : 0;
        watch.longest = turn > watch.longest ? turn : watch.longest;
    }
    const int count = watch.wait(epoll, events, most, timeout, mask);
    watch.woken = now();
    return count;
}

} // namespace

extern "C" __attribute__((visibility("default"))) int epoll_pwait(int epoll, epoll_event* events, int most, int timeout,
                                                                  const sigset_t* mask) {
    return timed_wait(epoll, events, most, timeout, mask);
}
extern "C" __attribute__((visibility("default"))) int epoll_wait(int epoll, epoll_event* events, int most,
                                                                 int timeout) {
    return timed_wait(epoll, events, most, timeout, nullptr);
}
