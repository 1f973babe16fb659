"""A real client of cellgate, for tests: JSON-RPC over the stdio of a sidecar process, both ways.

`Place` is a workspace with a home of its own, so that nothing of the machine's user is read or written. `Sidecar`
starts cellgate there and talks to it; when it is closed, everything that was said is held against the contract
(tests/contract/validate.py), and no process that the sidecar started may be alive.

Nothing sleeps to let things happen: every wait has a condition and an end, and says what there was instead.
"""

import atexit
import collections
import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CELLGATE = os.environ.get("CELLGATE", str(REPOSITORY / "build" / "cellgate"))
FIXTURES = REPOSITORY / "tests" / "fixtures"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

sys.path.insert(0, str(REPOSITORY / "tests" / "contract"))
import validate  # noqa: E402

CONTRACT = validate.Contract()

# For what has to happen soon on a busy machine; a test that runs into it has failed.
PATIENCE = 60


# --- processes --------------------------------------------------------------------------------------------------------

# Orphans of everything that is started here become children of this process, however they tried to get away.
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

OWN = set()  # processes that this one started and waits for by itself


def start_process(arguments, **options):
    process = subprocess.Popen(arguments, **options)
    OWN.add(process.pid)
    return process


def stat_of(pid):
    """State and parent of a process, or None."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent = text[text.rindex(")") + 2 :].split()[:2]
    return state, int(parent)


def living(pids):
    """Those that have not ended. Each is looked at once: it may end between two looks."""
    return [pid for pid in pids if (stat_of(pid) or "Z")[0] != "Z"]


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except (FileNotFoundError, ProcessLookupError):
        return "?"


def descendants(root):
    """Living processes below `root`, by pid, in no order."""
    children = collections.defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit():
            found = stat_of(name)
            if found and found[0] != "Z":
                children[found[1]].append(int(name))
    below, todo = set(), [root]
    while todo:
        for pid in children[todo.pop()]:
            below.add(pid)
            todo.append(pid)
    return below


def strays():
    """Processes that came from here and that nobody owns any more."""
    own = set(OWN)
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in own:
            found = stat_of(name)
            if found and found[1] == os.getpid() and found[0] == "Z":
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(int(name), os.WNOHANG)
    left = descendants(os.getpid()) - own
    for pid in own:
        left -= descendants(pid)
    return left


def wait_until(condition, what, timeout=PATIENCE):
    """For what lives outside this process and cannot call back."""
    end = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"waited {timeout} s in vain for {what() if callable(what) else what}")
        time.sleep(0.01)


def assert_no_strays(timeout=15):
    def describe():
        return "the end of " + "; ".join(f"{pid} ({command_of(pid)})" for pid in sorted(strays()))

    try:
        wait_until(lambda: not strays(), describe, timeout)
    except AssertionError:
        for pid in strays():  # or every later test fails too
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        raise


def processes_with(text):
    """Processes whose command line holds `text`: a mark that a test made up."""
    return {pid for pid in descendants(os.getpid()) if text in command_of(pid)}


# --- a place ----------------------------------------------------------------------------------------------------------


class Place:
    """A workspace, a home and the XDG directories, in one short path: sockets live below it."""

    def __init__(self):
        self.base = Path(tempfile.mkdtemp(prefix="cg", dir="/tmp"))
        self.root = self._folder("w")
        self.home = self._folder("h")
        self.runtime = self._folder("r", 0o700)
        self._traces = 0
        atexit.register(self.remove)

    def _folder(self, name, mode=0o755):
        folder = self.base / name
        folder.mkdir(mode=mode)
        return folder

    def new_trace(self):
        self._traces += 1
        return self.base / f"trace{self._traces}.jsonl"

    def environment(self, **more):
        variables = {
            "PATH": SYSTEM_PATH,
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_DATA_HOME": str(self.home / ".local/share"),
            "XDG_STATE_HOME": str(self.home / ".local/state"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "LANG": "C.UTF-8",
        }
        variables.update({name: os.environ[name] for name in os.environ if name.endswith("SAN_OPTIONS")})
        variables.update(more)
        return variables

    def write(self, path, text):
        """A file of the workspace."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    def make_environment(self, folder=".venv"):
        """A Python of the workspace's own, with the system's packages."""
        self.write(f"{folder}/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = true\n")
        (self.root / folder / "bin").mkdir()
        (self.root / folder / "bin/python").symlink_to("/usr/bin/python3")

    def files(self):
        """What there is in the workspace, without the package of wrappers."""
        return sorted(
            str(path.relative_to(self.root))
            for path in self.root.rglob("*")
            if path.relative_to(self.root).parts[0] != "mcptools"
        )

    def remove(self):
        shutil.rmtree(self.base, ignore_errors=True)


# --- the client -------------------------------------------------------------------------------------------------------


ABSENT = object()  # params that are left out, which is something else than null


class RpcError(Exception):
    """An error that cellgate answered; or, raised by a handler, one that this client answers."""

    def __init__(self, code, message, data=None):
        super().__init__(f"{code} {message} {data or ''}")
        self.code = code
        self.message = message
        self.data = data or {}

    @property
    def hint(self):
        return self.data.get("hint", "")


class Gone(Exception):
    """The sidecar ended before it answered."""


class Pending:
    """A request that was sent."""

    def __init__(self, sidecar, request_id, method):
        self.sidecar = sidecar
        self.id = request_id
        self.method = method
        self.reply = None

    @property
    def done(self):
        return self.reply is not None

    def result(self, timeout=PATIENCE):
        self.sidecar.wait(lambda: self.done or self.sidecar.ended, f"the answer to {self.method}", timeout)
        if self.reply is None:
            raise Gone(f"{self.method}: the sidecar ended. Its log:\n{self.sidecar.log()}")
        if "error" in self.reply:
            error = self.reply["error"]
            raise RpcError(error["code"], error["message"], error.get("data"))
        return self.reply["result"]


class Execution:
    """A cell that was sent."""

    def __init__(self, sidecar, execution_id, pending):
        self.sidecar = sidecar
        self.id = execution_id
        self.pending = pending

    def result(self, timeout=PATIENCE):
        return self.pending.result(timeout)

    def notifications(self):
        return [o for o in self.sidecar.received("execute/output") if o["executionId"] == self.id]

    def outputs(self):
        return [o["output"] for o in self.notifications() if "output" in o]

    def text(self, name="stdout"):
        return "".join(o["text"] for o in self.outputs() if o["output_type"] == "stream" and o["name"] == name)

    def data(self):
        """The MIME bundle of the cell's result."""
        bundles = [o["data"] for o in self.outputs() if o["output_type"] == "execute_result"]
        assert len(bundles) == 1, f"expected one execute_result, found {self.outputs()}"
        return bundles[0]

    def wait_for_text(self, text, timeout=PATIENCE):
        self.sidecar.wait(lambda: text in self.text(), lambda: f"{text!r} from {self.id}, which printed "
                          f"{self.text()!r} {self.text('stderr')!r}", timeout)
        return self

    def wait_running(self, timeout=PATIENCE):
        return self._wait_state("running", timeout)

    def wait_queued(self, timeout=PATIENCE):
        return self._wait_state("queued", timeout)

    def _wait_state(self, state, timeout):
        self.sidecar.wait_for("execute/changed", lambda c: c["executionId"] == self.id and c["state"] == state, timeout)
        return self


def whole_lines(trace):
    lines = trace.read_text(encoding="utf-8").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines.pop()  # its sidecar was killed while it wrote
    return lines


class Sidecar:
    """`cellgate serve --stdio`, and its client. A context manager. `under`: a command that becomes cellgate."""

    def __init__(self, place, *, initialize=True, capabilities=None, options=None, arguments=(), environment=None,
                 hostile=False, process_id=None, under=()):
        self.place = place
        self.hostile = hostile
        self.trace = place.new_trace()
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
        command = [*under, CELLGATE, *self.subcommand(), "--root", str(place.root), "--trace", str(self.trace),
                   *arguments]
        with open(self.log_path, "wb") as log:
            self.process = start_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                         cwd=place.root, env=environment or place.environment(), bufsize=0)
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
                  "rootUri": self.place.root.as_uri(), "capabilities": capabilities}
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

    def request(self, method, params=ABSENT, timeout=PATIENCE):
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

    def wait(self, condition, what, timeout=PATIENCE):
        """Waits until `condition` holds after something was heard."""
        with self.changed:
            if not self.changed.wait_for(condition, timeout):
                words = what() if callable(what) else what
                raise AssertionError(f"waited {timeout} s in vain for {words}. The log:\n{self.log()}")

    def received(self, method):
        with self.changed:
            return list(self.notifications[method])

    def wait_for(self, method, predicate=lambda params: True, timeout=PATIENCE):
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

    def run(self, code, timeout=PATIENCE, **params):
        """Sends a cell and waits for its result."""
        execution = self.execute(code, **params)
        execution.result(timeout)
        return execution

    def approval(self, timeout=PATIENCE):
        """The next approval that was requested and that no test has taken yet."""
        return self.approvals(1, timeout)[0]

    def approvals(self, count, timeout=PATIENCE):
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

    def respond(self, approval, decision, **more):
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

    def wait_end(self, timeout=PATIENCE):
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
        self._reader.join(PATIENCE)
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
            assert_no_strays()  # which may hold stdout open
        finally:
            self._reader.join(PATIENCE)
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
    """`cellgate connect`, and its client: one of several of the root's sidecar, which outlives it. `RootTest` judges
    what was said."""

    def __init__(self, place, *, linger=600, options=None, **more):
        super().__init__(place, options={"lingerSeconds": linger, **(options or {})}, **more)

    @staticmethod
    def subcommand():
        return ["connect"]

    def execution_prefix(self):
        return f"{self.trace.stem}-"  # others run in the same sessions

    def vanish(self):
        """As when the editor is killed."""
        self.kill()

    def close(self):
        """Says goodbye, if it is still there."""
        if self._closed:
            return None
        self._closed = True
        if self.process.poll() is None and not self.ended:
            with contextlib.suppress(BrokenPipeError, Gone):
                self.request("shutdown")
                self.notify("exit")
        code = self.wait_end()
        self._reader.join(PATIENCE)
        self.process.stdin.close()
        self.process.stdout.close()
        assert not self.broken, f"stdout carried what is no message: {self.broken}"
        return code


class Agent(Editor):
    """A client of the root's sidecar that is no person."""

    def __init__(self, place, **more):
        Sidecar.__init__(self, place, capabilities={}, **more)

    @staticmethod
    def subcommand():
        return ["connect", "--agent"]


def root_sidecars(place):
    """The processes that are, or would be, the sidecar of the place's root."""
    return {pid for pid in descendants(os.getpid()) if f"cellgate root-sidecar --root {place.root}" in command_of(pid)}


def root_sidecar(place):
    """The one that is. Where machines are slow, `connect` may have started another, which ends by itself, and a child that
    is about to execute something else still has the sidecar's name."""

    def only():
        pids = root_sidecars(place)
        return len(pids) == 1 and pids.pop()

    return wait_until(only, "one sidecar of the root")


# --- test classes -----------------------------------------------------------------------------------------------------


class PlaceTest(unittest.TestCase):
    """Each test has a place of its own."""

    def setUp(self):
        self.place = Place()
        self.addCleanup(self.place.remove)

    def sidecar(self, **options):
        """A sidecar for this test; it is closed and judged at its end."""
        sidecar = Sidecar(self.place, **options)
        self.addCleanup(sidecar.close)
        return sidecar


class RootTest(PlaceTest):
    """Several clients of one sidecar, which is ended and judged after the test."""

    hostile = False

    def setUp(self):
        super().setUp()
        self.addCleanup(self.finish)

    def editor(self, **options):
        """One that is attached for whoever comes after it."""
        editor = self._client(Editor, options)
        if options.get("initialize", True):
            editor.request("session/list")  # `initialized` has no answer
        return editor

    def agent(self, **options):
        return self._client(Agent, options)

    def _client(self, kind, options):
        client = kind(self.place, **options)
        self.addCleanup(lambda: client.kill() if client.process.poll() is None else client.close())
        return client

    def sidecar_pid(self):
        return root_sidecar(self.place)

    def wait_for_the_end_of_the_sidecar(self, timeout=PATIENCE):
        wait_until(lambda: not root_sidecars(self.place), "the end of the root's sidecar", timeout)

    def log_of_the_sidecar(self):
        return "".join(path.read_text() for path in (self.place.home / ".local/state/cellgate/logs").glob("*.log*"))

    def finish(self):
        for pid in root_sidecars(self.place):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        self.wait_for_the_end_of_the_sidecar()
        assert_no_strays()
        for trace in sorted(self.place.base.glob("trace*.jsonl")):
            violations = CONTRACT.follow(whole_lines(trace), self.hostile).violations
            assert not violations, f"{len(violations)} violations of the contract:\n" + "\n".join(violations[:20])


class SharedSidecarTest(unittest.TestCase):
    """The tests of a class share a sidecar, which is judged at the end. `prepare` may fill the place before."""

    options = None
    capabilities = None

    @classmethod
    def prepare(cls):
        pass

    @classmethod
    def setUpClass(cls):
        cls.place = Place()
        cls.addClassCleanup(cls.place.remove)
        cls.prepare()
        cls.cellgate = Sidecar(cls.place, capabilities=cls.capabilities, options=cls.options)
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
