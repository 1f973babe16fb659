"""cellgate's kernel for bash: one bash, to which each cell is given, so that variables, functions and the working
directory stay.

Started as `python bash_kernel.py -f CONNECTION_FILE`. How bash is run:
- It is interactive, without a terminal: an interrupt (SIGINT, to it and its foreground programs) ends what runs and
  leaves bash alive. A shell that is not interactive would end, or go on with its loop.
- It reads commands from its stdin: for each cell an `eval`, then one that reports the exit status on a pipe of its own.
- Programs of a cell have an empty stdin. `read` at a cell's own stdin asks the user.
- A cell fails when its last command does: the error's value is "exit status N".
- `exit` ends bash, and with it the kernel.
"""

import codecs
import contextlib
import fcntl
import os
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bash_variables  # noqa: E402
import bootstrap  # noqa: E402
import programs  # noqa: E402
import speedups  # noqa: E402

with speedups.starting(), speedups.importing():
    from ipykernel.kernelapp import IPKernelApp
    from ipykernel.kernelbase import Kernel
    from IPython.core.error import StdinNotImplementedError

CHUNK = 1 << 16
EXIT_DELAY = 0.2  # seconds
LOOK = 0.1  # seconds between two looks at whether bash still runs
BEGIN_LOOK = 0.01  # seconds between two looks at whether bash has begun what is to be interrupted
MERE_CD = re.compile(r"cd -- ([\w@%+=:,./-]+|'[^']*'(\\''[^']*')*)")
EMPTY, REPORTS, ANSWERS, EXIT = 200, 201, 202, 203  # bash's descriptors beside stdio
# Runs in bash before the first cell.
PREPARE = """
PS1= PS2= PROMPT_COMMAND=
unset HISTFILE TMOUT
set +o history +H
trap '__cellgate_lines="${__cellgate_lines##* } $LINENO"' ERR
read() {
    local __cellgate_word __cellgate_prompt= __cellgate_secret= __cellgate_before= __cellgate_answer
    for __cellgate_word in "$@"; do
        [ "$__cellgate_before" = -p ] && __cellgate_prompt=$__cellgate_word
        case $__cellgate_word in
            -u*) builtin read "$@"; return ;;
            -*s*) __cellgate_secret=1 ;;
        esac
        case $__cellgate_word in -*p) __cellgate_before=-p ;; *) __cellgate_before= ;; esac
    done
    if ! [ /dev/stdin -ef /dev/fd/%(empty)d ]; then builtin read "$@"; return; fi
    builtin printf 'R%%s%%s\\0' "${__cellgate_secret:-0}" "$__cellgate_prompt" >&%(reports)d
    builtin read -r -d '' -u %(answers)d __cellgate_answer
    [ "${__cellgate_answer:0:1}" = + ] || return 1
    builtin read "$@" <<<"${__cellgate_answer:1}"
}
mcptools() {
    local __cellgate_line=
    [ ${#FUNCNAME[@]} = 1 ] && [ -n "$__cellgate_first" ] && __cellgate_line=$((BASH_LINENO[0] - __cellgate_first))
    %(python)s -I %(command)s "$__cellgate_line" "$@"
}
export -f mcptools
exit() {  # of an interactive bash says "exit" on stderr, unless it is in a file
    source /dev/fd/%(exit)d "$@" %(exit)d<<<'builtin exit "$@"'
}
""" % {
    "empty": EMPTY,
    "reports": REPORTS,
    "answers": ANSWERS,
    "exit": EXIT,
    "python": shlex.quote(sys.executable),
    "command": shlex.quote(os.path.join(os.path.dirname(os.path.abspath(__file__)), "mcptools_command.py")),
}


class Bash:
    """The process, and the pipes to it."""

    def __init__(self, on_output):
        self._on_output = on_output  # called with "stdout" or "stderr", and text
        commands, self._commands = os.pipe()
        self._reports, reports = os.pipe()
        answers, self._answers = os.pipe()
        empty = os.memfd_create("stdin")
        outputs = {name: os.pipe() for name in ("stdout", "stderr")}

        def prepare():
            for own, theirs in ((empty, EMPTY), (reports, REPORTS), (answers, ANSWERS)):
                os.dup2(own, theirs)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # ipykernel ignores it, and a program would inherit that

        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "--noediting", "-i"],
            stdin=commands,
            stdout=outputs["stdout"][1],
            stderr=outputs["stderr"][1],
            close_fds=False,  # all others are closed by the start of a program
            preexec_fn=prepare,
            start_new_session=True,
        )
        for descriptor in (commands, reports, answers, empty, outputs["stdout"][1], outputs["stderr"][1]):
            os.close(descriptor)
        self._reading = threading.Lock()
        self._outputs = {}  # descriptor -> (name, decoder)
        for name, (ours, _) in outputs.items():
            self._outputs[ours] = (name, codecs.getincrementaldecoder("utf-8")("replace"))
        self._pending = b""
        self._signals = threading.Lock()  # for the next three
        self._interruptible = False  # bash has read all of the cell, and has not reported its end
        self._interrupts = 0  # sent so far
        self._interrupted = {}  # pid -> program, as seen when the last one was sent, or since
        self._silent = True
        threading.Thread(target=self._read_outputs, daemon=True).start()
        self.run(PREPARE)
        self._silent = False

    @property
    def folder(self):
        return os.readlink("/proc/%d/cwd" % self._process.pid)

    def run(self, code, on_prompt=None):
        """Gives `code` to bash and returns its exit status and the number of the line that failed (0: not known); bash's
        own status when it has ended. `on_prompt` is called with a prompt and whether it is for a secret."""
        report = """builtin printf 'E%%s %%s\\0' "$?" "$__cellgate_lines" >&%d; __cellgate_lines=""" % REPORTS
        # Bash counts the lines of the cell from the one where the eval ends.
        first = "__cellgate_first=$((LINENO + %d))" % code.count("\n")
        begun = """builtin printf 'B\\0' >&%d""" % REPORTS
        self._write(self._commands, "%s; %s; eval %s <&%d\n%s\n" % (first, begun, shlex.quote(code), EMPTY, report))
        interrupts = self._interrupts
        ended = self._read_reports(report, on_prompt)
        self._settle(interrupts)
        return ended

    def _read_reports(self, report, on_prompt):
        interrupts = self._interrupts
        while True:
            words = self._next_report(lambda: self._interrupts > interrupts and self._ask_again(report, False))
            if words is None:
                self._drain()
                return self._process.returncode, 0
            if words.startswith("B"):
                self._interruptible = True
            if words.startswith("E"):
                self._drain()
                status, *lines = words[1:].split()
                return int(status), line_of(lines)
            if words.startswith("R"):
                self._drain()  # what was printed before the prompt
                answer = on_prompt(words[2:], words[1] == "1") if on_prompt else None
                self._write(self._answers, ("-" if answer is None else "+" + answer) + "\0")

    def _settle(self, interrupts):
        """Returns once bash has answered after the last interrupt: what it reads from then on, no interrupt takes from it.
        `interrupts`: how many had been sent when it last answered."""
        while True:
            with self._signals:
                if self._interrupts == interrupts:
                    self._interruptible = False
                    return
                interrupts = self._interrupts
            report = "builtin printf 'S%d\\0' >&%d" % (interrupts, REPORTS)
            self._ask_again(report, True)
            while self._next_report(lambda: self._ask_again(report, True)) not in ("S%d" % interrupts, None):
                pass

    def _ask_again(self, report, has_ended):
        """After an interrupt, which may have cost bash the line that reports. Bash waits for a program that it was about to start
        at the interrupt, even when it has ended the cell: until the program runs, it has bash's own handler of SIGINT, and an
        interrupt is lost on it. What has become a program since is sent its own; of a cell that goes on (it has a trap), only
        where the process was there at the interrupt."""
        programs = self._programs()
        with self._signals:
            known = self._interrupted
            self._interrupted = {pid: each for pid, each in programs.items() if has_ended or pid in known}
        for pid, program in programs.items():
            if program != known.get(pid, None if has_ended else program):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGINT)
        if not self._waiting(self._commands):
            self._write(self._commands, "\n%s\n" % report)

    def text_of(self, code):
        """What the code prints; the code may change nothing."""
        self._write(self._commands, """\nbuiltin printf 'T%%s\\0' "$(%s)" >&%d\n""" % (code, REPORTS))
        words = self._next_report()
        return words[1:] if words else ""

    def run_hidden(self, code):
        """Gives lines of code to bash that are no cell, and returns their exit status."""
        self._write(self._commands, """\n%s\nbuiltin printf 'T%%s\\0' "$?" >&%d\n""" % (code, REPORTS))
        words = self._next_report()
        self._drain()
        return int(words[1:]) if words else 1

    @property
    def has_ended(self):
        return self._process.poll() is not None

    def interrupt(self, is_running):
        """Ends what runs, while `is_running()`. Bash that is interrupted while it reads a cell loses what it has read so far:
        the interrupt waits until it has read all of it. One that comes just before bash waits for a program may have bash
        interrupt itself without end: while bash is not waiting for anything, the interrupt is put off a little."""
        deadline = time.monotonic() + LOOK
        while is_running():
            with self._signals:
                may_interrupt = self._state() == "S" or time.monotonic() > deadline
                if may_interrupt and self._interruptible and is_running():  # the next cell may have begun meanwhile
                    self._interrupts += 1
                    self._stop()  # so that it starts nothing between the look and the interrupt
                    self._interrupted = self._programs()
                    self._signal(signal.SIGINT)
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(self._process.pid, signal.SIGCONT)
                    return
            time.sleep(BEGIN_LOOK)

    def _state(self):
        """As the system names it: S waits, T is stopped, Z has ended."""
        try:
            with open("/proc/%d/stat" % self._process.pid) as stat:
                return stat.read().rpartition(")")[2].split()[0]
        except OSError:
            return "Z"

    def _stop(self):
        deadline = time.monotonic() + LOOK
        with contextlib.suppress(OSError):
            os.kill(self._process.pid, signal.SIGSTOP)
            while time.monotonic() < deadline:
                if self._state() in "TZ":
                    return

    def _programs(self):
        """What bash's processes run, by pid."""
        found = {}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if os.getpgid(int(entry)) == self._process.pid:
                    found[int(entry)] = os.readlink("/proc/%s/exe" % entry)
        return found

    def kill(self):
        self._signal(signal.SIGKILL)

    def _signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _write(self, descriptor, text):
        data = text.replace("\0", "").encode("utf-8", "surrogatepass") if descriptor == self._commands else text.encode()
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(descriptor, data[:CHUNK]) :]

    def _next_report(self, on_silence=None):
        """None when bash has ended. A program that still runs may hold the pipe open, so its end would not tell. `on_silence` is
        called now and then while there is none."""
        while b"\0" not in self._pending:
            ended = self.has_ended
            if select.select([self._reports], [], [], 0 if ended else LOOK)[0]:
                more = os.read(self._reports, CHUNK)
                if not more:
                    self._process.wait()
                    return None
                self._pending += more
            elif ended:
                return None
            elif on_silence:
                on_silence()
        words, _, self._pending = self._pending.partition(b"\0")
        return words.decode("utf-8", "replace")

    def _read_outputs(self):
        poll = select.poll()
        for descriptor in self._outputs:
            poll.register(descriptor, select.POLLIN)
        left = len(self._outputs)
        while left:
            for descriptor, events in poll.poll():
                with self._reading:
                    size = self._waiting(descriptor)
                    if size:
                        self._read(descriptor, size)
                    elif events & select.POLLHUP:  # no writer is left: its end
                        poll.unregister(descriptor)
                        left -= 1

    def _drain(self):
        """Passes on what bash and its programs had written before they reported."""
        with self._reading:
            for descriptor in self._outputs:
                size = self._waiting(descriptor)
                if size:
                    self._read(descriptor, size)

    def _waiting(self, descriptor):
        return struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4))[0]

    def _read(self, descriptor, size):
        name, decoder = self._outputs[descriptor]
        text = decoder.decode(os.read(descriptor, size))
        if text and not self._silent:
            self._on_output(name, text)


def line_of(lines):
    """Of the trap's last two lines the second is the eval's own, at which bash counts the first one of the cell."""
    if len(lines) != 2 or not all(each.isdigit() for each in lines):
        return 0
    return int(lines[0]) - int(lines[1]) + 1


def word_before(code, cursor):
    """Where the word before the cursor begins, and whether it is the command's own name."""
    found = re.search(r"[^\s;|&<>()`'\"=]*$", code[:cursor])
    before = code[: found.start()].rstrip(" \t")
    return found.start(), before == "" or before[-1] in ";|&(\n`"


class BashKernel(Kernel):
    implementation = "cellgate-bash"
    implementation_version = "1"
    banner = "Bash (cellgate)"
    language_info = {"name": "bash", "mimetype": "text/x-sh", "file_extension": ".sh", "codemirror_mode": "shell"}

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        version = subprocess.run(["bash", "-c", "echo $BASH_VERSION"], stdin=subprocess.DEVNULL, capture_output=True)
        self.language_info = dict(self.language_info, version=version.stdout.decode().strip())
        self._bash = Bash(self._print)
        self._quiet = False
        self._running = None  # an object of the running execution's own
        self._interrupted = False
        self._variables = bash_variables.Variables(self._bash)
        self._programs = None
        if "CELLGATE_ASK_BEFORE_PROGRAMS" in os.environ:
            self._programs = programs.Programs(os.environ["CELLGATE_CHANNEL"], lambda frame: None)
        speedups.attach(self)

    def _print(self, name, text):
        if not self._quiet:
            self.send_response(self.iopub_socket, "stream", {"name": name, "text": text})

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False):
        self._allow_stdin = allow_stdin
        if user_expressions:
            return self._evaluate(user_expressions)
        self._quiet = silent
        self._interrupted = False
        reply = {"execution_count": self.execution_count, "payload": [], "user_expressions": {}}
        try:
            self._ask_before(code)
        except PermissionError as refusal:
            error = {"ename": "PermissionError", "evalue": str(refusal), "traceback": [str(refusal)]}
            if not silent:
                self.send_response(self.iopub_socket, "error", error)
            return dict(reply, status="error", **error)
        self._running = object()
        try:
            status, line = self._bash.run(code, self._ask)
        finally:
            self._running = None
        if self._bash.has_ended:
            reply["payload"].append({"source": "ask_exit", "keepkernel": False})
            self._end_soon()
        if status == 0:
            return dict(reply, status="ok")
        error = self._error(code, status, line)
        if not silent:
            self.send_response(self.iopub_socket, "error", error)
        return dict(reply, status="error", **error)

    def _ask_before(self, code):
        """The cell is asked about as a whole: bash starts what it names. A mere `cd` starts nothing; the sidecar sends one."""
        if self._programs is not None and code.strip() and not MERE_CD.fullmatch(code):
            self._programs.ask(["/bin/bash", "-c", code], place=(self.get_parent("shell")["header"]["msg_id"], 0))

    def _evaluate(self, expressions):
        """Answers the sidecar's questions about variables, which run no code."""
        values = {}
        before, self._quiet = self._quiet, True  # `set -x` prints
        try:
            for name, request in expressions.items():
                data = {"application/json": self._variables.answer(request)}
                values[name] = {"status": "ok", "data": data, "metadata": {}}
        finally:
            self._quiet = before
        return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": values}

    def _error(self, code, status, line):
        value = "exit status %d" % (status if status >= 0 else 128 - status)
        frames = []
        said = value
        if 1 <= line <= code.count("\n") + 1 and not self._interrupted:
            execution = self.get_parent("shell")["header"]["msg_id"]
            frames.append({"execution": execution, "path": None, "line": line - 1, "function": "<cell>"})
            said = "line %d: %s" % (line, value)
        return {
            "ename": "Interrupted" if self._interrupted else "ExitStatus",
            "evalue": value,
            "traceback": [said],
            "cellgate": {"frames": frames, "printed": False},
        }

    def _ask(self, prompt, secret):
        try:
            answer = self.getpass(prompt) if secret else self.raw_input(prompt)
        except (EOFError, KeyboardInterrupt, StdinNotImplementedError):
            return None
        return None if answer == "\x04" else answer

    def _end_soon(self):
        self.io_loop.call_later(EXIT_DELAY, os._exit, 0)  # what was sent is on its way

    async def interrupt_request(self, stream, ident, parent):
        """On the thread of the control channel: the other one waits for bash."""
        running = self._running
        if running:
            self._interrupted = True
            interrupt = threading.Thread(
                target=self._bash.interrupt, args=(lambda: self._running is running,), daemon=True
            )
            interrupt.start()
        self.session.send(stream, "interrupt_reply", {"status": "ok"}, parent, ident=ident)

    def do_complete(self, code, cursor_pos):
        start, is_command = word_before(code, cursor_pos)
        word = code[start:cursor_pos]
        variable = re.match(r"\$\{?", word)
        if variable:
            start += variable.end()
            word = word[variable.end() :]
        actions = "-v" if variable else "-c" if is_command and "/" not in word else "-f"
        found = self._bash.text_of("compgen %s -- %s" % (actions, shlex.quote(word)))
        matches = sorted(set(found.splitlines()))
        if actions == "-f":
            folder = self._bash.folder
            matches = [each + "/" if os.path.isdir(os.path.join(folder, each)) else each for each in matches]
        return {"status": "ok", "matches": matches, "cursor_start": start, "cursor_end": cursor_pos, "metadata": {}}

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        end = re.match(r"[\w.+-]*", code[cursor_pos:]).end() + cursor_pos
        name = re.search(r"[\w.+-]*$", code[:end]).group()
        quoted = shlex.quote(name)
        text = name and self._bash.text_of(
            "declare -p -- %s 2>/dev/null || type -- %s 2>/dev/null" % (quoted, quoted)
        )
        return {"status": "ok", "found": bool(text), "data": {"text/plain": text} if text else {}, "metadata": {}}

    def do_shutdown(self, restart):
        self._bash.kill()
        return {"status": "ok", "restart": restart}


if __name__ == "__main__":
    bootstrap.keep_all_output(IPKernelApp)
    IPKernelApp.launch_instance(kernel_class=BashKernel)
