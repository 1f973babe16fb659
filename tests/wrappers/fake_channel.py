"""A tool channel for tests: the sidecar's side of the socket, answering as a test says."""

import json
import os
import socket
import tempfile
import threading


def text_result(text):
    return {"content": [{"type": "text", "text": text}]}


class Denied(Exception):
    pass


class FakeChannel:
    """Listens at `path`. `answer(params)` makes a tools/call's result, or raises Denied(reason); each call has its own
    thread, so an answer may wait. `rewrite` changes the text of every reply. `requests` and `cancelled` keep what came
    in, `connections` counts."""

    def __init__(self, answer):
        self.answer = answer
        self.rewrite = lambda text: text
        self.requests = []
        self.raw_lines = []
        self.cancelled = []
        self.connections = 0
        self.open_connections = 0
        self.changed = threading.Condition()
        self._folder = tempfile.TemporaryDirectory(prefix="cellgate-test-")
        self.path = os.path.join(self._folder.name, "tools.sock")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(64)
        self._accepted = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()
        self.drop_connections()
        self._folder.cleanup()

    def drop_connections(self):
        for connection in list(self._accepted):  # those that are there now; a dropped client may come back at once
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def wait_for(self, condition, timeout=20):
        with self.changed:
            if not self.changed.wait_for(condition, timeout):
                raise AssertionError("the channel waited in vain")

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._accepted.append(connection)
            with self.changed:
                self.connections += 1
                self.open_connections += 1
                self.changed.notify_all()
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        lock = threading.Lock()
        try:
            with connection.makefile("rb") as lines:
                for line in lines:
                    message = json.loads(line)
                    with self.changed:
                        self.raw_lines.append(line)
                        if message["method"] == "$/cancelRequest":
                            self.cancelled.append(message["params"]["id"])
                        else:
                            self.requests.append(message["params"])
                        self.changed.notify_all()
                    if message["method"] == "tools/call":
                        threading.Thread(target=self._reply, args=(connection, lock, message), daemon=True).start()
        except OSError:
            pass
        with self.changed:
            self.open_connections -= 1
            self.changed.notify_all()
        connection.close()

    def _reply(self, connection, lock, message):
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = self.answer(message["params"])
        except Denied as denied:
            reply["error"] = {"code": 1014, "message": str(denied), "data": {"kind": "denied"}}
        except Exception as error:
            data = {"kind": "toolServerFailed", "hint": "restart it"}
            reply["error"] = {"code": 1018, "message": str(error), "data": data}
        with lock:
            try:
                connection.sendall(self.rewrite(json.dumps(reply)).encode() + b"\n")
            except OSError:
                pass
