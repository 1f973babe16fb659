"""The conversation itself: its beginning, its end, what is no message, and what the contract refuses."""

import json
import os
import signal
import subprocess
import unittest

from cellgate_client import CELLGATE, CONTRACT, SharedSidecarTest, Sidecar, WorkspaceTest, contract
from executions import RpcError
from processes import start_process


def examples(method):
    return contract.load(contract.SCHEMAS / "examples" / f"{method.replace('/', '.')}.json")["params"]


# Their examples start kernels and servers that are not here, wait for a user, or end everything.
STARTING = ("initialize", "shutdown", "execute", "session/create", "session/restart", "wrappers/generate", "tools/call",
            "toolServers/restart", "packages/install", "action/decide")


def requests_of_clients():
    for method, entry in CONTRACT.protocol_methods.items():
        if entry["direction"] == "clientToServer" and entry["type"] == "request":
            yield method


class Beginning(WorkspaceTest):
    def test_everything_before_initialize_is_refused(self):
        cellgate = self.sidecar(initialize=False)
        for method, params in (("session/list", {}), ("execute", {"code": "1"}), ("policy/list", {}), ("shutdown", {})):
            with self.subTest(method), self.assertRaises(RpcError) as caught:
                cellgate.request(method, params)
            self.assertEqual(caught.exception.code, -32002)
        cellgate.notify("initialized", {})  # dropped, not fatal
        info = cellgate.initialize()
        self.assertEqual(info["protocolVersion"], "1")
        self.assertEqual(info["role"], "user")
        self.assertEqual(info["serverInfo"]["name"], "cellgate")
        self.assertEqual(cellgate.request("session/list"), {"sessions": []})

    def test_initialize_comes_once(self):
        cellgate = self.sidecar()
        with self.assertRaises(RpcError) as caught:
            cellgate.initialize()
        self.assertEqual(caught.exception.code, -32600)

    def test_an_initialize_that_fails_leaves_nothing_behind_and_can_be_made_again(self):
        cellgate = self.sidecar(initialize=False)
        server = {"command": "/usr/bin/python3", "args": ["-c", "pass"]}
        for bad in ({"bad": {"command": ""}}, {"a b": server, "a-b": server}, {"host": server}):
            with self.subTest(bad), self.assertRaises(RpcError) as caught:
                cellgate.initialize(options={"mcpServers": {"good": server, **bad}})
            self.assertEqual(caught.exception.code, 1021)
        cellgate.initialize()
        self.assertEqual(cellgate.request("policy/list"), {"rules": []})
        self.assertEqual([each["name"] for each in cellgate.request("toolServers/list")["servers"]], ["host"])

    def test_initializing_starts_no_kernel_and_writes_nothing_into_the_workspace(self):
        cellgate = self.sidecar()
        cellgate.request("session/list")
        self.assertEqual(self.workspace.files(), [])
        self.assertFalse((self.workspace.path / "mcptools").exists())


class End(WorkspaceTest):
    def test_shutdown_then_exit_is_success(self):
        cellgate = self.sidecar()
        self.assertIsNone(cellgate.request("shutdown"))
        with self.assertRaises(RpcError) as caught:
            cellgate.request("session/list")
        self.assertEqual(caught.exception.code, -32600)
        cellgate.notify("exit")
        self.assertEqual(cellgate.wait_end(), 0)

    def test_exit_without_shutdown_is_a_failure(self):
        cellgate = self.sidecar()
        cellgate.notify("exit")
        self.assertEqual(cellgate.wait_end(), 1)

    def test_exit_before_initialize_ends_it_too(self):
        cellgate = self.sidecar(initialize=False)
        cellgate.notify("exit")
        cellgate.wait_end()

    def test_the_end_of_stdin_ends_it(self):
        cellgate = self.sidecar()
        cellgate.run("x = 1")
        cellgate.process.stdin.close()
        cellgate.wait_end()

    def test_an_editor_that_dies_without_closing_its_pipes_ends_it(self):
        editor = start_process(["cat"], stdin=subprocess.PIPE)
        self.addCleanup(editor.stdin.close)
        cellgate = self.sidecar(process_id=editor.pid)
        cellgate.request("session/list")
        editor.send_signal(signal.SIGKILL)
        editor.wait()
        cellgate.wait_end()

    def test_sigterm_ends_it_with_its_kernel(self):
        cellgate = self.sidecar()
        cellgate.run("x = 1")
        cellgate.process.send_signal(signal.SIGTERM)
        cellgate.wait_end()

    def test_nothing_is_left_behind(self):
        cellgate = self.sidecar()
        cellgate.run("x = 1")
        cellgate.close()
        self.assertEqual(self.workspace.files(), [])
        left = [path for path in self.workspace.runtime.rglob("*") if path.is_socket()]
        self.assertEqual(left, [])

    def test_a_closed_stdout_does_not_leave_it_hanging(self):
        cellgate = Sidecar(self.workspace, initialize=False)
        self.addCleanup(cellgate.kill)
        reader = cellgate.process.stdout.fileno()
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, reader)  # the last reader of the pipe goes away
        os.close(null)
        cellgate.start("initialize",
                       {"clientInfo": {"name": "t"}, "processId": None, "rootUri": None, "capabilities": {}})
        cellgate.process.stdin.close()
        cellgate.wait_end()


class Arguments(unittest.TestCase):
    def test_a_missing_workspace_is_an_error_that_names_it(self):
        ended = subprocess.run([CELLGATE, "serve", "--stdio", "--root", "/nonexistent/root"], stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=60)
        self.assertNotEqual(ended.returncode, 0)
        self.assertEqual(ended.stdout, "")
        self.assertIn("/nonexistent/root", ended.stderr)


class Garbage(WorkspaceTest):
    """What is broken gets one error without an id, and the conversation goes on where it can."""

    def setUp(self):
        super().setUp()
        self.cellgate = self.sidecar(hostile=True)

    def assert_refused(self, code):
        before = getattr(self, "answered", 0)
        self.cellgate.wait(lambda: len(self.cellgate.errors_without_id) > before, "an error without an id")
        self.answered = before + 1
        self.assertEqual(len(self.cellgate.errors_without_id), self.answered)
        message = self.cellgate.errors_without_id[-1]
        self.assertIsNone(message["id"])
        self.assertEqual(message["error"]["code"], code, message)
        self.assertEqual(self.cellgate.request("session/list"), {"sessions": []})

    def test_bytes_that_are_no_json(self):
        for body in (b"hello", b"", b"{", b'{"jsonrpc":"2.0","method":"exit"', b"\xff\xfe", b'{"a":"\xc3\x28"}',
                     b"{}{}",
                     b'{"jsonrpc":"2.0","id":1,"id":2,"method":"session/list"}', b"[" * 300 + b"]" * 300,
                     b'{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"x":NaN}}'):
            with self.subTest(body[:40]):
                self.cellgate.send_text(body)
                self.assert_refused(-32700)

    def test_json_that_is_no_message(self):
        for body in ("1", "null", '"exit"', "{}", '{"jsonrpc":"2.0"}', '{"jsonrpc":"1.0","method":"exit"}',
                     '{"jsonrpc":"2.0","id":null,"method":"session/list"}',
                     '{"jsonrpc":"2.0","id":1.5,"method":"session/list"}',
                     '{"jsonrpc":"2.0","id":{},"method":"session/list"}', '{"jsonrpc":"2.0","method":7}'):
            with self.subTest(body):
                self.cellgate.send_text(body)
                self.assert_refused(-32600)

    def test_a_batch_is_refused_once(self):
        one = {"jsonrpc": "2.0", "id": 71, "method": "session/list"}
        self.cellgate.send_text(json.dumps([one, {**one, "id": 72}]))
        self.assert_refused(-32600)
        self.cellgate.send_text("[]")
        self.assert_refused(-32600)

    def test_headers_without_a_length(self):
        self.cellgate.send_bytes(b"Content-Type: text/plain\r\n\r\n")
        self.assert_refused(-32700)
        self.cellgate.send_bytes(b"Content-Length: ten\r\n\r\n")
        self.assert_refused(-32700)

    def test_a_message_larger_than_any_may_be_is_not_waited_for(self):
        self.cellgate.send_bytes(b"Content-Length: 67108865\r\n\r\n")
        self.cellgate.wait(lambda: self.cellgate.errors_without_id, "an error without an id")
        self.assertEqual(self.cellgate.errors_without_id[0]["error"]["code"], -32700)
        self.cellgate.wait_end()  # where the next message would begin is unknown

    def test_headers_without_an_end_are_not_read_for_ever(self):
        self.cellgate.send_bytes(b"X: " + b"y" * 100_000)
        self.cellgate.wait(lambda: self.cellgate.errors_without_id, "an error without an id")
        self.cellgate.wait_end()

    def test_the_end_may_come_at_any_byte(self):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": {}}).encode()
        message = b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        for end in (1, 14, 17, message.index(b"{") - 2, message.index(b"{"), message.index(b"{") + 1, len(message) - 1):
            with self.subTest(message[:end]):
                cellgate = self.sidecar(hostile=True)
                cellgate.send_bytes(message[:end])
                cellgate.process.stdin.close()
                self.assertEqual(cellgate.wait_end(), 1)

    def test_a_length_that_lies_is_an_error_and_its_client_can_still_end(self):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": {}}).encode()
        self.cellgate.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body) - 9, body))
        self.cellgate.wait(lambda: self.cellgate.errors_without_id, "an error without an id")
        self.assertEqual(self.cellgate.errors_without_id[0]["error"]["code"], -32700)
        self.cellgate.process.stdin.close()
        self.cellgate.wait_end()

    def test_ids_that_are_too_long_are_not_sent_back(self):
        self.cellgate.send({"id": "x" * 1_000_000, "method": "session/list"})
        self.assert_refused(-32600)
        self.cellgate.send({"id": int("9" * 2000), "method": "session/list"})
        self.assert_refused(-32600)
        self.assertEqual(self.cellgate.start("session/list", {}, request_id="y" * 1000).result(), {"sessions": []})

    def test_a_method_is_not_sent_back_whole(self):
        with self.assertRaises(RpcError) as caught:
            self.cellgate.request("m" * 10_000_000, {})
        self.assertEqual(caught.exception.code, -32601)
        self.assertLess(len(str(caught.exception)), 1000)

    def test_params_have_to_be_an_object(self):
        for params in ([], "now", 7):
            with self.subTest(params), self.assertRaises(RpcError) as caught:
                self.cellgate.request("session/list", params)
            self.assertIn(caught.exception.code, (-32600, -32602))

    def test_answers_to_nothing_are_ignored(self):
        self.cellgate.send({"id": 9999, "result": {}})
        self.cellgate.send({"id": "no", "error": {"code": 1, "message": ""}})
        self.cellgate.notify("$/cancelRequest", {"id": 9999})
        self.cellgate.notify("$/unheard", {"of": 1})
        self.cellgate.notify("unheard/of", {})
        self.assertEqual(self.cellgate.request("session/list"), {"sessions": []})
        self.assertEqual(self.cellgate.errors_without_id, [])

    def test_messages_may_come_in_any_pieces(self):
        body = json.dumps({"jsonrpc": "2.0", "id": "piecewise", "method": "session/list",
                           "params": {"x": "é😀"}}).encode()
        text = b"content-length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%s" % (len(body),
                                                                                                             body)
        pending = self.cellgate.start("session/list", {}, request_id="whole")
        for byte in text:
            self.cellgate.send_bytes(bytes([byte]))
        self.cellgate.send_bytes(b"".join(text.replace(b"piecewise", b"together%d" % i) for i in range(3)))
        self.assertEqual(pending.result(), {"sessions": []})
        # Four answers to ids that the client did not register.
        self.cellgate.wait(lambda: len(self.cellgate.errors_without_id) == 4, "four answers")
        self.assertTrue(all(answer.get("result") == {"sessions": []} for answer in self.cellgate.errors_without_id))


class Refusals(SharedSidecarTest):
    def test_unknown_methods_are_refused(self):
        for method in ("session/forget", "$/unheard", "", "initialize/", "approval/requested", "input/request"):
            with self.subTest(method):
                self.assert_error(-32601, self.cellgate.request, method, {})

    def test_every_method_of_the_contract_is_there(self):
        # What it answers is the business of other tests; refusing what the contract allows is judged at the end.
        for method in requests_of_clients():
            if method in STARTING:
                continue
            for params in examples(method)["valid"]:
                try:
                    self.cellgate.request(method, params)
                except RpcError as error:
                    self.assertNotIn(error.code, (-32601, -32602, -32603), (method, params, error))
        # policy/add's examples would colour what comes after.
        for rule in self.cellgate.request("policy/list")["rules"]:
            if rule["source"] != "default":
                self.cellgate.request("policy/remove", {"ruleId": rule["id"]})

    def test_what_the_contract_refuses_is_refused(self):
        for method in requests_of_clients():
            for example in examples(method)["invalid"]:
                with self.subTest(method, why=example["why"]):
                    with self.assertRaises(RpcError) as caught:
                        self.cellgate.request(method, example["value"])
                    self.assertNotEqual(caught.exception.code, -32603, caught.exception)

    def test_a_wrong_type_is_answered_with_its_path(self):
        error = self.assert_error(-32602, self.cellgate.request, "execute",
                                  {"code": "1", "cell": {"uri": "file:///x", "line": "3"}})
        self.assertIn("cell.line", error.message)
        error = self.assert_error(-32602, self.cellgate.request, "execute", {})
        self.assertIn("code", error.message)

    def test_unknown_fields_are_ignored(self):
        self.assertIn("kernels", self.cellgate.request("kernel/list", {"later": {"versions": ["know"]}}))

    def test_an_id_that_still_waits_is_not_taken_twice(self):
        pending = self.cellgate.execute("input()").pending
        self.cellgate.wait(lambda: self.cellgate.requests["input/request"], "the cell to ask for input")
        self.cellgate.send({"id": pending.id, "method": "session/list"})
        self.cellgate.wait(lambda: self.cellgate.errors_without_id, "a refusal")
        self.assertEqual(self.cellgate.errors_without_id[0]["error"]["code"], -32600)
        self.assertEqual(pending.result()["status"], "error")  # this client does not answer



if __name__ == "__main__":
    unittest.main()
