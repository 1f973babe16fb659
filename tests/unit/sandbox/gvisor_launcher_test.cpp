// The launcher that uses gVisor. Each attempt has its control: the same program without a sandbox.

#include "create_guard_fixture.hpp"
#include "launch/gvisor_launcher.hpp"

#include <sstream>

using namespace cellgate;
using namespace cellgate::sandbox;
using namespace cellgate::sandbox::create_guard_fixture;

namespace {

bool has_gvisor() {
    Machine machine;
    try {
        make_launcher(Isolation::gvisor, machine.environment)->check();
        return true;
    } catch (const Error& error) {
        MESSAGE(error.message);
        return false;
    }
}

} // namespace

TEST_CASE("code runs in gVisor's own kernel, with the layers that it names and no capabilities") {
    if (!has_gvisor()) {
        return;
    }
    Machine machine;
    const Ran ran = machine.python(Isolation::gvisor, R"py(
status = open("/proc/self/status").read()
print(os.uname().version, "CapEff:\t0000000000000000" in status, os.path.exists("/.cellgate/runsc/cellgate_sandbox:cellgate.state"))
print(os.listdir(os.environ["HOME"]), os.getuid())
)py");
    CHECK_MESSAGE(ran.status.success(), ran.error);
    CHECK(ran.out.starts_with("#1 SMP Sun Jan 10 15:06:54 PST 2016 True False\n")); // as gVisor says in all versions
    CHECK(ran.layers.at(0) == "gvisor");
    for (const char* layer : {"seccomp", "landlock", "no-nested-namespaces"}) {
        CHECK(std::find(ran.layers.begin(), ran.layers.end(), layer) == ran.layers.end());
    }
}

TEST_CASE("what runsc keeps for its control is out of the code's sight") {
    if (!has_gvisor()) {
        return;
    }
    Machine machine;
    const Ran ran = machine.python(Isolation::gvisor, R"py(
T(lambda: os.listdir("/.cellgate/runsc"))
)py");
    CHECK_MESSAGE(ran.out.starts_with("HELD"), ran.out, ran.error);
}

TEST_CASE("in gVisor, too, what programs outside run or obey cannot be made where it does not exist") {
    if (!has_gvisor() || !are_guarded_here()) {
        return;
    }
    const std::string program = std::string(attempts_begin) + attempts + attempts_end;
    Machine bare;
    check_all(bare.python(Isolation::none, program).out, "ESCAPED");
    Machine machine;
    const Ran held = machine.python(Isolation::gvisor, program);
    CHECK_MESSAGE(held.status.success(), held.error);
    // A FIFO that its files cannot have, gVisor keeps for itself: outside there is none.
    std::istringstream lines(held.out);
    for (std::string line; std::getline(lines, line);) {
        CHECK_MESSAGE((line.find(" HELD") != std::string::npos || line == "as_a_fifo ESCAPED"), line);
    }
    CHECK(made_names(machine) == "");
}

TEST_CASE("no file gets a set-user-id bit in gVisor") {
    if (!has_gvisor()) {
        return;
    }
    Machine machine;
    const std::string program = R"py(
open("program", "w").close()
try: os.chmod("program", 0o4755)
except OSError: pass
os.chmod("data.txt", 0o755)
print("tried"))py";
    const auto mode_of = [&](const char* name) {
        return std::filesystem::status(machine.workspace / name).permissions();
    };
    const Ran free = machine.python(Isolation::none, program);
    CHECK(free.out == "tried\n");
    CHECK((mode_of("program") & std::filesystem::perms::set_uid) != std::filesystem::perms::none);
    std::filesystem::remove(machine.workspace / "program");
    const Ran held = machine.python(Isolation::gvisor, program);
    CHECK_MESSAGE(held.out == "tried\n", held.error);
    CHECK((mode_of("program") & std::filesystem::perms::set_uid) == std::filesystem::perms::none);
    CHECK((mode_of("data.txt") & std::filesystem::perms::owner_exec) !=
          std::filesystem::perms::none); // other modes work
}

TEST_CASE("honest code works in gVisor") {
    if (!has_gvisor()) {
        return;
    }
    Machine machine;
    const Ran ran = machine.python(Isolation::gvisor, R"py(
os.makedirs("a/b"); os.makedirs("c")
open("a/b/file", "w").write("text")
os.rename("a/b/file", "c/file"); os.link("c/file", "a/link"); os.rename("a/b", "c/b"); os.symlink("file", "c/symbolic")
os.truncate("c/file", 2); assert open("a/link").read() == "te"
os.chmod("c/file", 0o755); assert os.stat("c/file").st_mode & 0o777 == 0o755
open("program", "w").write("#!/bin/sh\necho ran\n"); os.chmod("program", 0o755)
assert subprocess.run("./program", capture_output=True).stdout == b"ran\n"
for top in (os.environ["HOME"], "/tmp", "/dev/shm", S):
    open(top + "/x", "w").close(); os.remove(top + "/x")
print("worked", os.statvfs("/tmp").f_blocks * os.statvfs("/tmp").f_frsize >> 20))py");
    CHECK_MESSAGE(ran.out == "worked 1024\n", ran.out, ran.error);
    CHECK(machine.read(machine.workspace / "c/file") == "te");
}

TEST_CASE("a command in gVisor ends as it does elsewhere") {
    if (!has_gvisor()) {
        return;
    }
    Machine machine;
    CHECK(machine.python(Isolation::gvisor, "sys.exit(3)").status.describe() == "exit code 3");
    CHECK(machine.python(Isolation::gvisor, "os.kill(os.getpid(), 9)").status.describe() ==
          machine.python(Isolation::none, "os.kill(os.getpid(), 9)").status.describe());
}

TEST_CASE("processes and files have their limits in gVisor, root's too") {
    if (!has_gvisor()) {
        return;
    }
    Machine machine;
    machine.profile.limits.process_count = 12;
    machine.profile.limits.open_files = 40;
    machine.profile.limits.file_bytes = 1 << 20;
    const Ran ran = machine.python(Isolation::gvisor, R"py(
import errno, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def refused(action):
    try:
        for each in range(100): action()
    except OSError as problem:
        return each, errno.errorcode[problem.errno]
def fork():
    if os.fork() == 0: time.sleep(600)
files = []
opened = refused(lambda: files.append(open("/dev/null"))); files.clear()
print(opened, refused(lambda: open("large", "ab").write(b"x" * (1 << 18))))
count, error = refused(fork)
print(5 < count < 12, error)
)py");
    CHECK_MESSAGE(ran.out.ends_with("EMFILE') (4, 'EFBIG')\nTrue EAGAIN\n"), ran.out, ran.error);
    CHECK(std::find(ran.layers.begin(), ran.layers.end(), "process-limit") != ran.layers.end());
}

TEST_CASE("gVisor refuses what it cannot show, and says how it is installed where it is not") {
    Machine machine;
    Settings settings;
    settings.gpu = true;
    machine.profile.settings = std::make_shared<const Settings>(settings);
    if (has_gvisor()) {
        CHECK_THROWS_WITH_AS(machine.python(Isolation::gvisor, "pass"), doctest::Contains("graphics cards"), Error);
    }
    CHECK_THROWS_WITH_AS(find_runsc({"/nowhere"}), doctest::Contains("/nowhere"), Error);
    try {
        find_runsc({"/nowhere"});
    } catch (const Error& error) {
        CHECK(error.hint.find("apt install runsc") != std::string::npos);
    }
}
