// What honest code needs, and gets in the sandbox.

#include "base/files.hpp"
#include "launch/bwrap_probe.hpp"
#include "launch/landlock.hpp"
#include "machine.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

namespace fs = std::filesystem;

void check_prints(Machine& machine, const std::string& program, const std::string& expected) {
    CAPTURE(program);
    Ran ran = machine.python(Isolation::bwrap, program);
    CHECK_MESSAGE(ran.out == expected, ran.out, ran.error);
    CHECK_MESSAGE(ran.status.success(), ran.status.describe());
}

} // namespace

TEST_CASE("ordinary Python works") {
    Machine machine;
    check_prints(machine, "print(open(W + '/data.txt').read(), os.getcwd() == W)", "data True\n");
    check_prints(machine, "print(subprocess.run(['ls', 'data.txt'], capture_output=True, text=True).stdout, end='')",
                 "data.txt\n");
    check_prints(machine, R"(
import threading
found = []
threads = [threading.Thread(target=found.append, args=(i,)) for i in range(20)]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(found)))",
                 "20\n");
    check_prints(machine, R"(
import multiprocessing
from multiprocessing import shared_memory
memory = shared_memory.SharedMemory(create=True, size=4096); memory.unlink()
with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2])))",
                 "[1, 2]\n");
    check_prints(machine, R"(
import tempfile
with tempfile.NamedTemporaryFile() as file: file.write(b"x"); print(file.name.startswith("/tmp/"))
open("/var/tmp/x", "w").close()
os.makedirs(os.path.expanduser("~/.cache/matplotlib")); open(os.path.expanduser("~/.config"), "w").close())",
                 "True\n");
    check_prints(machine, "import pwd; print(os.path.expanduser('~') == H == pwd.getpwuid(os.getuid()).pw_dir)",
                 "True\n");
    check_prints(machine,
                 "import getpass; getpass.getuser(); print(socket.gethostname(), socket.gethostbyname('localhost'))",
                 "cellgate 127.0.0.1\n");
    check_prints(machine, "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))", "b'x'\n");
    check_prints(
        machine,
        "import ssl; ssl.create_default_context(); import locale; locale.setlocale(locale.LC_ALL, ''); print('é')",
        "é\n");
    check_prints(machine,
                 "print(os.path.realpath('/etc/localtime').startswith('/usr/share/zoneinfo/') == "
                 "os.path.exists('/etc/localtime'))",
                 "True\n");
    check_prints(machine, "print(len(open('/dev/urandom', 'rb').read(4)), open('/dev/null').read() == '')", "4 True\n");
}

TEST_CASE("the workspace can be written, and nothing is left in it but what the cell wrote") {
    Machine machine;
    std::string before = machine.picture_of_workspace();
    check_prints(machine, "print('nothing written')", "nothing written\n");
    CHECK(machine.picture_of_workspace() == before);
    check_prints(machine, "open(W + '/new.txt', 'w').write('new'); os.rename(W + '/data.txt', W + '/moved.txt')", "");
    CHECK(machine.read(machine.workspace / "new.txt") == "new");
    CHECK(machine.read(machine.workspace / "moved.txt") == "data");
}

TEST_CASE("in a folder above a guarded file, files can be made, replaced, moved and removed") {
    Machine machine;
    check_prints(machine, R"(
import shutil
os.chdir(W + "/deploy")
open("a.tmp", "w").write("1"); os.replace("a.tmp", "a"); os.makedirs("new/x"); os.rename("new", "moved"); os.rmdir("moved/x")
os.link("a", "b"); shutil.move("a", W + "/part/a"); shutil.move(W + "/data.txt", "data.txt"); shutil.rmtree("moved")
open("secrets/other", "w").write("2"); os.unlink("b")
print(sorted(os.listdir()), sorted(os.listdir(W + "/part")), os.path.exists(W + "/data.txt")))",
                 "['.env', '.env.production', 'data.txt', 'secrets'] ['.vscode', 'a'] False\n");
    CHECK(machine.read(machine.workspace / "part/a") == "1");
}

TEST_CASE("what is added to a guarded directory outside is seen inside") {
    Machine machine;
    async::Command command;
    command.argv = {"/usr/bin/python3", "-c",
                    "import sys; print('up', flush=True); sys.stdin.readline();"
                    "print(open('mcptools/new.py').read())"};
    std::unique_ptr<Launcher> launcher = make_launcher(Isolation::bwrap, machine.environment);
    Launch launch = launcher->wrap(std::move(command), machine.profile);
    struct Steps {
        static Task<void> take(async::Loop* loop, const async::Command* command, Machine* machine) {
            std::unique_ptr<async::Process> process = async::start_process(*loop, *command);
            std::string up = co_await process->stdio().read();
            CHECK(up == "up\n");
            machine->write(machine->workspace / "mcptools/new.py", "generated");
            process->stdio().write("go\n");
            std::string text = co_await read_to_end(&process->stdio());
            CHECK(text == "generated\n");
            co_await process->exited();
        }
    };
    async::Loop loop;
    loop.run(Steps::take(&loop, &launch.command, &machine));
}

TEST_CASE("a socket in the session's directory is reached from both sides") {
    Machine machine;
    check_prints(machine, "s = socket.socket(socket.AF_UNIX); s.bind(S + '/s'); print(os.path.exists(S + '/s'))",
                 "True\n");
    CHECK(fs::is_socket(machine.session_dir / "s"));
}

TEST_CASE("workspaces with spaces, other scripts, and quotes in their path work") {
    Machine machine("home/my work/プロジェクト 'x' \"y\"\n$z");
    check_prints(machine, "print(os.getcwd() == W, open('data.txt').read())", "True data\n");
}

TEST_CASE("a workspace that is named through symlinks works by both names") {
    Machine machine;
    fs::create_directory_symlink("home", machine.root / "link");
    fs::create_directory_symlink(machine.root / "link" / "work", machine.root / "again");
    machine.profile.workspace = machine.root / "again";
    machine.variables["GIVEN"] = machine.root / "again";
    check_prints(
        machine,
        "print(open(os.environ['GIVEN'] + '/data.txt').read(), open(W + '/data.txt').read(), os.getcwd() == W)",
        "data data True\n");
    Ran ran = machine.python(Isolation::bwrap, "T(lambda: 'CANARY' in open(os.environ['GIVEN'] + '/.env').read())");
    CHECK_MESSAGE(ran.out.starts_with("HELD"), ran.out);
}

TEST_CASE("a virtual environment in the workspace runs, and cannot be changed") {
    Machine machine;
    REQUIRE(machine
                .run(Isolation::none, async::Command{.argv = {"/usr/bin/python3", "-m", "venv", "--without-pip",
                                                              machine.workspace / ".venv"},
                                                     .environment = {},
                                                     .cwd = {},
                                                     .descriptors = {},
                                                     .groups = {}})
                .status.success());
    machine.profile.read_only = {machine.workspace / ".venv"};
    async::Command command;
    command.argv = {machine.workspace / ".venv/bin/python", "-c", R"(
import os, sys
print(sys.prefix == os.environ["W"] + "/.venv")
try: open(sys.prefix + "/bin/activate", "a")
except OSError as error: print(error.strerror)
)"};
    Ran ran = machine.run(Isolation::bwrap, std::move(command));
    CHECK_MESSAGE(ran.out == "True\nRead-only file system\n", ran.out, ran.error);
}

TEST_CASE("an interpreter under the home directory is there, and nothing beside it") {
    Machine machine;
    fs::path prefix = machine.home / ".versions/3";
    machine.write(prefix / "bin/tool", "#!/bin/sh\necho \"$0\"; ls -A \"$H\" \"$H/.versions\"\n");
    fs::permissions(prefix / "bin/tool", fs::perms::owner_all);
    fs::create_directory_symlink("3", machine.home / ".versions/default");
    machine.profile.read_only = {machine.home / ".versions/default"};
    async::Command command;
    command.argv = {machine.home / ".versions/default/bin/tool"};
    Ran ran = machine.run(Isolation::bwrap, std::move(command));
    CHECK_MESSAGE(ran.out == machine.home.string() + "/.versions/default/bin/tool\n" + machine.home.string() +
                                 ":\n.versions\nwork\n\n" + machine.home.string() + "/.versions:\n3\ndefault\n",
                  ran.out, ran.error);
}

TEST_CASE("a caller's descriptor arrives beside ours, and none of ours") {
    Machine machine;
    UniqueFd file = anonymous_file("given");
    async::Command command;
    command.argv = {"/usr/bin/python3", "-c",
                    "import os; print(os.read(5, 9), sorted(os.listdir('/proc/self/fd'))[:5])"};
    command.descriptors[5] = file.get();
    Ran ran = machine.run(Isolation::bwrap, std::move(command));
    // 3 is the listing's own.
    CHECK_MESSAGE(ran.out == "b'given' ['0', '1', '2', '3', '5']\n", ran.out, ran.error);
}

TEST_CASE("the kernel's environment is clean, and what the session adds is in it") {
    Machine machine;
    machine.environment["LC_TIME"] = "C.UTF-8";
    machine.environment["OPENAI_API_KEY"] = "CANARY";
    machine.variables["ADDED"] = "yes";
    check_prints(
        machine, "print(sorted(set(os.environ) - {'H', 'W', 'S'}), os.environ['ADDED'])",
        "['ADDED', 'CELLGATE_HOME', 'HOME', 'LANG', 'LC_TIME', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'USER'] yes\n");
    Ran bare = machine.python(Isolation::none, "print(os.environ['OPENAI_API_KEY'], os.environ['ADDED'])");
    CHECK(bare.out == "CANARY yes\n");
}

TEST_CASE("a home that is part of the system is not covered by an empty one") {
    Machine machine;
    machine.environment["HOME"] = "/usr/bin";
    check_prints(machine, "print(os.environ['HOME'], os.path.exists('/usr/bin/env'))", "/home/user True\n");
}

TEST_CASE("a program that dies by a signal is reported so, not as exit code 137") {
    Machine machine;
    CHECK(machine.python(Isolation::bwrap, "os.kill(os.getpid(), 9)").status.describe() ==
          machine.python(Isolation::none, "os.kill(os.getpid(), 9)").status.describe());
    CHECK(machine.python(Isolation::bwrap, "sys.exit(3)").status.describe() == "exit code 3");
}

TEST_CASE("the layers are those that hold") {
    Machine machine;
    CHECK(machine.python(Isolation::none, "").layers == std::vector<std::string>{"none"});
    std::vector<std::string> layers = {"bwrap",
                                       "user-namespace",
                                       "mount-namespace",
                                       "network-namespace",
                                       "pid-namespace",
                                       "ipc-namespace",
                                       "uts-namespace",
                                       "capabilities",
                                       "no-new-privileges",
                                       "seccomp",
                                       "no-nested-namespaces",
                                       "private-home",
                                       "clean-environment"};
    if (has_landlock()) {
        layers.emplace_back("landlock");
    }
    layers.emplace_back("protected-files");
    if (probe(find_bwrap(bwrap_directories({}))).unguarded.empty()) {
        layers.emplace_back("protected-names");
    }
    const GroupPlaces places = find_group_places();
    if (places.memory) {
        layers.emplace_back("memory-cgroup");
    }
    if (places.processes) {
        layers.emplace_back("process-cgroup");
    }
    if (::geteuid() != 0) { // root's are not counted so
        layers.emplace_back("process-limit");
    }
    if (!places.memory) {
        layers.emplace_back("memory-limit");
    }
    CHECK(machine.python(Isolation::bwrap, "").layers == layers);
}

TEST_CASE("a program of these tests that does not end is ended, with all that it started") {
    Machine machine;
    machine.patience = std::chrono::seconds(2);
    for (const Isolation isolation : {Isolation::none, Isolation::bwrap}) {
        const Ran ran = machine.python(isolation, "subprocess.Popen(['sleep', '600'])\n"
                                                  "time.sleep(600)");
        CHECK(ran.status.signal == SIGKILL);
    }
}
