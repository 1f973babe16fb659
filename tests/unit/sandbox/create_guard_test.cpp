// Names that something outside would run or obey, where there is no such file yet. Each attempt has its control: the
// same program without a sandbox.

#include "bwrap_probe.hpp"
#include "machine.hpp"
#include "sandbox/explain.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

namespace fs = std::filesystem;

bool are_guarded_here() {
    static const Probed found = probe(find_bwrap(bwrap_directories({})));
    if (!found.unguarded.empty()) {
        MESSAGE("names cannot be guarded here: " << found.unguarded);
    }
    return found.unguarded.empty();
}

// What guarded names there are below the workspace, but those that the machine has from the start.
std::string made_names(const Machine& machine) {
    std::string made;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(machine.workspace)) {
        std::string name = entry.path().filename();
        std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
        const bool guarded = name.starts_with(".mcp.json") || name == ".git" || name == ".vscode";
        const fs::path folder = entry.path().parent_path();
        if (guarded && folder != machine.workspace && folder != machine.workspace / "part") {
            made += entry.path().string() + "\n";
        }
    }
    return made;
}

// Programs define attempts; each is made in an empty folder of its own in the workspace, and said to have succeeded
// when there is a file of a guarded name.
constexpr const char* attempts_begin = R"py(
import errno, mmap, shutil, stat, threading
RENAME_NOREPLACE, RENAME_EXCHANGE, EMPTY_PATH, SYMLINK_FOLLOW, CWD = 1, 2, 0x1000, 0x400, -100
CREATE = os.O_CREAT | os.O_WRONLY
def must(result):
    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def put(path, text="x"):
    with open(path, "w") as file: file.write(text)
attempts = {}
def attempt(function): attempts[function.__name__] = function
)py";

constexpr const char* attempts_end = R"py(
def guarded():
    return [n for d, ds, fs in os.walk(".") for n in ds + fs if n.lower().rstrip(". ") in (".mcp.json", ".git", ".vscode")]
for name, function in attempts.items():
    os.makedirs(W + "/attempts/" + name); os.chdir(W + "/attempts/" + name)
    error = None
    try: function()
    except OSError as caught: error = caught.errno
    found = guarded()
    print(name, "ESCAPED" if found else "HELD" if error == errno.EROFS else f"HELD by {errno.errorcode.get(error)}")
)py";

constexpr const char* attempts = R"py(
@attempt
def opened(): put(".mcp.json")
@attempt
def by_open_without_a_folder(): must(libc.syscall(2, b".mcp.json", CREATE, 0o644) if os.uname().machine == "x86_64" else libc.openat(CWD, b".mcp.json", CREATE, 0o644))
@attempt
def by_creat(): must(libc.creat(b".mcp.json", 0o644))
@attempt
def by_read_only_open(): os.open(".mcp.json", os.O_CREAT | os.O_RDONLY)
@attempt
def exclusively(): os.open(".mcp.json", CREATE | os.O_EXCL)
@attempt
def with_high_bits_in_the_flags(): must(libc.syscall(257 if os.uname().machine == "x86_64" else 56, CWD, b".mcp.json", ctypes.c_ulong(CREATE | 1 << 40), 0o644))
@attempt
def from_a_folders_descriptor(): os.open(".mcp.json", CREATE, dir_fd=os.open(".", os.O_RDONLY))
@attempt
def from_a_descriptor_of_a_path(): os.open(".mcp.json", CREATE, dir_fd=os.open(".", os.O_PATH))
@attempt
def by_its_whole_path(): put(os.getcwd() + "/.mcp.json")
@attempt
def with_slashes(): put(".//.//.mcp.json")
@attempt
def over_a_folder_above(): os.mkdir("d"); put("d/../.mcp.json")
@attempt
def through_a_link(): os.symlink(".", "d"); put("d/d/.mcp.json")
@attempt
def through_a_dangling_link(): os.symlink(".mcp.json", "x"); put("x")
@attempt
def through_dangling_links(): os.mkdir("d"); os.symlink("../.mcp.json", "d/y"); os.symlink("d/y", "x"); put("x")
@attempt
def through_an_absolute_dangling_link(): os.symlink(os.getcwd() + "/.mcp.json", "x"); put("x")
@attempt
def through_the_callers_working_folder(): put("/proc/self/cwd/.mcp.json")
@attempt
def through_the_threads_working_folder(): put("/proc/thread-self/cwd/.mcp.json")
@attempt
def through_the_callers_root(): put("/proc/self/root" + os.getcwd() + "/.mcp.json")
@attempt
def through_a_descriptor_in_proc(): put(f"/proc/self/fd/{os.open('.', os.O_PATH)}/.mcp.json")
@attempt
def through_a_descriptor_in_dev(): put(f"/dev/fd/{os.open('.', os.O_RDONLY)}/.mcp.json")
@attempt
def by_a_link_in_proc_to_a_link(): os.symlink(f"/proc/self/cwd/.mcp.json", "x"); put("x")
@attempt
def in_a_folder_without_a_name(): os.mkdir("d"); d = os.open("d", os.O_RDONLY); os.rename("d", "e"); os.open(".mcp.json", CREATE, dir_fd=d)
@attempt
def in_another_case(): put(".MCP.Json")
@attempt
def with_dots_at_its_end(): put(".mcp.json.")
@attempt
def as_a_folder(): os.mkdir(".git")
@attempt
def as_a_folder_with_a_slash(): os.mkdir(".git//")
@attempt
def as_a_folder_from_a_descriptor(): os.mkdir(".vscode", dir_fd=os.open(".", os.O_PATH))
@attempt
def with_folders_above(): os.makedirs("sub/project/.git/hooks")
@attempt
def as_a_fifo(): os.mkfifo(".mcp.json")
@attempt
def as_a_node(): os.mknod(".mcp.json", stat.S_IFREG | 0o644)
@attempt
def as_a_symlink(): os.symlink("elsewhere", ".git")
@attempt
def as_a_symlink_to_a_folder(): os.mkdir("d"); os.symlink("d", ".vscode", dir_fd=os.open(".", os.O_PATH))
@attempt
def as_a_hard_link(): put("x"); os.link("x", ".mcp.json")
@attempt
def as_a_hard_link_in_a_folder(): put("x"); os.mkdir("d"); os.link("x", "d/.mcp.json")
@attempt
def from_an_unnamed_file():
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR)
    must(libc.linkat(CWD, f"/proc/self/fd/{fd}".encode(), CWD, b".mcp.json", SYMLINK_FOLLOW))
@attempt
def renamed(): put("x"); os.rename("x", ".mcp.json")
@attempt
def renamed_as_a_folder(): os.makedirs("x/hooks"); os.rename("x", ".git")
@attempt
def renamed_with_a_slash(): os.mkdir("x"); os.rename("x/", ".git/")
@attempt
def renamed_from_elsewhere(): os.mkdir("d"); put("d/x"); os.rename("d/x", "d/../.mcp.json")
@attempt
def renamed_without_replacing(): put("x"); must(libc.renameat2(CWD, b"x", CWD, b".mcp.json", RENAME_NOREPLACE))
@attempt
def moved_in_from_scratch(): put("/tmp/cellgate-x"); shutil.move("/tmp/cellgate-x", ".mcp.json")
@attempt
def by_a_thread():
    problems = []
    def work():
        try: put(".mcp.json")
        except OSError as error: problems.append(error)
    thread = threading.Thread(target=work); thread.start(); thread.join()
    if problems: raise problems[0]
@attempt
def by_a_thread_with_a_folder_of_its_own():
    os.mkdir("d"); problems = []
    def work():
        try: must(libc.unshare(0x200)); os.chdir("d"); put(".mcp.json")
        except OSError as error: problems.append(error)
    thread = threading.Thread(target=work); thread.start(); thread.join()
    if problems: raise problems[0]
@attempt
def by_a_child_that_shares_memory():
    null = os.open("/dev/null", os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, null, 2), (os.POSIX_SPAWN_OPEN, 1, ".mcp.json", CREATE, 0o644)]
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}, file_actions=actions), 0)
@attempt
def by_a_shell():
    if subprocess.run(["sh", "-c", "echo x > .mcp.json"], stderr=subprocess.PIPE).returncode: raise OSError(errno.EROFS, "")
@attempt
def by_a_program_that_hides():
    must(libc.prctl(4, 0, 0, 0, 0)); put(".mcp.json")
)py";

void check_all(const std::string& out, std::string_view verdict) {
    CHECK(std::count(out.begin(), out.end(), '\n') > 0);
    std::size_t at = 0;
    while (at < out.size()) {
        const std::size_t end = std::min(out.find('\n', at), out.size());
        const std::string line = out.substr(at, end - at);
        CHECK_MESSAGE(line.ends_with(" " + std::string(verdict)), line);
        at = end + 1;
    }
}

// Prints the same with and without the guard.
void check_is_the_same(const std::string& program) {
    CAPTURE(program);
    const auto run = [&](Isolation isolation) {
        Machine machine;
        const Ran ran =
            machine.python(isolation, attempts_begin + ("os.mkdir(W + '/same'); os.chdir(W + '/same')\n" + program));
        CHECK_MESSAGE(ran.status.success(), ran.error);
        return ran.out;
    };
    const std::string bare = run(Isolation::none);
    const std::string guarded = run(Isolation::bwrap);
    CHECK(!bare.empty());
    const auto [ours, theirs] = std::mismatch(guarded.begin(), guarded.end(), bare.begin(), bare.end());
    const auto line = [](const std::string& text, std::string::const_iterator at) {
        const std::size_t begin = text.rfind('\n', static_cast<std::size_t>(at - text.begin())) + 1;
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    CHECK_MESSAGE(guarded == bare, line(guarded, ours), " without: ", line(bare, theirs));
}

// Of what is looked at in a process behind a filter of system calls.
bool holds_behind(std::vector<sock_filter> steps, unsigned flags, const std::function<bool()>& look) {
    const pid_t child = ::fork();
    if (child == 0) {
        const sock_fprog program = {static_cast<unsigned short>(steps.size()), steps.data()};
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        const bool behind = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) >= 0;
        ::_exit(behind && look() ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status == 0;
}

// `program` has TRIES of exchanging something while a call is made.
void check_race(const std::string& program) {
    Machine bare;
    bare.variables["TRIES"] = "1000000"; // until it succeeds
    const Ran free = bare.python(Isolation::none, program);
    CHECK_MESSAGE(free.out == "ESCAPED\n", free.error);
    Machine machine;
    machine.variables["TRIES"] = "3000";
    const Ran held = machine.python(Isolation::bwrap, program);
    CHECK_MESSAGE(held.out == "HELD\n", held.error);
    CHECK(made_names(machine) == "");
}

} // namespace

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

TEST_CASE("nothing in a sandbox can look into its first process and what that forks, or end it") {
    if (!are_guarded_here()) {
        return;
    }
    // Tried on a process of the same user that does not hide, it works.
    Machine machine;
    const Ran ran = machine.python(Isolation::bwrap, attempts_begin + std::string(R"py(
import signal
victim = os.fork()
if victim == 0: time.sleep(600)
os.mkfifo("/tmp/fifo"); threading.Thread(target=put, args=("/tmp/fifo",), daemon=True).start()
def find_opener():
    while True:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if open(f"/proc/{pid}/comm").read() == "cellgate-open\n": return int(pid)
opener = find_opener()
class Iovec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
here = ctypes.create_string_buffer(8)
def address_of(): return id(None) & ~4095
def read_memory(pid):
    local, remote = Iovec(ctypes.addressof(here), 8), Iovec(address_of(), 8)
    return must(libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0))
def take_descriptor(pid):
    return must(libc.syscall(438, must(libc.syscall(434, pid, 0)), 0, 0))
def trace(pid):
    must(libc.ptrace(16, pid, None, None)); os.waitpid(pid, 0x40000000); must(libc.ptrace(17, pid, None, None))
def through_a_path(pid):
    os.open(f"/proc/self/fd/{os.open(f'/proc/{pid}/mem', os.O_PATH)}", os.O_RDONLY | os.O_CREAT)
def from_its_folder(pid): os.open("mem", os.O_RDONLY | os.O_CREAT, dir_fd=os.open(f"/proc/{pid}", os.O_PATH))
def from_within_its_folder(pid):
    os.chdir(f"/proc/{pid}"); os.open("mem", os.O_RDONLY | os.O_CREAT)
ways = [read_memory, take_descriptor, trace, through_a_path, from_its_folder, from_within_its_folder,
        lambda pid: os.open(f"/proc/{pid}/mem", os.O_RDONLY),
        lambda pid: os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CREAT),
        lambda pid: os.open(f"/proc/{pid}/task/{pid}/mem", os.O_RDONLY | os.O_CREAT),
        lambda pid: os.open(f"/proc/self/../{pid}/mem", os.O_RDONLY | os.O_CREAT),
        lambda pid: os.open(f"/proc/{pid}/environ", os.O_RDONLY | os.O_CREAT),
        lambda pid: os.readlink(f"/proc/{pid}/cwd"),
        lambda pid: open(f"/proc/{pid}/environ").read()]
for way in ways:
    for pid in (victim, 1, opener):
        try: way(pid)
        except OSError as error: print(pid != victim, errno.errorcode[error.errno])
        else: print(pid != victim, "done")
for number in range(1, 65):
    try: os.kill(1, number)
    except OSError: pass
os.kill(victim, 9)
try: put(W + "/data.txt"); put(W + "/part/.mcp.json")
except OSError as error: print(errno.errorcode[error.errno])
)py"));
    std::size_t at = 0;
    int tried = 0;
    while (at < ran.out.size() && ran.out.compare(at, 5, "EROFS") != 0) {
        const std::size_t end = ran.out.find('\n', at);
        const std::string line = ran.out.substr(at, end - at);
        const bool refused = line == "True EACCES" || line == "True EPERM";
        CHECK_MESSAGE((tried % 3 == 0 ? line == "False done" : refused), line);
        ++tried;
        at = end + 1;
    }
    CHECK(tried == 39);
    CHECK_MESSAGE(ran.out.ends_with("\nEROFS\n"), ran.out, ran.error);
}

TEST_CASE("with the guard, calls do what they do without it") {
    if (!are_guarded_here()) {
        return;
    }
    check_is_the_same(R"py(
def tell(what, call):
    try: result = call()
    except OSError as error: result = errno.errorcode[error.errno]
    print(what, result)
def mode(path): return oct(os.lstat(path).st_mode), os.lstat(path).st_uid == os.getuid(), os.lstat(path).st_gid == os.getgid()
def made(path, flags=CREATE, bits=0o666):
    fd = os.open(path, flags, bits); os.close(fd); return mode(path)
for mask in (0, 0o22, 0o77, 0o777):
    os.umask(mask); tell("umask", lambda: (made(f"m{mask}"), os.mkdir(f"d{mask}"), mode(f"d{mask}"), os.mkfifo(f"f{mask}"), mode(f"f{mask}")))
os.umask(0o22)
def other_umask():
    libc.unshare(0x200); os.umask(0o77); tell("a thread's umask", lambda: made("thread"))
thread = threading.Thread(target=other_umask); thread.start(); thread.join()
os.mkdir("d"); os.symlink("nowhere/x", "dangling"); os.symlink("loop", "loop"); os.symlink("m0", "good"); os.symlink("d", "dd")
os.symlink("made-by-link", "to-be-made")
for path in ("d", "d/", ".", "..", "d/.", "new/", "m0/", "m0/x", "none/x", "", "/", "//", "dangling", "loop", "loop/x", "good", "x" * 255, "x" * 256,
             "d/" * 2040 + "x", "y/" + "z" * 4093, "y/" + "z" * 4094, "dd/x", "dd/", "to-be-made", "./d//../d/./q", "/proc/self/nothing", "/proc/nothing", "\udcff\udc81"):
    name = path[:40].encode("utf-8", "replace")
    for flags in (CREATE, CREATE | os.O_EXCL, CREATE | os.O_NOFOLLOW, CREATE | os.O_TRUNC, os.O_CREAT | os.O_RDONLY, os.O_CREAT | os.O_PATH,
                  os.O_CREAT | os.O_TMPFILE | os.O_RDWR):
        tell(("open", name, flags), lambda: (os.close(os.open(path, flags, 0o600)), 1)[1])
    tell(("mkdir", name), lambda: os.mkdir(path)); tell(("again", name), lambda: os.mkdir(path))
    tell(("mknod", name), lambda: os.mknod(path, stat.S_IFREG | 0o600))
    tell(("symlink", name), lambda: os.symlink("target", path)); tell(("empty symlink", name), lambda: os.symlink("", path))
    if path.startswith("/"): continue # on another file system in a sandbox
    tell(("link", name), lambda: os.link("m0", path)); tell(("link from", name), lambda: os.link(path, "linked"))
    tell(("follow", name), lambda: must(libc.linkat(CWD, os.fsencode(path), CWD, b"followed", SYMLINK_FOLLOW)))
    tell(("rename", name), lambda: (put("a"), os.rename("a", path))); tell(("rename from", name), lambda: os.rename(path, "b"))
    tell(("exchange", name), lambda: (put("a"), must(libc.renameat2(CWD, b"a", CWD, os.fsencode(path), RENAME_EXCHANGE))))
    tell(("keep", name), lambda: (put("a"), must(libc.renameat2(CWD, b"a", CWD, os.fsencode(path), RENAME_NOREPLACE))))
def who(path): return [line.split()[1] for line in open(os.open(path, os.O_CREAT | os.O_RDONLY)) if line.startswith("Pid:")] == [str(threading.get_native_id())]
tell("self", lambda: who("/proc/self/status")); tell("thread", lambda: who("/proc/thread-self/status")); tell("net", lambda: os.open("/proc/net/tcp", os.O_CREAT) > 0)
thread = threading.Thread(target=lambda: (tell("not self", lambda: who("/proc/self/status")), tell("in a thread", lambda: who("/proc/thread-self/status"))))
thread.start(); thread.join()
tell("sorted", lambda: sorted(os.listdir(os.fsencode("."))))
tell("bad folder", lambda: os.open("x", CREATE, dir_fd=999)); tell("file as folder", lambda: os.open("x", CREATE, dir_fd=os.open("m0", os.O_RDONLY)))
tell("bad folder, whole path", lambda: must(libc.openat(999, (W + "/whole").encode(), CREATE, 0o600)) > 0)
for call in (lambda: libc.open(ctypes.c_void_p(16), CREATE, 0), lambda: libc.mkdir(ctypes.c_void_p(0), 0), lambda: libc.rename(b"m0", ctypes.c_void_p(1 << 46)),
             lambda: libc.linkat(CWD, b"m0", CWD, b"q", 64), lambda: libc.renameat2(CWD, b"m0", CWD, b"q", 64), lambda: libc.renameat2(CWD, b"m0", CWD, b"q", 3),
             lambda: libc.mkdirat(998, b"q", 0), lambda: libc.symlink(b"", b"q"), lambda: libc.symlink(b"t" * 4095, b"long"), lambda: libc.symlink(b"t" * 4096, b"long2")):
    tell("odd", lambda: must(call()))
page = mmap.mmap(-1, 8192); start = ctypes.addressof(ctypes.c_char.from_buffer(page)); libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
page[4096 - 9:4096] = b"at-end-x\0"; libc.munmap(start + 4096, 4096)
tell("a page's end", lambda: must(libc.mkdir(ctypes.c_void_p(start + 4096 - 9), 0o700)))
ctypes.memset(start + 4096 - 4, 65, 4); tell("beyond a page's end", lambda: must(libc.mkdir(ctypes.c_void_p(start + 4096 - 4), 0o700)))
fd = os.open("m0", CREATE | os.O_APPEND | os.O_NONBLOCK); import fcntl
tell("flags", lambda: (fcntl.fcntl(fd, fcntl.F_GETFL) & ~0o100000, fcntl.fcntl(fd, fcntl.F_GETFD)))
tell("kept open", lambda: fcntl.fcntl(must(libc.open(b"m18", CREATE, 0)), fcntl.F_GETFD))
os.chmod("m0", 0o400); tell("read-only file", lambda: os.getuid() == 0 or os.open("m0", CREATE)) if os.getuid() else print("read-only file EACCES")
os.mkdir("closed"); tell("exists", lambda: os.open("m18", CREATE | os.O_TRUNC) > 0)
fd = os.open(".", os.O_TMPFILE | os.O_RDWR); os.write(fd, b"unnamed")
tell("unnamed", lambda: (must(libc.linkat(CWD, f"/proc/self/fd/{fd}".encode(), CWD, b"named", SYMLINK_FOLLOW)), open("named").read()))
os.mkfifo("pipe")
tell("a FIFO without a reader", lambda: os.open("pipe", CREATE | os.O_NONBLOCK))
tell("a FIFO for both", lambda: os.open("pipe", os.O_CREAT | os.O_RDWR) > 0)
sock = socket.socket(socket.AF_UNIX); sock.bind("socket"); tell("a socket", lambda: os.open("socket", CREATE))
import pty
def at_a_terminal(path):
    pid, owner = pty.fork()
    if pid == 0:
        try: os.write(os.open(path, CREATE), b"hello")
        except OSError as error: os.write(1, errno.errorcode[error.errno].encode())
        os._exit(0)
    text = os.read(owner, 99); os.waitpid(pid, 0); return text
tell("terminal", lambda: at_a_terminal("/dev/tty")); os.setsid() if os.getsid(0) != os.getpid() else None
tell("no terminal", lambda: os.open("/dev/tty", CREATE)); tell("memory", lambda: os.open("/dev/full", CREATE) > 0)
tell("null", lambda: open("/dev/null", "w").write("x")); tell("stdout", lambda: os.open("/dev/stdout", CREATE) > 0)
import resource
def few():
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")), 4096)); held = []
    try:
        while True: held.append(os.open("m18", CREATE))
    finally: [os.close(each) for each in held]
tell("too many", few)
)py");
}

TEST_CASE("a FIFO that waits for its other end keeps no other call waiting, and can be interrupted") {
    if (!are_guarded_here()) {
        return;
    }
    check_is_the_same(R"py(
import signal
os.mkfifo("pipe")
writers = [threading.Thread(target=put, args=("pipe", "hello")) for _ in range(1)]
for each in writers: each.start()
put("other"); os.mkdir("d")
print(open("pipe").read()); [each.join() for each in writers]
print(subprocess.run("(cat pipe & echo from a shell > pipe; wait)", shell=True, capture_output=True, text=True).stdout)
class Interrupted(Exception): pass
def interrupt(*_):
    seen.append(1)
    if len(seen) == 1: raise Interrupted
signal.signal(signal.SIGUSR1, interrupt); seen = []
def send(): time.sleep(0.2); signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
def send_until_seen(): # the first may come just before the call
    while not seen: send()
sender = threading.Thread(target=send_until_seen)
try: sender.start(); open("pipe", "w")
except Interrupted: print("interrupted")
sender.join(); signal.signal(signal.SIGUSR1, lambda *_: seen.append(2))
def send_and_read(): send(); time.sleep(0.2); print(open("pipe").read())
reader = threading.Thread(target=send_and_read); reader.start()
put("pipe", "went on"); reader.join(); print(2 in seen)
child = subprocess.Popen(["sh", "-c", "echo > pipe"]); time.sleep(0.2); child.kill(); print(child.wait())
)py");
}

TEST_CASE("what a FIFO's opening gives is open, however long the caller is kept from taking it") {
    if (!are_guarded_here()) {
        return;
    }
    // Beside the others, the one that writes runs only now and then.
    check_is_the_same(R"py(
spinning = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * os.cpu_count())]
os.mkfifo("pipe"); read = []
closed = threading.Semaphore()
def write():
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    try:
        # What is written to a reader that has seen its end and is about to close would be lost.
        for number in range(10): closed.acquire(); put("pipe", str(number))
    except BaseException as error: print("writing:", error, flush=True); os._exit(1)
writer = threading.Thread(target=write); writer.start()
while len(read) < 10:
    text = open("pipe").read(); read += text
    if text: closed.release()
writer.join(); [each.kill() for each in spinning]; print(*read)
)py");
}

TEST_CASE("signals that come while files are made have nothing made twice") {
    if (!are_guarded_here()) {
        return;
    }
    check_is_the_same(R"py(
import signal
count = 0; done = 0; done_before = -1; pause = 0.0005
def alarm(*_):
    global count, done_before, pause
    count += 1
    # Where a call takes longer than the pause, it would be begun again for ever.
    pause = 0.0005 if done != done_before else 2 * pause
    done_before = done; signal.setitimer(signal.ITIMER_REAL, pause)
signal.signal(signal.SIGALRM, alarm); signal.setitimer(signal.ITIMER_REAL, pause)
def again(call, *arguments): # a call that is interrupted has done nothing
    while True:
        try: return call(*arguments)
        except InterruptedError: pass
for number in range(500):
    os.close(os.open(f"x{number}", CREATE | os.O_EXCL)); done += 1; again(os.mkdir, f"d{number}"); done += 1
    again(os.rename, f"x{number}", f"y{number}"); done += 1
signal.signal(signal.SIGALRM, signal.SIG_IGN); print(count > 0, len(os.listdir(".")))
)py");
}

TEST_CASE("many that make files at once each get their own") {
    if (!are_guarded_here()) {
        return;
    }
    check_is_the_same(R"py(
def work(name):
    os.mkdir(name)
    for number in range(200):
        path = f"{name}/{number}"; put(path, path); assert open(path).read() == path
threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(8)]
children = []
for i in range(8):
    child = os.fork()
    if child == 0: work(f"p{i}"); os._exit(0)
    children.append(child)
[t.start() for t in threads]; [t.join() for t in threads]
print([os.waitpid(child, 0)[1] for child in children], sum(len(files) for _, _, files in os.walk(".")) - 9 >= 3200)
killed = os.fork()
if killed == 0:
    while True: put("again"); os.unlink("again")
time.sleep(0.2); os.kill(killed, 9); print(os.waitpid(killed, 0)[1]); put("after"); print(open("after").read())
)py");
}

TEST_CASE("programs that make files work as they do without the guard") {
    if (!are_guarded_here()) {
        return;
    }
    check_is_the_same(R"py(
import multiprocessing, pathlib, shutil, sqlite3, tarfile, tempfile, zipfile
def shell(command):
    ran = subprocess.run(command, shell=True, capture_output=True, text=True); print(command, ran.returncode, ran.stdout, ran.stderr)
for number in range(300):
    path = pathlib.Path(f"tree/{number % 7}/{number}"); path.parent.mkdir(parents=True, exist_ok=True); path.write_text(str(number)); path.touch()
tarfile.open("tree.tar.gz", "w:gz").add("tree"); shutil.make_archive("tree", "zip", ".", "tree")
shell("mkdir t z && tar -xzf tree.tar.gz -C t && cp -a tree c && mv c c2 && ln -s x l && ln tree/1/1 h && diff -r tree t/tree && diff -r tree c2")
zipfile.ZipFile("tree.zip").extractall("z"); shell("diff -r tree z/tree && rm -r z && find . -type f | wc -l && install -m 600 h i && stat -c %a i")
with tempfile.TemporaryDirectory(dir=".") as folder:
    with tempfile.NamedTemporaryFile("w+", dir=folder) as file: file.write("x"); file.flush(); print(open(file.name).read())
with tempfile.TemporaryFile() as file: file.write(b"x"); print(file.tell())
shutil.copytree("tree", "tree2"); shutil.move("tree2", "tree3"); shutil.rmtree("tree3"); print(os.path.exists("tree2"))
for mode in ("delete", "wal"):
    db = sqlite3.connect("x.db"); print(db.execute("pragma journal_mode=" + mode).fetchall())
    db.execute("create table if not exists t(x)"); db.executemany("insert into t values(?)", [(i,) for i in range(100)]); db.commit()
    print(db.execute("select count(*) from t").fetchall()); db.close()
with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))
queue = multiprocessing.Queue(); queue.put(1); print(queue.get()); print(multiprocessing.Manager().list([1]))
shell("set -C; echo 1 > n; echo 2 > n; echo 3 >| n; cat n; echo 4 >> n; cat n > /dev/null; cat <<X\nhere\nX")
try:
    import numpy; numpy.save("a.npy", numpy.arange(3)); print(numpy.load("a.npy"))
except ImportError: print("no numpy")
compileall = subprocess.run([sys.executable, "-m", "compileall", "-q", "tree"]).returncode; print(compileall)
)py");
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
