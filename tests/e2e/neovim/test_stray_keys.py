"""Two thousand sequences of keys (STRAY_KEYS says how many), in normal, insert, visual and terminal mode, around the
appearance of an approval: none of them answers it. In half of them the user enters the window meanwhile, and types on
within the half second; in the others any time passes. Left out is what would end Neovim, start a program or play typed
keys again: `:` `!` `q` `Q` `Z` `@` `K` `&` `gs`. The controls show that some sequences answer where the guard is off, or
where a window takes the cursor."""

import os
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

from neovim_testing import NEOVIM, PLUGIN, Remote, start_process, wait_until
from cellgate_client import TestWorkspace
from processes import wait_process

SEQUENCES = int(os.environ.get("STRAY_KEYS", 2000))
FRESH_AFTER = 500  # sequences, a new Neovim


class Typing(Remote):
    """A Neovim, and someone at its keyboard."""

    def lua(self, code, *arguments):
        return self.call("nvim_exec_lua", code, list(arguments))

    def type(self, first, last):
        """Sequences, one after the other: the number of each, and how often it answered."""
        self.lua("StrayKeys.run(...)", self.call("nvim_get_api_info")[0], first, last)
        self.at = first
        while self.at <= last:
            for _, method, (number, answers) in self.unpacker:
                assert (method, number) == ("typed", self.at), (method, number, self.at)
                self.at += 1
                yield number, answers
            if self.at <= last:
                self.hear()

    def hear(self):
        try:
            data = self.receive()
        except TimeoutError:
            raise AssertionError(f"sequence {self.at} does not end: {self.lua('return vim.api.nvim_get_mode()')}") from None
        if not data:
            raise ConnectionError("Neovim has gone")
        self.unpacker.feed(data)


class StrayKeys(unittest.TestCase):
    def typist(self, guarded=True, grabbing=False):
        workspace = TestWorkspace()
        self.addCleanup(workspace.remove)
        socket = workspace.base / "nvim.sock"
        process = start_process([NEOVIM, "--headless", "--clean", "-n", "--listen", str(socket)], cwd=workspace.path,
                                env=workspace.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        self.addCleanup(wait_process, process)
        self.addCleanup(process.kill)

        def connect():
            try:
                return Typing(socket)
            except OSError:
                return None

        typist = wait_until(connect, "Neovim's socket")
        self.addCleanup(typist.close)
        wait_until(lambda: typist.lua("return vim.v.vim_did_enter == 1"), "the end of Neovim's start")
        typist.lua("vim.opt.rtp:prepend(...) vim.cmd.runtime('plugin/cellgate.lua') "
                   "package.path = ... .. '/tests/?.lua;' .. package.path vim.o.columns, vim.o.lines = 100, 40 "
                   "StrayKeys = require('stray_keys')", str(PLUGIN))
        typist.lua("StrayKeys.set(...)", guarded, grabbing)
        return typist

    def answers(self, typist, count):
        return [answers for _, answers in typist.type(0, count - 1)]

    def test_no_sequence_answers(self):
        def type_some(first):
            typist = self.typist()
            try:
                return [number for number, answers in typist.type(first, first + FRESH_AFTER - 1) if answers]
            except ConnectionError:
                raise AssertionError(f"Neovim crashed in sequence {typist.at}") from None

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            self.assertEqual(list(chain(*pool.map(type_some, range(0, SEQUENCES, FRESH_AFTER)))), [])

    def test_not_even_where_the_window_takes_the_cursor(self):
        self.assertEqual(sum(self.answers(self.typist(grabbing=True), 400)), 0)

    def test_control_without_the_guard_entering_and_typing_on_answers(self):
        self.assertGreater(sum(self.answers(self.typist(guarded=False), 400)), 0)

    def test_control_without_the_guard_a_window_that_takes_the_cursor_is_answered_often(self):
        self.assertGreater(sum(self.answers(self.typist(guarded=False, grabbing=True), 400)), 40)


if __name__ == "__main__":
    unittest.main()
