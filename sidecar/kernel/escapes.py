"""Attempts to get out of the sandbox, for `cellgate sandbox test`. The ids are those of tests/unit/sandbox/ESCAPES.md.

    escapes.py list               what there is, as JSON
    escapes.py stage              stays outside: makes a place for each attempt, with things to reach, and looks after
                                  it; one request a line on stdin, one answer a line
    escapes.py attempt ID PLACE   tries it: prints "escaped WHAT" or "held WHY"

All that an attempt reaches for was made for it: secrets that are none, listeners and a process of the stage's own. Those
without a control would harm the machine, or reach others, if they were tried without the sandbox.
"""

import contextlib
import ctypes
import json
import os
import pty
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading

SECRET = "CANARY"
PROXY = 3128
attempts = {}
# Set for an attempt: home, workspace, session, and what the stage has outside of them.
place = {}

# What holds in the weaker sandbox in the stead of a layer that needs namespaces. Of a limit of scratch space it has none.
WITHOUT_NAMESPACES = {"mount-namespace": "landlock", "pid-namespace": "landlock", "network-namespace": "no-network",
                      "network-proxy": "no-network", "no-nested-namespaces": "seccomp", "no-capabilities": "capabilities",
                      "ipc-namespace": None}

libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, layer, title, control=True, limits=None, left=None, ends=False):
    """`layer` is what should stop it. `left` looks, outside, at what it left. `ends`: its end by a signal is what holds
    it."""
    def add(function):
        attempts[name] = {"layer": layer, "weakerLayer": WITHOUT_NAMESPACES.get(layer, layer), "title": title,
                          "control": control, "limits": limits or {}, "left": left, "ends": ends, "function": function}
        return function
    return add


def home(name):
    return os.path.join(place["home"], name)


def work(name):
    return os.path.join(place["workspace"], name)


def read(path):
    with open(path) as file:
        return SECRET in file.read()


def write(path, mode="w"):
    with open(path, mode) as file:
        file.write("x")
    return path


def call(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return True


def system_call(x86, arm, *arguments):
    return call(libc.syscall(x86 if os.uname().machine == "x86_64" else arm, *arguments))


def any_of(functions):
    """What the first that works returns; the error of the last, if none does."""
    error = OSError("nothing to try")
    for function in functions:
        try:
            found = function()
            if found:
                return found
        except (OSError, subprocess.SubprocessError) as problem:
            error = problem
    raise error


def succeeds(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=10).returncode == 0


def connect(family, address):
    with socket.socket(family) as client:
        client.settimeout(5)
        client.connect(address)
        return True


def routed(address):
    """Nothing is sent: a datagram's socket only looks for the way."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((address, 443))
        return True


def tunnel(host, port=443):
    """Whether the proxy connects there."""
    with socket.create_connection(("127.0.0.1", PROXY), 10) as client:
        client.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\n\r\n".encode())
        answer = client.recv(4096).decode(errors="replace").split("\r\n")[0]
    if " 200" not in answer:
        raise PermissionError(answer)
    return answer


def moved_to(old, new):
    os.rename(old, new)
    return new


def moved(old, new, made):
    os.rename(old, new)
    os.makedirs(made)
    return True


# --- reading


@attempt("fs-read-ssh", "private-home", "read ~/.ssh/id_rsa")
def read_ssh():
    return read(home(".ssh/id_rsa"))


@attempt("fs-read-env", "guarded-files", "read .env of the workspace")
def read_env():
    return any_of([lambda: read(work(".env")), lambda: read(work("deploy/.env.production"))])


@attempt("fs-read-env-rename", "guarded-files", "rename .env, or link to it, and read it")
def rename_env():
    def link():
        os.link(work(".env"), work("linked"))
        return read(work("linked"))

    def rename():
        os.rename(work(".env"), work("renamed"))
        return read(work("renamed"))
    return any_of([link, rename])


@attempt("fs-read-hardlink-preexisting", "guarded-files", "read a secret by another name that it has had before")
def read_other_name():
    return any_of([lambda: read(work("notes.txt")), lambda: read(work("key.txt"))])


@attempt("fs-read-env-parent-rename", "mount-namespace", "rename a folder above .env and read it")
def rename_parent():
    def rename(old, new, name):
        os.rename(old, new)
        return read(os.path.join(new, name))
    return any_of([lambda: rename(work("deploy"), work("moved"), ".env.production"),
                   lambda: rename(place["workspace"], home("moved"), ".env")])


@attempt("fs-read-env-umount", "no-capabilities", "unmount what covers .env")
def unmount():
    if not os.path.ismount(work(".env")):
        return read(work(".env"))
    call(libc.umount2(work(".env").encode(), 2))
    return read(work(".env"))


@attempt("fs-read-env-userns-umount", "no-nested-namespaces", "unmount it in a user namespace of one's own")
def unmount_as_root():
    return succeeds("unshare", "-Urm", "sh", "-c", 'umount -l "$0"; grep -q CANARY "$0"', work(".env"))


@attempt("fs-read-host-environ", "pid-namespace", "read the environment of a process outside")
def read_environment():
    with open(f"/proc/{place['process']}/environ", "rb") as file:
        return SECRET.encode() in file.read()


@attempt("fs-open-by-handle", "seccomp", "open a file outside by its handle")
def open_by_handle():
    kind, data = place["handle"]
    data = bytes.fromhex(data)
    handle = ctypes.create_string_buffer(len(data).to_bytes(4, sys.byteorder) + kind.to_bytes(4, sys.byteorder) + data)
    folder = os.open(place["workspace"], os.O_RDONLY)
    file = libc.open_by_handle_at(folder, handle, os.O_RDONLY)
    call(file)
    return SECRET.encode() in os.read(file, 100)


@attempt("fs-disk-raw", "mount-namespace", "find a device beyond the harmless ones")
def find_device():
    harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd", "core", "stdin", "stdout",
                "stderr", "console"}
    return sorted(set(os.listdir("/dev")) - harmless)[:3]


# --- writing


@attempt("fs-write-githook", "guarded-files", "write a hook of git's")
def write_hook():
    return write(work(".git/hooks/pre-commit"))


@attempt("fs-mv-git", "guarded-files", "move .git away and plant another")
def move_git():
    return moved(work(".git"), work("git"), work(".git/hooks"))


@attempt("fs-write-mcpjson", "guarded-files", "change .mcp.json, or replace it")
def write_configuration():
    return any_of([lambda: write(work(".mcp.json")),
                   lambda: os.replace(write(work("new")), work(".mcp.json")) or True])


@attempt("fs-write-vscode", "guarded-names", "make a .vscode, or bring one in from elsewhere")
def make_configuration():
    def make():
        os.makedirs(work("sub/.vscode"))
        return write(work("sub/.vscode/tasks.json"))

    def bring():
        os.makedirs(work("new"))
        return write(os.path.join(moved_to(work("new"), work(".vscode")), "tasks.json"))

    return any_of([make, bring])


@attempt("fs-write-subrepo-hook", "guarded-names", "make a repository in a folder, with a hook")
def make_repository():
    os.makedirs(work("sub/.git/hooks"))
    return write(work("sub/.git/hooks/pre-commit"))


@attempt("fs-write-linked", "guarded-names", "make or change what a guarded name leads to over links")
def write_linked():
    def exchange():
        os.unlink(work("linked/current"))
        os.makedirs(work("linked/current/claude"))
        return write(work("linked/.claude/settings.json"))
    return any_of([lambda: write(work("linked/scripts/hook")), lambda: write(work("linked/conf/mcp.json")), exchange])


@attempt("fs-write-worktree", "guarded-files", "change the repository that a worktree's .git names")
def write_repository():
    return any_of([lambda: write(work("trees/.bare/config"), "a"), lambda: write(work("trees/.bare/hooks/pre-commit"))])


@attempt("fs-bind-name", "guarded-names", "give a socket a guarded name")
def bind_name():
    server = socket.socket(socket.AF_UNIX)
    os.chdir(place["workspace"])
    server.bind("linked/.vscode")
    return True


@attempt("fs-replace-wrapper-dir", "guarded-files", "move mcptools away and plant another, or change a wrapper")
def replace_wrappers():
    return any_of([lambda: write(work("mcptools/__init__.py")),
                   lambda: moved(work("mcptools"), work("old"), work("mcptools"))])


@attempt("fs-write-pth", "mount-namespace", "write where every Python starts", control=False)
def write_pth():
    import site

    def plant(folder):
        path = write(os.path.join(folder, "cellgate-test.pth"), "x")
        os.unlink(path)
        return path
    return any_of([lambda folder=folder: plant(folder) for folder in site.getsitepackages()])


@attempt("fs-mknod", "no-capabilities", "make a block device")
def make_device():
    os.mknod(work("disk"), 0o60600, os.makedev(254, 0))
    return True


# --- rights


@attempt("ns-setns", "pid-namespace", "enter the network of a process outside")
def enter_network():
    return call(libc.setns(os.open(f"/proc/{place['process']}/ns/net", os.O_RDONLY), 0))


@attempt("ns-chroot", "no-capabilities", "change the root directory")
def change_root():
    os.chroot(place["workspace"])
    return True


@attempt("priv-sudo", "no-new-privileges", "become root by programs that lend its rights", control=False)
def become_root():
    return any_of([lambda command=command: succeeds(*command) for command in
                   (("su", "-c", "true"), ("sudo", "-n", "true"), ("mount", "-t", "tmpfs", "x", "/tmp"))])


@attempt("priv-setuid0", "no-capabilities", "change one's user")
def change_user():
    os.setuid(0 if os.getuid() else 12345)
    return True


@attempt("priv-nnp", "no-new-privileges", "keep capabilities, or gain privileges")
def keep_privileges():
    with open("/proc/self/status") as file:
        status = file.read()
    none = "0000000000000000"
    wanted = ["NoNewPrivs:\t1", "Seccomp:\t2", f"CapEff:\t{none}", f"CapPrm:\t{none}", f"CapAmb:\t{none}"]
    with open("/proc/self/uid_map") as file:
        in_a_namespace = "4294967295" not in file.read()
    # An ordinary user cannot give up the bound of what programs bring along; by NoNewPrivs they bring nothing.
    if in_a_namespace or os.getuid() == 0:
        wanted.append(f"CapBnd:\t{none}")
    return [line for line in wanted if line not in status]


@attempt("priv-kill-all", "pid-namespace", "kill all that one can", control=False, left="process")
def kill_all():
    for process in (place["process"], -1):
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    return False  # what is killed outside, the stage sees


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


# --- other programs and the network


@attempt("ipc-abstract", "network-namespace", "connect to an abstract socket outside")
def connect_abstract():
    return connect(socket.AF_UNIX, "\0" + place["abstract"])


@attempt("ipc-session", "mount-namespace", "connect to a socket of another session")
def connect_session():
    return connect(socket.AF_UNIX, place["socket"])


@attempt("ipc-workspace", "guarded-names", "connect to a socket in the workspace of a program outside")
def connect_workspace():
    return connect(socket.AF_UNIX, work("socket"))


@attempt("ipc-docker-sock", "mount-namespace", "find the sockets of the system's services")
def find_sockets():
    return [name for folder in ("/run", "/var/run", "/tmp/.X11-unix") if os.path.isdir(folder)
            for name in os.listdir(folder)][:3]


@attempt("ipc-shared-memory", "ipc-namespace", "see the shared memory of others")
def see_shared_memory():
    return os.path.exists(place["shared"])


@attempt("net-host-tcp", "network-namespace", "connect to a server on this machine")
def connect_tcp():
    return connect(socket.AF_INET, ("127.0.0.1", place["tcp"]))


@attempt("net-inet", "network-namespace", "find a way to a public address")
def connect_public():
    return routed("192.0.2.1")


@attempt("net-metadata", "network-proxy", "reach the cloud's metadata, directly and by the proxy", control=False)
def reach_metadata():
    return any_of([lambda: routed("169.254.169.254"), lambda: tunnel("169.254.169.254", 80)])


@attempt("net-dns-exfil", "network-namespace", "send a datagram to this machine", left="datagram")
def send_datagram():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"secret", ("127.0.0.1", place["udp"]))
    return False  # what arrives, the stage sees


@attempt("net-ipv6", "network-namespace", "connect to it by IPv6's form of IPv4")
def connect_mapped():
    return connect(socket.AF_INET6, ("::ffff:127.0.0.1", place["tcp"]))


@attempt("net-vsock", "seccomp", "make a socket to the host of a virtual machine")
def make_vsock():
    return bool(socket.socket(40, socket.SOCK_STREAM))


@attempt("net-afalg", "seccomp", "make a socket of a rare family")
def make_rare():
    return any_of([lambda family=family, kind=kind: bool(socket.socket(family, kind))
                   for family in (38, 30, 31, 29, 21, 44) for kind in (5, 3, 1, 2)])


@attempt("net-proxy-ip", "network-proxy", "reach this machine by the proxy, in every spelling", control=False)
def proxy_address():
    names = ("127.0.0.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost",
             "0.0.0.0")
    return any_of([lambda name=name: tunnel(name, place["tcp"]) for name in names])


@attempt("net-proxy-suffix", "network-proxy", "reach a host whose name is like that of an allowed one", control=False)
def proxy_suffix():
    names = ("evil-allowed.invalid", "allowed.invalid.evil.invalid", "allowed.invalid")
    return any_of([lambda name=name: tunnel(name) for name in names])


@attempt("net-proxy-nul", "network-proxy", "hide a host from the proxy behind a NUL and the like", control=False)
def proxy_nul():
    names = ("127.0.0.1\0.allowed.invalid", "127.0.0.1%00.allowed.invalid", "a.allowed.invalid@127.0.0.1")
    return any_of([lambda name=name: tunnel(name, place["tcp"]) for name in names])


# --- resources


def fork_many():
    count = 0
    try:
        while count < 200:
            if os.fork() == 0:
                signal.pause()
            count += 1
    except OSError:
        pass
    return count == 200


attempt("res-forks", "process-limit", "start 200 processes where 64 are allowed", control=False,
        limits={"processes": 64})(fork_many)


@attempt("res-threads", "process-limit", "start 200 threads where 64 tasks are allowed", control=False,
         limits={"processes": 64})
def start_threads():
    end = threading.Event()
    try:
        for _ in range(200):
            threading.Thread(target=end.wait, daemon=True).start()
    except RuntimeError as error:
        raise OSError(str(error)) from None
    return True


@attempt("res-cpu", "cpu-limit", "compute for longer than a second where that is allowed", control=False,
         limits={"seconds": 1}, ends=True)
def compute():
    while resource.getrusage(resource.RUSAGE_SELF).ru_utime < 3:
        pass
    return True


@attempt("res-memory", "memory-limit", "use 1 GiB of memory where 256 MiB are allowed", control=False,
         limits={"memory": 256 << 20}, ends=True)
def use_memory():
    return bool(bytearray(1 << 30))


@attempt("res-disk-tmp", "private-scratch", "fill /tmp beyond 8 MiB where that is allowed", control=False,
         limits={"disk": 8 << 20})
def fill_scratch():
    with open("/tmp/cellgate-test", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 64 << 20)
    return True


@attempt("res-disk-cwd", "file-size-limit", "write a file of 8 MiB where 1 MiB is allowed", control=False,
         limits={"file": 1 << 20}, ends=True)
def write_large():
    with open(work("large"), "wb") as file:
        file.write(bytes(8 << 20))
    return True


@attempt("res-core", "limits", "leave a core dump")
def leave_core():
    return resource.getrlimit(resource.RLIMIT_CORE)[1] != 0


# --- the stage


class Stage:
    def __init__(self, folder):
        self.folder = folder
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.name = os.path.basename(os.path.dirname(folder))  # of this trial alone
        self.abstract = socket.socket(socket.AF_UNIX)
        self.abstract.bind("\0" + self.name)
        self.abstract.listen()
        self.shared = f"/dev/shm/{self.name}"
        write(self.shared)
        self.process = None
        self.sockets = []
        self.places = 0

    def close(self):
        self.end_process()
        os.unlink(self.shared)

    def end_process(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = None

    def put(self, name, text="x"):
        path = os.path.join(self.base, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def new(self):
        """A place that no attempt has seen."""
        self.base = os.path.join(self.folder, str(self.places))
        self.places += 1
        self.put("home/.ssh/id_rsa", SECRET)
        for name in (".env", "deploy/.env.production"):
            self.put("home/work/" + name, SECRET)
        for name in (".git/HEAD", ".git/hooks/sample", ".mcp.json", ".vscode/tasks.json", "mcptools/__init__.py"):
            self.put("home/work/" + name)
        os.link(os.path.join(self.base, "home/work/.env"), os.path.join(self.base, "home/work/notes.txt"))
        os.link(os.path.join(self.base, "home/.ssh/id_rsa"), os.path.join(self.base, "home/work/key.txt"))
        for name in ("hooks/sample", "config", "HEAD", "worktrees/main/HEAD"):
            self.put("home/work/trees/.bare/" + name)
        self.put("home/work/trees/.bare/worktrees/main/commondir", "../..\n")
        self.put("home/work/trees/main/.git", "gitdir: ../.bare/worktrees/main\n")
        for name in ("releases/1/claude/settings.json", "scripts/hook", "conf/other", ".git/hooks/sample"):
            self.put("home/work/linked/" + name)
        for name, target in ((".claude", "current/claude"), ("current", "releases/1"), (".mcp.json", "conf/mcp.json"),
                             (".git/hooks/pre-commit", "../../scripts/hook")):
            os.symlink(target, os.path.join(self.base, "home/work/linked", name))
        for name in ("1", "2"):
            os.makedirs(os.path.join(self.base, "run", name), mode=0o700)
        for each in self.sockets:
            each.close()
        self.sockets = [self.listener("run/2/s"), self.listener("home/work/socket")]
        self.end_process()
        self.process = subprocess.Popen(["sleep", "600"], env={"SECRET": SECRET}, stdin=subprocess.DEVNULL)
        self.udp.setblocking(False)
        while self.datagram():
            pass
        key = os.path.join(self.base, "home/.ssh/id_rsa")
        return {"home": os.path.join(self.base, "home"), "workspace": os.path.join(self.base, "home/work"),
                "session": os.path.join(self.base, "run/1"), "socket": os.path.join(self.base, "run/2/s"),
                "process": self.process.pid, "abstract": self.name, "shared": self.shared,
                "tcp": self.tcp.getsockname()[1], "udp": self.udp.getsockname()[1], "handle": self.handle(key)}

    def listener(self, name):
        made = socket.socket(socket.AF_UNIX)
        made.bind(os.path.join(self.base, name))
        made.listen()
        return made

    @staticmethod
    def handle(path):
        """As name_to_handle_at(2) has it: type, and bytes in hexadecimal."""
        size = 128
        buffer = ctypes.create_string_buffer(size.to_bytes(4, sys.byteorder) + bytes(4 + size))
        if libc.name_to_handle_at(-100, path.encode(), buffer, ctypes.byref(ctypes.c_int()), 0) != 0:
            return [0, ""]
        size, kind = (int.from_bytes(buffer.raw[at : at + 4], sys.byteorder) for at in (0, 4))
        return [kind, buffer.raw[8 : 8 + size].hex()]

    def datagram(self):
        try:
            return bool(self.udp.recv(100))
        except BlockingIOError:
            return False

    def left(self, what):
        return self.datagram() if what == "datagram" else self.process.poll() is not None

    def drop(self):
        self.end_process()
        for each in self.sockets:
            each.close()
        shutil.rmtree(self.base, ignore_errors=True)


def stage(folder):
    theatre = Stage(folder)
    try:
        for line in sys.stdin:
            request = json.loads(line)
            answer = {"new": theatre.new, "drop": theatre.drop, "left": lambda: theatre.left(request["what"])}
            print(json.dumps(answer[request["do"]]()), flush=True)
    finally:
        theatre.close()


def listed():
    return [{"id": name, **{key: value for key, value in each.items() if key != "function"}}
            for name, each in attempts.items()]


def run(name):
    try:
        found = attempts[name]["function"]()
        print(f"escaped {found}" if found else "held", flush=True)
    except (OSError, MemoryError, subprocess.SubprocessError) as error:
        print("held", type(error).__name__, error, flush=True)
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "list":
        print(json.dumps(listed()))
    elif sys.argv[1] == "stage":
        stage(sys.argv[2])
    else:
        place = json.loads(sys.argv[3])
        run(sys.argv[2])
