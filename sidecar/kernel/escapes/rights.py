"""Attempts to gain rights, or to use those of processes outside."""

import contextlib
import ctypes
import os
import pty
import signal

from attempts import SECRET, any_of, attempt, call, libc, place, succeeds, system_call


@attempt("ns-setns", "pid-namespace", "enter the network of a process outside")
def enter_network():
    return call(libc.setns(os.open(f"/proc/{place['process']}/ns/net", os.O_RDONLY), 0))


@attempt("ns-user", "no-nested-namespaces", "have a user namespace")
def have_namespace():
    return succeeds("unshare", "-U", "true")


@attempt("ns-see-processes", "pid-namespace", "see a process outside", seen_without=True)
def see_process():
    return os.path.exists(f"/proc/{place['process']}")


@attempt("ns-chroot", "no-capabilities", "change the root directory")
def change_root():
    os.chroot(place["workspace"])
    return True


@attempt("priv-sudo", "no-new-privileges", "become root by programs that lend its rights")
def become_root():
    return any_of([lambda command=command: succeeds(*command) for command in (("su", "-c", "true"), ("sudo", "-n", "true"))])


@attempt("priv-setuid0", "no-capabilities", "change one's user")
def change_user():
    os.setuid(0 if os.getuid() else 12345)
    return True


def status():
    with open("/proc/self/status") as file:
        return file.read()


@attempt("priv-nnp", "no-new-privileges", "keep capabilities, or gain privileges")
def keep_privileges():
    found = status()
    none = "0000000000000000"
    wanted = ["NoNewPrivs:\t1", "Seccomp:\t2", f"CapEff:\t{none}", f"CapPrm:\t{none}", f"CapAmb:\t{none}"]
    with open("/proc/self/uid_map") as file:
        in_a_namespace = "4294967295" not in file.read()
    # An ordinary user cannot give up the bound of what programs bring along; by NoNewPrivs they bring nothing.
    if in_a_namespace or os.getuid() == 0:
        wanted.append(f"CapBnd:\t{none}")
    return [line for line in wanted if line not in found]


@attempt("priv-signal", "pid-namespace", "signal a process outside")
def send_signal():
    os.kill(place["process"], 0)
    return True


@attempt("priv-kill-all", "pid-namespace", "kill all that one can", control=False, left="process")
def kill_all():
    for process in (place["process"], -1):
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    return False  # the stage sees processes that were killed outside


@attempt("priv-ptrace", "pid-namespace", "trace a process outside")
def trace():
    call(libc.ptrace(16, place["process"], None, None))
    os.waitpid(place["process"], 0)
    return call(libc.ptrace(17, place["process"], None, None))


@attempt("priv-bpf", "seccomp", "load a program into the kernel, watch it, or stop it at a fault")
def load_program():
    return any_of([lambda: system_call(321, 280, 0, ctypes.create_string_buffer(120), 120),
                   lambda: system_call(323, 282, 1),
                   lambda: system_call(425, 425, 1, ctypes.create_string_buffer(120)),
                   lambda: system_call(248, 217, b"user", b"cellgate-test", b"x", 1, -2)])


@attempt("priv-x32", "seccomp", "call the kernel by the second numbers of x86")
def call_x32():
    ctypes.set_errno(0)
    return libc.syscall(0x40000000 + 39) > 0 or ctypes.get_errno() != 38 or "Seccomp:\t2" not in status()


@attempt("priv-tiocsti", "seccomp", "type into a terminal")
def type_into_terminal():
    child, master = pty.fork()
    if child == 0:
        libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p]
        os._exit(0 if any(libc.ioctl(0, number, b"x") == 0 for number in (0x5412, 0x5412 | 1 << 32)) else 1)
    held = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(master)
    return held == 0


@attempt("priv-cgroup-write", "mount-namespace", "leave the control group", control=False)
def leave_group():
    def leave(path):
        with open(path, "w") as file:
            file.write("0")
        return path
    paths = [os.path.join(folder, name) for folder, _, names in os.walk("/sys/fs/cgroup") for name in names
             if name in ("cgroup.procs", "tasks")]
    return any_of([lambda path=path: leave(path) for path in paths])


@attempt("priv-env-leak", "clean-environment", "find a secret among the variables")
def find_variable():
    return [name for name, value in os.environ.items() if value == SECRET]
