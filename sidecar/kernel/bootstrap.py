"""Starts ipykernel as `python -m ipykernel_launcher` does, and reports code locations to cellgate.

Started as `python bootstrap.py -f CONNECTION_FILE`. The kernel behaves as the stock one; beyond that
- each execution has its own code names, which distinguish its lines from the same lines of other executions;
- an error carries the field `cellgate` with the frames of the user's code, in the message and in the reply;
- the frames of the tool wrappers, and of ipykernel's input(), stay out of tracebacks;
- a lone surrogate in text is sent as U+FFFD, and the rest of the text is kept;
- text that is printed without a pause is sent in pieces, not as one message of any size;
- before code connects to the sandbox's proxy or to a relay, or starts a program, the sidecar learns the calling line;
- packages that cellgate installed are at the end of sys.path, including those installed while the kernel runs;
- where the session's profile says so, code asks before it starts a program (programs.py).

The sidecar sends an execution's id as the msg_id of its request. Every hook patches a part of ipykernel that may be
missing in some version, and is then skipped: cells run in any case. Patches for speed only are in speedups.py.
"""

import contextlib
import faulthandler
import importlib.util
import json
import os
import runpy
import socket
import sys
import threading
import types
import warnings

MAX_FRAMES = 100
MAX_REPEATS = 1000
FLUSH_AT = 1 << 20  # characters
PROXY = ("127.0.0.1", 3128)  # the proxy inside a sandbox
# Code between the user's frames that does not belong to the user.
MACHINERY = ("IPython", "ipykernel")
# The functions in which ipykernel waits for the answer to input() and getpass().
PROMPTS = ("raw_input", "getpass", "_input_request")


class Cells:
    """Maps the file name with which code was compiled to its execution."""

    def __init__(self):
        self._places = {}  # code name -> (execution id, number of the line before the code's first)
        self._repeats = {}

    def name(self, stock_name, raw_code, parent):
        """The code name for code that is about to run; `parent` is the execute_request."""
        execution = parent["header"]["msg_id"]
        offset = _lines_before(raw_code, parent["content"]["code"])
        if offset is None:  # code made by code: outer frames are in the cell
            return stock_name
        name = stock_name
        if self._places.get(name, (execution, offset)) != (execution, offset):
            # The same text again. The stock name keeps its first execution; names are reused after MAX_REPEATS, so
            # that a cell that repeats forever does not fill the memory.
            number = self._repeats.get(stock_name, 0) % MAX_REPEATS + 1
            self._repeats[stock_name] = number
            root, extension = os.path.splitext(stock_name)
            name = "%s_%d%s" % (root, number, extension)
        self._places[name] = (execution, offset)
        return name

    def place(self, name, line_number):
        """(execution id, 0-based line in its cell), or None if `name` is not a cell's code."""
        found = self._places.get(name)
        return found and (found[0], found[1] + line_number - 1)


class Origins:
    """Reports to the sidecar which line is about to connect, or to start a program that may (network/origin of channel.json).

    It never waits: what cannot be sent at once is dropped with the connection, so that the sidecar knows that reports
    are missing.
    """

    STARTS = frozenset(("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"))

    def __init__(self, path, cells):
        self._path = path
        self._cells = cells
        self._process = os.getpid()
        self._connection = None
        ports = os.environ.get("CELLGATE_RELAYED_PORTS", "").split()
        self._ways = [PROXY] + [(host, int(port)) for port in ports for host in ("127.0.0.1", "::1", "localhost")]

    def __call__(self, event, arguments):
        """Called by sys.addaudithook(): in the acting thread, before the action."""
        try:
            if event == "socket.connect" and arguments[1][:2] in self._ways and os.getpid() == self._process:
                self._tell(sys._getframe(1), socket=os.fstat(arguments[0].fileno()).st_ino)
            elif event in self.STARTS and os.getpid() == self._process:
                self._tell(sys._getframe(1), thread=threading.get_native_id(), children=_children())
        except Exception:  # no error of the hook may reach the caller
            self._give_up()

    def _tell(self, frame, **what):
        place = None
        while frame is not None and place is None:
            place = self._cells.place(frame.f_code.co_filename, frame.f_lineno)
            frame = frame.f_back
        what["execution"], what["line"] = place or (None, None)
        message = json.dumps({"jsonrpc": "2.0", "method": "network/origin", "params": what}).encode() + b"\n"
        if self._connection is None:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.setblocking(False)
            connection.connect(self._path)
            self._connection = connection
        if self._connection.send(message) != len(message):
            raise BlockingIOError

    def _give_up(self):
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)  # a forked child may have it, too
            connection.close()


def _children():
    """The child processes that were not waited for."""
    found = []
    for thread in os.listdir("/proc/self/task"):
        with open("/proc/self/task/%s/children" % thread) as children:
            found += map(int, children.read().split())
    return found


def _lines_before(part, whole):
    """How many lines of `whole`, the code as it was sent, come before `part`, which runs; None if it is elsewhere.

    IPython drops empty lines at the start, and a magic such as %%capture runs the cell without its own line."""
    end, code = whole.rstrip(), part.rstrip()
    if not end.endswith(code):
        return None
    blank = len(code) - len(code.lstrip())
    return end[: len(end) - len(code)].count("\n") + code[:blank].count("\n")


def _is_ours(frame):
    """Whether a frame is between the user's call and an error meant for the user."""
    name = str(frame.f_globals.get("__name__"))
    if name == "ipykernel.kernelbase":
        return frame.f_code.co_name in PROMPTS
    return name.partition(".")[0] in ("mcptools", "_cellgate_programs")


def _without_ours(traceback):
    while traceback is not None and _is_ours(traceback.tb_frame):
        traceback = traceback.tb_next
    step = traceback
    while step is not None:
        while step.tb_next is not None and _is_ours(step.tb_next.tb_frame):
            step.tb_next = step.tb_next.tb_next
        step = step.tb_next
    return traceback


def _ends_in_prompt(traceback):
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and traceback.tb_frame.f_code.co_name in PROMPTS


def strip(error):
    """Removes the wrappers' frames from the tracebacks of `error` and of its chained errors."""
    seen = set()
    left = [error]
    while left:
        error = left.pop()
        if not isinstance(error, BaseException) or id(error) in seen:
            continue
        seen.add(id(error))
        if isinstance(error, EOFError) and not error.args and _ends_in_prompt(error.__traceback__):
            error.args = ("the prompt got no answer",)
        error.__traceback__ = _without_ours(error.__traceback__)
        left += [error.__cause__, error.__context__]
        group = getattr(error, "exceptions", None)  # of an ExceptionGroup
        if isinstance(group, (list, tuple)):
            left += group


def frames_of(error, cells):
    """The user's frames of an error, outermost first, for the sidecar."""
    found = []
    step = error.__traceback__
    while step is not None:
        frame = step.tb_frame
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if package not in MACHINERY and not _is_ours(frame):
            found.append(_frame(frame.f_code.co_filename, step.tb_lineno, frame.f_code.co_name, cells))
        step = step.tb_next
    if isinstance(error, SyntaxError) and isinstance(error.filename, str) and error.lineno:
        found.append(_frame(error.filename, error.lineno, "<module>", cells))
    if len(found) > MAX_FRAMES:  # the two ends of a deep recursion are enough
        del found[MAX_FRAMES // 2 : -MAX_FRAMES // 2]
    return found


def _frame(name, line_number, function, cells):
    place = cells.place(name, line_number)
    execution, line = place or (None, line_number - 1)
    path = None if place or name.startswith("<") else name
    return {"execution": execution, "path": path, "line": line, "function": function}


def hook_code_names(shell, cells):
    compiler = shell.compile
    stock = compiler.get_code_name

    def get_code_name(raw_code, transformed_code, number):
        name = stock(raw_code, transformed_code, number)
        try:
            return cells.name(name, raw_code, shell.get_parent())
        except (AttributeError, KeyError, TypeError):  # no execute_request is being handled
            return name

    compiler.get_code_name = get_code_name


def hook_tracebacks(shell):
    stock = shell.showtraceback

    def showtraceback(exc_tuple=None, *args, **kwargs):
        error = exc_tuple[1] if exc_tuple else sys.exc_info()[1] or getattr(sys, "last_value", None)
        strip(error)
        return stock(exc_tuple, *args, **kwargs)

    shell.showtraceback = showtraceback

    stock_thread = threading.excepthook

    def excepthook(args):
        strip(args.exc_value)
        _without_ours(args.exc_traceback)
        stock_thread(args)

    threading.excepthook = excepthook


def hook_errors(shell, session, cells):
    """Adds the frames to the two messages that tell of an error, iopub's and the reply; and to the reply that the error
    was printed, as IPython does with some, which have no message of their own."""
    last = threading.local()
    stock_show = shell._showtraceback
    stock_send = session.send
    stock_usage = getattr(shell, "show_usage_error", None)

    def show_usage_error(error):
        shell._last_traceback = None  # of an earlier cell; ipykernel does not clear it
        last.frames, last.printed = [], True
        return stock_usage(error)

    def _showtraceback(etype, evalue, stb):
        last.frames = frames_of(evalue, cells) if isinstance(evalue, BaseException) else []
        return stock_show(etype, evalue, stb)

    def send(stream, msg_or_type, content=None, *args, **kwargs):
        if msg_or_type in ("error", "execute_reply") and isinstance(content, dict):
            frames, printed = getattr(last, "frames", []), getattr(last, "printed", False)
            if msg_or_type == "execute_reply":
                last.frames, last.printed = [], False
            if content.get("status", "error") == "error":
                content = dict(content, cellgate={"frames": frames, "printed": printed})
        return stock_send(stream, msg_or_type, content, *args, **kwargs)

    shell._showtraceback = _showtraceback
    if stock_usage is not None:
        shell.show_usage_error = show_usage_error
    session.send = send


def send_any_text(session):
    """Sends lone surrogates, which UTF-8 cannot encode, as U+FFFD instead of losing the whole message."""
    stock = session.pack

    def pack(content):
        try:
            return stock(content)
        except UnicodeEncodeError:
            return stock(_whole_characters(content))

    session.pack = pack


def _whole_characters(content):
    if isinstance(content, str):
        return "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in content)
    if isinstance(content, dict):
        return {_whole_characters(key): _whole_characters(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_whole_characters(each) for each in content]
    return content


def keep_all_output(app_class):
    """Keeps all published messages; by default ZeroMQ drops those beyond 1000 unread ones."""
    import zmq

    stock = app_class.init_iopub

    def init_iopub(self, context):
        context.setsockopt(zmq.SNDHWM, 0)  # applies to sockets made later
        try:
            return stock(self, context)
        finally:
            context.sockopts.pop(zmq.SNDHWM, None)

    app_class.init_iopub = init_iopub


def flush_often(stream):
    """Flushes printed text early: ipykernel does it five times a second; a fast printer fills the memory in between."""
    stock, flush = stream.write, stream.flush
    since = 0

    def write(string):
        nonlocal since
        if isinstance(string, str) and len(string) > FLUSH_AT:
            for at in range(0, len(string), FLUSH_AT):
                stock(string[at : at + FLUSH_AT])
                flush()
            return len(string)
        written = stock(string)
        since += len(string)
        if since >= FLUSH_AT:
            since = 0
            flush()
        return written

    stream.write = write


class InstalledPackages:
    """One folder for each install, the newest first. Folders are added, never removed."""

    def __init__(self, folder):
        self._folder = folder
        self._changed = None
        self._known = set()

    def look(self):
        try:
            changed = os.stat(self._folder).st_mtime_ns
            if changed == self._changed:
                return
            names = sorted(os.listdir(self._folder), reverse=True)
        except OSError:
            return
        self._changed = changed
        paths = [os.path.join(self._folder, name) for name in names]
        fresh = [path for path in paths if path not in self._known]
        places = [at for at, path in enumerate(sys.path) if path in self._known]
        at = places[0] if places else len(sys.path)
        sys.path[at:at] = fresh
        self._known.update(fresh)


def show_native_crashes():
    """A crash in native code writes its location to the process's own stderr."""
    if (stderr := getattr(sys.stderr, "_original_stdstream_copy", None)) is not None:
        faulthandler.enable(stderr, all_threads=False)


def find_speedups():
    """The module speedups.py; None where it is switched off or absent."""
    if os.environ.get("CELLGATE_KERNEL_SPEEDUPS") == "0" or not os.path.exists(_beside("speedups.py")):
        return None
    return _module("speedups")


def _beside(name):
    return os.path.join(os.path.dirname(__file__), name)


def _module(name):
    spec = importlib.util.spec_from_file_location("_cellgate_" + name, _beside(name + ".py"))
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    return module


def ask_before_programs(shell, cells):
    programs = _module("programs").Programs(
        os.environ["CELLGATE_CHANNEL"], lambda frame: cells.place(frame.f_code.co_filename, frame.f_lineno)
    )
    programs.hook_commands(shell)
    programs.hook_scripts(shell)
    sys.addaudithook(programs)


def attach(kernel):
    shell = kernel.shell
    cells = Cells()
    # Used by the wrappers' runtime to find the line of a call, and by the sidecar for variables. Not visible to cells.
    module = types.ModuleType("_cellgate_kernel")
    module.place = cells.place
    module.variables = lambda: _module("python_variables").Variables(shell)
    sys.modules[module.__name__] = module

    if hasattr(shell, "get_parent") and hasattr(getattr(shell, "compile", None), "get_code_name"):
        hook_code_names(shell, cells)
    if hasattr(shell, "showtraceback"):
        hook_tracebacks(shell)
    if "CELLGATE_PACKAGES" in os.environ:
        packages = InstalledPackages(os.environ["CELLGATE_PACKAGES"])
        packages.look()
        if hasattr(getattr(shell, "events", None), "register"):
            shell.events.register("pre_execute", packages.look)
    if os.environ.get("ALL_PROXY") == "http://%s:%d" % PROXY and "CELLGATE_CHANNEL" in os.environ:
        sys.addaudithook(Origins(os.environ["CELLGATE_CHANNEL"], cells))
    if "CELLGATE_ASK_BEFORE_PROGRAMS" in os.environ:
        ask_before_programs(shell, cells)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "pub_thread"):
            flush_often(stream)
    show_native_crashes()
    warnings.filterwarnings("ignore", "To exit: use 'exit'", UserWarning)  # IPython's word on sys.exit(), for terminals
    if callable(getattr(getattr(kernel, "session", None), "pack", None)):
        send_any_text(kernel.session)
    if hasattr(shell, "_showtraceback") and hasattr(getattr(kernel, "session", None), "send"):
        hook_errors(shell, kernel.session, cells)


def main():
    # `python -m` would have put the working directory where `python FILE` puts the file's; the launcher expects it.
    as_module = not (sys.flags.isolated or getattr(sys.flags, "safe_path", False))
    if as_module:
        del sys.path[0]
    speedups = find_speedups()
    starting = contextlib.ExitStack()
    if speedups is not None:
        starting.enter_context(speedups.starting())
    try:
        with speedups.importing() if speedups is not None else contextlib.nullcontext():
            from ipykernel.kernelapp import IPKernelApp
    except ImportError as error:
        print("cellgate: %s has no usable ipykernel: %s" % (sys.executable, error), file=sys.stderr)
        sys.exit(1)
    if as_module:
        sys.path.insert(0, os.getcwd())

    stock = IPKernelApp.initialize

    def initialize(self, argv=None):
        with starting:
            if speedups is not None:
                speedups.configure(self.config)
            stock(self, argv)
            if self.kernel is not None:
                attach(self.kernel)
            if self.kernel is not None and speedups is not None:
                speedups.attach(self.kernel)

    IPKernelApp.initialize = initialize
    if hasattr(IPKernelApp, "init_iopub"):
        keep_all_output(IPKernelApp)
    runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
