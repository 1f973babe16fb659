"""Jupyter servers for tests, and what lies between them and cellgate: a relay that cuts connections, a proxy that behaves
as gateways do."""

import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from processes import OWN, start_process, wait_until

TOKEN = "the-servers-own-token"


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


# Becomes its arguments, once the loopback device of its network is up: an ifreq with IFF_UP, and SIOCSIFFLAGS.
WITH_LOOPBACK = """import fcntl, os, socket, struct, sys
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh", b"lo", 1))
os.execv(sys.argv[1], sys.argv[1:])
"""
OWN_NETWORK = ("unshare", "--user", "--map-root-user", "--net", "/usr/bin/python3", "-c", WITH_LOOPBACK)


def has_jupyter_server():
    return subprocess.run(["/usr/bin/python3", "-c", "import jupyter_server"], capture_output=True).returncode == 0


def has_namespaces():
    return subprocess.run([*OWN_NETWORK, "/bin/true"], capture_output=True).returncode == 0


def connect(address):
    """A stream to a Unix socket's path, or to a host and port."""
    stream = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
    try:
        stream.connect(address)
    except OSError:
        stream.close()
        raise
    return stream


class JupyterServer:
    """`python3 -m jupyter_server`, with a home of its own. `namespace`: in a network of its own, as on another machine,
    reached through a Unix socket only. `address` is where it listens, `url` where clients reach it."""

    def __init__(self, home, *arguments, token=TOKEN, namespace=False):
        self.token = token
        self.way = None
        where = [f"--ServerApp.port={free_port()}", "--ServerApp.ip=127.0.0.1"]
        if namespace:
            self.sockets = tempfile.TemporaryDirectory()  # a socket's path is short
            self.address = os.path.join(self.sockets.name, "server")
            where = [f"--ServerApp.sock={self.address}"]
        self.process = start_process(
            [*(OWN_NETWORK if namespace else ()), "/usr/bin/python3", "-m", "jupyter_server", "--allow-root", "--no-browser", *where,
             f"--ServerApp.token={token}", f"--ServerApp.root_dir={home}", *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=home,
            env={"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"})
        self.log = []
        for line in self.process.stderr:
            self.log.append(line)
            if "http+unix://" in line:
                self.way = Relay(self)
                self.url = self.way.url
                break
            if "http://127.0.0.1:" in line:  # it takes the next port when another program was faster
                self.url = "http://127.0.0.1:" + line.split("http://127.0.0.1:", 1)[1].split("/")[0].strip()
                self.address = ("127.0.0.1", int(self.url.rsplit(":", 1)[1]))
                break
        else:
            raise AssertionError("the Jupyter server ended: " + "".join(self.log))
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()

    def kernels(self):
        request = urllib.request.Request(self.url + "/api/kernels", headers={"Authorization": f"token {self.token}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def close(self):
        self.process.terminate()
        self.process.wait()
        OWN.discard(self.process.pid)
        self.process.stderr.close()
        if self.way:
            self.way.close()
            self.sockets.cleanup()


class Relay:
    """A way to a server on which WebSockets are cut: the n-th of them after so many bytes as `cuts` has for it, counted in
    the direction that it has. A further one is not cut. With `keeps` it keeps what connections carry."""

    def __init__(self, server, cuts=(), receive_bytes=None, keeps=False):
        self.target = server.address
        self.cuts = iter(cuts)
        self.made = 0  # cuts
        self.is_used_up = False  # there was a WebSocket for which there is no cut
        self.changed = threading.Condition()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        if receive_bytes:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.keeps = keeps
        self.carried = []  # (direction, bytes) of each connection
        self.live = set()
        self.reads = threading.Event()  # what WebSockets bring from cellgate
        self.reads.set()
        self.held = threading.Event()  # it waits for that
        self.errors = []
        self.lets_through = threading.Event()
        self.lets_through.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near):
        self.lets_through.wait()
        try:
            far = connect(self.target)
        except OSError:
            near.close()
            return
        head = near.recv(65536)
        is_websocket = b"websocket" in head.lower()
        cut = next(self.cuts, None) if is_websocket else None
        self.is_used_up |= is_websocket and cut is None
        pair = (near, far)
        self.live.add(pair)
        kept = {"sent": bytearray(head), "received": bytearray()}
        if self.keeps:
            self.carried.extend(kept.items())
        far.sendall(head)
        for side, source, sink in (("sent", near, far), ("received", far, near)):
            limit = cut[1] if cut and cut[0] == side else None
            threading.Thread(target=self._pump, args=(source, sink, limit, pair, kept[side]), daemon=True).start()

    def _pump(self, source, sink, limit, pair, kept):
        carried = 0
        is_from_cellgate = source is pair[0]
        try:
            while data := source.recv(65536):
                if is_from_cellgate and len(data) > 1000:
                    self.held.set()
                    self.reads.wait()
                if self.keeps:
                    kept += data
                if limit is not None and carried + len(data) >= limit:
                    sink.sendall(data[:limit - carried])
                    self.cut(pair)
                    return
                carried += len(data)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError as error:
            self.errors.append(error)

    def cut(self, pair):
        """Both sides are reset: what the system still held is lost, as when a machine in between goes."""
        self.live.discard(pair)
        for each in pair:
            try:
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()
        with self.changed:
            self.made += 1
            self.changed.notify_all()

    def cut_all(self):
        for pair in list(self.live):
            self.cut(pair)

    @contextlib.contextmanager
    def cut_from(self, server):
        """Cuts all, and lets no connection through in the block, which begins once the server keeps what comes."""
        def kept():
            return sum("Starting buffering" in line for line in server.log)

        before = kept()
        self.lets_through.clear()
        self.cut_all()
        wait_until(lambda: kept() > before, "the server to notice the cut")
        yield
        self.lets_through.set()

    def close(self):
        self.listener.close()
        self.lets_through.set()
        self.cut_all()


class GatewayHandler(BaseHTTPRequestHandler):
    """A request to a Gateway."""

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.gateway.asked.append((self.command, self.path, body))
        refusal = self.server.gateway.refusal_of(self.command, self.path, self.headers, body)
        if refusal:
            status, words = refusal
            return self.reply(status, json.dumps({"reason": words, "message": words}).encode())
        if self.headers.get("Upgrade"):
            return self.carry()
        request = urllib.request.Request(self.server.gateway.server.url + self.path, body or None, method=self.command,
                                         headers={"Authorization": self.headers.get("Authorization", "")})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return self.reply(answer.status, answer.read())
        except urllib.error.HTTPError as error:
            return self.reply(error.code, error.read())

    do_GET = do_POST = do_DELETE = answer

    def carry(self):
        """The WebSocket, as it is."""
        self.close_connection = True
        with self.server.gateway.connect() as far:
            head = f"{self.requestline}\r\n" + "".join(f"{key}: {value}\r\n" for key, value in self.headers.items())
            far.sendall(head.encode() + b"\r\n")
            back = threading.Thread(target=self.pump, args=(far, self.connection))
            back.start()
            self.pump(self.connection, far)
            back.join()

    @staticmethod
    def pump(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Gateway:
    """A proxy before a Jupyter server that behaves as Kernel Gateway and Enterprise Gateway do where they differ from it,
    by their source (Kernel Gateway 3.0.1, Enterprise Gateway 3.4.0.dev0). The rest is Jupyter Server's in them, too: they
    inherit its handlers, with what it buffers over a cut and the restarts that it announces over the WebSocket
    (kernel_gateway/services/kernels/handlers.py, its last lines; enterprise_gateway/services/kernels/handlers.py,
    ZMQChannelsHandler)."""

    def __init__(self, server, max_kernels=100, users=()):
        self.server = server
        self.max_kernels = max_kernels
        self.users = users
        self.asked = []
        self.passed = []  # the variables of each kernel that was started
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), GatewayHandler)
        self.http.gateway = self
        self.address = self.http.server_address
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def connect(self):
        return connect(self.server.address)

    def refusal_of(self, method, path, headers, body):
        if headers.get("Authorization") != f"token {self.server.token}":
            # kernel_gateway/mixins.py, TokenAuthorizationMixin.prepare(): 401 where Jupyter Server says 403.
            return 401, "Unauthorized"
        if path == "/api/kernels" and method == "GET":
            # kernel_gateway/services/kernels/handlers.py, MainKernelHandler.get(): unless KernelGatewayApp.list_kernels
            # is set, which it is not by default.
            return 403, "Forbidden"
        if path != "/api/kernels" or method != "POST":
            return None
        if len(self.server.kernels()) >= self.max_kernels:
            # The same, post(): KernelGatewayApp.max_kernels.
            return 403, "Resource Limit"
        # The same: KERNEL_… and env_whitelist pass; with an `env` the gateway's own variables do not.
        given = json.loads(body or "{}").get("env")
        passed = given and {name: value for name, value in given.items() if name.startswith("KERNEL_")}
        user = (passed or {}).get("KERNEL_USERNAME", "the-gateways-own")
        if self.users and user not in self.users:
            # enterprise_gateway/services/processproxies/processproxy.py, _enforce_authorization().
            return 403, (f"User '{user}' is not in the set of users authorized to start kernel 'Python 3'. "
                         "Ensure KERNEL_USERNAME is set to an appropriate value and retry the request.")
        self.passed.append(passed)
        return None

    def close(self):
        self.http.shutdown()
        self.http.server_close()


def serve(home):
    """A server in a network of its own for tests that are no Python: prints its address and token, cuts all connections
    for each line of stdin, prints how many cuts there were, and ends with stdin."""
    server = JupyterServer(home, namespace=True)
    print(json.dumps({"url": server.url, "token": server.token}), flush=True)
    for _ in sys.stdin:
        server.way.cut_all()
        print(json.dumps({"cuts": server.way.made}), flush=True)
    server.close()


if __name__ == "__main__":
    serve(sys.argv[1])
