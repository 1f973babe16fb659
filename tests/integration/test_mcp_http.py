"""`cellgate mcp --http`: agents over MCP's Streamable HTTP, in both eras, and who cannot reach it."""

import json
import os
import socket
import stat
import subprocess
import unittest

from cellgate_client import CELLGATE, FIXTURES
from mcp_http_testing import BOTH_TYPES, HttpMcpTest
from mcp_testing import accept, text_of
from own_network import make_certificates
from processes import TIMEOUT, wait_until
from test_mcp_agent import CALL, FIX, TOOLS

INITIALIZE = {"id": 1, "method": "initialize",
              "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}
HOLD = "import time\nwhile True: time.sleep(0.01)"


def until_it_runs(answer):
    """Reads its progress up to what the code prints: before that, it may say that the kernel starts."""
    for message in answer.messages():
        if "runs" in message["params"].get("message", ""):
            return
    raise AssertionError("it ended before its code printed anything")


class BothEras(HttpMcpTest):
    def test_list_and_run(self):
        served = self.serve()
        for modern in (False, True):
            with self.subTest(modern=modern):
                agent = self.http(served, modern=modern)
                self.assertEqual({tool["name"] for tool in agent.request("tools/list")["tools"]}, TOOLS)
                result = agent.call("execute", code="print(1+1)")
                self.assertNotIn("isError", result)
                self.assertEqual(text_of(result), "2\n")
                self.assertTrue(agent.call("execute", code="1 / 0")["isError"])
        found = agent.request("server/discover")
        self.assertEqual(found["supportedVersions"], ["2026-07-28"])

    def test_a_call_streams_progress_while_an_editor_answers(self):
        editor = self.editor(options=FIX)
        served = self.serve()
        for modern in (False, True):
            with self.subTest(modern=modern):
                agent = self.http(served, name=f"agent-{modern}", modern=modern)
                agent.call("generate_wrappers", server="fix")
                answer = agent.start_call("execute", progress="p", code="print('begins', flush=True)\n" + CALL)
                self.assertEqual((answer.status, answer.type), (200, "text/event-stream"))
                messages = answer.messages()
                told = next(messages)
                self.assertEqual((told["method"], told["params"]["progressToken"]), ("notifications/progress", "p"))
                asked = editor.approval()
                self.assertEqual(asked["agent"], agent.name)
                editor.allow(asked)
                self.assertIn("You passed to tool 2: hello", text_of(agent.finish(answer)))

    def test_a_question_is_asked_at_the_agents_program(self):
        self.workspace.write(".mcp.json", json.dumps(FIX))
        agent = self.http(self.serve(), elicit=accept)
        self.assertNotIn("isError", agent.call("generate_wrappers", server="fix"))
        self.assertIn("hello", text_of(agent.call("execute", code=CALL)))
        asked = [each["params"]["message"] for each in agent.heard if each["method"] == "elicitation/create"]
        self.assertEqual(len(asked), 2)
        self.assertIn("by agent http-agent", asked[1])

    def test_a_question_of_the_modern_era_takes_rounds(self):
        self.workspace.write(".mcp.json", json.dumps(FIX))
        agent = self.http(self.serve(), modern=True, elicit=accept)
        result = agent.call("generate_wrappers", server="fix")
        self.assertEqual(result["resultType"], "input_required")
        answers = {key: accept(each["params"]["message"]) for key, each in result["inputRequests"].items()}
        done = agent.request("tools/call", {"name": "generate_wrappers", "arguments": {"server": "fix"},
                                            "inputResponses": answers, "requestState": result["requestState"]})
        self.assertNotIn("isError", done)

    def test_two_names_are_two_agents(self):
        served = self.serve()
        for modern in (False, True):
            one, two = (self.http(served, name=name, modern=modern) for name in ("one", "two"))
            one.call("execute", code="x = 1")
            self.assertIn("NameError", text_of(two.call("execute", code="x")))
            self.assertEqual(text_of(one.call("execute", code="x")), "1\n")

    def test_our_own_client_generates_wrappers_of_it(self):
        served = self.serve()
        made = subprocess.run([CELLGATE, "generate", "cg", "--url", served.url, "--header",
                               f"Authorization: Bearer {served.token}"], text=True, cwd=self.workspace.path,
                              env=self.workspace.environment(), capture_output=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertTrue((self.workspace.path / "mcptools/cg/execute.py").is_file(), self.workspace.files())


class TheLegacyEra(HttpMcpTest):
    def test_a_session_ends_with_delete_and_what_runs_in_it(self):
        editor = self.editor()
        served = self.serve()
        agent, other = self.http(served, name="first"), self.http(served, name="other")
        other.call("execute", code="x = 1")
        running = agent.start_call("execute", progress=1, code="print('runs', flush=True)\n" + HOLD)
        next(running.messages())
        self.assertEqual(agent.send("DELETE").status, 204)
        self.assertEqual(list(running.messages()), [])
        self.assertEqual(agent.start("tools/list").status, 404)
        self.assertEqual(agent.send("DELETE").status, 404)
        wait_until(lambda: {s.get("agent") for s in editor.request("session/list")["sessions"]} == {"other"},
                   "the end of its session")
        self.assertEqual(text_of(other.call("execute", code="x")), "1\n")

    def test_a_request_needs_its_session_and_a_version_that_there_is(self):
        agent = self.http(self.serve())
        fields = agent.fields()
        listing = {"id": 7, "method": "tools/list", "params": {}}
        self.assertEqual(agent.post(listing, fields).status, 200)  # the control
        without = {name: value for name, value in fields.items() if name != "Mcp-Session-Id"}
        self.assertEqual(agent.post(listing, without).status, 400)
        self.assertEqual(agent.post(listing, {**fields, "Mcp-Session-Id": "0" * 32}).status, 404)
        again = agent.post(INITIALIZE, fields)
        self.assertEqual((again.status, again.last()["error"]["code"]), (200, -32600))
        self.assertEqual(agent.request("ping"), {})
        wrong = agent.post(listing, {**fields, "MCP-Protocol-Version": "2025-01-01"})
        self.assertEqual((wrong.status, wrong.last()["error"]["code"]), (400, -32022))

    def test_the_session_that_was_not_used_for_longest_gives_way(self):
        served = self.serve()
        first, second = self.http(served), self.http(served)
        for _ in range(62):
            self.http(served)
        for each in (second, first):
            self.assertEqual(each.request("ping"), {})
        others = [self.http(served) for _ in range(63)]
        self.assertEqual(second.start("ping").status, 404)
        self.assertEqual((first.request("ping"), others[0].request("ping")), ({}, {}))

    def test_a_session_whose_call_goes_on_gives_way_to_none(self):
        served = self.serve()
        working, idle = self.http(served), self.http(served)
        task = working.request("tools/call", {"name": "execute", "arguments": {"code": HOLD}, "task": {}})["task"]
        for _ in range(63):
            self.http(served)
        self.assertEqual(idle.start("ping").status, 404)  # the control: it was used after the other
        self.assertEqual(working.request("tasks/get", {"taskId": task["taskId"]})["status"], "working")
        working.request("tasks/cancel", {"taskId": task["taskId"]})

    def test_what_is_no_message_is_refused(self):
        agent = self.http(self.serve())
        batch = json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]).encode()
        for body in (batch, b"{", b"", b"\xff"):
            answer = agent.send("POST", body)
            self.assertEqual(answer.status, 400, body)
            self.assertNotIn("id", answer.last())
        self.assertEqual(agent.request("ping"), {})  # the control

    def test_a_call_whose_stream_is_dropped_goes_on(self):
        agent = self.http(self.serve())
        mark = self.workspace.path / "mark"
        answer = agent.start_call("execute", progress=1, code="print('runs', flush=True)\nimport os, time\n"
                                  "while not os.path.exists('go'): time.sleep(0.01)\nopen('mark', 'w').close()")
        until_it_runs(answer)
        answer.close()
        self.workspace.write("go", "")
        wait_until(mark.exists, "what the code writes")

    def test_a_call_that_is_cancelled_ends_its_stream(self):
        agent = self.http(self.serve())
        answer = agent.start_call("execute", progress=1, code="print('runs', flush=True)\n" + HOLD)
        until_it_runs(answer)
        agent.post({"method": "notifications/cancelled", "params": {"requestId": agent._next_id}})
        self.assertEqual(list(answer.messages()), [])
        self.assertEqual(text_of(agent.call("execute", code="1")), "1\n")


class TheModernEra(HttpMcpTest):
    def test_a_call_whose_stream_is_dropped_is_cancelled(self):
        agent = self.http(self.serve(), modern=True)
        answer = agent.start_call("execute", progress=1, code="try:\n    print('runs', flush=True)\n    "
                                  + HOLD.replace("\n", "\n    ") + "\nfinally: open('cancelled', 'w').close()")
        until_it_runs(answer)
        answer.close()
        wait_until((self.workspace.path / "cancelled").exists, "the end of the code")

    def test_the_head_agrees_with_the_message(self):
        agent = self.http(self.serve(), modern=True)
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}}
        call = {"id": 3, "method": "tools/call",
                "params": {"name": "interrupt", "arguments": {}, "_meta": meta}}
        fields = agent.fields("tools/call", call["params"])
        self.assertEqual(agent.post(call, fields).status, 200)  # the control
        for changed, code in (({"Mcp-Name": "execute"}, -32020), ({"Mcp-Method": "tools/list"}, -32020),
                              ({"MCP-Protocol-Version": "2025-11-25"}, -32020)):
            answer = agent.post(call, {**fields, **changed})
            self.assertEqual((answer.status, answer.last()["error"]["code"]), (400, code), changed)
        meta["io.modelcontextprotocol/protocolVersion"] = "2030-01-01"
        answer = agent.post(call, {**fields, "MCP-Protocol-Version": "2030-01-01"})
        self.assertEqual((answer.status, answer.last()["error"]["code"]), (400, -32022))
        self.assertEqual(agent.start("nothing/here").status, 404)


class WhoCannotReachIt(HttpMcpTest):
    def status(self, agent, fields):
        return agent.post(INITIALIZE, {name: value for name, value in fields.items() if value is not None}).status

    def test_the_token(self):
        agent = self.http(self.serve(), initialize=False)
        right = agent.fields()
        self.assertEqual(self.status(agent, right), 200)  # the control
        for wrong in (None, "Bearer x", "Basic " + agent.served.token, f"Bearer {agent.served.token}0"):
            answer = agent.post(INITIALIZE, {**right, **({"Authorization": wrong} if wrong else {"Authorization": ""})})
            self.assertEqual((answer.status, answer.response.headers["WWW-Authenticate"]), (401, "Bearer"))
            self.assertEqual(answer.response.read(), b"")

    def test_a_page_whose_name_resolves_to_this_machine(self):
        agent = self.http(self.serve(), initialize=False)
        right, port = agent.fields(), agent.served.port
        for own in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"):  # the control
            self.assertEqual(self.status(agent, {**right, "Host": own}), 200)
        for foreign in (f"evil.example:{port}", "127.0.0.1:1", "127.0.0.1"):
            self.assertEqual(self.status(agent, {**right, "Host": foreign}), 403)

    def test_a_page_of_another_origin(self):
        agent = self.http(self.serve(), initialize=False)
        right, port = agent.fields(), agent.served.port
        self.assertEqual(self.status(agent, {**right, "Origin": f"http://localhost:{port}"}), 200)  # the control
        for foreign in ("http://evil.example", "null", f"https://localhost:{port}"):
            self.assertEqual(self.status(agent, {**right, "Origin": foreign}), 403)

    def test_other_paths_methods_and_types(self):
        agent = self.http(self.serve(), initialize=False)
        right = agent.fields()
        self.assertEqual(self.status(agent, right), 200)  # the control
        self.assertEqual(agent.send("POST", b"{}", path="/").status, 404)
        for method in ("GET", "PUT", "OPTIONS"):
            self.assertEqual(agent.send(method).status, 405, method)
        self.assertEqual(self.status(agent, {**right, "Accept": "application/json"}), 406)
        self.assertEqual(self.status(agent, {**right, "Content-Type": "text/plain"}), 415)
        self.assertEqual(self.status(agent, {**right, "Accept": BOTH_TYPES.replace(",", ";q=0.5 ,")}), 200)

    def raw(self, served, text):
        connection = socket.create_connection(("127.0.0.1", int(served.port)), TIMEOUT)
        self.addCleanup(connection.close)
        connection.sendall(text.encode())
        return connection

    def head(self, served, *lines):
        return "\r\n".join(["POST /mcp HTTP/1.1", f"Host: 127.0.0.1:{served.port}", "Content-Type: application/json",
                            f"Authorization: Bearer {served.token}", f"Accept: {BOTH_TYPES}", *lines, "", ""])

    def test_a_body_that_is_too_long(self):
        served = self.serve()
        limit = 16 << 20
        agent = self.http(served, initialize=False)
        fitting = {**INITIALIZE, "padding": "x" * (limit - 1000)}
        self.assertEqual(agent.post(fitting).status, 200)  # the control
        told = self.raw(served, self.head(served, f"Content-Length: {limit + 1}"))
        self.assertIn(b" 413 ", told.recv(100))
        chunks = self.raw(served, self.head(served, "Transfer-Encoding: chunked"))
        for _ in range(17):
            chunks.sendall(b"100000\r\n" + b"x" * (1 << 20) + b"\r\n")
        chunks.sendall(b"0\r\n\r\n")
        self.assertIn(b" 413 ", chunks.recv(100))

    def test_heads_that_are_too_long_or_never_end(self):
        served = self.serve()
        endless = self.raw(served, self.head(served)[:-2] + "X: " + "x" * 100_000)
        self.assertRegex(endless.recv(100), rb"^HTTP/1.1 4\d\d ")
        stuck = self.raw(served, self.head(served, "Content-Length: 10"))
        slow = [self.raw(served, "POST /mcp HTTP/1.1\r\nHost: x\r\n") for _ in range(200)]  # more than it takes at once
        agent = self.http(served, initialize=False)
        self.assertEqual(agent.post(INITIALIZE).status, 200)  # once the first of them were closed
        self.assertEqual((stuck.recv(100), slow[0].recv(100)), (b"", b""))


class Starting(HttpMcpTest):
    def refused(self, *arguments):
        ended = subprocess.run([CELLGATE, "mcp", "--root", self.workspace.path, *arguments], text=True,
                               stdin=subprocess.DEVNULL, capture_output=True, env=self.workspace.environment())
        self.assertNotEqual(ended.returncode, 0)
        return ended.stderr

    def test_its_own_token_is_a_file_of_the_users_that_ends_with_it(self):
        served = self.serve()
        self.assertEqual(stat.S_IMODE(os.stat(served.token_path).st_mode), 0o600)
        self.assertFalse(any(served.token in line for line in served.lines), served.lines)
        another = self.serve()
        self.assertNotEqual(served.token, another.token)
        self.assertEqual(served.close(), 0)
        self.assertFalse(os.path.exists(served.token_path))
        self.assertTrue(os.path.exists(another.token_path))

    def test_it_ends_while_calls_run(self):
        served = self.serve()
        for modern in (False, True):
            answer = self.http(served, modern=modern).start_call("execute", progress=1, code="print('runs', flush=True)\n" + HOLD)
            next(answer.messages())
        self.assertEqual(served.close(), 0)

    def test_a_token_that_the_user_gives(self):
        path = self.workspace.write("token", "the-token-of-the-user\n")
        path.chmod(0o600)
        served = self.serve("--token-file", str(path))
        self.assertEqual(served.token, "the-token-of-the-user")
        self.assertEqual(self.http(served).request("ping"), {})
        served.close()
        self.assertTrue(path.exists())

    def test_a_token_that_others_can_read(self):
        path = self.workspace.write("token", "the-token-of-the-user\n")
        for mode in (0o640, 0o604, 0o644, 0o620):
            path.chmod(mode)
            self.assertIn("chmod 600", self.refused("--http", "127.0.0.1:0", "--token-file", str(path)))
        path.chmod(0o600)
        for text in ("", "\n", "two words"):
            path.write_text(text)
            self.assertIn("one word", self.refused("--http", "127.0.0.1:0", "--token-file", str(path)))
        path.write_text("short")
        self.assertIn("at least 16", self.refused("--http", "127.0.0.1:0", "--token-file", str(path)))
        os.mkfifo(self.workspace.path / "pipe", 0o600)
        for no_file in (self.workspace.path / "pipe", self.workspace.path, self.workspace.path / "nothing"):
            self.assertIn(str(no_file), self.refused("--http", "127.0.0.1:0", "--token-file", str(no_file)))

    def test_another_host_than_this_machine_needs_tls(self):
        for host in ("192.0.2.1:0", "[2001:db8::1]:0", "box.example:0"):
            self.assertIn("--tls-cert", self.refused("--http", host))
        self.assertIn("by which agents reach", self.refused("--http", "0.0.0.0:0"))
        for at in ("127.0.0.1", "8080", "http://127.0.0.1:8080", "127.0.0.1:99999"):
            self.assertIn("HOST:PORT", self.refused("--http", at))

    def test_options_that_need_each_other(self):
        self.assertIn("--http", self.refused("--token-file", "x"))
        self.assertIn("--tls-key", self.refused("--http", "127.0.0.1:0", "--tls-cert", "x"))
        self.assertIn("--http", self.refused("--http", "127.0.0.1:0", "--print-config", "claude"))
        key = str(FIXTURES / "http_server.py")
        self.assertIn("cannot serve HTTP", self.refused("--http", "127.0.0.1:0", "--tls-cert", key, "--tls-key", key))

    def test_a_port_that_is_taken(self):
        served = self.serve()
        self.assertIn("cannot listen", self.refused("--http", f"127.0.0.1:{served.port}"))

    def test_tls(self):
        authority, server = make_certificates(self.workspace.base / "tls", ["localhost"])
        served = self.serve("--tls-cert", str(server), "--tls-key", str(server))
        self.assertTrue(served.url.startswith("https://"))
        agent = self.http(served, authority=str(authority))
        self.assertEqual(text_of(agent.call("execute", code="6 * 7")), "42\n")
        answer = agent.start_call("execute", progress=1, code="print('runs', flush=True)\n" + HOLD)
        next(answer.messages())
        self.assertEqual(agent.send("DELETE").status, 204)


if __name__ == "__main__":
    unittest.main()
