"""Jupyter Server with a WebSocket client that is as thin as Python allows, as a worker of the bench:
peer_server.py [--nodelay] CASE, with one of the cases

    cold               the server is up; a sample is a new kernel and the result of 1+1
    execute CODE       a sample is one round trip, with store_history
    idle               a sample is the server's memory without a kernel, in bytes
    gateway CODE       a sample is one round trip, by the client with which Jupyter Server uses kernels of a gateway
    beside COMMAND…    the command is the worker, with a session of it in BENCH_SESSION

--nodelay sets TCP_NODELAY on the server's WebSockets, which as shipped it leaves off."""

import asyncio
import base64
import ctypes
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import uuid
from http.client import HTTPConnection

from peer_worker import now, serve

NODELAY = """
from jupyter_server.services.kernels.handlers import ZMQChannelsHandler
stock = ZMQChannelsHandler.open
def open(self, *args, **kwargs):
    self.set_nodelay(True)
    return stock(self, *args, **kwargs)
ZMQChannelsHandler.open = open
"""
MAIN = "from jupyter_server.serverapp import main; main()"
PR_SET_PDEATHSIG = 1


def execute_request(message_id, code):
    return {"header": {"msg_id": message_id, "msg_type": "execute_request", "session": "bench",
                       "username": "bench", "version": "5.3"},
            "parent_header": {}, "metadata": {}, "channel": "shell", "buffers": [],
            "content": {"code": code, "silent": False, "store_history": True, "user_expressions": {},
                        "allow_stdin": False, "stop_on_error": False}}


class Server:
    def __init__(self, nodelay):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        arguments = ["--no-browser", f"--port={self.port}", "--ip=127.0.0.1", "--allow-root", "--ServerApp.token=",
                     "--ServerApp.password=", "--ServerApp.disable_check_xsrf=True"]
        prctl = ctypes.CDLL(None).prctl
        self.process = subprocess.Popen(
            [sys.executable, "-c", (NODELAY if nodelay else "") + MAIN, *arguments], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        self.wait_up()

    def wait_up(self):
        end = now() + 60
        while now() < end and self.process.poll() is None:
            try:
                self.request("GET", "/api/status")
                return
            except ConnectionRefusedError:
                pass
        sys.exit("Jupyter Server did not start")

    def request(self, method, path):
        connection = HTTPConnection("127.0.0.1", self.port)
        connection.request(method, path)
        body = connection.getresponse().read()
        connection.close()
        return json.loads(body or b"null")

    def memory(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024

    def end(self):
        self.process.terminate()
        self.process.wait()


class Kernel:
    """A kernel of the server and a WebSocket to it."""

    def __init__(self, server):
        self.server = server
        self.id = server.request("POST", "/api/kernels")["id"]
        self.socket = socket.create_connection(("127.0.0.1", server.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall((f"GET /api/kernels/{self.id}/channels HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                             "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                             f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n").encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.read()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head:
            sys.exit(f"Jupyter Server refused a WebSocket: {head[:300]}")

    def read(self):
        piece = self.socket.recv(1 << 16)
        if not piece:
            sys.exit("Jupyter Server closed the WebSocket")
        self.buffer += piece

    def need(self, size):
        while len(self.buffer) < size:
            self.read()

    def receive(self):
        """The next text message."""
        while True:
            self.need(2)
            size, start = self.buffer[1], 2
            if size == 126:
                self.need(4)
                (size,), start = struct.unpack_from(">H", self.buffer, 2), 4
            elif size == 127:
                self.need(10)
                (size,), start = struct.unpack_from(">Q", self.buffer, 2), 10
            self.need(start + size)
            opcode, body = self.buffer[0] & 15, self.buffer[start : start + size]
            self.buffer = self.buffer[start + size :]
            if opcode == 1:
                return json.loads(body)

    def send(self, message):
        body = json.dumps(message).encode()
        head = struct.pack(">BBH", 0x81, 0xFE, len(body))  # a request has between 126 and 65535 bytes
        self.socket.sendall(head + bytes(4) + body)  # masked with zeros

    def execute(self, code):
        message_id = uuid.uuid4().hex
        self.send(execute_request(message_id, code))
        replied = idle = False
        while not (replied and idle):
            message = self.receive()
            if message["parent_header"].get("msg_id") == message_id:
                replied = replied or message["msg_type"] == "execute_reply"
                idle = idle or message["content"].get("execution_state") == "idle"

    def end(self):
        self.socket.close()
        self.server.request("DELETE", f"/api/kernels/{self.id}")


def cold(server):
    def sample():
        begun = now()
        kernel = Kernel(server)
        kernel.execute("1+1")
        seconds = now() - begun
        kernel.end()
        return seconds

    serve(sample)


def run(server, code):
    kernel = Kernel(server)

    def sample():
        begun = now()
        kernel.execute(code)
        return now() - begun

    kernel.execute("1")
    serve(sample)


def gateway(server, code):
    """jupyter_server.gateway is the client."""
    from jupyter_server.gateway.handlers import GatewayWebSocketClient
    from jupyter_server.gateway.managers import GatewayClient
    from tornado.ioloop import IOLoop

    url = f"http://127.0.0.1:{server.port}"
    GatewayClient.instance().url = url
    loop = IOLoop.current()
    client = GatewayWebSocketClient(gateway_url=url)
    awaited = {"id": "of no request yet"}  # the kernel speaks before it is asked

    def receive(text):
        message = json.loads(text)
        if message["parent_header"].get("msg_id") == awaited["id"]:
            awaited["replied"] |= message["msg_type"] == "execute_reply"
            awaited["idle"] |= message["content"].get("execution_state") == "idle"
            if awaited["replied"] and awaited["idle"]:
                loop.stop()

    def execute():
        awaited.update(id=uuid.uuid4().hex, replied=False, idle=False)
        begun = now()
        client.on_message(json.dumps(execute_request(awaited["id"], code)))
        loop.start()
        return now() - begun

    async def connect():
        client.on_open(server.request("POST", "/api/kernels")["id"], receive)
        while client.ws is None:
            await asyncio.sleep(0.01)

    loop.run_sync(connect)
    execute()
    serve(execute)


def beside(server, *command):
    session = {"kernel": {"server": {"url": f"http://127.0.0.1:{server.port}"}}}
    subprocess.run(command, env={**os.environ, "BENCH_SESSION": json.dumps(session)}, check=True)


def main():
    arguments = sys.argv[1:]
    nodelay = arguments[0] == "--nodelay"
    server = Server(nodelay)
    cases = {"cold": cold, "execute": run, "idle": lambda server: serve(server.memory),
             "gateway": gateway, "beside": beside}
    case, *more = arguments[1:] if nodelay else arguments
    cases[case](server, *more)
    server.end()


main()
