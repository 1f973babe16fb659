// What a hostile cell may try. Each attempt runs twice, each time on a machine of its own: without a sandbox, where it
// must work (the control: else the test proves nothing), and in one, where it must not.

#include "base/unique_fd.hpp"
#include "machine.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

namespace fs = std::filesystem;

enum class Control { anyone, root_only };

// What becomes of it where there are no namespaces: what is seen there can be neither read nor changed
// (LandlockLauncher::traits). An ordinary user has no right to give up those that it could never have.
enum class Alone { held, held_for_root, seen };

struct Attempt {
    const char* name;
    const char* program;
    Control control = Control::anyone;
    Alone alone = Alone::held;
};

constexpr Attempt attempts[] = {
    // reading
    {"read ~/.ssh/id_rsa", R"(T(lambda: "CANARY" in open(H+"/.ssh/id_rsa").read()))"},
    {"read .env", R"(T(lambda: "CANARY" in open(W+"/.env").read()))"},
    {"read .envrc", R"(T(lambda: "CANARY" in open(W+"/.envrc").read()))"},
    {"read .env.production in a folder", R"(T(lambda: "CANARY" in open(W+"/deploy/.env.production").read()))"},
    {"read what .env, a symlink, points to", R"(T(lambda: "CANARY" in open(W+"/deploy/secrets/prod").read()))"},
    {"rename .env and read it", R"(T(lambda: (os.rename(W+"/.env", W+"/e2"), "CANARY" in open(W+"/e2").read())[1]))"},
    {"make a hard link to .env and read it",
     R"(T(lambda: (os.link(W+"/.env", W+"/e2"), "CANARY" in open(W+"/e2").read())[1]))"},
    {"rename the folder of .env.production and read it",
     R"(T(lambda: (os.rename(W+"/deploy", W+"/d2"), "CANARY" in open(W+"/d2/.env.production").read())[1]))"},
    {"rename the workspace and read .env",
     R"(T(lambda: (os.rename(W, W+"2"), "CANARY" in open(W+"2/.env").read())[1]))"},
    {"unmount what covers .env",
     R"(T(lambda: (libc.umount2((W+"/.env").encode(), 2), "CANARY" in open(W+"/.env").read())[1]))"},
    {"unmount it in a user namespace of one's own",
     R"(T(lambda: subprocess.run(["unshare", "-Urm", "sh", "-c", 'umount -l "$0"/.env; grep -q CANARY "$0"/.env', W],
                                 stderr=subprocess.DEVNULL).returncode == 0))"},
    {"read the environment of a process outside",
     R"(T(lambda: b"CANARY" in open("/proc/" + os.environ["OUTSIDER"] + "/environ", "rb").read()))"},
    {"read the names and tokens in /etc",
     R"(T(lambda: os.path.exists("/etc/hostname") or os.path.exists("/etc/machine-id") or "daemon" in open("/etc/passwd").read()))",
     Control::anyone, Alone::seen},
    {"find a device beyond the harmless ones", R"(
T(lambda: set(os.listdir("/dev")) - {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd", "core",
                                     "stdin", "stdout", "stderr", "console"}))"},
    {"read what the kernel shows to root only", R"(
def attack():
    found = []
    for name in os.listdir("/proc"):
        path = "/proc/" + name
        if name.isdigit() or not os.path.isfile(path) or os.stat(path).st_mode & 0o004: continue
        try: os.close(os.open(path, os.O_RDONLY)); found.append(name)
        except OSError: pass
    return found
T(attack))",
     Control::root_only},
    {"see /run", R"(T(lambda: os.listdir("/run")))"},
    {"see another session's directory", R"(T(lambda: os.listdir(os.path.dirname(S)) != ["1"]))"},
    {"see the hosts of this machine's network", R"(T(lambda: os.path.exists("/sys/class/net")))", Control::anyone,
     Alone::seen},
    {"see processes outside", R"(T(lambda: os.path.exists("/proc/" + os.environ["OUTSIDER"])))", Control::anyone,
     Alone::seen},
    {"find a secret in the environment", R"(
T(lambda: [name for name in os.environ if name in ("LD_LIBRARY_PATH", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK")]))"},
    // writing
    {"write a git hook", R"(T(lambda: open(W+"/.git/hooks/pre-commit", "w").write("x")))"},
    {"change .git/config", R"(T(lambda: open(W+"/.git/config", "a").write("x")))"},
    {"point git elsewhere by .git/commondir", R"(T(lambda: open(W+"/.git/commondir", "w").write("../evil")))"},
    {"move .git away and plant another",
     R"(T(lambda: (os.rename(W+"/.git", W+"/.git_old"), os.makedirs(W+"/.git/hooks"), 1)[2]))"},
    {"change .mcp.json", R"(T(lambda: open(W+"/.mcp.json", "w").write("x")))"},
    {"replace .mcp.json", R"(T(lambda: (open(W+"/x", "w").close(), os.replace(W+"/x", W+"/.mcp.json"), 1)[2]))"},
    {"write an editor's task in a folder", R"(T(lambda: open(W+"/part/.vscode/tasks.json", "w").write("x")))"},
    {"move a folder above .vscode away and plant another",
     R"(T(lambda: (os.rename(W+"/part", W+"/p2"), os.makedirs(W+"/part/.vscode"), 1)[2]))"},
    {"move the outer of two folders above a guarded file away and plant another",
     R"(T(lambda: (os.rename(W+"/deploy", W+"/d2"), os.makedirs(W+"/deploy/secrets"), 1)[2]))"},
    {"move the inner of two folders above a guarded file away and plant another",
     R"(T(lambda: (os.rename(W+"/deploy/secrets", W+"/s2"), os.makedirs(W+"/deploy/secrets"), 1)[2]))"},
    {"exchange a folder above .vscode for another", R"(
def attack():
    os.makedirs(W+"/evil/.vscode")
    return libc.renameat2(-100, (W+"/part").encode(), -100, (W+"/evil").encode(), 2) == 0
T(attack))"},
    {"change a wrapper", R"(T(lambda: open(W+"/mcptools/fs/read_file.py", "w").write("x")))"},
    {"rename mcptools", R"(T(lambda: (os.rename(W+"/mcptools", W+"/m2"), 1)[1]))"},
    {"write into site-packages", R"(
import site
def attack():
    for directory in site.getsitepackages():
        path = directory + "/cellgate_test_evil.pth"
        try: open(path, "w").close(); os.unlink(path); return path
        except OSError: pass
T(attack))",
     Control::root_only},
    {"write to the root directory", R"(T(lambda: (os.mkdir("/cellgate-test"), os.rmdir("/cellgate-test"), 1)[2]))",
     Control::root_only},
    {"fill /dev, which has no size",
     R"(T(lambda: (open("/dev/cellgate-test", "w").close(), os.unlink("/dev/cellgate-test"), 1)[2]))",
     Control::root_only},
    {"make a block device", R"(T(lambda: (os.mknod(W+"/disk", 0o60600, os.makedev(254, 0)), 1)[1]))",
     Control::root_only},
    {"change a setting of the kernel, such as core_pattern", R"(
def attack():
    found = []
    for directory, _, names in os.walk("/proc/sys"):
        for name in names:
            try: os.close(os.open(directory + "/" + name, os.O_WRONLY)); found.append(name)
            except OSError: pass
    return found[:5]
T(attack))",
     Control::root_only},
    {"open any other file of /proc for writing that is not of a process", R"(
def attack():
    found = []
    for top in os.listdir("/proc"):
        if top.isdigit() or os.path.islink("/proc/" + top): continue
        for path in ["/proc/" + top] + [d + "/" + n for d, _, ns in os.walk("/proc/" + top) for n in ns]:
            try: os.close(os.open(path, os.O_WRONLY)); found.append(path)
            except OSError: pass
    return found[:5]
T(attack))",
     Control::root_only},
    // rights
    {"have a user namespace",
     R"(T(lambda: subprocess.run(["unshare", "-U", "true"], stderr=subprocess.DEVNULL).returncode == 0))"},
    {"enter the network of a process outside", R"(
T(lambda: libc.setns(os.open("/proc/" + os.environ["OUTSIDER"] + "/ns/net", 0), 0) == 0))",
     Control::root_only},
    {"chroot", R"(T(lambda: (os.chroot(W), 1)[1]))", Control::root_only},
    {"become someone else by setuid programs", R"(
T(lambda: subprocess.run(["su", "-c", "true"], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0))",
     Control::root_only},
    {"keep capabilities or gain privileges", R"(
status = open("/proc/self/status").read()
T(lambda: not ("NoNewPrivs:\t1" in status and "CapEff:\t0000000000000000" in status and "CapBnd:\t0000000000000000" in status)))",
     Control::anyone, Alone::held_for_root},
    {"trace a process outside", R"(
def attack():
    outsider = int(os.environ["OUTSIDER"])
    if libc.ptrace(16, outsider, None, None) != 0: return False
    os.waitpid(outsider, 0)
    return libc.ptrace(17, outsider, None, None) == 0
T(attack))",
     Control::root_only},
    {"signal a process outside", R"(T(lambda: (os.kill(int(os.environ["OUTSIDER"]), 0), 1)[1]))"},
    {"see the shared memory of others", R"(T(lambda: os.path.exists(os.environ["SHARED"])))", Control::anyone,
     Alone::seen},
    {"use a keyring, a ring of input and output, or a fault handler of the kernel's", R"(
def attack():
    x86 = os.uname().machine == "x86_64"
    calls = {"add_key": (248 if x86 else 217, b"user", b"cellgate-test", b"x", 1, -2),
             "io_uring_setup": (425, 1, ctypes.create_string_buffer(120)), "userfaultfd": (323 if x86 else 282, 1)}
    return [name for name, call in calls.items() if libc.syscall(*call) >= 0]
T(attack))"},
    {"call by the second numbers of x86", R"(
def attack():
    ctypes.set_errno(0)
    return libc.syscall(0x40000000 + 39) > 0 or ctypes.get_errno() != 38 or not "Seccomp:\t2" in open("/proc/self/status").read()
T(attack))"},
    // sockets
    {"make a socket that no network namespace holds apart (to the host of a virtual machine), or of netlink", R"(
def attack():
    found = []
    for kind in ((40, 1, 0), (38, 5, 0), (16, 3, 15)):
        try: socket.socket(*kind); found.append(kind)
        except OSError: pass
    return found
T(attack))"},
    {"connect to a server on the host", R"(
T(lambda: socket.create_connection(("127.0.0.1", int(os.environ["TCP"])), 5)))"},
    {"connect to it by IPv6's form of IPv4", R"(
def attack():
    s = socket.socket(socket.AF_INET6); s.connect(("::ffff:127.0.0.1", int(os.environ["TCP"]))); return s
T(attack))"},
    {"connect to an abstract socket", R"(
def attack():
    s = socket.socket(socket.AF_UNIX); s.connect("\0" + os.environ["ABSTRACT"]); return s
T(attack))"},
    {"connect to a socket of another session", R"(
def attack():
    s = socket.socket(socket.AF_UNIX); s.connect(os.path.dirname(S) + "/2/s"); return s
T(attack))"},
};

sockaddr_in loopback(int port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

struct BoundPort {
    UniqueFd socket;
    int port;
};

BoundPort bind_loopback(int type) {
    UniqueFd socket(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return {std::move(socket), ntohs(address.sin_port)};
}

// A process outside the sandbox, with a secret in its environment.
class Outsider {
  public:
    Outsider() {
        char program[] = "/bin/sleep";
        char seconds[] = "600";
        char secret[] = "SECRET=CANARY";
        char* argv[] = {program, seconds, nullptr};
        char* environment[] = {secret, nullptr};
        REQUIRE(::posix_spawn(&pid, program, nullptr, nullptr, argv, environment) == 0);
    }
    Outsider(const Outsider&) = delete;
    Outsider& operator=(const Outsider&) = delete;
    ~Outsider() {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
    }
    bool lives() const { return ::waitpid(pid, nullptr, WNOHANG) == 0; }

    pid_t pid = 0;
};

// Everything outside that an attempt may want to reach.
struct Surroundings {
    explicit Surroundings(Machine& machine) : tcp(bind_loopback(SOCK_STREAM)) {
        REQUIRE(::listen(tcp.socket.get(), 8) == 0);
        fs::path other = machine.session_dir.parent_path() / "2";
        fs::create_directories(other);
        other_session = std::make_unique<UniqueFd>(listen_unix(other / "s"));
        std::string name = machine.root.filename();
        abstract = std::make_unique<UniqueFd>(listen_unix(std::string(1, '\0') + name));
        shared = "/dev/shm/" + name;
        machine.write(shared, "x");
        machine.environment["AWS_SECRET_ACCESS_KEY"] = "CANARY";
        machine.variables = {{"OUTSIDER", std::to_string(outsider.pid)},
                             {"TCP", std::to_string(tcp.port)},
                             {"ABSTRACT", name},
                             {"SHARED", shared}};
    }
    ~Surroundings() { fs::remove(shared); }

    Outsider outsider;
    BoundPort tcp;
    std::unique_ptr<UniqueFd> other_session;
    std::unique_ptr<UniqueFd> abstract;
    fs::path shared;
};

Ran attempt_on_a_fresh_machine(Isolation isolation, const Attempt& attempt) {
    Machine machine;
    Surroundings surroundings(machine);
    return machine.python(isolation, attempt.program);
}

struct Pipe {
    UniqueFd read;
    UniqueFd write;
};

Pipe make_pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// Becomes the launch, with nothing of ours around it but the pipe that it lives by. For a forked child.
[[noreturn]] void execute_bare(const Launch& launch, const Pipe& lifeline) {
    std::map<int, int> descriptors = launch.command.descriptors;
    if (launch.command.lifeline_fd) {
        descriptors[*launch.command.lifeline_fd] = lifeline.read.get();
    }
    for (const auto& [number, fd] : descriptors) {
        ::dup2(fd, number + 100);
    }
    for (const auto& [number, fd] : descriptors) {
        ::dup2(number + 100, number);
        ::close(number + 100);
    }
    std::vector<std::string> argv = launch.command.argv;
    std::vector<char*> arguments;
    for (std::string& argument : argv) {
        arguments.push_back(argument.data());
    }
    arguments.push_back(nullptr);
    if (::chdir(launch.command.cwd.c_str()) == 0) {
        ::execv(arguments[0], arguments.data());
    }
    ::_exit(127);
}

// What a program prints that opens the terminal it was started on, and looks for a secret in what it inherited.
std::string look_around_bare(Isolation isolation) {
    Machine machine;
    async::Command command;
    command.argv = {"/usr/bin/python3", "-c", R"(
import os, sys
try: os.open("/dev/tty", os.O_RDWR); print("opened", end=" ")
except OSError: print("refused", end=" ")
print(os.environ.get("SECRET")))"};
    Launch launch = make_launcher(isolation, machine.environment)->wrap(std::move(command), machine.profile);
    int terminal = -1;
    const Pipe lifeline = make_pipe();
    pid_t pid = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    if (pid == 0) {
        ::setenv("SECRET", "CANARY", 1);
        execute_bare(launch, lifeline);
    }
    UniqueFd owner(terminal);
    std::string text;
    char buffer[256];
    for (ssize_t count = 0; (count = ::read(terminal, buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<std::size_t>(count));
    }
    ::waitpid(pid, nullptr, 0);
    return text;
}

// Starts a program in the workspace that leaves a child behind, which left its session and ignores SIGTERM; ends its
// life as a supervisor that is killed does, and kills the outermost process; tells whether the child is still there.
// Its end is seen by the pipe that only it holds.
bool child_survives(Isolation isolation) {
    Machine machine;
    fs::path fifo = machine.workspace / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    async::Command command;
    command.argv = {"/usr/bin/python3", "-c", R"(
import os, signal
if os.fork() == 0:
    os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN)
    fd = os.open("fifo", os.O_WRONLY); os.write(fd, str(os.getpid()).encode() + b"\n")
signal.pause()
)"};
    Launch launch = make_launcher(isolation, machine.environment)->wrap(std::move(command), machine.profile);
    Pipe lifeline = make_pipe();
    pid_t outermost = ::fork();
    if (outermost == 0) {
        execute_bare(launch, lifeline);
    }
    UniqueFd pipe(::open(fifo.c_str(), O_RDONLY | O_CLOEXEC));
    char text[32] = {};
    REQUIRE(::read(pipe.get(), text, sizeof text - 1) > 0);
    ::kill(outermost, SIGKILL);
    ::waitpid(outermost, nullptr, 0);
    lifeline.write = UniqueFd(-1);
    pollfd end = {pipe.get(), POLLIN, 0};
    constexpr int long_enough_in_a_sandbox = 10'000;
    constexpr int control = 200;
    bool survives = ::poll(&end, 1, isolation == Isolation::none ? control : long_enough_in_a_sandbox) == 0;
    if (isolation == Isolation::none) {
        ::kill(std::atoi(text), SIGKILL);
    }
    return survives;
}

} // namespace

TEST_CASE("attempts to escape work without a sandbox and are held in one") {
    for (const Attempt& attempt : attempts) {
        CAPTURE(attempt.name);
        if (attempt.control == Control::anyone || ::geteuid() == 0) {
            Ran bare = attempt_on_a_fresh_machine(Isolation::none, attempt);
            CHECK_MESSAGE(bare.out.starts_with("ESCAPED"), bare.out, bare.error);
        }
        Ran held = attempt_on_a_fresh_machine(Isolation::bwrap, attempt);
        CHECK_MESSAGE(held.out.starts_with("HELD"), held.out, held.error);
    }
}

TEST_CASE("without namespaces, the same attempts are held by the guard, or only see that something is there") {
    for (const Attempt& attempt : attempts) {
        CAPTURE(attempt.name);
        const Ran held = attempt_on_a_fresh_machine(Isolation::landlock, attempt);
        const bool is_held =
            attempt.alone == (::geteuid() == 0 ? Alone::held_for_root : Alone::held) || attempt.alone == Alone::held;
        const char* expected = is_held ? "HELD" : "ESCAPED";
        CHECK_MESSAGE(held.out.starts_with(expected), held.out, held.error);
    }
}

TEST_CASE("a datagram reaches a host's port without a sandbox only: there is no DNS in one") {
    for (Isolation isolation : {Isolation::none, Isolation::bwrap, Isolation::landlock}) {
        Machine machine;
        BoundPort udp = bind_loopback(SOCK_DGRAM);
        machine.variables["UDP"] = std::to_string(udp.port);
        machine.python(isolation, R"(socket.socket(2, 2).sendto(b"secret", ("127.0.0.1", int(os.environ["UDP"]))))");
        char datagram[16];
        bool arrived = ::recv(udp.socket.get(), datagram, sizeof datagram, MSG_DONTWAIT) > 0;
        CHECK(arrived == (isolation == Isolation::none));
    }
}

TEST_CASE("what a cell writes outside the workspace stays in the sandbox and is removed with it") {
    for (Isolation isolation : {Isolation::none, Isolation::bwrap}) {
        Machine machine;
        fs::path temporary = "/tmp/" + machine.root.filename().string() + "-left";
        machine.variables["LEFT"] = temporary;
        Ran ran = machine.python(isolation, R"(
for path in (H+"/.bashrc", os.environ["LEFT"]): open(path, "a").write("evil")
print("written"))");
        CHECK_MESSAGE(ran.out == "written\n", ran.error);
        bool bare = isolation == Isolation::none;
        CHECK((machine.read(machine.home / ".bashrc") == "user's\nevil") == bare);
        CHECK(fs::exists(temporary) == bare);
        fs::remove(temporary);
    }
}

TEST_CASE("kill(-1) reaches nothing outside") {
    for (const Isolation isolation : {Isolation::bwrap, Isolation::landlock}) {
        Machine machine;
        Surroundings surroundings(machine);
        Ran ran = machine.python(isolation, "subprocess.Popen(['sleep', '600'])\nos.kill(-1, 9)\nprint('sent')");
        CHECK_MESSAGE(ran.out == "sent\n", ran.error);
        CHECK(surroundings.outsider.lives());
        // The control: the same right to kill exists without the sandbox, for the one process that we may lose.
        machine.python(Isolation::none, "os.kill(int(os.environ['OUTSIDER']), 9)");
        CHECK(::waitpid(surroundings.outsider.pid, nullptr, 0) == surroundings.outsider.pid);
    }
}

TEST_CASE("when bwrap and its supervisor are killed, children that left the session and ignore signals end too") {
    CHECK(child_survives(Isolation::none));
    CHECK_FALSE(child_survives(Isolation::bwrap));
}

TEST_CASE("a cell inherits neither the terminal nor the environment of whatever starts it") {
    CHECK(look_around_bare(Isolation::none) == "opened CANARY\r\n");
    CHECK(look_around_bare(Isolation::bwrap) == "refused None\r\n");
    CHECK(look_around_bare(Isolation::landlock).starts_with("refused")); // the environment is the starter's to give
}

TEST_CASE("scratch space has a size") {
    const char* program = R"(
def size(path): v = os.statvfs(path); return v.f_blocks * v.f_frsize
for path in ("/tmp", "/dev/shm", H):
    limit = size(path)
    with open(path + "/cellgate-fill", "wb") as file:
        try: os.posix_fallocate(file.fileno(), 0, limit + 4096); print("filled")
        except OSError as error: print(limit >> 20, error.strerror)
    os.unlink(path + "/cellgate-fill")
)";
    Machine machine;
    Ran ran = machine.python(Isolation::bwrap, program);
    CHECK_MESSAGE(ran.out == "1024 No space left on device\n512 No space left on device\n512 No space left on device\n",
                  ran.error);
    Ran bare =
        machine.python(Isolation::none, "print(os.statvfs('/tmp').f_blocks * os.statvfs('/tmp').f_frsize >> 20)");
    CHECK(bare.out != "1024\n");
}
