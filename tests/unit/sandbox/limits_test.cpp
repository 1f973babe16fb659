// What a kernel may use. Each limit has a control: the same program without it.

#include "base/error.hpp"
#include "machine.hpp"
#include "sandbox/control_group.hpp"
#include "sandbox/limits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
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

// Whether a control group is available here; else a message says why not.
bool have_groups() {
    const GroupPlaces places = find_group_places();
    if (!places.memory || !places.processes) {
        MESSAGE("no control groups here: " << places.problem);
    }
    return places.memory && places.processes;
}

bool has_layer(const Ran& ran, const std::string& name) {
    return std::find(ran.layers.begin(), ran.layers.end(), name) != ran.layers.end();
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

TEST_CASE("without being asked and without a group, each process has a floor of memory, and honest work goes on") {
    CHECK(limits_of_each(Limits{}, nullptr).memory_bytes == default_memory_bytes());
    Limits asked;
    asked.memory_bytes = 1 << 30;
    CHECK(limits_of_each(asked, nullptr).memory_bytes == asked.memory_bytes);

    const bool grouped = find_group_places().memory.has_value(); // of an ordinary user usually not: unprivileged_test
    const std::string program = "most = " + std::to_string(default_memory_bytes()) + R"(
import mmap, multiprocessing, threading
threads = [threading.Thread(target=sum, args=(range(1000),)) for _ in range(100)]
for thread in threads: thread.start()
for thread in threads: thread.join()
with multiprocessing.get_context("fork").Pool(2) as pool: print(sum(pool.map(abs, range(-9, 1))))
try:
    import numpy
    numpy.ones((500, 500)) @ numpy.ones((500, 500))
except ModuleNotFoundError: pass
private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000 # which reserves nothing
try: print(len(mmap.mmap(-1, most + (1 << 30), private)) > most)
except OSError as error: print(error.strerror)
)";
    Machine machine;
    const Ran bare = machine.python(Isolation::none, program);
    CHECK_MESSAGE(bare.out == "45\nTrue\n", bare.error);
    const Ran held = machine.python(Isolation::bwrap, program);
    CHECK_MESSAGE(held.out == (grouped ? "45\nTrue\n" : "45\nCannot allocate memory\n"), held.error);
    CHECK(has_layer(held, "memory-limit") == !grouped);
    CHECK(has_layer(held, "memory-cgroup") == grouped);
}

TEST_CASE("processor time beyond the limit ends the process, whatever it catches") {
    const char* program = R"(
import signal, time
signal.signal(signal.SIGXCPU, lambda *_: print("caught", flush=True))
begun = time.process_time()
while time.process_time() - begun < 6: pass
print("done")
)";
    Limits limits;
    limits.cpu_seconds = 2; // the interpreter has to have started before
    const auto [free, limited] = run_both(limits, program);
    CHECK(free.out == "done\n");
    CHECK(limited.out.find("done") == std::string::npos);
    CHECK(limited.out.starts_with("caught\n"));
    CHECK(free.status.success());
    CHECK(limited.status.signal == SIGXCPU); // it caught that and was killed; the cause is reported all the same
}

TEST_CASE("with a limit of processor time, a program ends as it would without") {
    Limits limits;
    limits.cpu_seconds = 100;
    const auto ending = [&limits](const char* program) {
        const auto [free, limited] = run_both(limits, program);
        CHECK(limited.status.code == free.status.code);
        CHECK(limited.status.signal == free.status.signal);
        return limited.status;
    };
    CHECK(ending("os._exit(7)").code == 7);
    CHECK(ending("os.kill(os.getpid(), 9)").signal == SIGKILL);
    CHECK(ending("os.kill(os.getpid(), 11)").signal == SIGSEGV);
    CHECK(ending("pass").success());
}

TEST_CASE("more processes than the limit cannot be made") {
    if (::geteuid() == 0 && !have_groups()) {
        return;
    }
    Limits limits;
    limits.process_count = 20;
    const auto [free, limited] = run_both(limits, forks);
    CHECK_MESSAGE(free.out == "False\n", free.error);
    CHECK_MESSAGE(limited.out == "Resource temporarily unavailable\nTrue\n", limited.error);
}

TEST_CASE("more threads than the limit cannot be made") {
    if (::geteuid() == 0 && !have_groups()) {
        return;
    }
    Limits limits;
    limits.process_count = 20;
    const auto [free, limited] = run_both(limits, R"(
import threading
end = threading.Event()
threads = [threading.Thread(target=end.wait, daemon=True) for i in range(60)]
try:
    for thread in threads: thread.start()
    print("all")
except RuntimeError as error: print(error)
end.set()
)");
    CHECK_MESSAGE(free.out == "all\n", free.error);
    CHECK_MESSAGE(limited.out == "can't start new thread\n", limited.error);
}

TEST_CASE("a fork bomb stays within the limit, and all of it ends with the program") {
    if (::geteuid() == 0 && !have_groups()) {
        return;
    }
    // Each child does the same; what they have made is counted from outside of the bomb, by the first program.
    const char* bomb = R"(
import signal
first = os.getpid()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
refused_read, refused_write = os.pipe()
if os.fork() == 0:
    while True:
        try: os.fork()
        except OSError:
            os.write(refused_write, b"x")
            time.sleep(60)
for i in range(3): os.read(refused_read, 1)
print(sum(name.isdigit() for name in os.listdir("/proc")) <= 42)
)";
    Machine machine;
    machine.profile.limits.process_count = 40;
    const Ran ran = machine.python(Isolation::bwrap, bomb);
    CHECK_MESSAGE(ran.out == "True\n", ran.error);
    CHECK(ran.status.success());
}

TEST_CASE("a limit of processes is refused where it would not hold: to root, without a group for it") {
    Limits limits;
    limits.process_count = 20;
    const std::string problem = "this machine has none";
    if (::geteuid() == 0) {
        CHECK_THROWS_WITH_AS(require_enforceable(limits, nullptr, problem),
                             doctest::Contains("does not count those of root without a control group: this machine"),
                             Error);
    } else {
        CHECK_NOTHROW(require_enforceable(limits, nullptr, problem));
    }
    CHECK_NOTHROW(require_enforceable(Limits{}, nullptr, problem));
}

TEST_CASE("what is not counted as a process's own memory is counted in a group, and told from other kills") {
    if (!have_groups()) {
        return;
    }
    Limits limits;
    limits.memory_bytes = 256ULL << 20;
    for (const char* program : {
             // memory files, each within any limit of a file's size
             "block = b'x' * (1 << 20)\nfor i in range(10):\n    fd = os.memfd_create('x')\n"
             "    for j in range(50): os.write(fd, block)\nprint('all')",
             // shared memory
             "import mmap\nm = mmap.mmap(-1, 500 << 20)\nfor i in range(0, len(m), 4096): m[i] = 1\nprint('all')",
             "with open('/dev/shm/x', 'wb') as f:\n    for i in range(500): f.write(b'x' * (1 << 20))\nprint('all')",
             // scratch files
             "with open('/tmp/x', 'wb') as f:\n    for i in range(500): f.write(b'x' * (1 << 20))\nprint('all')",
             // many processes, each within the limit
             "children = []\nfor i in range(10):\n    child = os.fork()\n    if child == 0:\n"
             "        memory = bytearray(b'x' * (50 << 20)); os.write(1, b''); time.sleep(60)\n"
             "    children.append(child)\nwhile True: os.wait(); os.kill(os.getpid(), 9)",
         }) {
        CAPTURE(program);
        const bool waits_for_a_kill = std::string_view(program).find("os.wait") != std::string_view::npos;
        Machine machine;
        if (!waits_for_a_kill) {
            CHECK(machine.python(Isolation::bwrap, program).out == "all\n"); // the control
        }
        machine.profile.limits = limits;
        const Ran limited = machine.python(Isolation::bwrap, program);
        CHECK(limited.out.empty());
        CHECK(limited.status.signal == SIGKILL);
        CHECK(limited.memory_kills > 0);
        CHECK(limited.memory_limit_was_met);
        CHECK(has_layer(limited, "memory-cgroup"));
    }
    Machine machine;
    machine.profile.limits = limits;
    const Ran killed = machine.python(Isolation::bwrap, "os.kill(os.getpid(), 9)");
    CHECK(killed.status.signal == SIGKILL);
    CHECK(killed.memory_kills == 0);
}

TEST_CASE("files without a byte in scratch space count as the memory that they take") {
    if (!have_groups()) {
        return;
    }
    Limits limits;
    limits.memory_bytes = 96ULL << 20;
    for (const char* place : {"/tmp", "/dev/shm"}) {
        CAPTURE(place);
        const std::string program = "for i in range(120000): os.close(os.open(f'" + std::string(place) +
                                    "/{i}', os.O_CREAT | os.O_WRONLY))\nprint(i)\n";
        const auto [free, limited] = run_both(limits, program);
        CHECK_MESSAGE(free.out == "119999\n", free.error);
        CHECK(limited.out.empty());
        CHECK(limited.status.signal == SIGKILL);
        CHECK(limited.memory_limit_was_met);
    }
}

TEST_CASE("without being asked, a group holds a sandbox to what leaves the machine usable") {
    if (!have_groups()) {
        return;
    }
    const GroupLimits defaults = group_limits(Limits{});
    CHECK(*defaults.memory_bytes == default_memory_bytes());
    CHECK(*defaults.process_count == default_process_count + 2); // bwrap's own two
    Machine machine;
    const Ran ran = machine.python(Isolation::bwrap, "print(open('/proc/self/cgroup').read())");
    CHECK(has_layer(ran, "memory-cgroup"));
    CHECK(has_layer(ran, "process-cgroup"));
    // And the code is not told where its group is, nor can it see any.
    CHECK(ran.out.find("cellgate-") == std::string::npos);
    const Ran looks = machine.python(Isolation::bwrap, "T(lambda: os.listdir('/sys/fs/cgroup'))");
    CHECK(looks.out.starts_with("HELD"));
}

TEST_CASE("a program cannot leave its group, nor raise its limits" * doctest::skip(::geteuid() != 0)) {
    const char* attack = R"(
def attack():
    for path in ("/sys/fs/cgroup/unified/cgroup.procs", "/sys/fs/cgroup/memory/cgroup.procs", "/sys/fs/cgroup/cgroup.procs"):
        try: os.close(os.open(path, os.O_WRONLY)); return path
        except OSError: pass
T(attack))";
    Machine machine;
    const Ran bare = machine.python(Isolation::none, attack);
    if (!bare.out.starts_with("ESCAPED")) {
        MESSAGE("control groups cannot be written here: " << bare.out);
    }
    CHECK(machine.python(Isolation::bwrap, attack).out.starts_with("HELD"));
}

TEST_CASE("open files, the size of files and scratch space have the limits that were asked for") {
    Limits limits;
    limits.open_files = 64;
    limits.file_bytes = 8 << 20;
    limits.disk_bytes = 16 << 20;
    const auto [free, limited] = run_both(limits, R"(
def attempt(name, attack):
    try: attack(); print(name, "all")
    except OSError as error: print(name, error.strerror)
def fill(path, files):
    for i in range(files):
        with open(f"{path}/fill{i}", "wb") as file: file.write(b"x" * (6 << 20))
files = []
attempt("open", lambda: [files.append(open("/dev/null")) for i in range(100)])
files.clear()
attempt("size", lambda: open(W + "/big", "wb").write(b"x" * (9 << 20)))
attempt("memory", lambda: os.ftruncate(os.memfd_create("x"), 9 << 20))
for path in ("/tmp", "/dev/shm", H): attempt(path if path != H else "home", lambda: fill(path, 4))
)");
    CHECK_MESSAGE(free.out == "open all\nsize all\nmemory all\n/tmp all\n/dev/shm all\nhome all\n", free.error);
    CHECK_MESSAGE(limited.out == "open Too many open files\nsize File too large\nmemory File too large\n"
                                 "/tmp No space left on device\n/dev/shm No space left on device\n"
                                 "home No space left on device\n",
                  limited.error);
    for (const char* layer : {"open-files-limit", "file-size-limit", "disk-limit"}) {
        CHECK(has_layer(limited, layer));
        CHECK_FALSE(has_layer(free, layer));
    }
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
    // Where no group holds the memory, each process has a limit of it in any case, which only root can raise.
    const bool is_held = !find_group_places().memory && ::geteuid() != 0;
    CHECK_MESSAGE(free.out == (is_held ? "held\nraised\n(0, 0)\n" : "raised\nraised\n(0, 0)\n"), free.error);
    CHECK_MESSAGE(limited.out == "held\nheld\n(0, 0)\n", limited.error);
}
