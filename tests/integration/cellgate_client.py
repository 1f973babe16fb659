"""A real client of cellgate, for tests: JSON-RPC over the stdio of a sidecar process, both ways.

`TestWorkspace` is a workspace with a home of its own, so that nothing of the machine's user is read or written.
`Sidecar` starts cellgate there and talks to it; when it is closed, every message is checked against the contract
(tests/contract/validate.py), and no process that the sidecar started may be alive.

Nothing sleeps to let things happen: every wait has a condition and an end, and says what there was instead.
"""

import collections
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CELLGATE = os.environ.get("CELLGATE", str(REPOSITORY / "build" / "cellgate"))
FIXTURES = REPOSITORY / "tests" / "fixtures"

sys.path.insert(0, str(REPOSITORY / "tests" / "contract"))
import contract  # noqa: E402
from executions import Execution, Gone, Pending, RpcError  # noqa: E402
from processes import (  # noqa: E402
    OWN, TIMEOUT, assert_no_orphans, start_process, wait_until, workspace_sidecar, workspace_sidecars,
)
from workspaces import TestWorkspace  # noqa: E402

CONTRACT = contract.Contract()

ABSENT = object()  # params that are left out, which is something else than null


def arguments_of(asked):
    """Those of an approval's or a past decision's call."""
    return json.loads(asked["action"].get("argumentsText", "null"))


def whole_lines(trace):
    lines = trace.read_text(encoding="utf-8").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines.pop()  # its sidecar was killed while it wrote
    return lines


class Sidecar:
    """`cellgate serve --stdio`, and its client. A context manager. `under`: a command that becomes cellgate."""

    def __init__(self, workspace, *, initialize=True, capabilities=None, options=None, arguments=(), environment=None,
                 hostile=False, process_id=None, under=()):
        self.workspace = workspace
        self.hostile = hostile
        self.trace = workspace.new_trace()
        self.log_path = self.trace.with_suffix(".log")
        self.changed = threading.Condition()
        self.ended = False
        self.broken = None  # what came over stdout and is no message
        self.notifications = collections.defaultdict(list)
        self.handlers = {}
        self.requests = collections.defaultdict(list)  # what cellgate asked, by method
        self.errors_without_id = []
        self._taken = set()
        self._pending = {}
        self._next_id = 0
        self._next_execution = 0
        self._write_lock = threading.Lock()
        self._closed = False
        command = [*under, CELLGATE, *self.subcommand(), "--root", str(workspace.path), "--trace", str(self.trace),
                   *arguments]
        with open(self.log_path, "wb") as log:
            self.process = start_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                         cwd=workspace.path, env=environment or workspace.environment(), bufsize=0)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if initialize:
            self.initialize(capabilities, options, process_id)

    @staticmethod
    def subcommand():
        return ["serve", "--stdio"]

    @staticmethod
    def execution_prefix():
        return "x"

    def initialize(self, capabilities=None, options=None, process_id=None):
        if capabilities is None:
            capabilities = {"approvals": True, "input": True}
        params = {"clientInfo": {"name": "integration-test"}, "processId": process_id,
                  "rootUri": self.workspace.path.as_uri(), "capabilities": capabilities}
        if options:
            params["initializationOptions"] = options
        self.info = self.request("initialize", params)
        self.notify("initialized", {})
        return self.info

    # --- speaking

    def send_bytes(self, data):
        with self._write_lock:
            self.process.stdin.write(data)

    def send_text(self, text):
        body = text if isinstance(text, bytes) else text.encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def send(self, message):
        self.send_text(json.dumps({"jsonrpc": "2.0", **message}))

    def start(self, method, params=ABSENT, request_id=None):
        """Sends a request and does not wait."""
        with self.changed:
            self._next_id += 1
            request_id = self._next_id if request_id is None else request_id
            pending = self._pending[request_id] = Pending(self, request_id, method)
        message = {"id": request_id, "method": method}
        if params is not ABSENT:
            message["params"] = params
        self.send(message)
        return pending

    def request(self, method, params=ABSENT, timeout=TIMEOUT):
        return self.start(method, params).result(timeout)

    def notify(self, method, params=ABSENT):
        self.send({"method": method, **({} if params is ABSENT else {"params": params})})

    # --- hearing

    def _read(self):
        buffer = b""
        stdout = self.process.stdout.fileno()
        while True:
            try:
                piece = os.read(stdout, 1 << 20)
            except (OSError, ValueError):
                piece = b""
            if not piece:
                break
            buffer += piece
            try:
                buffer = self._take_messages(buffer)
            except Exception as problem:  # reported by close(): this is what stdout must never carry
                with self.changed:
                    self.broken = f"{problem!r} in {buffer[:300]!r}"
                    self.changed.notify_all()
                break
        with self.changed:
            if buffer and not self.broken:
                self.broken = f"the stream ended inside a message: {buffer[:300]!r}"
            self.ended = True
            self.changed.notify_all()

    def _take_messages(self, buffer):
        start = 0
        while True:
            end = buffer.find(b"\r\n\r\n", start)
            if end < 0:
                return buffer[start:]
            headers = dict(line.split(b": ", 1) for line in buffer[start:end].split(b"\r\n"))
            size = int(headers[b"Content-Length"])
            body = buffer[end + 4 : end + 4 + size]
            if len(body) < size:
                return buffer[start:]
            start = end + 4 + size
            self._hear(json.loads(body))

    def _hear(self, message):
        with self.changed:
            if "method" not in message:
                pending = self._pending.pop(message["id"], None)
                if pending:
                    pending.reply = message
                else:
                    self.errors_without_id.append(message)
            elif "id" in message:
                self.requests[message["method"]].append(message["params"])
                threading.Thread(target=self._answer, args=(message,), daemon=True).start()
            else:
                self.notifications[message["method"]].append(message["params"])
            self.changed.notify_all()

    def _answer(self, message):
        try:
            handler = self.handlers.get(message["method"])
            if handler is None:
                raise RpcError(-32601, f"this client does not answer {message['method']}")
            self.send({"id": message["id"], "result": handler(message["params"])})
        except RpcError as error:
            self.send({"id": message["id"], "error": {"code": error.code, "message": error.message}})
        except (OSError, ValueError):
            pass  # the sidecar has gone

    def wait(self, condition, what, timeout=TIMEOUT):
        """Waits until `condition` holds after something was heard."""
        with self.changed:
            if not self.changed.wait_for(condition, timeout):
                words = what() if callable(what) else what
                raise AssertionError(f"waited {timeout} s for {words}. The log:\n{self.log()}")

    def received(self, method):
        with self.changed:
            return list(self.notifications[method])

    def wait_for(self, method, predicate=lambda params: True, timeout=TIMEOUT):
        """The first notification of that kind, past ones included."""
        found = []

        def look():
            found.extend(params for params in self.notifications[method] if predicate(params))
            return found or self.ended

        def describe():
            return f"a {method}; received: {json.dumps(self.notifications[method][-20:], indent=1)[-4000:]}"

        self.wait(look, describe, timeout)
        if not found:
            raise AssertionError(f"the sidecar ended without {describe()}\n{self.log()}")
        return found[0]

    def log(self):
        return self.log_path.read_text(errors="replace")[-4000:]

    # --- the usual

    def execute(self, code, **params):
        """Sends a cell and does not wait."""
        with self.changed:
            self._next_execution += 1
            execution_id = params.pop("executionId", f"{self.execution_prefix()}{self._next_execution}")
        return Execution(self, execution_id,
                         self.start("execute", {"executionId": execution_id, "code": code, **params}))

    def run(self, code, timeout=TIMEOUT, **params):
        """Sends a cell and waits for its result."""
        execution = self.execute(code, **params)
        execution.result(timeout)
        return execution

    def approval(self, timeout=TIMEOUT):
        """The next approval that was requested and that no test has taken yet."""
        return self.approvals(1, timeout)[0]

    def approvals(self, count, timeout=TIMEOUT):
        def fresh():
            return [a for a in self.notifications["approval/requested"] if a["approvalId"] not in self._taken]

        self.wait(lambda: len(fresh()) >= count or self.ended,
                  lambda: f"{count} approvals, of which {len(fresh())} came; outputs: "
                          f"{json.dumps(self.notifications['execute/output'][-5:])[-3000:]}", timeout)
        with self.changed:
            taken = fresh()[:count]
            self._taken.update(approval["approvalId"] for approval in taken)
        return taken

    def asked(self):
        """How many approvals were requested so far."""
        return len(self.received("approval/requested"))

    def waiting(self):
        """The approvals that wait, oldest first. An answer that came before this call counts."""
        self.request("session/list")  # what was said before its answer has been heard
        with self.changed:
            resolved = {each["approvalId"] for each in self.notifications["approval/resolved"]}
            return [a for a in self.notifications["approval/requested"] if a["approvalId"] not in resolved]

    def respond(self, approval, decision, arguments=None, **more):
        """`arguments`: in place of those that were asked about."""
        if arguments is not None:
            more["argumentsText"] = json.dumps(arguments)
        return self.request("approval/respond", {"approvalIds": [approval["approvalId"]], "decision": decision, **more})

    def allow(self, approval, **more):
        return self.respond(approval, "allow", **more)

    def deny(self, approval, **more):
        return self.respond(approval, "deny", **more)

    def resolved(self, approval):
        return self.wait_for("approval/resolved", lambda r: r["approvalId"] == approval["approvalId"])

    def session(self, session_id, **params):
        return self.request("session/create", {"sessionId": session_id, **params})

    # --- the end

    def wait_end(self, timeout=TIMEOUT):
        """The exit code."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the sidecar still runs after {timeout} s. Its log:\n{self.log()}") from None
        OWN.discard(self.process.pid)
        return code

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.close()
        else:
            self.kill()

    def kill(self):
        self.process.kill()
        self.wait_end()
        self._closed = True
        self.process.stdin.close()
        self._reader.join(TIMEOUT)
        self.process.stdout.close()

    def close(self):
        """Ends the conversation as an editor does, if it has not ended, and judges all of it."""
        if self._closed:
            return
        self._closed = True
        if self.process.poll() is None and not self.ended:
            with contextlib.suppress(BrokenPipeError):
                self.request("shutdown")
                self.notify("exit")
        try:
            code = self.wait_end()
        except AssertionError:
            self.process.kill()
            raise
        try:
            assert_no_orphans()  # which may hold stdout open
        finally:
            self._reader.join(TIMEOUT)
            self.process.stdin.close()
            self.process.stdout.close()
        self.judge()
        return code

    def judge(self):
        """Raises when anything that was said breaks the contract."""
        assert not self.broken, f"stdout carried what is no message: {self.broken}"
        lines = whole_lines(self.trace)
        conversation = CONTRACT.follow(lines, self.hostile)
        assert lines, "the trace is empty"
        found = conversation.violations
        assert not found, f"{len(found)} violations of the contract:\n" + "\n".join(found[:20])


class Editor(Sidecar):
    """`cellgate connect`, and its client: one of several clients of the workspace's sidecar, which outlives it.
    `WorkspaceSidecarTest` checks the messages."""

    def __init__(self, workspace, *, linger=600, options=None, **more):
        super().__init__(workspace, options={"lingerSeconds": linger, **(options or {})}, **more)

    @staticmethod
    def subcommand():
        return ["connect"]

    def execution_prefix(self):
        return f"{self.trace.stem}-"  # others run in the same sessions

    def vanish(self):
        """As when the editor is killed."""
        self.kill()

    def close(self):
        """Exits cleanly, if it is still connected."""
        if self._closed:
            return None
        self._closed = True
        if self.process.poll() is None and not self.ended:
            with contextlib.suppress(BrokenPipeError, Gone):
                self.request("shutdown")
                self.notify("exit")
        code = self.wait_end()
        self._reader.join(TIMEOUT)
        self.process.stdin.close()
        self.process.stdout.close()
        assert not self.broken, f"stdout carried what is no message: {self.broken}"
        return code


class Agent(Editor):
    """A client of the workspace's sidecar in the role agent."""

    def __init__(self, workspace, **more):
        Sidecar.__init__(self, workspace, capabilities={}, **more)

    @staticmethod
    def subcommand():
        return ["connect", "--agent"]


class WorkspaceTest(unittest.TestCase):
    """Each test has a workspace of its own."""

    def setUp(self):
        self.workspace = TestWorkspace()
        self.addCleanup(self.workspace.remove)

    def sidecar(self, **options):
        """A sidecar for this test; it is closed and judged at its end."""
        sidecar = Sidecar(self.workspace, **options)
        self.addCleanup(sidecar.close)
        return sidecar


class WorkspaceSidecarTest(WorkspaceTest):
    """Several clients of one sidecar, which is ended and judged after the test."""

    hostile = False

    def setUp(self):
        super().setUp()
        self.addCleanup(self.finish)

    def editor(self, **options):
        """One that is attached, for the clients that come after it."""
        editor = self._client(Editor, options)
        if options.get("initialize", True):
            editor.request("session/list")  # `initialized` has no answer
        return editor

    def agent(self, **options):
        return self._client(Agent, options)

    def _client(self, kind, options):
        client = kind(self.workspace, **options)
        self.addCleanup(lambda: client.kill() if client.process.poll() is None else client.close())
        return client

    def sidecar_pid(self):
        return workspace_sidecar(self.workspace)

    def wait_for_the_end_of_the_sidecar(self, timeout=TIMEOUT):
        wait_until(lambda: not workspace_sidecars(self.workspace), "the end of the workspace's sidecar", timeout)

    def log_of_the_sidecar(self):
        return "".join(path.read_text() for path in (self.workspace.home / ".local/state/cellgate/logs").glob("*.log*"))

    def finish(self):
        for pid in workspace_sidecars(self.workspace):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        self.wait_for_the_end_of_the_sidecar()
        assert_no_orphans()
        for trace in sorted(self.workspace.base.glob("trace*.jsonl")):
            violations = CONTRACT.follow(whole_lines(trace), self.hostile).violations
            assert not violations, f"{len(violations)} violations of the contract:\n" + "\n".join(violations[:20])


class SharedSidecarTest(unittest.TestCase):
    """The tests of a class share a sidecar, which is judged at the end. `prepare` may add files to the workspace."""

    options = None
    capabilities = None
    environment = None  # of the sidecar, besides the workspace's; `prepare` may set it

    @classmethod
    def prepare(cls):
        pass

    @classmethod
    def setUpClass(cls):
        cls.workspace = TestWorkspace()
        cls.addClassCleanup(cls.workspace.remove)
        cls.prepare()
        cls.cellgate = Sidecar(cls.workspace, capabilities=cls.capabilities, options=cls.options,
                               environment=cls.workspace.environment(**(cls.environment or {})))
        cls.addClassCleanup(cls.cellgate.close)

    def run_ok(self, code, **params):
        """Runs a cell that has to succeed; its output as text."""
        execution = self.cellgate.run(code, **params)
        result = execution.result()
        self.assertEqual(result["status"], "ok", (result, execution.outputs()))
        return execution

    def assert_error(self, code, call, *arguments, **named):
        with self.assertRaises(RpcError) as caught:
            call(*arguments, **named)
        self.assertEqual(caught.exception.code, code, caught.exception)
        return caught.exception
