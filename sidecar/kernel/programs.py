"""`Programs` asks before code of a Python or bash kernel starts a program, where the session's profile says so
(askBeforePrograms).

A question is a call of the tool `run_program` of cellgate's server `kernel`, on the tool channel. The tool starts
nothing: that it answers is the permission, and the program starts where it would have started without a question, in
the sandbox. Python reports a start before it happens, as an audit event in the acting thread. Native code that starts a
program by itself is not reported; the sandbox is the boundary for all of them.
"""

import errno
import json
import os
import re
import shlex
import socket
import sys

SHELLS = ("sh", "bash", "dash")
# Nothing in it means anything to a shell but the spaces, which separate words.
PLAIN_LINE = re.compile(r"[\w@%+:,./-]+( +[\w@%+=:,./-]+)*")


class Programs:
    """`place_of(frame)` is (execution id, 0-based line) of a cell's frame, and None of another one."""

    def __init__(self, channel, place_of):
        self._channel = channel
        self._place_of = place_of
        self._script = None  # of the %%bash or %%script that runs, with its place

    def __call__(self, event, arguments):
        """For sys.addaudithook(). Raises PermissionError for a start that was not allowed."""
        argv = cwd = None
        if event == "subprocess.Popen":
            executable, argv, cwd, _ = arguments
            argv = [executable, *argv[1:]] if executable else argv
        elif event == "os.system":
            argv = ["/bin/sh", "-c", arguments[0]]
        elif event in ("os.exec", "os.posix_spawn"):
            argv = [arguments[0], *arguments[1][1:]]
            if not os.access(arguments[0], os.X_OK):
                return  # it fails; os.execvp() tries one folder after the other
        if argv is not None:
            script, place = self._script or (None, None)
            self.ask(argv, cwd, script, self._place(sys._getframe(1)) or place)

    def ask(self, argv, cwd=None, script=None, place=None):
        """Raises PermissionError unless the start is allowed. `script`: what the program gets on its stdin."""
        wanted = {"argv": words_of([_text(each) for each in argv])}
        if cwd is not None:
            wanted["cwd"] = _text(cwd)
        if script is not None:
            wanted["stdin"] = script
        execution, line = place or (None, None)
        call = {"server": "kernel", "tool": "run_program", "arguments": wanted, "execution": execution, "line": line}
        try:
            answer = self._call(call)
        except OSError as error:
            raise PermissionError(errno.EACCES, "cellgate cannot be asked: %s" % error) from None
        if "error" in answer:
            raise PermissionError(errno.EACCES, str(answer["error"].get("message", "not allowed")))

    def hook_scripts(self, shell):
        """%%bash and the like give their cell to a program, which another thread starts."""
        magics = shell.magics_manager
        scripts = magics.registry["ScriptMagics"]
        stock = scripts.shebang

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
    is_line = len(argv) == 3 and argv[1] == "-c" and os.path.basename(argv[0]) in SHELLS
    return shlex.split(argv[2]) if is_line and PLAIN_LINE.fullmatch(argv[2].strip()) else argv


def _text(value):
    return os.fsdecode(value).encode("utf-8", "backslashreplace").decode()
