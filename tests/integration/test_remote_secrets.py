"""What a Jupyter server and the code in its kernels get of the secrets that are used here: nothing but the server's own
token, where HTTP has it."""

import base64
import hashlib
import json
import re
import unittest
from pathlib import Path

from cellgate_client import FIXTURES
from remote_session import RemoteTest
from remote_testing import TOKEN

SECRET = "kept-here-and-used-by-a-tool-1"
MARKER = "marked_by_the_test"  # also the tool server's name, so it is in wrappers and in the code that imports them
DIGEST = hashlib.sha256(SECRET.encode()).hexdigest()

CELL = f"""import os
os.environ["MARKER"] = "{MARKER}"
from mcptools.{MARKER} import run
print(run.run(code='''
import hashlib, os
print(hashlib.sha256(os.environ["TOOL_SECRET"].encode()).hexdigest())
'''))
"""

# Written to a file there: what a cell prints goes through cellgate, which masks secrets.
LOOK = """import inspect, json, os, sys
def text_of(module):
    try:
        return inspect.getsource(module)
    except (OSError, TypeError):
        return repr(vars(module))
with open("/proc/self/environ") as variables, open("looked.json", "w") as looked:
    json.dump({"os.environ": repr(os.environ), "/proc/self/environ": variables.read(), "history": repr((In, Out)),
               "modules": "".join(text_of(module) for module in list(sys.modules.values())), "pid": os.getpid(),
               "folder": os.path.dirname(os.environ["CELLGATE_CHANNEL"])}, looked)
"""


def files_below(folder):
    """Their names and bytes, as one text, without those in which a Jupyter server itself writes its token."""
    return b"\n".join(str(path.relative_to(folder)).encode() + b"\n" + (path.read_bytes() if path.is_file() else b"")
                      for path in sorted(Path(folder).rglob("*")) if not path.name.startswith("jpserver-"))


def memory_of(pid):
    found = []
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            start, end = (int(each, 16) for each in line.split()[0].split("-"))
            if line.split()[1].startswith("r") and "[v" not in line:
                memory.seek(start)
                found.append(memory.read(end - start))
    return b"\n".join(found)


def frames(stream):
    """The payloads of a WebSocket's frames, unmasked."""
    at = 0
    while at + 2 <= len(stream):
        is_masked, size = stream[at + 1] & 0x80, stream[at + 1] & 0x7F
        at += 2
        for code, width in ((126, 2), (127, 8)):
            if size == code:
                size = int.from_bytes(stream[at:at + width], "big")
                at += width
                break
        mask = stream[at:at + 4] if is_masked else bytes(4)
        at += 4 if is_masked else 0
        payload = stream[at:at + size]
        key = int.from_bytes((mask * (len(payload) // 4 + 1))[:len(payload)], "big")
        yield (int.from_bytes(payload, "big") ^ key).to_bytes(len(payload), "big")
        at += size


def read_out(stream):
    """The bytes of one direction of a connection, and what is packed in them: a WebSocket's frames, and the tool channel in
    messages of a comm."""
    head, _, body = bytes(stream).partition(b"\r\n\r\n")
    payloads = b"\n".join(frames(body)) if b"websocket" in head.lower() else b""
    pieces = re.findall(rb'"bytes": ?"([A-Za-z0-9+/=]+)"', payloads)
    return b"\n".join([bytes(stream), payloads, *map(base64.b64decode, pieces)])


class Secrets(RemoteTest):
    home_prefix = MARKER

    def setUp(self):
        super().setUp()
        self.way = self.relay(keeps=True)
        self.sidecar()
        self.cellgate.request("secret/set", {"name": "TOOL_SECRET", "value": SECRET})
        self.cellgate.request("secret/set", {"name": "FAR", "value": TOKEN})
        self.cellgate.request("toolServers/add", {"server": MARKER, "config": {
            "command": "/usr/bin/python3", "args": ["-B", str(FIXTURES / "probing_server.py")],
            "env": {"TOOL_SECRET": "${secret:TOOL_SECRET}"}}})
        self.cellgate.request("policy/add", {"rule": {"effect": "allow", "kind": "tool", "server": MARKER},
                                             "scope": "workspace"})
        self.cellgate.request("wrappers/generate", {"server": MARKER})

    def use_the_secret(self):
        self.create(self.way.url, token="${secret:FAR}")
        run = self.run_far(CELL)
        self.assertIn(DIGEST, run.text(), run.outputs())  # the tool server has it

    def assert_only_the_marker_is_in(self, places):
        for word, where in ((SECRET, []), (TOKEN, []), (MARKER, list(places))):
            self.assertEqual([name for name, text in places.items() if word.encode() in text], where, word)

    def test_none_is_in_the_kernel_or_its_files(self):
        self.use_the_secret()
        self.assertEqual(self.run_far(LOOK).result()["status"], "ok")
        home = Path(self.home.name)
        looked = json.loads((home / "looked.json").read_text())
        memory, folder = memory_of(looked.pop("pid")), files_below(looked.pop("folder"))
        self.assert_only_the_marker_is_in({
            **{name: text.encode() for name, text in looked.items()}, "memory": memory, "private folder": folder,
            "home": files_below(home)})

    def test_none_is_sent_but_the_servers_own_token_in_the_field_of_http(self):
        self.use_the_secret()
        self.cellgate.request("session/close", {"sessionId": "far"})
        field = rb"(?i)\r\nauthorization: token " + re.escape(TOKEN).encode()
        sent = [read_out(stream) for direction, stream in self.way.carried if direction == "sent"]
        self.assertTrue(all(re.search(field, text) for text in sent), "the control")
        received = [read_out(stream) for direction, stream in self.way.carried if direction == "received"]
        self.assert_only_the_marker_is_in({"sent": b"".join(re.sub(field, b"", text) for text in sent),
                                           "received": b"".join(received)})
        self.assertIn(DIGEST.encode(), b"".join(sent))  # the control: the tool's answer, which a comm carries


if __name__ == "__main__":
    unittest.main()
