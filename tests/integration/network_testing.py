"""Servers of this machine under names of the public network, and cells that reach them."""

import asyncio
import contextlib
import http.server
import shutil
import socketserver
import ssl
import threading

import own_network
from cellgate_client import REPOSITORY, SharedSidecarTest

NODE = REPOSITORY / "tests/node_modules/node/bin/node"
FETCH = """
import urllib.request
def fetch(url):
    try:
        print(urllib.request.urlopen(url, timeout=60).read().decode())
    except Exception as error:
        print(type(error).__name__, error)
"""


class Page(http.server.SimpleHTTPRequestHandler):
    """The files of a folder; /hello says which host was asked for. What was asked is kept."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append((self.headers["Host"], self.path))
        if self.path.startswith("/hello"):
            body = f"hello from {self.headers['Host']}".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, folder, certificate=None, port=0):
        self.asked = []
        super().__init__(("0.0.0.0", port), lambda *rest: Page(*rest, directory=str(folder)))
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Echo:
    """Answers PING by PONG, once its gate is open, and counts connections: open ones, the most of them, all."""

    def __init__(self):
        self.open = self.most = self.seen = 0
        self.open_gate = threading.Event()
        self.open_gate.set()
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self.thread.start()
        ready.wait()

    def _run(self, ready):
        async def start():
            server = await asyncio.start_server(self._serve, "0.0.0.0", 0, backlog=200)
            self.port = server.sockets[0].getsockname()[1]
            ready.set()

        self.loop.run_until_complete(start())
        self.loop.run_forever()

    async def _serve(self, reader, writer):
        self.open += 1
        self.seen += 1
        self.most = max(self.most, self.open)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await reader.readexactly(6)
            while not self.open_gate.is_set():
                await asyncio.sleep(0.01)
            writer.write(b"PONG")
            await reader.read()
        self.open -= 1
        writer.close()

    def stop(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


class NetworkTest(SharedSidecarTest):
    @classmethod
    def prepare(cls):
        folder = cls.workspace.base / "served"
        folder.mkdir()
        authority, certificate = own_network.make_certificates(cls.workspace.base / "certificates",
                                                               ["allowed.example", "other.example", "pypi.example"])
        shutil.copy(authority, cls.workspace.path / "authority.crt")
        cls.served = folder
        cls.plain = Server(folder)
        cls.secure = Server(folder, certificate, port=443)
        cls.addClassCleanup(cls.plain.server_close)
        cls.addClassCleanup(cls.secure.server_close)
        cls.addClassCleanup(cls.plain.shutdown)
        cls.addClassCleanup(cls.secure.shutdown)

    def setUp(self):
        self.plain.asked.clear()
        self.secure.asked.clear()
        self.url = f"http://allowed.example:{self.plain.port}/hello"

    def fetched(self, url, **params):
        return self.run_ok(FETCH + f"fetch({url!r})", **params).text().strip()
