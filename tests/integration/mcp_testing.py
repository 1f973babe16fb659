"""An MCP client of `cellgate mcp`, for tests: JSON lines over stdio, in either era."""

import contextlib
import json
import subprocess
import threading
import time

import mcp_wire
from cellgate_client import CELLGATE, WorkspaceSidecarTest
from executions import RpcError
from processes import OWN, TIMEOUT, start_process

MODERN = "2026-07-28"


class McpClient:
    """`elicit`: what the client's user answers to a question, a function of its message; None: it cannot be asked.
    `tasks`: whether it declares the extension of the modern era."""

    def __init__(self, workspace, name="test-agent", *, modern=False, elicit=None, tasks=False, environment=None,
                 tools="all", arguments=()):
        self.workspace = workspace
        self.name = name
        self.modern = modern
        self.elicit = elicit
        self.tasks = tasks
        self.changed = threading.Condition()
        self.answers = {}
        self.heard = []  # whatever is no answer to a request
        self.questions = []
        self.broken = []  # what came over stdout and is no message of MCP
        self.judged = 0
        self.ended = False
        self._next_id = 0
        self._asked = {}  # methods by the id of the request
        self._write_lock = threading.Lock()
        trace = workspace.new_trace()
        self.log_path = trace.with_suffix(".log")
        with open(self.log_path, "wb") as log:
            self.process = start_process([CELLGATE, "mcp", "--root", str(workspace.path), "--trace", str(trace),
                                          *(["--as", tools] if tools else []), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                         cwd=workspace.path, env=environment or workspace.environment(), bufsize=0)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def capabilities(self):
        return {**({"elicitation": {}} if self.elicit else {}),
                **({"extensions": {"io.modelcontextprotocol/tasks": {}}} if self.tasks else {})}

    def initialize(self):
        info = self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": self.capabilities(),
                                           "clientInfo": {"name": self.name, "version": "1"}})
        self.notify("notifications/initialized")
        return info

    # --- speaking

    def send_text(self, text):
        with self._write_lock:
            self.process.stdin.write(text if isinstance(text, bytes) else text.encode())

    def send(self, message):
        self.send_text(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

    def notify(self, method, params=None):
        self.send({"method": method, **({"params": params} if params is not None else {})})

    def start(self, method, params=None):
        with self.changed:
            self._next_id += 1
            request_id = self._next_id
        self._asked[request_id] = method
        params = dict(params or {})
        if self.modern:
            params.setdefault("_meta", {}).update({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": self.capabilities()})
        self.send({"id": request_id, "method": method, "params": params})
        return request_id

    def answer(self, request_id, timeout=TIMEOUT):
        with self.changed:
            if not self.changed.wait_for(lambda: request_id in self.answers or self.ended, timeout):
                raise AssertionError(f"waited {timeout} s for an answer. The log:\n{self.log()}")
            if request_id not in self.answers:
                raise AssertionError(f"it ended before it answered. The log:\n{self.log()}")
            message = self.answers[request_id]
        if "error" in message:
            error = message["error"]
            raise RpcError(error["code"], error["message"], error.get("data"))
        return message["result"]

    def request(self, method, params=None, timeout=TIMEOUT):
        return self.answer(self.start(method, params), timeout)

    def start_call(self, tool, /, progress=None, **arguments):
        params = {"name": tool, "arguments": arguments}
        if progress is not None:
            params["_meta"] = {"progressToken": progress}
        return self.start("tools/call", params)

    def finish_call(self, request_id, tool, /, **arguments):
        """The result; in the modern era its questions are answered on the way."""
        result = self.answer(request_id)
        while result.get("resultType") == "input_required":
            asked = result["inputRequests"]
            answers = {key: self._ask_user(each["params"]) for key, each in asked.items()}
            result = self.request("tools/call", {"name": tool, "arguments": arguments, "inputResponses": answers,
                                                 "requestState": result["requestState"]})
        return result

    def call(self, tool, /, **arguments):
        return self.finish_call(self.start_call(tool, **arguments), tool, **arguments)

    def finish_task(self, task):
        """The result of a task of the modern era; its questions are answered on the way, each once."""
        answered = set()
        while True:
            task = self.request("tasks/get", {"taskId": task["taskId"]})
            if task["status"] not in ("working", "input_required"):
                return task
            asked = {key: each for key, each in task.get("inputRequests", {}).items() if key not in answered}
            answered |= set(asked)
            if asked:
                answers = {key: self._ask_user(each["params"]) for key, each in asked.items()}
                self.request("tasks/update", {"taskId": task["taskId"], "inputResponses": answers})
            time.sleep(0.05)

    def wait(self, condition, what, timeout=TIMEOUT):
        with self.changed:
            if not self.changed.wait_for(condition, timeout):
                raise AssertionError(f"waited {timeout} s for {what}. The log:\n{self.log()}")

    # --- hearing

    def _read(self):
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                with self.changed:
                    self.broken.append(line)
                continue
            self.broken += mcp_wire.violations(self.modern, message, self._asked.get(message.get("id")))
            self.judged += 1
            if "method" in message and "id" in message:
                threading.Thread(target=self._take_request, args=(message,), daemon=True).start()
            with self.changed:
                if "method" not in message and message.get("id") is not None:
                    self.answers[message["id"]] = message
                else:
                    self.heard.append(message)
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def _ask_user(self, params):
        with self.changed:
            self.questions.append(params["message"])
            self.changed.notify_all()
        return self.elicit(params["message"])

    def _take_request(self, message):
        with contextlib.suppress(OSError, ValueError):
            if message["method"] == "elicitation/create" and self.elicit:
                self.send({"id": message["id"], "result": self._ask_user(message["params"])})
            else:
                self.send({"id": message["id"], "error": {"code": -32601, "message": "no"}})

    def log(self):
        return self.log_path.read_text(errors="replace")[-4000:]

    def close(self):
        """Ends the stream, as clients do; the exit code."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            code = self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"it did not end with its stdin. The log:\n{self.log()}") from None
        OWN.discard(self.process.pid)
        self._reader.join(TIMEOUT)
        self.process.stdout.close()
        assert not self.broken, f"stdout carried what is no message of MCP: {self.broken[:3]}"
        return code


def accept(_question):
    return {"action": "accept", "content": {"allow": True}}


def accept_until_the_end(_question):
    return {"action": "accept", "content": {"allow": True, "again": True}}


def accept_without_the_tick(_question):
    return {"action": "accept", "content": {"allow": False}}


def cancel(_question):
    return {"action": "cancel"}


def decline(_question):
    return {"action": "decline"}


def text_of(result):
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def details_of(result):
    """What `execute` adds when it is called with details=True."""
    return json.loads(result["content"][-1]["text"])


class McpTest(WorkspaceSidecarTest):
    """Agents over MCP, and editors, of one workspace."""

    def mcp(self, name="test-agent", initialize=True, **options):
        client = McpClient(self.workspace, name, **options)
        self.addCleanup(client.close)
        if initialize and not client.modern:
            client.initialize()
        return client

    def assert_ok(self, result):
        self.assertFalse(result.get("isError"), result)
        return result

    def assert_failed(self, result, text):
        self.assertTrue(result.get("isError"), result)
        self.assertIn(text, text_of(result))
        return result
