"""MCP servers over HTTP: whom a user agrees to, what is sent there, and a real one of npm."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import unittest

from cellgate_client import CELLGATE, FIXTURES, REPOSITORY, WorkspaceTest
from cli_testing import Terminal
from executions import RpcError
from processes import start_process, wait_until
from workspaces import SYSTEM_PATH

EVERYTHING = REPOSITORY / "tests/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
NODE = shutil.which("node") or shutil.which("node", path=SYSTEM_PATH)


class Scripted(WorkspaceTest):
    """tests/fixtures/mcp_http_server.py, which answers by the path."""

    def setUp(self):
        super().setUp()
        self.server = start_process([sys.executable, "-B", str(FIXTURES / "mcp_http_server.py")], text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end_server)
        self.port = int(self.server.stdout.readline())

    def end_server(self):
        if self.server.poll() is None:
            self.requests()

    def requests(self):
        """All that it was sent; it ends."""
        out, _ = self.server.communicate("\n")
        return [json.loads(line) for line in out.splitlines()]

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def test_one_of_the_workspaces_file_is_asked_about_with_its_url_and_headers(self):
        headers = {"X-Key": "${KEY_OF_THE_SERVER:-none}"}
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": {"web": {"url": self.url("/json"), "headers": headers}}}))
        cellgate = self.sidecar()
        pending = cellgate.start("wrappers/generate", {"server": "web"})
        approval = cellgate.approval()
        action = approval["action"]
        self.assertEqual((action["kind"], action["url"], action["headerNames"], action["headers"]),
                         ("server", self.url("/json"), ["X-Key"], headers))
        self.assertEqual(approval["display"], ["use the tool server web, which runs elsewhere", f'at: "{self.url("/json")}"',
                                               'with the header X-Key: "${KEY_OF_THE_SERVER:-none}"'])
        self.assertEqual([choice["label"] for choice in approval["choices"]],
                         ["use it once", "use exactly this server, this workspace"])
        cellgate.allow(approval)
        self.assertEqual(pending.result()["package"], "mcptools.web")
        past = cellgate.request("policy/decisions")["decisions"][0]
        self.assertEqual(past["outcome"]["status"], "succeeded")
        cellgate.close()
        self.assertEqual({each["fields"]["x-key"] for each in self.requests()}, {"none"})

    def test_before_the_yes_and_after_a_no_nothing_is_sent(self):
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": {"web": {"url": self.url("/json")}}}))
        cellgate = self.sidecar()
        pending = cellgate.start("wrappers/generate", {"server": "web"})
        cellgate.deny(cellgate.approval(), reason="whose is it?")
        with self.assertRaises(RpcError) as denied:
            pending.result()
        self.assertIn("whose is it?", str(denied.exception))
        cellgate.close()
        self.assertEqual(self.requests(), [])

    def test_a_users_own_secret_is_sent_and_shown_to_no_client(self):
        trace = self.workspace.base / "trace"
        self.workspace.write("a.py", "# %%\nfrom mcptools.web import t_g\nprint(t_g.run())\n")
        arguments = ["--server", "web", "--url", self.url("/json"), "--header", "X-Key: ${KEY_OF_THE_SERVER}"]
        environment = self.workspace.environment(KEY_OF_THE_SERVER="a secret")
        for command in (["generate", "web", *arguments[2:]], ["run", "a.py", *arguments, "--allow", "web/täg",
                                                              "--trace", str(trace)]):
            ended = subprocess.run([CELLGATE, *command], cwd=self.workspace.path, env=environment, text=True,
                                   stdin=subprocess.DEVNULL, capture_output=True)
            self.assertEqual(ended.returncode, 0, (ended.stdout, ended.stderr))
            self.assertNotIn("a secret", ended.stdout + ended.stderr)
        self.assertNotIn("a secret", trace.read_text())
        for folder, _, names in os.walk(self.workspace.path):
            for name in names:
                with open(os.path.join(folder, name), errors="replace") as file:
                    self.assertNotIn("a secret", file.read())
        requests = self.requests()
        self.assertEqual({each["fields"]["x-key"] for each in requests}, {"a secret"})
        self.assertEqual([each["method"] for each in requests].count("DELETE"), 2)

    def test_a_call_that_the_server_did_not_take_since_the_session_ended_is_made_in_a_new_one(self):
        cellgate = self.sidecar(options={"mcpServers": {"web": {"url": self.url("/gone")}}})
        pending = cellgate.start("tools/call", {"server": "web", "tool": "täg", "arguments": {}})
        cellgate.allow(cellgate.approval())
        with self.assertRaises(RpcError) as gone:
            pending.result()  # the new session ends too
        self.assertIn("the server has ended the session", str(gone.exception))
        cellgate.close()
        methods = [(each["body"] or {}).get("method") for each in self.requests()]
        self.assertEqual((methods.count("initialize"), methods.count("tools/call")), (2, 2))

    def test_a_result_of_100_megabytes_is_refused_and_the_server_can_be_called_again(self):
        cellgate = self.sidecar(options={"mcpServers": {"web": {"url": self.url("/large")}}})
        for _ in range(2):
            pending = cellgate.start("tools/call", {"server": "web", "tool": "täg", "arguments": {}})
            cellgate.allow(cellgate.approval())
            with self.assertRaises(RpcError) as large:
                pending.result()
            self.assertIn("expected an answer of at most 67108864 bytes, found a longer one", str(large.exception))
        cellgate.close()
        methods = [(each["body"] or {}).get("method") for each in self.requests()]
        self.assertEqual((methods.count("initialize"), methods.count("tools/call")), (1, 2))

    def test_a_server_of_the_old_transport_is_recognized(self):
        cellgate = self.sidecar(options={"mcpServers": {"web": {"url": self.url("/sse")}}})
        pending = cellgate.start("tools/call", {"server": "web", "tool": "täg", "arguments": {}})
        cellgate.allow(cellgate.approval())
        self.assertEqual(pending.result()["content"], [])
        cellgate.close()
        self.assertEqual([each["path"] for each in self.requests() if each["method"] == "POST"][-1], "/messages?of=1")

    def test_at_a_terminal_how_far_a_call_is_is_in_the_last_line_until_it_ends(self):
        self.workspace.write("a.py", "# %%\nfrom mcptools.web import t_g\nprint(t_g.run())\n")
        go = self.workspace.path / "go"
        options = ["--url", self.url(f"/waits?{go}")]
        environment = self.workspace.environment(TERM="xterm")
        subprocess.run([CELLGATE, "generate", "web", *options], cwd=self.workspace.path, env=environment, check=True,
                       stdin=subprocess.DEVNULL, capture_output=True)
        terminal = Terminal([CELLGATE, "run", "a.py", "--server", "web", *options, "--allow", "web/täg"],
                            cwd=self.workspace.path, env=environment)
        terminal.expect(re.escape("web, täg: 2 of 5: reading"))
        go.write_text("")
        self.assertTrue(terminal.expect("all is read").startswith("\\x1b[31m\r\x1b[K"))
        self.assertEqual(terminal.wait_end(), 0)

    def test_how_far_a_call_is_is_shown_while_its_cell_runs(self):
        cellgate = self.sidecar(options={"mcpServers": {"web": {"url": self.url("/progress")}}})
        cellgate.request("wrappers/generate", {"server": "web"})
        execution = cellgate.execute("from mcptools.web import t_g\nt_g.run()")
        cellgate.allow(cellgate.approval())
        cellgate.wait(lambda: len(cellgate.notifications["execute/progress"]) == 2, "the progress of the call")
        told = cellgate.received("execute/progress")
        self.assertEqual([each.get("message") for each in told], ["2 of 5: reading\\x1b[31m", None])
        self.assertEqual({each["executionId"] for each in told}, {execution.id})
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())


@unittest.skipUnless(NODE and EVERYTHING.exists(), "needs node and the npm packages of tests/package.json")
class Everything(WorkspaceTest):
    """@modelcontextprotocol/server-everything, as it comes."""

    def setUp(self):
        super().setUp()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.log = open(self.workspace.base / "server.log", "w+")
        self.addCleanup(self.log.close)
        server = start_process([NODE, str(EVERYTHING), "streamableHttp"], stdin=subprocess.DEVNULL, stdout=self.log,
                                  stderr=subprocess.STDOUT, env={**os.environ, "PORT": str(self.port)})
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        wait_until(self.is_up, "the server")

    def is_up(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def test_its_tools_are_called_from_a_cell(self):
        cellgate = self.sidecar(options={"mcpServers": {"everything": {"url": f"http://127.0.0.1:{self.port}/mcp"}}})
        made = cellgate.request("wrappers/generate", {"server": "everything"})
        self.assertEqual(made["skipped"], [])
        execution = cellgate.execute("from mcptools.everything import echo, get_sum\n"
                                     "print(echo.run(message='over HTTP'))\nprint(get_sum.run(a=2, b=40))")
        for tool in ("echo", "get-sum"):
            approval = cellgate.approval()
            self.assertEqual(approval["action"]["tool"], tool)
            cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertIn("over HTTP", execution.text())
        self.assertIn("42", execution.text())
        cellgate.close()
        wait_until(lambda: "session termination" in (self.workspace.base / "server.log").read_text(), "the session's end")


if __name__ == "__main__":
    unittest.main()
