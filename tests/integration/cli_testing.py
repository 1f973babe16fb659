"""The command line for tests: commands in a workspace, and a terminal of their own."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import threading
import unittest

from cellgate_client import CELLGATE, WorkspaceSidecarTest
from processes import OWN, TIMEOUT, assert_no_orphans, start_process
from tools_testing import fixture_server
from workspaces import TestWorkspace


class Terminal:
    """A command at a terminal of its own."""

    def __init__(self, arguments, **options):
        self.master, slave = pty.openpty()
        self.process = start_process(arguments, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                     preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0),
                                     **options)
        os.close(slave)
        self.text = ""
        self.seen = 0
        self.changed = threading.Condition()
        self.ended = False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while True:
            try:
                piece = os.read(self.master, 65536)
            except OSError:  # how a terminal ends
                piece = b""
            with self.changed:
                self.text += piece.decode(errors="replace")
                self.ended = not piece
                self.changed.notify_all()
            if not piece:
                return

    def expect(self, pattern):
        """What was written since the last match, up to this one."""
        def find():
            return re.search(pattern, self.text[self.seen:]) or self.ended
        with self.changed:
            if not self.changed.wait_for(find, TIMEOUT):
                raise AssertionError(f"the terminal does not show {pattern!r}: {self.text[self.seen:]!r}")
            found = re.search(pattern, self.text[self.seen:])
            if not found:
                raise AssertionError(f"it ended without {pattern!r}: {self.text!r}")
            shown = self.text[self.seen : self.seen + found.end()]
            self.seen += found.end()
            return shown

    def type(self, line):
        os.write(self.master, line.encode() + b"\r")

    def resize(self, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def wait_end(self):
        try:
            code = self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"it still runs: {self.text!r}") from None
        OWN.discard(self.process.pid)
        self.reader.join(TIMEOUT)
        return code


class CliTest(unittest.TestCase):
    def setUp(self):
        self.workspace = TestWorkspace()
        self.addCleanup(self.workspace.remove)
        self.addCleanup(assert_no_orphans)
        self.workspace.write("notes.txt", "the notes")

    def arguments(self, *arguments, rooted=True):
        options = ["--root", str(self.workspace.path)] if rooted else []
        return [CELLGATE, arguments[0], *options, *arguments[1:]]

    def cli(self, *arguments, rooted=True, variables=None):
        """Without a terminal."""
        return subprocess.run(self.arguments(*arguments, rooted=rooted), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=TIMEOUT * 2, cwd=self.workspace.path, start_new_session=True,
                              check=False,
                              env=self.workspace.environment(**(variables or {})))

    def terminal(self, *arguments, rooted=True):
        terminal = Terminal(self.arguments(*arguments, rooted=rooted), cwd=self.workspace.path,
                            env=self.workspace.environment(TERM="xterm"))
        self.addCleanup(lambda: terminal.process.poll() is None and terminal.process.kill())
        return terminal

    def config(self):
        return str(self.workspace.write("servers.json", json.dumps({"mcpServers": {"fix": fixture_server()}})))

    def script(self, text, name="tour.py"):
        return str(self.workspace.write(name, text))


class CommandsBesideEditor(WorkspaceSidecarTest):
    """Commands that ask the workspace's sidecar, which an editor uses."""

    def command(self, *words, code=0):
        """Its stdout, or stderr if it is to fail. `self.remarks`: its stderr."""
        result = subprocess.run([CELLGATE, *words], cwd=self.workspace.path, env=self.workspace.environment(), text=True,
                                capture_output=True, timeout=TIMEOUT * 2, stdin=subprocess.DEVNULL, check=False,
                                start_new_session=True)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.remarks = result.stderr
        return result.stderr if code else result.stdout

    def json(self, *words):
        return json.loads(self.command(*words, "--json"))

    def json_lines(self, *words):
        return [json.loads(line) for line in self.command(*words, "--json").splitlines()]

    def at_terminal(self, *words):
        terminal = Terminal([CELLGATE, *words], cwd=self.workspace.path, env=self.workspace.environment(TERM="xterm"))
        self.addCleanup(lambda: terminal.process.poll() is None and terminal.process.kill())
        return terminal
