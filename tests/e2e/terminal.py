"""`Terminal` is a terminal of tmux that runs one program of a test's workspace: keys are sent to it, and its screen is read."""

import itertools
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))
from processes import start_process, wait_until  # noqa: E402

WIDTH, HEIGHT = 110, 40
numbers = itertools.count(1)


class Terminal:
    """`environment`: what the program gets beside the workspace's own variables. `process` ends with the program; wait for it
    with wait_process."""

    def __init__(self, workspace, command, environment=None):
        self.socket = workspace.base / f"{next(numbers)}.tmux"
        # Not a daemon: it stays this process's child, and ends with it.
        self.process = start_process(
            ["tmux", "-D", "-S", str(self.socket), "-f", "/dev/null"],
            env={**workspace.environment(TERM="xterm-256color", **(environment or {})), "SHELL": "/bin/sh"},
            cwd=workspace.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self.socket.exists, "tmux's socket")
        # Its shell reads a profile, which may set PATH.
        assignments = [f"{name}={value}" for name, value in (environment or {}).items()]
        self.tmux("new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT), "-c", str(workspace.path),
                  "exec env " + " ".join(f"'{word}'" for word in [*assignments, *command]))
        self.tmux("set-option", "-s", "exit-empty", "on")

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", "-S", str(self.socket), *arguments], capture_output=True, text=True)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    def keys(self, text):
        """`<C-x>`, `<CR>` and `<Esc>` are those keys; all else is typed."""
        self.tmux("send-keys", "-l", "--", re.sub(r"<C-(\w)>", lambda found: chr(ord(found[1].upper()) - 64), text)
                  .replace("<CR>", "\r").replace("<Esc>", "\x1b"))

    def screen(self):
        """The rows of the screen."""
        return self.tmux("capture-pane", "-p").rstrip("\n").split("\n")
