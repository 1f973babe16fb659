"""Gives the code of a kernel that cellgate did not start the tool channel: a unix socket in a private folder here, whose
connections are carried to cellgate by messages of a comm.

The sidecar sends this file as code, once it is connected, and calls attach(). The kernel's shell is busy while a cell
waits for its call, so what comes back comes on the control channel, which ipykernel reads in another thread. Each side
numbers its messages, repeats what is not acknowledged, and drops what it has seen.
"""

import atexit
import base64
import importlib
import os
import queue
import shutil
import socket
import sys
import tempfile
import threading
import time

PIECE = 1 << 20  # bytes in a message
REPEAT = 2.0  # seconds without an acknowledgement
MAX_REPEAT = 30.0
GIVE_UP = 600.0


class Link:
    """Numbered messages both ways over a carrier that may lose, repeat and reorder them. `send` takes a dict, and
    `deliver` gets each message of the other side once, in order."""

    def __init__(self, send, deliver):
        self._send = send
        self._deliver = deliver
        self._lock = threading.RLock()
        self._unacknowledged = []
        self._sent = 0
        self._received = 0
        self._wait = REPEAT
        self.silent_for = 0.0  # seconds in which messages were repeated in vain

    def post(self, message):
        with self._lock:
            self._sent += 1
            message["seq"] = self._sent
            self._unacknowledged.append(message)
            self._send(dict(message, ack=self._received))

    def receive(self, message):
        with self._lock:
            acknowledged = message.get("ack", 0)
            while self._unacknowledged and self._unacknowledged[0]["seq"] <= acknowledged:
                del self._unacknowledged[0]
                self._wait = REPEAT
                self.silent_for = 0.0
            if message.get("again"):  # the connection was cut
                self._send({"ack": self._received})
                self._send_unacknowledged()
            number = message.get("seq")
            if number is None:
                return
            fresh = number == self._received + 1
            self._received += fresh
            self._send({"ack": self._received})
        if fresh:
            self._deliver(message)

    def _send_unacknowledged(self):
        for message in self._unacknowledged:
            self._send(dict(message, ack=self._received))

    def repeat(self):
        """Sends again what is not acknowledged. Returns the seconds until the next time."""
        with self._lock:
            self._send_unacknowledged()
            if self._unacknowledged:
                self.silent_for += self._wait
                self._wait = min(self._wait * 2, MAX_REPEAT)
            return self._wait


class Carried:
    """One connection to the socket."""

    def __init__(self, number, connection, link):
        self.number = number
        self.connection = connection
        self._link = link
        self._answers = queue.SimpleQueue()

    def start(self):
        for work in (self._read, self._write):
            threading.Thread(target=work, daemon=True).start()

    def answer(self, data):
        self._answers.put(data)  # None: the end

    def _read(self):
        while True:
            try:
                data = self.connection.recv(PIECE)
            except OSError:
                data = b""
            if not data:
                break
            self._link.post({"stream": self.number, "bytes": base64.b64encode(data).decode()})
        self._link.post({"stream": self.number, "end": True})

    def _write(self):
        try:
            while True:
                data = self._answers.get()
                if data is None:
                    break
                self.connection.sendall(data)
        except OSError:
            pass  # the code has closed it; the reader sees that, too
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Channel:
    """The socket of one session of cellgate's."""

    def __init__(self, kernel, comm, path):
        self.path = path
        self._kernel = kernel
        self._comm = comm
        self._streams = {}
        self._ended = False
        self.link = Link(self._send, self._deliver)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(path)
        self._listener.listen(64)
        for work in (self._accept, self._repeat):
            threading.Thread(target=work, daemon=True).start()

    def _send(self, message):
        content = {"comm_id": self._comm, "data": message}
        self._kernel.session.send(self._kernel.iopub_socket, "comm_msg", content, ident=b"comm-" + self._comm.encode())

    def _deliver(self, message):
        stream = self._streams.get(message.get("stream"))
        if stream is None:
            return
        if message.get("end"):
            del self._streams[stream.number]
            stream.answer(None)
        else:
            stream.answer(base64.b64decode(message["bytes"]))

    def _accept(self):
        number = 0
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            number += 1
            self._streams[number] = Carried(number, connection, self.link)
            self._streams[number].start()

    def _repeat(self):
        wait = REPEAT
        while not self._ended:
            time.sleep(wait)
            wait = self.link.repeat()
            if self.link.silent_for >= GIVE_UP:
                self.end()  # cellgate is gone: calls that wait for it fail

    def end(self):
        self._ended = True
        self._listener.close()
        if os.path.exists(self.path):
            os.remove(self.path)
        for stream in list(self._streams.values()):
            stream.answer(None)


class Tools:
    """What all sessions of cellgate's share in this kernel: the folder with the wrappers, and the channels."""

    def __init__(self, shell):
        self._kernel = shell.kernel
        if getattr(self._kernel, "control_thread", None) is None:
            raise RuntimeError("tools need ipykernel 6 or newer, which reads its control channel in a thread")
        self._shell = shell
        self._folder = tempfile.mkdtemp(prefix="cellgate-")
        self._channels = {}  # by comm
        self._paths = {}  # by the client's session
        atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        sys.path.insert(0, os.path.join(self._folder, "wrappers"))
        self._stock = self._kernel.control_handlers.get("comm_msg")
        self._kernel.control_handlers["comm_msg"] = self._on_comm
        shell.events.register("pre_execute", self._choose)

    def attach(self, comm):
        """What comes again, as its answer was lost, changes nothing."""
        if comm in self._channels:
            return
        client = self._shell.get_parent()["header"]["session"]
        path = os.path.join(self._folder, comm[:40] + ".sock")
        self._channels[comm] = Channel(self._kernel, comm, path)
        self._paths[client] = path
        self._choose()

    def detach(self, comm):
        channel = self._channels.pop(comm, None)
        if channel is not None:
            self._paths = {client: path for client, path in self._paths.items() if path != channel.path}
            if os.environ.get("CELLGATE_CHANNEL") == channel.path:
                del os.environ["CELLGATE_CHANNEL"]
            channel.end()

    def _choose(self):
        """Code calls the session that sent it."""
        client = self._shell.get_parent().get("header", {}).get("session")
        if client in self._paths:
            os.environ["CELLGATE_CHANNEL"] = self._paths[client]

    def _on_comm(self, stream, ident, parent):
        content = parent.get("content", {})
        channel = self._channels.get(content.get("comm_id"))
        if channel is None:
            return None if self._stock is None else self._stock(stream, ident, parent)
        message = content.get("data") or {}
        if message.get("detach"):
            self.detach(content["comm_id"])
        else:
            channel.link.receive(message)
        return None

    def deliver(self, files):
        """Writes the wrappers, whose paths are relative and have no dots."""
        top = os.path.join(self._folder, "wrappers")
        shutil.rmtree(top, ignore_errors=True)
        for name, text in files.items():
            path = os.path.join(top, *name.split("/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        importlib.invalidate_caches()


def tools():
    """One for each kernel."""
    from IPython import get_ipython

    module = sys.modules.get("_cellgate_tools")
    if module is None:
        import types

        module = types.ModuleType("_cellgate_tools")
        module.tools = Tools(get_ipython())
        sys.modules["_cellgate_tools"] = module
    return module.tools
