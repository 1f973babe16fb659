"""A web server and tool servers for the tests of tool servers in the sandbox."""

import contextlib
import http.server
import json
import socketserver
import threading

from cellgate_client import FIXTURES, SharedSidecarTest
from executions import RpcError
from tools_testing import text_of

PYTHON = "/usr/bin/python3"
FETCH = """
import urllib.request
def fetch(url):
    try:
        print(urllib.request.urlopen(url, timeout=60).read().decode())
    except Exception as error:
        print(type(error).__name__, error)
"""


def settings(allowed=(), denied=(), allow_write=(".",), **filesystem):
    return json.dumps({"network": {"allowedDomains": list(allowed), "deniedDomains": list(denied)},
                       "filesystem": {"denyRead": [".env"], "allowWrite": list(allow_write), "denyWrite": [],
                                      **filesystem}})


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.headers["Host"])
        body = f"hello from {self.headers['Host']}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Web(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def __init__(self):
        self.asked = []
        super().__init__(("0.0.0.0", 0), Page)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


class ServerTest(SharedSidecarTest):
    """The server runs the code that it is given; calls of its tool are allowed."""

    def prepare_server(self):
        self.workspace.write("server.py", (FIXTURES / "probing_server.py").read_text())

    def setUp(self):
        self.prepare_server()
        (self.workspace.home / ".ssh").mkdir(exist_ok=True)
        (self.workspace.home / ".ssh/id_rsa").write_text("a key of mine")
        self.outside = self.workspace.base / "outside"
        self.outside.write_text("nobody's business")
        self.rule = self.cellgate.request("policy/add", {"rule": {"effect": "allow", "kind": "tool", "tool": "run"},
                                                         "scope": "workspace"})
        self.addCleanup(self.cellgate.request, "policy/remove", {"ruleId": self.rule["id"]})

    def add(self, name, command=PYTHON, args=("server.py",), **more):
        self.addCleanup(self.remove, name)
        return self.cellgate.request("toolServers/add",
                                     {"server": name, "config": {"command": command, "args": list(args), **more}})

    def remove(self, name):
        with contextlib.suppress(RpcError):  # it is gone already
            self.cellgate.request("toolServers/remove", {"server": name})

    def start(self, name, code):
        return self.cellgate.start("tools/call", {"server": name, "tool": "run", "arguments": {"code": code}})

    def run_in(self, name, code):
        return text_of(self.start(name, code).result()).strip()

    def info(self, name):
        [server] = [s for s in self.cellgate.request("toolServers/list")["servers"] if s["name"] == name]
        return server

    def write_settings(self, name, text):
        file = self.workspace.base / name
        file.write_text(text)
        return str(file)
