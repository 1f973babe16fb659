// What a kernel may use. Each limit has a control: the same program without it.

#include "base/error.hpp"
#include "machine.hpp"
#include "sandbox/limits.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

// The same with and without `limits`.
std::pair<Ran, Ran> run_both(const Limits& limits, const std::string& program) {
    Machine machine;
    Ran free = machine.python(Isolation::bwrap, program);
    machine.profile.limits = limits;
    Ran limited = machine.python(Isolation::bwrap, program);
    return {std::move(free), std::move(limited)};
}

constexpr const char* forks = R"(
import time
made = []
try:
    while len(made) < 60:
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
        made.append(child)
except OSError as error: print(error.strerror)
print(len(made) < 60)
for child in made: os.kill(child, 9)
)";

} // namespace

TEST_CASE("memory beyond the limit is a MemoryError that code can catch") {
    Limits limits;
    limits.memory_bytes = 256ULL << 20;
    const auto [free, limited] = run_both(limits, R"(
try: print(len(bytearray(512 << 20)))
except MemoryError: print("no memory")
)");
    CHECK_MESSAGE(free.out == "536870912\n", free.error);
    CHECK_MESSAGE(limited.out == "no memory\n", limited.error);
    CHECK(limited.layers.back() == "memory-limit");
}

TEST_CASE("processor time beyond the limit ends the process, whatever it catches") {
    const char* program = R"(
import signal, time
signal.signal(signal.SIGXCPU, lambda *_: print("caught", flush=True))
begun = time.process_time()
while time.process_time() - begun < 5: pass
print("done")
)";
    Limits limits;
    limits.cpu_seconds = 1;
    const auto [free, limited] = run_both(limits, program);
    CHECK(free.out == "done\n");
    CHECK(limited.out.find("done") == std::string::npos);
    CHECK(limited.out.starts_with("caught\n"));
    CHECK_FALSE(limited.status.success());
}

TEST_CASE("more processes than the limit cannot be made" * doctest::skip(::geteuid() == 0)) {
    Limits limits;
    limits.process_count = 20;
    const auto [free, limited] = run_both(limits, forks);
    CHECK_MESSAGE(free.out == "False\n", free.error);
    CHECK_MESSAGE(limited.out == "Resource temporarily unavailable\nTrue\n", limited.error);
}

TEST_CASE("a limit of processes is refused to root, for whom it would not hold" * doctest::skip(::geteuid() != 0)) {
    Machine machine;
    machine.profile.limits.process_count = 20;
    CHECK_THROWS_WITH_AS(machine.python(Isolation::bwrap, forks), doctest::Contains("does not count those of root"),
                         Error);
}

TEST_CASE("without a sandbox there is no limit, and one that is asked for is refused") {
    Machine machine;
    machine.profile.limits.memory_bytes = 1 << 30;
    CHECK_THROWS_WITH_AS(machine.python(Isolation::none, "pass"), doctest::Contains("without a sandbox"), Error);
}

TEST_CASE("a limit cannot be raised from inside, and a crash leaves no core") {
    Limits limits;
    limits.memory_bytes = 256ULL << 20;
    limits.cpu_seconds = 100;
    const auto [free, limited] = run_both(limits, R"(
import resource
for which in (resource.RLIMIT_DATA, resource.RLIMIT_CPU):
    try:
        resource.setrlimit(which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print("raised")
    except (ValueError, OSError): print("held")
print(resource.getrlimit(resource.RLIMIT_CORE))
)");
    CHECK_MESSAGE(free.out == "raised\nraised\n(0, 0)\n", free.error);
    CHECK_MESSAGE(limited.out == "held\nheld\n(0, 0)\n", limited.error);
}
