#pragma once
// `create_guard_fixture` is the programs and checks that the tests of the guard share (create_guard.hpp).

#include "launch/bwrap_probe.hpp"
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

namespace cellgate::sandbox::create_guard_fixture {

namespace fs = std::filesystem;

inline bool are_guarded_here() {
    static const Probed found = probe(find_bwrap(bwrap_directories({})));
    if (!found.unguarded.empty()) {
        MESSAGE("names cannot be guarded here: " << found.unguarded);
    }
    return found.unguarded.empty();
}

// What guarded names there are below the workspace, but those that the machine has from the start.
inline std::string made_names(const Machine& machine) {
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
inline constexpr const char* attempts_begin = R"py(
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

inline constexpr const char* attempts_end = R"py(
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

inline constexpr const char* attempts = R"py(
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

inline void check_all(const std::string& out, std::string_view verdict) {
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
inline void check_is_the_same(const std::string& program) {
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
inline bool holds_behind(std::vector<sock_filter> steps, unsigned flags, const std::function<bool()>& look) {
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
inline void check_race(const std::string& program) {
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

} // namespace cellgate::sandbox::create_guard_fixture
