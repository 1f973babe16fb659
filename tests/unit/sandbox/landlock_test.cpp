// What Landlock holds where other layers of the sandbox have a flaw, and that honest code loses nothing by it. Each
// attempt has the same flaw with and without Landlock; without, it must work.

#include "base/files.hpp"
#include "launch/landlock.hpp"
#include "machine.hpp"
#include "sandbox/doctor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <iterator>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <map>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

namespace fs = std::filesystem;

struct Attempt {
    const char* name;
    int oldest; // version of Landlock
    const char* program;
};

// OUTSIDE is a folder of the machine that is mounted writable by a mistake, with a file, a device and a socket in it;
// 9 is a descriptor of that folder, which somebody outside handed in.
constexpr Attempt attempts[] = {
    {"make a file", 2, R"(open(OUTSIDE + "/new", "w").close())"},
    {"change a file", 2, R"(open(OUTSIDE + "/file", "a").close())"},
    {"remove a file", 2, R"(os.unlink(OUTSIDE + "/file"))"},
    {"empty a file", 3, R"(os.truncate(OUTSIDE + "/file", 0))"},
    {"read below a folder's descriptor", 2, R"(os.open("file", os.O_RDONLY, dir_fd=9))"},
    {"make a device", 2, R"(os.mknod("device", stat.S_IFCHR | 0o600, 0))"},
    {"control a device", 5, R"(fcntl.ioctl(os.open(OUTSIDE + "/device", os.O_RDONLY), 0x80045200, bytearray(4)))"},
    {"signal the process that stands guard", 6, R"(os.kill(os.getppid(), 0))"},
    {"connect to an abstract socket outside", 6,
     R"(socket.socket(socket.AF_UNIX).connect("\0" + os.environ["ABSTRACT"]))"},
};

// Why Landlock takes no other layer's place (ARCHITECTURE.md).
constexpr Attempt not_held[] = {
    {"connect to a socket", 2, R"(socket.socket(socket.AF_UNIX).connect(OUTSIDE + "/user"))"},
    {"change a file's mode", 2, R"(os.chmod(OUTSIDE + "/file", 0o777))"},
    {"change a file's dates", 2, R"(os.utime(OUTSIDE + "/file", (0, 0)))"},
    {"limit the process that stands guard", 2, R"(resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (100, 100)))"},
};

constexpr const char* prelude = R"(
import fcntl, os, resource, socket, stat
OUTSIDE = "/usr/local"
def attack(): )";
constexpr const char* ending = R"(
try: attack(); print("done")
except PermissionError as error: print("refused"))";

// bwrap's options are in the launch's first descriptor, each ended by a NUL.
std::string options_of(const Launch& launch) {
    const UniqueFd file = open_to_read("/proc/self/fd/" + std::to_string(launch.descriptors.front().get()));
    std::string options;
    char part[4096];
    for (ssize_t size = 0; (size = ::read(file.get(), part, sizeof part)) > 0;) {
        options.append(part, static_cast<std::size_t>(size));
    }
    return options;
}

void replace_options(Launch& launch, const std::string& options) {
    for (auto& [number, descriptor] : launch.command.descriptors) {
        if (descriptor == launch.descriptors.front().get()) {
            launch.descriptors.front() = anonymous_file(options);
            descriptor = launch.descriptors.front().get();
            return;
        }
    }
}

void add_options(Launch& launch, const std::vector<std::string>& more) {
    std::string options = options_of(launch);
    for (const std::string& option : more) {
        options += option + '\0';
    }
    replace_options(launch, options);
}

void share_the_network(Launch& launch) {
    std::string options = options_of(launch);
    const std::string own = std::string("--unshare-net") + '\0';
    options.erase(options.find(own), own.size());
    replace_options(launch, options);
}

void leave_landlock_out(Launch& launch) {
    const auto word = std::find(launch.command.argv.begin(), launch.command.argv.end(), "landlock");
    REQUIRE(word != launch.command.argv.end());
    launch.command.argv.erase(word);
}

Launch launch_of(Machine& machine, Launcher& launcher, const std::string& program,
                 std::map<int, int> descriptors = {}) {
    async::Command command;
    command.argv = {"/usr/bin/python3", "-c", program};
    command.environment = machine.variables;
    command.descriptors = std::move(descriptors);
    return launcher.wrap(std::move(command), machine.profile);
}

std::string attempt_with_flaws(const Attempt& attempt, bool with_landlock) {
    Machine machine;
    const UniqueFd abstract = listen_unix(std::string(1, '\0') + machine.root.filename().string());
    machine.variables = {{"ABSTRACT", machine.root.filename()}};
    const fs::path outside = machine.root / "outside";
    machine.write(outside / "file", "user's");
    machine.write(outside / "device", "");
    const UniqueFd user = listen_unix(outside / "user");
    const std::unique_ptr<Launcher> launcher = make_launcher(Isolation::bwrap, machine.environment);
    const UniqueFd folder(::open(outside.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    Launch launch = launch_of(machine, *launcher, std::string(prelude) + attempt.program + ending, {{9, folder.get()}});
    add_options(launch, {"--bind", outside, "/usr/local", "--dev-bind", "/dev/urandom", "/usr/local/device"});
    share_the_network(launch);
    if (!with_landlock) {
        leave_landlock_out(launch);
    }
    const Ran ran = Machine::start(*launcher, launch);
    return ran.out + ran.error;
}

// Whether the sandbox's command ran when `list` replaced the list of writable places.
bool runs_with(const std::string& list) {
    Machine machine;
    fs::create_directories(machine.root / "outside");
    fs::create_symlink("/dev", machine.root / "outside/link");
    machine.write(machine.root / "list", list);
    const std::unique_ptr<Launcher> launcher = make_launcher(Isolation::bwrap, machine.environment);
    Launch launch = launch_of(machine, *launcher, "open('ran', 'w')");
    add_options(launch, {"--ro-bind", machine.root / "outside", "/usr/local", "--ro-bind", machine.root / "list",
                         "/.cellgate/writable"});
    if (list.empty()) {
        leave_landlock_out(launch);
    }
    const Ran ran = Machine::start(*launcher, launch);
    const bool did = fs::exists(machine.workspace / "ran");
    CHECK(ran.status.success() == did);
    CHECK_MESSAGE((ran.error.find("Landlock") != std::string::npos) == !did, ran.error);
    return did;
}

// As kernels do that were started without it. For a forked child.
bool refuse_landlock() {
    sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog filter = {static_cast<unsigned short>(std::size(rules)), rules};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// What does not hold where there is no Landlock; empty, when all does.
std::string found_without_landlock() {
    if (!refuse_landlock()) {
        return "no filter";
    }
    Machine machine;
    const Ran ran = machine.python(Isolation::bwrap, "T(lambda: open('/usr/local/x', 'w'))");
    const std::vector<Finding> findings = examine(machine.environment);
    if (!ran.out.starts_with("HELD") || findings.size() != 6) {
        return ran.out + ran.error;
    }
    if (std::find(ran.layers.begin(), ran.layers.end(), "landlock") != ran.layers.end()) {
        return "the layer is named";
    }
    return findings[3].good && findings[3].detail.find("not available") != std::string::npos ? "" : findings[3].detail;
}

} // namespace

TEST_CASE("what another layer lets through by a flaw, Landlock holds") {
    for (const Attempt& attempt : attempts) {
        if (landlock_version() < attempt.oldest) {
            MESSAGE("no Landlock for this here: " << attempt.name);
            continue;
        }
        CAPTURE(attempt.name);
        CHECK(attempt_with_flaws(attempt, false) == "done\n");
        CHECK(attempt_with_flaws(attempt, true) == "refused\n");
    }
}

TEST_CASE("what Landlock lets through has to be held by another layer") {
    for (const Attempt& attempt : not_held) {
        CAPTURE(attempt.name);
        CHECK((landlock_version() < attempt.oldest || attempt_with_flaws(attempt, true) == "done\n"));
    }
}

TEST_CASE("nothing runs when Landlock is not available as it was planned") {
    if (!has_landlock()) {
        MESSAGE("no Landlock here");
        return;
    }
    using namespace std::string_literals;
    CHECK(runs_with("")); // the control: without Landlock
    CHECK_FALSE(runs_with("/absent\0"s));
    CHECK_FALSE(runs_with("/usr/local/link\0"s)); // a link in the place of what was meant
    CHECK_FALSE(runs_with("/usr/local/link/shm\0"s));
    CHECK_FALSE(runs_with("/tmp\0/dev/shm"s)); // it has no end
}

TEST_CASE("where the kernel has no Landlock, the mounts hold alone, and the layers say so") {
    const pid_t child = ::fork();
    if (child == 0) {
        const std::string problem = found_without_landlock();
        ::dprintf(STDERR_FILENO, "%s", problem.c_str());
        ::_exit(problem.empty() ? 0 : 1);
    }
    int status = 1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("files, terminals and programs work under Landlock as without") {
    Machine machine;
    const Ran ran = machine.python(Isolation::bwrap, std::string(files_as_usual) + R"python(
import fcntl, pty, sqlite3, termios
os.mkfifo("a/fifo"); socket.socket(socket.AF_UNIX).bind("a/socket")
open("/dev/null", "w").close()
subprocess.run("echo x > /dev/null; echo > /dev/stdout", shell=True, check=True, capture_output=True)
owner, terminal = pty.openpty(); os.open(os.ttyname(terminal), os.O_RDWR | os.O_NOCTTY)
termios.tcgetattr(terminal); fcntl.ioctl(terminal, termios.TIOCSWINSZ, bytes(8))
rows = sqlite3.connect("c/base")
for line in ("pragma journal_mode=wal", "create table t(x)", "insert into t values (1)"): rows.execute(line)
rows.commit()
for top in (H, "/tmp", "/dev/shm"):
    os.makedirs(top + "/x/y"); open(top + "/x/file", "w").close(); os.rename(top + "/x/file", top + "/x/y/file")
child = os.fork()
if child == 0: time.sleep(600)
os.kill(child, 9); assert os.waitpid(child, 0)[1] == 9
print("worked"))python");
    CHECK_MESSAGE(ran.out == "worked\n", ran.out, ran.error);
}
