// What the filter of system calls refuses. Each call is made with arguments that the system would refuse for another
// reason; so the error tells whether it was the filter that refused. The control is root without a sandbox: there no
// call ends in the filter's error. (Others lack the right for most of them anyway.)

#include "machine.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

struct Call {
    const char* name;
    long number;
    int error; // the filter's
    std::vector<long> arguments;
};

constexpr long nowhere = 1; // an address
constexpr long no_file = -1;
constexpr long much = 0x7fff'ffff;

const std::vector<Call> refused_calls = {
    {"keyctl", SYS_keyctl, EPERM, {much}},
    {"add_key", SYS_add_key, EPERM, {nowhere, nowhere, nowhere, 1, -2}},
    {"request_key", SYS_request_key, EPERM, {nowhere, nowhere, nowhere, -2}},
    {"open_by_handle_at", SYS_open_by_handle_at, EPERM, {no_file, nowhere, 0}},
    {"bpf", SYS_bpf, EPERM, {much, nowhere, 8}},
    {"perf_event_open", SYS_perf_event_open, EPERM, {nowhere, 0, -1, -1, 0}},
    {"fanotify_init", SYS_fanotify_init, EPERM, {much, 0}},
    {"kcmp", SYS_kcmp, EPERM, {0, 0, 99, 0, 0}},
    {"userfaultfd", SYS_userfaultfd, ENOSYS, {much}},
    {"io_uring_setup", SYS_io_uring_setup, ENOSYS, {1, nowhere}},
    {"io_uring_enter", SYS_io_uring_enter, ENOSYS, {no_file, 0, 0, 0, 0, 0}},
    {"io_uring_register", SYS_io_uring_register, ENOSYS, {no_file, 0, 0, 0}},
    {"mount", SYS_mount, EPERM, {nowhere, nowhere, nowhere, 0, 0}},
    {"umount2", SYS_umount2, EPERM, {nowhere, 0}},
    {"pivot_root", SYS_pivot_root, EPERM, {nowhere, nowhere}},
    {"chroot", SYS_chroot, EPERM, {nowhere}},
    {"open_tree", SYS_open_tree, EPERM, {no_file, nowhere, 0}},
    {"move_mount", SYS_move_mount, EPERM, {no_file, nowhere, no_file, nowhere, 0}},
    {"fsopen", SYS_fsopen, EPERM, {nowhere, 0}},
    {"fsconfig", SYS_fsconfig, EPERM, {no_file, 0, 0, 0, 0}},
    {"fsmount", SYS_fsmount, EPERM, {no_file, 0, 0}},
    {"fspick", SYS_fspick, EPERM, {no_file, nowhere, 0}},
    {"mount_setattr", SYS_mount_setattr, EPERM, {no_file, nowhere, 0, nowhere, 32}},
    {"setns", SYS_setns, EPERM, {no_file, 0}},
    {"clone3", SYS_clone3, ENOSYS, {nowhere, 88}},
    {"init_module", SYS_init_module, EPERM, {nowhere, 1, nowhere}},
    {"finit_module", SYS_finit_module, EPERM, {no_file, nowhere, 0}},
    {"delete_module", SYS_delete_module, EPERM, {nowhere, 0}},
    {"kexec_load", SYS_kexec_load, EPERM, {0, 1, nowhere, much}},
    {"reboot", SYS_reboot, EPERM, {1, 1, 1, 0}},
    {"swapon", SYS_swapon, EPERM, {nowhere, much}},
    {"swapoff", SYS_swapoff, EPERM, {nowhere}},
    {"acct", SYS_acct, EPERM, {nowhere}},
    {"quotactl", SYS_quotactl, EPERM, {much, nowhere, 0, 0}},
    {"quotactl_fd", SYS_quotactl_fd, EPERM, {no_file, 0, 0, 0}},
    {"syslog", SYS_syslog, EPERM, {99}},
    {"settimeofday", SYS_settimeofday, EPERM, {nowhere, 0}},
    {"clock_settime", SYS_clock_settime, EPERM, {much, nowhere}},
    {"clock_adjtime", SYS_clock_adjtime, EPERM, {much, nowhere}},
    {"adjtimex", SYS_adjtimex, EPERM, {nowhere}},
    {"openat2", SYS_openat2, ENOSYS, {no_file, nowhere, nowhere, 24}},
    {"personality", SYS_personality, EPERM, {0x0040000}},
    {"take a lease", SYS_fcntl, EPERM, {no_file, F_SETLEASE, F_WRLCK}},
#ifdef __x86_64__
    {"ioperm", SYS_ioperm, EPERM, {much, much, 1}},
    {"iopl", SYS_iopl, EPERM, {99}},
    {"modify_ldt", SYS_modify_ldt, ENOSYS, {0, nowhere, 0}},
#endif
    {"unshare a mount namespace", SYS_unshare, EPERM, {CLONE_NEWNS}},
    {"unshare a UTS namespace", SYS_unshare, EPERM, {CLONE_NEWUTS}},
    {"unshare an IPC namespace", SYS_unshare, EPERM, {CLONE_NEWIPC}},
    {"unshare a PID namespace", SYS_unshare, EPERM, {CLONE_NEWPID}},
    {"unshare a network namespace", SYS_unshare, EPERM, {CLONE_NEWNET}},
    {"unshare a cgroup namespace", SYS_unshare, EPERM, {CLONE_NEWCGROUP}},
    {"unshare a time namespace", SYS_unshare, EPERM, {0x80}},
    {"clone into a network namespace", SYS_clone, EPERM, {CLONE_NEWNET | 17, 0, 0, 0, 0}},
    {"clone into a user namespace", SYS_clone, EPERM, {CLONE_NEWUSER | 17, 0, 0, 0, 0}},
};

// Prints the names of those that ended in the filter's error, one a line.
std::string program() {
    std::string text = "calls = [\n";
    for (const Call& call : refused_calls) {
        text += fmt::format("(\"{}\", {}, {}, [", call.name, call.number, call.error);
        for (const long argument : call.arguments) {
            text += fmt::format("{}, ", argument);
        }
        text += "]),\n";
    }
    return text + R"(]
for name, number, error, arguments in calls:
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(argument) for argument in arguments))
    if result == 0 and name.startswith("clone "): os._exit(0) # the child
    if result == -1 and ctypes.get_errno() == error: print(name)
    else: print("unlike:", name, result, os.strerror(ctypes.get_errno()), file=sys.stderr)
)";
}

std::string all_names() {
    std::string names;
    for (const Call& call : refused_calls) {
        names += std::string(call.name) + "\n";
    }
    return names;
}

// The handle by which the system can open a file without a path, as Python's words for its two parts.
std::string handle_of(const std::string& path) {
    alignas(file_handle) std::array<char, sizeof(file_handle) + MAX_HANDLE_SZ> space{};
    auto* handle = reinterpret_cast<file_handle*>(space.data());
    handle->handle_bytes = MAX_HANDLE_SZ;
    int mount = 0;
    if (::name_to_handle_at(AT_FDCWD, path.c_str(), handle, &mount, 0) != 0) {
        return {};
    }
    std::string hex;
    for (unsigned i = 0; i < handle->handle_bytes; ++i) {
        hex += fmt::format("{:02x}", handle->f_handle[i]);
    }
    return fmt::format("{} {}", handle->handle_type, hex);
}

} // namespace

TEST_CASE("the filter refuses each call of its list, and nothing else does") {
    Machine machine;
    const Ran held = machine.python(Isolation::bwrap, program());
    CHECK_MESSAGE(held.out == all_names(), held.error);
    if (::geteuid() == 0) {
        const Ran bare = machine.python(Isolation::none, program());
        CHECK_MESSAGE(bare.out.empty(), bare.out);
    }
}

TEST_CASE("a file outside cannot be opened by its handle" * doctest::skip(::geteuid() != 0)) { // others may not anyway
    Machine machine;
    machine.variables["HANDLE"] = handle_of(machine.home / ".ssh/id_rsa");
    if (machine.variables["HANDLE"].empty()) {
        MESSAGE("this file system has no handles");
        return;
    }
    const char* attack = R"(
import struct
kind, data = os.environ["HANDLE"].split()
data = bytes.fromhex(data)
handle = ctypes.create_string_buffer(struct.pack("=Ii", len(data), int(kind)) + data)
def attack():
    fd = libc.open_by_handle_at(os.open(W, os.O_RDONLY), handle, os.O_RDONLY)
    if fd < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return os.read(fd, 100) == b"CANARY"
T(attack))";
    const Ran bare = machine.python(Isolation::none, attack);
    CHECK_MESSAGE(bare.out == "ESCAPED True\n", bare.out, bare.error);
    const Ran held = machine.python(Isolation::bwrap, attack);
    CHECK_MESSAGE(held.out.starts_with("HELD PermissionError"), held.out, held.error);
}

TEST_CASE("no file gets a bit that lends its owner's rights to the user who runs it") {
    const char* attack = R"(
x86 = os.uname().machine == "x86_64"
path = W + "/tool"
def made(fd):
    mode = os.fstat(fd).st_mode & 0o6000
    os.close(fd)
    return mode
def attempt(name, attack):
    try: os.unlink(path)
    except OSError: pass
    try:
        attack()
        print(name, bool(os.stat(path).st_mode & 0o6000) if os.path.exists(path) else False)
    except OSError as error: print(name, False)
def make(): open(path, "w").close()
attempt("chmod", lambda: (make(), os.chmod(path, 0o4755)))
attempt("chmod group", lambda: (make(), os.chmod(path, 0o2755)))
attempt("fchmod", lambda: (make(), os.chmod(os.open(path, os.O_RDONLY), 0o4755)))
attempt("fchmodat", lambda: (make(), os.chmod("tool", 0o4755, dir_fd=os.open(W, os.O_RDONLY))))
attempt("open", lambda: os.open(path, os.O_CREAT | os.O_WRONLY, 0o4755))
attempt("openat", lambda: os.open("tool", os.O_CREAT | os.O_WRONLY, 0o4755, dir_fd=os.open(W, os.O_RDONLY)))
attempt("mknod", lambda: os.mknod(path, 0o104755))
if x86: attempt("creat", lambda: libc.syscall(85, path.encode(), 0o4755))
try: print("unnamed", bool(made(os.open(W, os.O_TMPFILE | os.O_RDWR, 0o4755))))
except OSError: print("unnamed", False)
# Harmless modes:
make(); os.chmod(path, 0o1755); os.chmod(path, 0o644); os.mkdir(W + "/folder", 0o755); print("plain", True)
)";
    Machine machine;
    machine.environment["PATH"] = "/usr/bin:/bin";
    std::string bare = machine.python(Isolation::none, attack).out;
    CHECK(bare.find("False") == std::string::npos);
    Machine other;
    std::string held = other.python(Isolation::bwrap, attack).out;
    CHECK(held.ends_with("unnamed False\nplain True\n"));
    CHECK_MESSAGE(held.find(" True") == held.rfind(" True"), held);
}

TEST_CASE("nothing is typed into a terminal of one's own, whatever the unused half of the number holds") {
    const char* attack = R"(
import pty
def type_into(number):
    child, master = pty.fork()
    if child == 0:
        libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p]
        os._exit(0 if libc.ioctl(0, number, b"x") == 0 else ctypes.get_errno())
    try: os.read(master, 1)
    except OSError: pass
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(type_into(0x5412), type_into(0x5412 | 1 << 32))
)";
    Machine machine;
    const Ran bare = machine.python(Isolation::none, attack);
    if (bare.out != "0 0\n" && bare.out != "5 5\n") { // EIO: the system's own switch is off
        FAIL(bare.out << bare.error);
    }
    const Ran held = machine.python(Isolation::bwrap, attack);
    CHECK_MESSAGE(held.out == "1 1\n", held.out, held.error); // EPERM
}

TEST_CASE("debugging, threads, and asking for one's personality go on") {
    Machine machine;
    const Ran ran = machine.python(Isolation::bwrap, R"(
text = ctypes.create_string_buffer(b"text")
child = os.fork()
if child == 0: time.sleep(60); os._exit(0)
attached = libc.ptrace(16, child, None, None)
os.waitpid(child, 0)
class Vector(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
copy = ctypes.create_string_buffer(4)
read = libc.process_vm_readv(child, ctypes.byref(Vector(ctypes.addressof(copy), 4)), 1,
                             ctypes.byref(Vector(ctypes.addressof(text), 4)), 1, 0)
os.kill(child, 9)
print(attached, read, copy.raw, libc.personality(ctypes.c_ulong(0xffffffff)))
)");
    CHECK_MESSAGE(ran.out == "0 4 b'text' 0\n", ran.error);
}
