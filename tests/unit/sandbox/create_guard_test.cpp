// Names that something outside would run or obey, where there is no such file yet. Each attempt has its control: the
// same program without a sandbox.

#include "create_guard_fixture.hpp"

using namespace cellgate;
using namespace cellgate::sandbox;
using namespace cellgate::sandbox::create_guard_fixture;

namespace fs = std::filesystem;

TEST_CASE("what programs outside run or obey cannot be made where it does not exist") {
    if (!are_guarded_here()) {
        return;
    }
    const std::string program = std::string(attempts_begin) + attempts + attempts_end;
    Machine bare;
    const Ran free = bare.python(Isolation::none, program);
    CHECK_MESSAGE(free.status.success(), free.error);
    check_all(free.out, "ESCAPED");
    CHECK(made_names(bare) != "");
    Machine machine;
    const Ran held = machine.python(Isolation::bwrap, program);
    CHECK_MESSAGE(held.status.success(), held.error);
    check_all(held.out, "HELD");
    CHECK(made_names(machine) == "");
}

TEST_CASE("a path that is exchanged while a call is made makes no guarded name") {
    if (!are_guarded_here()) {
        return;
    }
    // Another process, for it has a processor of its own, changes the path in memory that both share.
    const std::string program = std::string(attempts_begin) + R"py(
os.makedirs(W + "/race"); os.chdir(W + "/race"); os.symlink("x", "link")
memory = mmap.mmap(-1, 4096); memory[:10] = b"amcp.json\0"
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
parent = os.getpid(); child = os.fork()
if child == 0:
    while os.getppid() == parent:
        for _ in range(1000): memory[0] = 46; memory[0] = 97
    os._exit(0)
path = ctypes.c_void_p(address)
for attempt in range(int(os.environ["TRIES"])):
    kind = attempt % 4
    if kind == 0:
        fd = libc.open(path, CREATE, 0o644)
        if fd >= 0: os.close(fd)
    elif kind == 1: libc.mkdir(path, 0o755)
    elif kind == 2: put("x"); libc.rename(b"x", path)
    else: libc.link(b"link", path)
    if os.path.lexists(".mcp.json"): break
    try: os.rmdir("amcp.json") if os.path.isdir("amcp.json") else os.unlink("amcp.json")
    except OSError: pass
print("ESCAPED" if os.path.lexists(".mcp.json") else "HELD")
os.kill(child, 9)
)py";
    check_race(program);
}

TEST_CASE("links that are exchanged while a call is made evade no protection") {
    if (!are_guarded_here()) {
        return;
    }
    const std::string program = std::string(attempts_begin) + R"py(
import tempfile
os.makedirs(W + "/race"); os.chdir(W + "/race"); elsewhere = tempfile.mkdtemp()
os.symlink(elsewhere, "scratch"); os.symlink(W + "/race", "here"); os.symlink("scratch", "way")
parent = os.getpid(); child = os.fork()
if child == 0:
    while os.getppid() == parent:
        for target in ("here", "scratch"): os.symlink(target, "next"); os.rename("next", "way")
    os._exit(0)
while os.readlink("way") == "scratch": pass
for attempt in range(int(os.environ["TRIES"])):
    try: os.close(os.open("way/.mcp.json", CREATE))
    except OSError: pass
    if os.path.lexists(".mcp.json"): break
print("ESCAPED" if os.path.lexists(".mcp.json") else "HELD")
os.kill(child, 9)
os.waitpid(child, 0); shutil.rmtree(elsewhere)
)py";
    check_race(program);
}

TEST_CASE("a repository can be made in scratch space, and is refused in the workspace with a message") {
    if (!are_guarded_here()) {
        return;
    }
    Machine machine;
    const Ran ran = machine.python(Isolation::bwrap, R"py(
os.environ.update(GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a")
def shell(command):
    ran = subprocess.run(command, shell=True, capture_output=True, text=True); print(ran.returncode, ran.stderr, end="")
shell("git init -q /tmp/r && cd /tmp/r && echo > x && git add x && git commit -qm x && git clone -q /tmp/r /tmp/s && git clone -q /tmp/r ~/s")
shell("cd deploy && git init -q")
shell("git clone -q /tmp/r deploy/r")
os.makedirs("/dev/shm/.vscode"); open("/var/tmp/.mcp.json", "w"); open(H + "/.profile", "w"); os.rename("/tmp/s/.git", "/tmp/s/.vscode")
)py");
    CHECK_MESSAGE(ran.status.success(), ran.error);
    CHECK_MESSAGE(ran.out.starts_with("0 1 "), ran.out);
    CHECK_MESSAGE(ran.out.find(".git: Read-only file system") != std::string::npos, ran.out);
    CHECK(made_names(machine) == "");
    CHECK_FALSE(fs::exists(machine.workspace / "deploy/r/.git"));
}

TEST_CASE("what appears outside while a cell runs gets nothing new from it, and is not moved") {
    if (!are_guarded_here()) {
        return;
    }
    Machine machine;
    async::Command command;
    command.argv = {"/usr/bin/python3", "-c", R"py(
import os, sys
print('up', flush=True); sys.stdin.readline(); os.chdir("deploy/later")
def tell(call):
    try: call()
    except OSError as error: print(error.strerror)
    else: print("done")
tell(lambda: open(".git/hooks/pre-commit", "w"))
tell(lambda: os.mkdir(".git/x"))
tell(lambda: open(".git/config", "w"))
tell(lambda: os.rename(".git", "moved"))
tell(lambda: os.rename("file", ".git/file"))
tell(lambda: os.link(".git/config", "linked"))
tell(lambda: os.makedirs(".git", exist_ok=True))
tell(lambda: open("file", "w"))
)py"};
    const std::unique_ptr<Launcher> launcher = make_launcher(Isolation::bwrap, machine.environment);
    const Launch launch = launcher->wrap(std::move(command), machine.profile);
    struct Steps {
        static Task<void> take(async::Loop* loop, const async::Command* command, Machine* machine) {
            std::unique_ptr<async::Process> process = async::start_process(*loop, *command);
            const std::string up = co_await process->stdio().read();
            CHECK(up == "up\n");
            machine->write(machine->workspace / "deploy/later/.git/config", "");
            machine->write(machine->workspace / "deploy/later/.git/hooks/x", "");
            machine->write(machine->workspace / "deploy/later/file", "");
            process->stdio().write("go\n");
            const std::string text = co_await read_to_end(&process->stdio());
            std::string expected;
            for (int refused = 0; refused < 6; ++refused) {
                expected += "Read-only file system\n";
            }
            CHECK(text == expected + "done\ndone\n");
            co_await process->exited();
        }
    };
    async::Loop loop;
    loop.run(Steps::take(&loop, &launch.command, &machine));
}

TEST_CASE("in a folder that settings show for writing, names are guarded too") {
    if (!are_guarded_here()) {
        return;
    }
    Machine machine;
    const fs::path shown = machine.home / "shown";
    fs::create_directories(shown);
    machine.profile.settings = std::make_shared<const Settings>(
        parse_settings(R"({"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": [],
                           "allowWrite": [".", "~/shown"], "denyWrite": []}})",
                       machine.root / "settings.json"));
    const Ran ran = machine.python(Isolation::bwrap, R"py(
for path in ("/shown/made", "/.mcp.json", "/shown/.mcp.json"):
    try: open(H + path, "w"); print("made")
    except OSError as error: print(error.strerror)
)py");
    CHECK_MESSAGE(ran.out == "made\nmade\nRead-only file system\n", ran.error);
    CHECK(fs::exists(shown / "made"));
}

TEST_CASE("a folder above the workspace may have a guarded name") {
    Machine machine("home/.claude/worktrees/.git/work");
    const Ran ran = machine.python(Isolation::bwrap, "os.makedirs('a/b'); open('a/b/x', 'w')\nprint('made')");
    CHECK_MESSAGE(ran.out == "made\n", ran.error);
}

TEST_CASE("a cell's own filter does not let calls go on that the guard is asked about") {
    if (!are_guarded_here()) {
        return;
    }
    // Actions: to ask (with a listener, and without), to trace, to allow.
    const char* program = R"py(
import errno, struct
os.makedirs(W + "/own"); os.chdir(W + "/own")
for action, flags in ((0x7fc00000, 8), (0x7fc00000, 0), (0x7ff00000, 0), (0x7fff0000, 0)):
    child = os.fork()
    if child == 0:
        steps = ctypes.create_string_buffer(struct.pack("HBBIHBBIHBBIHBBI", 0x20, 0, 0, 0, 0x15, 0, 1, 83 if os.uname().machine == "x86_64" else 34,
                                                        6, 0, 0, action, 6, 0, 0, 0x7fff0000))
        program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(steps)))
        libc.prctl(38, 1, 0, 0, 0)
        installed = libc.syscall(317 if os.uname().machine == "x86_64" else 277, 1, flags, program)
        print(errno.errorcode[ctypes.get_errno()] if installed < 0 else "installed", end=" ", flush=True)
        if installed < 0 or flags == 0:
            made = libc.syscall(83, b".git", 0o755) if os.uname().machine == "x86_64" else libc.mkdirat(-100, b".git", 0o755)
            print("made" if made == 0 else errno.errorcode[ctypes.get_errno()], flush=True)
            if made == 0: os.rmdir(".git")
        else: print(flush=True)
        os._exit(0)
    os.waitpid(child, 0)
)py";
    Machine machine;
    CHECK(machine.python(Isolation::none, program).out == "installed \ninstalled ENOSYS\ninstalled ENOSYS\n"
                                                          "installed made\n");
    fs::remove_all(machine.workspace / "own");
    CHECK(machine.python(Isolation::bwrap, program).out == "EBUSY EROFS\ninstalled ENOSYS\ninstalled EROFS\n"
                                                           "installed EROFS\n");
}

TEST_CASE("file systems' own ways to name files are refused") {
    if (!are_guarded_here()) {
        return;
    }
    // No such file system is needed to see it: what is not refused fails for want of a file.
    const char* program = R"py(
import errno
found = []
for control in (0x5000940e, 0x50009418, 0x50009401, 0x50009417, 0x4020bc10, 0x40186f04):
    libc.ioctl(-1, ctypes.c_ulong(control), None); found.append(errno.errorcode[ctypes.get_errno()])
print(sorted(set(found)))
)py";
    Machine machine;
    CHECK(machine.python(Isolation::none, program).out == "['EBADF']\n");
    CHECK(machine.python(Isolation::bwrap, program).out == "['ENOTTY']\n");
}

TEST_CASE("what is explained of a guarded name that does not exist is so") {
    Machine machine;
    const Explained explained =
        explain_paths(machine.profile, machine.environment, {"deploy/.mcp.json", "new/.git/hooks/x", "new/file"});
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(explained.paths[i].visibility == Visibility::absent);
        const bool guarded = explained.paths[i].reason.find("no cell can make it") != std::string::npos;
        CHECK_MESSAGE(guarded == (i < 2 && are_guarded_here()), explained.paths[i].reason);
    }
}

TEST_CASE("where a program around us listens for system calls, names are not guarded, and it is said") {
    if (!are_guarded_here()) {
        return;
    }
    Machine machine;
    CHECK(holds_behind({{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}, SECCOMP_FILTER_FLAG_NEW_LISTENER, [&machine] {
        // This process remembers what was found before, and asks for the guard: nothing runs without it.
        const Ran ran = machine.python(Isolation::bwrap, "print('ran')");
        return probe(find_bwrap(bwrap_directories({}))).unguarded == "Device or resource busy" && ran.out.empty() &&
               ran.status.code == 125 &&
               ran.error == "cellgate: cannot guard names of files: Device or resource busy\n";
    }));
}

TEST_CASE("where processes may not look into each other, names are not guarded, and it is said") {
    if (!are_guarded_here()) {
        return;
    }
    constexpr unsigned short load = BPF_LD | BPF_W | BPF_ABS;
    const std::vector<sock_filter> no_reading = {{load, 0, 0, offsetof(seccomp_data, nr)},
                                                 {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_process_vm_readv},
                                                 {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
                                                 {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    CHECK(holds_behind(no_reading, 0, [] {
        return probe(find_bwrap(bwrap_directories({}))).unguarded.find("ptrace_scope") != std::string::npos;
    }));
}
