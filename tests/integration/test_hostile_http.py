"""What a hostile MCP server at a URL can do to its client. Its control is the same server at /json, which behaves well."""

import json
import subprocess
import sys
import threading
import unittest

from cellgate_client import FIXTURES, WorkspaceTest
from executions import RpcError
from processes import start_process, wait_until


class HttpServer:
    """tests/fixtures/mcp_http_server.py, and what it has been sent so far."""

    def __init__(self):
        self.process = start_process([sys.executable, "-B", str(FIXTURES / "mcp_http_server.py")], text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())
        self.seen = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.seen.append(json.loads(line))

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()

    def calls(self, path):
        return [each for each in self.seen
                if each.get("path") == path and (each.get("body") or {}).get("method") == "tools/call"]


class HostileServer(WorkspaceTest):
    def setUp(self):
        super().setUp()
        self.server = self.start_server()

    def start_server(self):
        server = HttpServer()
        self.addCleanup(server.end)
        return server

    def url(self, path, server=None):
        return f"http://127.0.0.1:{(server or self.server).port}{path}"

    def user(self, **paths):
        """Its servers are at these paths, and at /json."""
        servers = {name: {"url": self.url(path), "headers": {"X-Key": "a secret"}}
                   for name, path in {**paths, "good": "/json"}.items()}
        cellgate = self.sidecar(options={"mcpServers": servers})
        for name in servers:
            cellgate.request("policy/add", {"rule": {"effect": "allow", "kind": "tool", "server": name},
                                            "scope": "workspace"})
        return cellgate

    def call(self, cellgate, server):
        return cellgate.start("tools/call", {"server": server, "tool": "täg", "arguments": {}})

    def failure(self, cellgate, server):
        with self.assertRaises(RpcError) as caught:
            self.call(cellgate, server).result()
        self.assertEqual(self.call(cellgate, "good").result()["content"], [])
        return str(caught.exception)

    def test_a_head_without_end_is_cut_off(self):
        cellgate = self.user(hostile="/heads")
        self.assertIn("expected the head of an answer within", self.failure(cellgate, "hostile"))
        wait_until(lambda: {"left": "/heads"} in self.server.seen, "the end of the connection")

    def test_an_answer_that_is_shorter_than_its_length_is_none(self):
        self.assertIn("was cut off", self.failure(self.user(hostile="/short"), "hostile"))

    def test_no_redirect_is_followed_and_no_header_goes_along(self):
        other = self.start_server()
        cellgate = self.user(hostile="/elsewhere?" + self.url("/json", other))
        self.assertIn("which is not followed", self.failure(cellgate, "hostile"))
        self.assertEqual(other.seen, [])
        self.assertEqual({each["fields"]["x-key"] for each in self.server.seen}, {"a secret"})

    def test_a_bomb_is_not_decompressed(self):
        # It is read as it came, which is no message: not as the 200 MB that would be too long for one.
        self.assertNotIn("longer", self.failure(self.user(hostile="/bomb"), "hostile"))

    def test_what_never_ends_is_ended_by_its_caller(self):
        for path in ("/flood", "/drip"):
            with self.subTest(path=path):
                cellgate = self.user(hostile=path)
                pending = self.call(cellgate, "hostile")
                wait_until(lambda: self.server.calls(path), "the call")
                cellgate.notify("$/cancelRequest", {"id": pending.id})
                with self.assertRaises(RpcError):
                    pending.result()
                wait_until(lambda: {"left": path} in self.server.seen, "the end of the connection")
                cellgate.close()


if __name__ == "__main__":
    unittest.main()
