"""Attempts to reach other programs, this machine and the network."""

import os
import socket

from attempts import any_of, attempt, connect, place, routed, tunnel, work


@attempt("ipc-abstract", "network-namespace", "connect to an abstract socket outside")
def connect_abstract():
    return connect(socket.AF_UNIX, "\0" + place["abstract"])


@attempt("ipc-session", "mount-namespace", "connect to a socket of another session")
def connect_session():
    return connect(socket.AF_UNIX, place["socket"])


@attempt("ipc-session-folder", "mount-namespace", "see the folder of another session")
def see_session():
    return os.listdir(os.path.dirname(place["session"])) != ["1"]


@attempt("ipc-workspace", "protected-names", "connect to a socket in the workspace of a program outside")
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


@attempt("net-netlink", "seccomp", "make a socket of netlink to the kernel's events")
def make_netlink():
    return bool(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15))


@attempt("net-interfaces", "mount-namespace", "see the interfaces of this machine's network", seen_without=True)
def see_interfaces():
    return os.path.exists("/sys/class/net")


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
