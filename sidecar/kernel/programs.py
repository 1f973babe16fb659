"""`Programs` asks before code of a Python or bash kernel starts a program, where the session's profile says so
(askBeforePrograms).

A question is a call of the tool `run_program` of cellgate's server `kernel`, on the tool channel. The tool starts
nothing: that it answers is the permission, and the program starts where it would have started without a question, in
the sandbox. Python reports a start before it happens, as an audit event in the acting thread. Code can start programs
that are not reported, and can change this one's objects; the sandbox is the boundary for all of it.
"""

import functools
import json
import os
import re
import shlex
import socket
import subprocess
import sys

STARTS = frozenset(("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"))
SHELLS = frozenset(folder + name for folder in ("/bin/", "/usr/bin/", "/usr/local/bin/") for name in ("sh", "bash", "dash"))
# Nothing in it means anything to a shell but the spaces, which separate words.
PLAIN_LINE = re.compile(r"[\w@%+:,./-]+( +[\w@%+=:,./-]+)*", re.ASCII)
# subprocess has reported the start already.
POPEN_SPAWN = getattr(getattr(subprocess.Popen, "_posix_spawn", None), "__code__", None)


class Programs:
    """`place_of(frame)` is (execution id, 0-based line) of a cell's frame, and None of another one."""

    def __init__(self, channel, place_of):
        self._channel = channel
        self._place_of = place_of
        self._process = os.getpid()
        self._script = None  # of the %%bash or %%script that runs, with its place
        self._asked = None  # what IPython's system() was allowed, which its forked child starts
        self._refused = None  # in a forked child: what was refused last, and how

    def __call__(self, event, arguments):
        """For sys.addaudithook(). Raises PermissionError for a start that was not allowed."""
        if event not in STARTS:
            return
        frame = sys._getframe(1)
        if event == "subprocess.Popen":
            executable, argv, cwd, _ = arguments
            self._ask_for(executable or argv[0], argv, frame, cwd)
        elif event == "os.system":
            self._ask_for("/bin/sh", ["/bin/sh", "-c", arguments[0]], frame)
        elif event == "os.posix_spawn" and frame.f_code is not POPEN_SPAWN:
            self._ask_for(arguments[0], arguments[1], frame)
        elif event == "os.exec":
            self._ask_for_exec(arguments[0], arguments[1], frame)

    def _ask_for_exec(self, executable, argv, frame):
        if isinstance(executable, int):
            executable = "/proc/self/fd/%d" % executable
        elif not os.access(executable, os.X_OK):
            return  # it fails; os.execvp() tries one folder after the other
        start = [_text(each) for each in argv]
        if start[1:] == self._asked:
            return
        if self._refused is not None and self._refused[0] == start:  # os.execvp() in the next folder
            raise self._refused[1]
        try:
            self._ask_for(executable, argv, frame)
        except PermissionError as refusal:
            if os.getpid() != self._process:
                self._refused = start, refusal
            raise

    def _ask_for(self, executable, argv, frame, cwd=None):
        place = self._place(frame)
        script = None
        if place is None and self._script is not None:  # the thread that IPython runs scripts in
            script, place = self._script
        executable, name = _text(executable), _text(argv[0])
        is_named = os.path.basename(executable) == os.path.basename(name)
        self.ask([executable, *argv[1:]], cwd, script, place, None if is_named else name)

    def ask(self, argv, cwd=None, script=None, place=None, name=None):
        """Raises PermissionError unless the start is allowed. `script`: what the program gets on its stdin. `name`: what it
        gets as its own name, where that is not the file's."""
        wanted = {"argv": words_of([_text(each) for each in argv])}
        if cwd is not None:
            wanted["cwd"] = _text(cwd)
        if script is not None:
            wanted["stdin"] = script
        if name is not None:
            wanted["argv0"] = name
        execution, line = place or (None, None)
        call = {"server": "kernel", "tool": "run_program", "arguments": wanted, "execution": execution, "line": line}
        try:
            answer = self._call(call)
        except OSError as error:
            raise PermissionError("cellgate cannot be asked: %s" % error) from None
        if "error" in answer:
            raise PermissionError(str(answer["error"].get("message", "not allowed")))

    def hook_commands(self, shell):
        """!COMMAND, which IPython starts from a forked child, asks before the fork: so it can be interrupted."""
        definer = next(each for each in type(shell).__mro__ if "system_piped" in vars(each))
        module = sys.modules[definer.__module__]
        stock = module.system

        @functools.wraps(stock)
        def system(command):
            self.ask(["/bin/sh", "-c", command], place=self._place(sys._getframe(1)))
            self._asked = ["-c", command]
            try:
                return stock(command)
            finally:
                self._asked = None

        module.system = system

    def hook_scripts(self, shell):
        """%%bash and the like give their cell to a program, which another thread starts."""
        magics = shell.magics_manager
        scripts = magics.registry["ScriptMagics"]
        stock = scripts.shebang

        @functools.wraps(stock)  # it finds its parser at itself
        def shebang(line, cell):
            self._script = cell, self._place(sys._getframe(1))
            try:
                return stock(line, cell)
            finally:
                self._script = None

        scripts.shebang = shebang  # which the named ones call
        magics.magics["cell"]["script"] = shebang

    def _place(self, frame):
        while frame is not None:
            place = self._place_of(frame)
            if place is not None:
                return place
            frame = frame.f_back
        return None

    def _call(self, call):
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:  # also in a forked child
            connection.settimeout(None)  # whatever socket.setdefaulttimeout() said
            connection.connect(self._channel)
            connection.sendall(json.dumps(message).encode() + b"\n")
            received = b""
            while not received.endswith(b"\n"):
                part = connection.recv(1 << 16)
                if not part:
                    raise ConnectionError("the connection has ended")
                received += part
        return json.loads(received)


def words_of(argv):
    """The words of a shell's line that is one plain command, as rules and users read them; else `argv` as it is."""
    line = argv[2].strip(" \n") if len(argv) == 3 and argv[1] == "-c" and argv[0] in SHELLS else ""
    return shlex.split(line) if PLAIN_LINE.fullmatch(line) else argv


def _text(value):
    return os.fsdecode(value).encode("utf-8", "backslashreplace").decode()
