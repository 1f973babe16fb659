// The sandbox without namespaces: what it must hold by its guard alone, each attempt with a control in which it works
// without a sandbox, and that honest code works in it.

#include "base/unique_fd.hpp"
#include "launch/landlock_launcher.hpp"
#include "machine.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <pty.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

namespace fs = std::filesystem;

struct Attempt {
    const char* name;
    const char* program;
};

// What Landlock by itself lets through, or no namespace holds apart here. OUTSIDE is a folder of the user's that is
// shown read-only, with a file and a socket in it; OUTSIDER is a process of the user's.
constexpr Attempt attempts[] = {
    {"connect to a socket of the user's",
     R"(T(lambda: socket.socket(socket.AF_UNIX).connect(OUTSIDE + "/socket") is None))"},
    {"connect to it through a link", R"(
os.symlink(OUTSIDE + "/socket", W + "/link")
T(lambda: socket.socket(socket.AF_UNIX).connect(W + "/link") is None))"},
    {"connect to it from a folder that is only held", R"(
os.chdir(os.open(OUTSIDE, os.O_PATH))
T(lambda: socket.socket(socket.AF_UNIX).connect("socket") is None))"},
    {"send it a datagram from a pair of sockets", R"(
T(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", OUTSIDE + "/datagrams") == 1))"},
    {"take an abstract name",
     R"(T(lambda: socket.socket(socket.AF_UNIX).bind("\0cellgate-test-" + str(os.getpid())) is None))"},
    {"have an abstract name given",
     R"(T(lambda: socket.socket(socket.AF_UNIX).setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1) is None))"},
    {"ask a socket for the machine's interfaces", R"(
import fcntl
T(lambda: len(fcntl.ioctl(socket.socketpair()[0], 0x8912, bytes(16))) == 16))"},
    {"hold up who opens a file", R"(
import fcntl
T(lambda: fcntl.fcntl(os.open(OUTSIDE + "/file", 0), fcntl.F_SETLEASE, fcntl.F_RDLCK) == 0))"},
    {"put a socket beside the user's files", R"(T(lambda: socket.socket(socket.AF_UNIX).bind(H + "/socket") is None))"},
    {"change a file's mode", R"(T(lambda: os.chmod(OUTSIDE + "/file", 0o777) is None))"},
    {"change a secret's mode", R"(T(lambda: os.chmod(W + "/.env", 0o777) is None))"},
    {"change a mode by a descriptor that reads",
     R"(T(lambda: os.fchmod(os.open(OUTSIDE + "/file", 0), 0o777) is None))"},
    {"change a mode by a descriptor that only holds", R"(
T(lambda: os.chmod(f"/proc/self/fd/{os.open(H + '/.ssh/id_rsa', os.O_PATH)}", 0o777) is None))"},
    {"change a file's owner", R"(T(lambda: os.chown(OUTSIDE + "/file", os.getuid(), os.getgid()) is None))"},
    {"change a file's dates", R"(T(lambda: os.utime(OUTSIDE + "/file", (0, 0)) is None))"},
    {"change dates by a descriptor", R"(T(lambda: os.utime(os.open(OUTSIDE + "/file", 0), (0, 0)) is None))"},
    {"set an attribute", R"(T(lambda: os.setxattr(OUTSIDE + "/file", "user.x", b"x") is None))"},
    {"set a file's flags", R"(
import fcntl
def attack():
    file = os.open(OUTSIDE + "/file", 0)
    flags = bytearray(8); fcntl.ioctl(file, 0x80086601, flags); fcntl.ioctl(file, 0x40086602, flags); return True
T(attack))"},
    {"empty a file", R"(T(lambda: os.truncate(OUTSIDE + "/file", 0) is None))"},
    {"remove a file", R"(T(lambda: os.unlink(OUTSIDE + "/file") is None))"},
    {"limit a process of the user's", R"(
import resource
T(lambda: resource.prlimit(OUTSIDER, resource.RLIMIT_CPU, (100, 100))))"},
    {"slow all processes of the user's",
     R"(T(lambda: os.setpriority(os.PRIO_USER, 0, os.getpriority(os.PRIO_USER, 0)) is None))"},
    {"bind a process of the user's to a processor",
     R"(T(lambda: os.sched_setaffinity(OUTSIDER, os.sched_getaffinity(OUTSIDER)) is None))"},
    {"use shared memory of System V", R"(T(lambda: libc.shmget(0, 4096, 0o1600) >= 0))"},
    {"use a queue of POSIX", R"(
def attack():
    name = b"cellgate-test-%d" % os.getpid()
    made = libc.syscall(240 if os.uname().machine == "x86_64" else 180, name, os.O_CREAT | os.O_RDWR, 0o600, None)
    libc.syscall(241 if os.uname().machine == "x86_64" else 181, name); return made >= 0
T(attack))"},
    {"read what a process of the user's was started with",
     R"(T(lambda: "sleep" in open(f"/proc/{OUTSIDER}/cmdline").read()))"},
    {"list what a process of the user's has open", R"(T(lambda: os.listdir(f"/proc/{OUTSIDER}/fd")))"},
    {"list the machine's connections", R"(T(lambda: "local_address" in open("/proc/net/tcp").read()))"},
    {"go through a process of the user's",
     R"(T(lambda: "CANARY" in open(f"/proc/{OUTSIDER}/root{H}/.ssh/id_rsa").read()))"},
    {"open a terminal of the user's", R"(T(lambda: os.open(os.environ["TERMINAL"], os.O_RDWR | os.O_NOCTTY)))"},
    {"read .env by an older hard link", R"(T(lambda: "CANARY" in open(W + "/older").read()))"},
    {"read .env by a descriptor that only holds it", R"(
T(lambda: "CANARY" in open(f"/proc/self/fd/{os.open(W + '/.env', os.O_PATH)}").read()))"},
    {"move a repository in from scratch space", R"(
import tempfile
def attack():
    made = tempfile.mkdtemp(dir=S) + "/x"; os.makedirs(made + "/.git/hooks"); os.rename(made, W + "/x"); return True
T(attack))"},
    {"make a repository", R"(T(lambda: os.makedirs(W + "/new/.git/hooks") is None))"},
    {"make a repository in scratch space, where a link may lead",
     R"(T(lambda: os.makedirs(os.environ.get("TMPDIR", S) + "/.git/hooks") is None))"},
    {"make a repository in the home", R"(T(lambda: os.makedirs(os.environ["HOME"] + "/.git/hooks") is None))"},
    {"exchange a path while it is opened", R"(
import threading
def attack():
    os.mkdir(W + "/a"); open(W + "/a/id_rsa", "w").close(); os.symlink(W + "/a", W + "/way"); done = []
    def exchange():
        while not done:
            for target in (H + "/.ssh", W + "/a"): os.symlink(target, W + "/next"); os.rename(W + "/next", W + "/way")
    thread = threading.Thread(target=exchange); thread.start(); found = False
    for _ in range(int(os.environ["TRIES"])):
        try: found = "CANARY" in open(W + "/way/id_rsa").read()
        except OSError: pass
        if found: break
    done.append(1); thread.join(); return found
T(attack))"},
    {"exchange an address while it is connected to", R"(
import threading
def attack():
    own = S + "/own"
    listener = socket.socket(socket.AF_UNIX); listener.bind(own); listener.listen(4096)
    size = 2 + max(len(own), len(OUTSIDE) + 7) + 1; address = ctypes.create_string_buffer(size)
    def put(path): ctypes.memmove(address, b"\x01\0" + path.encode().ljust(size - 2, b"\0"), size)
    done = []
    def exchange():
        while not done: put(OUTSIDE + "/socket"); put(own)
    thread = threading.Thread(target=exchange); thread.start(); found = False
    for _ in range(int(os.environ["TRIES"])):
        client = socket.socket(socket.AF_UNIX); client.setblocking(False)
        found = libc.connect(client.fileno(), address, size) == 0 and client.getpeername() == OUTSIDE + "/socket"
        client.close()
        if found: break
    done.append(1); thread.join(); return found
T(attack))"},
};

Ran attempt_on_a_fresh_machine(Isolation isolation, const Attempt& attempt) {
    Machine machine;
    const fs::path outside = machine.root / "outside";
    machine.write(outside / "file", "user's");
    const UniqueFd user = listen_unix(outside / "socket");
    const UniqueFd datagrams(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (outside / "datagrams").native().copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::bind(datagrams.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    fs::create_hard_link(machine.workspace / ".env", machine.workspace / "older");
    int owner = -1;
    int terminal = -1;
    REQUIRE(::openpty(&owner, &terminal, nullptr, nullptr, nullptr) == 0);
    const UniqueFd held_owner(owner);
    const UniqueFd held_terminal(terminal);
    char program[] = "/bin/sleep";
    char seconds[] = "600";
    char* argv[] = {program, seconds, nullptr};
    pid_t outsider = 0;
    REQUIRE(::posix_spawn(&outsider, program, nullptr, nullptr, argv, environ) == 0);
    // Without a sandbox, a race is run until it is won.
    const char* tries = isolation == Isolation::none ? "1000000" : "1000";
    machine.variables = {{"TRIES", tries},
                         {"OUTSIDE", outside},
                         {"OUTSIDER", std::to_string(outsider)},
                         {"TERMINAL", ::ttyname(terminal)}};
    machine.profile.settings = with_additions(nullptr, Additions{{outside}, {}, false});
    const Ran ran =
        machine.python(isolation, "OUTSIDE = os.environ['OUTSIDE']; OUTSIDER = int(os.environ['OUTSIDER'])\n" +
                                      std::string(attempt.program));
    ::kill(outsider, SIGKILL);
    ::waitpid(outsider, nullptr, 0);
    return ran;
}

} // namespace

TEST_CASE("what Landlock lets through, or no namespace holds apart, the guard and the filter hold") {
    for (const Attempt& attempt : attempts) {
        CAPTURE(std::string(attempt.name));
        const Ran bare = attempt_on_a_fresh_machine(Isolation::none, attempt);
        CHECK_MESSAGE(bare.out.starts_with("ESCAPED"), bare.out, bare.error);
        const Ran held = attempt_on_a_fresh_machine(Isolation::landlock, attempt);
        CHECK_MESSAGE(held.out.starts_with("HELD"), held.out, held.error);
    }
}

TEST_CASE("the landlock launcher says what it lacks, and refuses limits that it cannot hold") {
    Machine machine;
    async::Command command;
    command.argv = {"/bin/true"};
    const std::unique_ptr<Launcher> launcher = make_launcher(Isolation::landlock, machine.environment);
    const Launch launch = launcher->wrap(command, machine.profile);
    CHECK(launch.notices.size() == traits_of(Isolation::landlock).limitations.size());
    CHECK(std::find(launch.layers.begin(), launch.layers.end(), "network-namespace") == launch.layers.end());
    Machine limited;
    limited.profile.limits.disk_bytes = 1 << 20;
    CHECK_THROWS_AS(launcher->wrap(command, limited.profile), Error);
}

TEST_CASE("honest code works in a sandbox without namespaces") {
    Machine machine;
    const Ran ran = machine.python(Isolation::landlock, std::string(files_as_usual) + R"python(
import asyncio, json, multiprocessing.connection, pty, shutil, sqlite3, stat, tempfile, threading
os.mkfifo("a/fifo"); os.unlink("a/fifo"); os.rmdir("c/b"); assert sorted(os.listdir("c")) == ["file", "symbolic"]
open("/dev/null", "w").close(); os.close(os.open("/dev/urandom", os.O_RDONLY))
assert subprocess.run("echo x > /dev/null; echo ok > /dev/stdout", shell=True, check=True, capture_output=True).stdout == b"ok\n"
os.chmod("c/file", 0o640); os.utime("c/file", (1, 2)); assert os.stat("c/file").st_mtime == 2
os.utime("c/file"); assert os.stat("c/file").st_mtime > 2
no_times = (ctypes.c_long * 4)(1, 1000000, 1, 0)
assert libc.utimes(b"c/file", no_times) == -1 and ctypes.get_errno() == 22
os.chown("c/file", os.getuid(), -1); shutil.copy2("c/file", "a/copy"); shutil.copytree("c", "d", symlinks=True)
shutil.make_archive("archive", "gztar", "c"); shutil.unpack_archive("archive.tar.gz", "unpacked"); shutil.rmtree("unpacked")
owner, terminal = pty.openpty(); os.write(owner, b"typed\n"); assert os.read(terminal, 10) == b"typed\n"
pid, child = pty.fork()
if pid == 0: os.write(os.open("/dev/tty", os.O_RDWR), b"mine"); os._exit(0)
assert os.read(child, 10) == b"mine"; os.waitpid(pid, 0)
rows = sqlite3.connect("c/base")
for line in ("pragma journal_mode=wal", "create table t(x)", "insert into t values (1)"): rows.execute(line)
rows.commit()
open("program", "w").write("#!/bin/sh\necho ran\n"); os.chmod("program", 0o755)
assert subprocess.run("./program", capture_output=True).stdout == b"ran\n"
for top in (os.environ["HOME"], tempfile.gettempdir(), S):
    assert os.listdir(top) is not None; os.makedirs(top + "/x/y"); open(top + "/x/.config", "w").close()
path = tempfile.mkdtemp() + "/s"
with multiprocessing.connection.Listener(path, "AF_UNIX") as listener:
    client = threading.Thread(target=lambda: multiprocessing.connection.Client(path).send("sent")); client.start()
    assert listener.accept().recv() == "sent"; client.join()
async def main():
    process = await asyncio.create_subprocess_exec("cat", "c/file", stdout=asyncio.subprocess.PIPE)
    return (await process.communicate())[0]
assert asyncio.run(main()) == b"te"
child = os.fork()
if child == 0: time.sleep(600)
os.kill(child, 9); assert os.waitpid(child, 0)[1] == 9
assert "root" in open("/etc/passwd").read()
print("worked"))python");
    CHECK_MESSAGE(ran.out == "worked\n", ran.out, ran.error);
    CHECK(std::find(ran.layers.begin(), ran.layers.end(), "landlock") != ran.layers.end());
}
