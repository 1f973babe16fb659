// What stays in a sandbox, and ends with it. What a program can try in one is tried by `cellgate sandbox test`.

#include "base/files.hpp"
#include "machine.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

namespace fs = std::filesystem;

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
