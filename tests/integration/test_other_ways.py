"""What a cell may make for somebody outside to unpack, unpickle or answer, past the gate. Each attempt has a control, in
which it works on who is not careful."""

import http.server
import io
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from cellgate_client import SharedSidecarTest
from executions import RpcError

BOMB_BYTES = 64 << 20
MAKE_BOMB = f"""
import zipfile
def bomb(name):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("bomb/__init__.py", b"#" * {BOMB_BYTES})
        wheel.writestr("bomb-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: bomb\\nVersion: 1\\n")
        wheel.writestr("bomb-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("bomb-1.dist-info/RECORD", "")
bomb("bomb-1-py3-none-any.whl")
import os
os.makedirs("mcptools/bomb", exist_ok=True)
bomb("mcptools/bomb/bomb.zip")
"""


def size_below(*folders):
    return sum(path.lstat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())


class Archives(SharedSidecarTest):
    """res-zipbomb."""

    def outside(self):
        """What cellgate holds of its own."""
        return size_below(self.workspace.home, self.workspace.runtime)

    def test_nothing_that_a_cell_made_is_unpacked(self):
        before = self.outside()
        self.run_ok(MAKE_BOMB)
        wheel = self.workspace.path / "bomb-1-py3-none-any.whl"
        self.assertLess(wheel.stat().st_size, BOMB_BYTES // 100)
        for package in ("./bomb-1-py3-none-any.whl", str(wheel), f"bomb @ file://{wheel}", f"file://{wheel}"):
            with self.subTest(package):
                self.assert_error(-32602, self.cellgate.request, "packages/install", {"packages": [package]})
        # Shown as a result, as its bytes.
        self.run_ok("from IPython.display import display\nimport base64\n"
                    "data = base64.b64encode(open('mcptools/bomb/bomb.zip', 'rb').read()).decode()\n"
                    "display({'application/zip': data, 'text/plain': 'a zip'}, raw=True)")
        self.cellgate.request("toolServers/list")
        self.assertEqual(self.cellgate.asked(), 0)
        self.assertLess(self.outside() - before, BOMB_BYTES // 4)

    def test_the_control_who_installs_it_unpacks_it(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-c", MAKE_BOMB], cwd=folder, check=True)
            subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile",
                            "--target", f"{folder}/out", f"{folder}/bomb-1-py3-none-any.whl"],
                           check=True, capture_output=True, env={**os.environ, "PIP_BREAK_SYSTEM_PACKAGES": "1"})
            self.assertGreaterEqual(size_below(Path(folder, "out")), BOMB_BYTES)


class Runs:
    """Unpickled, it makes a file."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (open, (self.mark, "w"))


class Pickles(SharedSidecarTest):
    """prod-pickle."""

    def test_only_json_is_read(self):
        mark = self.workspace.base / "unpickled"
        payload = pickle.dumps(Runs(str(mark)))
        self.run_ok(f"payload = {payload!r}\n" + """
import base64, json, os, socket
def say(data):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(os.environ['CELLGATE_CHANNEL'])
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        while s.recv(4096): pass
text = base64.b64encode(payload).decode()
say(payload)
say(payload + b'\\n')
say(b'Content-Length: %d\\r\\n\\r\\n' % len(payload) + payload)
for message in ({'py/reduce': [payload.decode('latin-1')]},
                {'jsonrpc': '2.0', 'id': 1, 'method': 'tool/call',
                 'params': {'server': 'x', 'tool': 'y', 'arguments': {'py/object': text, '__reduce__': text}}}):
    body = json.dumps(message).encode()
    say(b'Content-Length: %d\\r\\n\\r\\n' % len(body) + body)
    say(body + b'\\n')
os.makedirs('mcptools/x', exist_ok=True)
for name in ('state.pkl', 'mcptools/x/state.pkl', 'mcptools/state.pickle', '.cache.pkl',
             os.path.dirname(os.environ['CELLGATE_CHANNEL']) + '/state.pkl'):
    open(name, 'wb').write(payload)
from IPython.display import display
display({'application/x-pickle': text, 'application/x-python-pickle': text, 'text/plain': 'x'}, raw=True)
""")
        self.cellgate.request("toolServers/list")
        with self.assertRaises(RpcError):
            self.cellgate.request("wrappers/generate", {"server": "x"})
        self.cellgate.request("session/restart", {"sessionId": "default"})
        self.run_ok("1")
        self.assertFalse(mark.exists())
        pickle.load(io.BytesIO(payload)).close()  # the control
        self.assertTrue(mark.exists())


class Answers(http.server.BaseHTTPRequestHandler):
    """An MCP server over HTTP that asks no user, as far as one call."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.calls.append(asked["params"])
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


CALL = """
import json, os, urllib.request
body = json.dumps({{'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': {{'name': 'delete', 'arguments': {{}}}}}})
def call(opener):
    for host in ('127.0.0.1', 'localhost', '[::1]', {address!r}):
        request = urllib.request.Request(f'http://{{host}}:{port}/mcp', body.encode(),
                                         {{'Content-Type': 'application/json', 'Authorization': 'Bearer ' + {token!r}}})
        try:
            print('answered', opener.open(request, timeout=20).status)
            return
        except OSError as error: pass
    print('held')
call(urllib.request.build_opener(urllib.request.ProxyHandler({{}})))
call(urllib.request.build_opener())
"""


class DirectCalls(SharedSidecarTest):
    """prod-direct-mcp: a tool server of the machine, called without the gate. The code is even given its token."""

    def test_a_server_of_the_machine_is_reached_by_nobody_inside(self):
        server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Answers)
        server.calls = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        addresses = subprocess.run(["hostname", "-I"], capture_output=True, text=True).stdout.split() or ["127.0.0.2"]
        code = CALL.format(port=server.server_address[1], address=addresses[0], token="secret")
        self.assertEqual(self.run_ok(code).text(), "held\nheld\n")
        self.assertEqual((server.calls, self.cellgate.asked()), ([], 0))
        self.cellgate.session("open", sandbox=False)  # the control
        self.assertIn("answered 200\n", self.run_ok(code, sessionId="open").text())
        self.assertEqual(server.calls[0]["name"], "delete")

    def test_a_server_that_speaks_over_a_pipe_cannot_be_found(self):
        """Its process, and with it the pipes to it, is not in the sandbox's list."""
        server = subprocess.Popen(["/bin/sh", "-c", "read line; echo $line"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        self.addCleanup(server.communicate)
        code = (f"import os\ntry:\n    os.write(os.open('/proc/{server.pid}/fd/0', os.O_RDWR), b'tools/call\\n')\n"
                "    print('written')\nexcept OSError as error: print('held')")
        self.assertEqual(self.run_ok(code).text(), "held\n")
        self.cellgate.session("bare", sandbox=False)  # the control
        self.assertEqual(self.run_ok(code, sessionId="bare").text(), "written\n")


if __name__ == "__main__":
    unittest.main()
