"""A real Neovim with the plugin, for tests: in a terminal of tmux, to which keys are sent and whose screen is read, or
headless. What the tests want to know of its inside they ask over its socket.

    NEOVIM   the program; default: build/neovim/trixie/nvim
    SCREEN   tmux (default) or headless
    TIMEOUT how many seconds something may take before its test has failed (60)
"""

import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import msgpack

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(REPOSITORY / "tests" / "integration"), str(REPOSITORY / "tests" / "e2e")]
from cellgate_client import CELLGATE, WorkspaceSidecarTest, start_process, wait_until  # noqa: E402
from processes import wait_process  # noqa: E402
from terminal import HEIGHT, WIDTH, Terminal  # noqa: E402

NEOVIM = os.environ.get("NEOVIM", str(REPOSITORY / "build/neovim/trixie/nvim"))
SCREEN = os.environ.get("SCREEN", "tmux")
TIMEOUT = int(os.environ.get("TIMEOUT", "60"))
PLUGIN = REPOSITORY / "editors" / "neovim"
FILESYSTEM_SERVER = REPOSITORY / "tests/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"


def tiny_png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0\0\xff\0" * 2)) + chunk(b"IEND", b""))


class LuaError(Exception):
    """What Neovim answered to Lua that failed."""


class Remote:
    """Neovim's API over its socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.connect(str(path))
        except OSError:
            self.socket.close()
            raise
        self.socket.settimeout(TIMEOUT)
        self.unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, unicode_errors="surrogateescape")
        self.last = 0

    def call(self, method, *arguments):
        self.last += 1
        self.socket.sendall(msgpack.packb([0, self.last, method, arguments]))
        while True:
            for kind, number, *rest in self.unpacker:
                if kind == 1 and number == self.last:
                    error, result = rest
                    if error:
                        raise LuaError(error[1])
                    return result
            data = self.receive()
            if not data:
                raise ConnectionError("Neovim has gone")
            self.unpacker.feed(data)

    def receive(self):
        return self.socket.recv(1 << 20)

    def close(self):
        self.socket.close()


class Neovim:
    """One Neovim in a workspace. A test that is done with it says `quit` or `kill`."""

    def __init__(self, workspace, file=None, *, settings=None, environment=None):
        self.workspace = workspace
        self.trace = workspace.new_trace()
        number = self.trace.stem
        self.socket = workspace.base / f"{number}.sock"
        given = {"program": CELLGATE, "arguments": ["--trace", str(self.trace)], **(settings or {})}
        start = workspace.base / f"{number}.lua"
        start.write_text(
            f"vim.opt.rtp:prepend({json.dumps(str(PLUGIN))})\n"
            "vim.o.swapfile = false\nvim.o.shortmess = vim.o.shortmess .. 'IF'\nvim.g.maplocalleader = ','\n"
            f"require('cellgate').setup(vim.json.decode({json.dumps(json.dumps(given))}))\n"
            "vim.cmd('filetype plugin indent on')\n"
            "vim.o.statusline = \"%f %{v:lua.require'cellgate'.statusline()}\"\n"
            "Messages = {}\nlocal told = vim.notify\n"
            "vim.notify = function(text, ...) table.insert(Messages, text) return told(text, ...) end\n"
        )
        command = [NEOVIM, "-u", str(start), "--listen", str(self.socket), *([str(file)] if file else [])]
        self.terminal = None
        if SCREEN == "tmux":
            self.terminal = Terminal(workspace, command, environment)
            self.process = self.terminal.process
        else:
            self.process = start_process([command[0], "--headless", *command[1:]],
                                         env=workspace.environment(TERM="xterm-256color", **(environment or {})),
                                         cwd=workspace.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
        self.remote = wait_until(self._connect, "Neovim's socket")
        # Which is there before the settings are read.
        wait_until(lambda: self.lua("return vim.v.vim_did_enter == 1 and Messages ~= nil"), "the end of Neovim's start")
        if not self.terminal:
            self.lua(f"vim.o.columns, vim.o.lines = {WIDTH}, {HEIGHT}")

    def _connect(self):
        try:
            return Remote(self.socket)
        except OSError:
            return None

    # --- asking its inside

    def lua(self, code, *arguments):
        try:
            return self.remote.call("nvim_exec_lua", code, list(arguments))
        except TimeoutError:
            rows = self.terminal.screen() if self.terminal else ["(none: headless)"]
            raise AssertionError("Neovim does not answer; it shows\n" + "\n".join(rows)) from None

    def messages(self):
        return self.lua("return Messages")

    def state(self):
        return self.lua("return vim.api.nvim_get_mode().mode .. ' in ' .. vim.api.nvim_buf_get_name(0)")

    # --- what a user does and sees

    def keys(self, text):
        """Keys as Neovim writes them: `:Cellgate run<CR>`."""
        if self.terminal:
            self.terminal.keys(text)
        else:
            self.remote.call("nvim_input", text.replace("\n", "<CR>"))

    def command(self, line):
        self.keys(f":{line}<CR>")

    def screen(self):
        """The rows of the screen."""
        if self.terminal:
            return self.terminal.screen()
        return self.lua("vim.cmd.redraw() local rows = {} for row = 1, vim.o.lines do local cells = {} "
                        "for column = 1, vim.o.columns do cells[column] = vim.fn.screenstring(row, column) end "
                        "rows[row] = table.concat(cells) end return rows")

    def wait(self, condition, what, timeout=TIMEOUT):
        def describe():
            words = what() if callable(what) else what
            return (f"{words}. {self.state()}; messages: {self.messages()[-8:]}. The screen:\n" + "\n".join(
                row.rstrip() for row in self.screen()))

        return wait_until(condition, describe, timeout)

    def wait_screen(self, *texts, gone=()):
        """Until all of these are on the screen, and none of those."""

        def look():
            whole = "\n".join(self.screen())
            return all(text in whole for text in texts) and not any(text in whole for text in gone) and whole

        return self.wait(look, f"{texts} on the screen" + (f" without {gone}" if gone else ""))

    def wait_message(self, text):
        return self.wait(lambda: [m for m in self.messages() if text in m], f"a message with {text!r}")[0]

    def wait_lua(self, code, what=None):
        return self.wait(lambda: self.lua(code), what or code)

    def command_with_menu(self, line, *texts):
        """A command after which Neovim's own menu asks. An older one answers no Lua meanwhile, so its text is looked at in
        a terminal only; and the command is not typed, as one that is typed looks like a menu of a newer one."""
        self.lua("local line = ... vim.schedule(function() vim.cmd(line) end)", line)

        def is_asked():
            mode = self.remote.call("nvim_get_mode")
            return mode["blocking"] or mode["mode"] == "c"

        wait_until(is_asked, "a menu", TIMEOUT)
        if self.terminal:
            self.wait_screen(*texts)

    def wait_answerable(self):
        """In the approvals' window, once its keys count."""
        return self.wait_screen("shown to the end: 1-9 allow")

    def output(self):
        """All virtual lines of the current buffer's cells."""
        return self.lua(
            "local ns = vim.api.nvim_create_namespace('cellgate') local found = {} "
            "for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true })) do "
            "for _, line in ipairs(mark[4].virt_lines or {}) do local parts = {} "
            "for _, chunk in ipairs(line) do parts[#parts + 1] = chunk[1] end "
            "found[#found + 1] = table.concat(parts) end end return found")

    def wait_output(self, text):
        """Waits until a cell's output has it; returns the whole output. The code itself may hold the same text."""
        return self.wait(lambda: any(text in line for line in self.output()) and self.output(),
                         lambda: f"{text!r} below a cell, where there is {self.output()}")

    def approvals(self):
        return self.lua("return vim.tbl_map(function(item) return item.approval end, "
                        "require('cellgate.session').waiting())")

    def executions(self):
        """State and status of each, in order."""
        return self.lua(
            "local all = {} for _, session in pairs(require('cellgate.session').all) do for _, id in ipairs(session.order) "
            "do local each = session.executions[id] all[#all + 1] = { id = id, state = each.state, code = each.code, "
            "agent = each.agent, problem = each.problem, status = each.result and each.result.status } end end return all")

    def wait_finished(self, count, status="ok"):
        """Until that many executions have ended, the last one so."""
        def look():
            all_of_them = self.executions()
            return (len(all_of_them) >= count and all(each["state"] == "finished" for each in all_of_them)
                    and all_of_them[-1].get("status") == status)

        self.wait(look, lambda: f"{count} ended executions, the last {status}: {self.executions()}")

    # --- the end

    def quit(self):
        """As a user does. The sidecar goes on."""
        with contextlib.suppress(ConnectionError, OSError):
            self.remote.call("nvim_command", "qa!")
        self._end()

    def kill(self):
        pid = self.lua("return vim.uv.os_getpid()")
        os.kill(pid, 9)
        self._end()

    def _end(self):
        self.remote.close()
        wait_process(self.process, TIMEOUT)

    @property
    def ended(self):
        return self.process.poll() is not None


class NeovimTest(WorkspaceSidecarTest):
    """A workspace with notes and a file of cells; every Neovim of a test is ended, and what was said is judged."""

    def setUp(self):
        super().setUp()
        self.workspace.write(".git/HEAD", "ref: refs/heads/main\n")

    def neovim(self, file=None, **options):
        neovim = Neovim(self.workspace, file, **options)

        def end():
            if not neovim.ended:
                neovim.quit()

        self.addCleanup(end)
        return neovim

    def wait_half_a_second(self, neovim):
        """As long as nothing counts after a change; a user takes longer."""
        neovim.lua("Began = vim.uv.hrtime()")
        neovim.wait_lua("return vim.uv.hrtime() - Began > 600e6", "half a second")

    def with_filesystem(self, file):
        """A Neovim whose user named the filesystem server, with its wrappers written."""
        neovim = self.neovim(file, settings={"mcp_servers": {"filesystem": {
            "command": "node", "args": [str(FILESYSTEM_SERVER), str(self.workspace.path)]}}})
        neovim.command("Cellgate generate filesystem")
        neovim.wait_message("mcptools.filesystem has")
        return neovim
