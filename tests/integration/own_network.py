"""A network of the test's own, in which names of the public network resolve to this machine: a namespace with one public
address on its loopback interface, and a hosts file over the system's. Nothing in the product knows of it."""

import fcntl
import os
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ADDRESS = "93.184.215.14"
MARK = "CELLGATE_OWN_NETWORK"
PREPARED = "prepared"  # by a process that could
HOSTS = f"""127.0.0.1 localhost
{ADDRESS} allowed.example other.example pypi.example
127.0.0.1 rebind.example
{ADDRESS} half.example
127.0.0.1 half.example
"""


def _set_address(interface, address, mask):
    """SIOCSIFADDR, SIOCSIFNETMASK, and SIOCSIFFLAGS with IFF_UP (netdevice(7))."""
    def of_inet(text):
        return struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(text))

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        for number, value in ((0x8916, of_inet(address)), (0x891C, of_inet(mask)), (0x8914, struct.pack("H14x", 0x1))):
            fcntl.ioctl(handle, number, struct.pack("16s", interface.encode()) + value)


def enter():
    """Starts the test file again inside, unless it is there already."""
    if MARK not in os.environ:
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        os.environ[MARK] = "1"
        os.execvp("unshare", ["unshare", *user, "--net", "--mount", sys.executable, "-B", *sys.argv])
    if os.environ[MARK] != PREPARED:
        prepare()


def prepare():
    """Makes it of the namespaces that this process is in, which have to be its own."""
    _set_address("lo", "127.0.0.1", "255.0.0.0")
    _set_address("lo:1", ADDRESS, "255.255.255.255")
    Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").write_text("0")  # servers of the tests are an ordinary user's
    with tempfile.TemporaryDirectory() as folder:
        hosts = Path(folder) / "hosts"
        hosts.write_text(HOSTS)
        subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)


def make_certificates(folder, names):
    """An authority of the test's own, and a server's certificate by it. Returns their paths: authority, certificate and
    key, the last two in one file."""
    folder.mkdir()
    authority, key, server = folder / "authority.crt", folder / "authority-key", folder / "server"

    def openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority", "-keyout", key,
            "-out", authority, "-addext", "keyUsage=critical,keyCertSign")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={names[0].removeprefix('IP:')}", "-keyout", server, "-out", folder / "csr")
    (folder / "extensions").write_text("subjectAltName=" + ",".join(name if ":" in name else f"DNS:{name}" for name in names) + "\n")
    openssl("x509", "-req", "-in", folder / "csr", "-CA", authority, "-CAkey", key, "-CAcreateserial", "-days", "2",
            "-extfile", folder / "extensions", "-out", folder / "certificate")
    with server.open("a") as file:
        file.write((folder / "certificate").read_text())
    return authority, server
