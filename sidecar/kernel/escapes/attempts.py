"""The attempts to escape from the sandbox, by id (those of tests/unit/sandbox/ESCAPES.md), and what several of them use.

All targets of an attempt were made for it: fake secrets, and the stage's own listeners and process. Attempts without a
control would harm the machine, or reach others, without the sandbox.
"""

import ctypes
import os
import socket
import subprocess

SECRET = "CANARY"
PROXY = 3128
attempts = {}
# Set for an attempt: home, workspace, session, and the stage's targets outside of them.
place = {}

# By launcher: the layer that holds in place of another; empty: nothing holds it then.
IN_PLACE_OF = {
    "landlock": {"mount-namespace": "landlock", "pid-namespace": "landlock", "network-namespace": "no-network",
                 "network-proxy": "no-network", "no-nested-namespaces": "seccomp", "no-capabilities": "capabilities",
                 "ipc-namespace": ""},
    "gvisor": {"seccomp": "gvisor", "no-nested-namespaces": "gvisor", "pid-namespace": "gvisor",
               "no-capabilities": "capabilities",
               "memory-limit": "memory-cgroup"},
}
# These work on gVisor's own kernel, and reach nothing of the machine.
OWN_OF_GVISOR = {"fs-disk-raw", "fs-proc-write", "fs-write-root", "net-interfaces", "net-netlink", "ns-user", "priv-bpf",
                 "priv-nnp", "priv-x32"}

libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, layer, title, control=True, limits=None, left=None, ends=False, seen_without=False):
    """`layer` should stop it. `left` checks its effects from outside. `ends`: it is held by ending with a signal.
    `seen_without`: without namespaces it sees that something is there, which it can neither read nor change."""
    def add(function):
        layers = {launcher: instead.get(layer, layer) for launcher, instead in IN_PLACE_OF.items()}
        if seen_without:
            layers["landlock"] = ""
        if name in OWN_OF_GVISOR:
            layers["gvisor"] = ""
        attempts[name] = {"layer": layer, "layerOf": layers, "title": title,
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
    """The result of the first that works; the error of the last if none does."""
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
    """Sends nothing: connecting a datagram socket only looks up the route."""
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


def opened(paths):
    """Those that can be opened for writing; nothing is written."""
    found = []
    for path in paths:
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            found.append(path)
        except OSError:
            pass
    return found[:3]


def below(folder):
    return [os.path.join(each, name) for each, _, names in os.walk(folder) for name in names]
