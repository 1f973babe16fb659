"""Neovim's own language client with `cellgate lsp`, without the plugin: a cell runs, its call waits at the line, the
user's yes lets it go on."""

import json
import subprocess
import unittest

from neovim_testing import CELLGATE, NEOVIM, Remote, WorkspaceSidecarTest, start_process, wait_until
from processes import wait_process

START = """
vim.o.swapfile = false
vim.api.nvim_create_autocmd('FileType', { pattern = 'python', callback = function(event)
  vim.lsp.start({ name = 'cellgate', cmd = { %s, 'lsp' }, root_dir = %s }, { bufnr = event.buf })
end })
Offered = {}
vim.ui.select = function(items, options, choose)  -- as a user who looks at the list, and takes what Wanted names
  Offered = vim.tbl_map(options.format_item or tostring, items)
  for i, text in ipairs(Offered) do
    if text:find(Wanted, 1, true) then return choose(items[i], i) end
  end
end
"""


class LanguageClient(WorkspaceSidecarTest):
    def setUp(self):
        super().setUp()
        with self.editor() as editor:
            editor.request("wrappers/generate", {"server": "host"})
        start, self.socket = self.workspace.base / "start.lua", self.workspace.base / "nvim.sock"
        start.write_text(START % (json.dumps(CELLGATE), json.dumps(str(self.workspace.path))))
        file = self.workspace.path / "cells.py"
        file.write_text("# %%\nfrom mcptools.host import write_file\nwrite_file.run(path='made.txt', content='hello')\n"
                        "print('written')\n")
        self.process = start_process([NEOVIM, "--clean", "--headless", "-u", str(start), "--listen", str(self.socket), str(file)],
                                     env=self.workspace.environment(), cwd=self.workspace.path, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end)
        self.remote = wait_until(self.connect, "Neovim's socket")

    def connect(self):
        try:
            return Remote(self.socket)
        except OSError:
            return None

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        wait_process(self.process)
        self.remote.close()

    def lua(self, code, *arguments):
        return self.remote.call("nvim_exec_lua", code, list(arguments))

    def shown(self):
        return self.lua("return vim.tbl_map(function(each) return { each.lnum, each.message } end, vim.diagnostic.get(0))")

    def wait_shown(self, line, text):
        wait_until(lambda: any(each[0] == line and text in each[1] for each in self.shown()),
                   lambda: f"{text!r} at line {line}; shown: {self.shown()}")

    def choose(self, line, title):
        self.lua("Wanted = ...", title)
        self.lua("vim.api.nvim_win_set_cursor(0, { ..., 0 }) vim.lsp.buf.code_action()", line + 1)

    def test_a_cell_runs_and_its_call_is_allowed_at_its_line(self):
        wait_until(lambda: self.lua("return #vim.lsp.get_clients({ bufnr = 0 }) == 1 and vim.lsp.get_clients()[1].initialized"),
                   "the server")
        self.choose(1, "Run Cell")
        self.wait_shown(2, "write_file on this machine, outside the sandbox")
        self.choose(2, "Allow this call")
        self.wait_shown(3, "written\nok after ")
        self.assertEqual((self.workspace.path / "made.txt").read_text(), "hello")
        self.assertTrue(any("Allow this call" in each for each in self.lua("return Offered")))

    def test_its_lens_runs_the_cell(self):
        wait_until(lambda: self.lua("return #vim.lsp.get_clients({ bufnr = 0 }) == 1 and vim.lsp.get_clients()[1].initialized"),
                   "the server")
        self.lua("vim.lsp.codelens.refresh()")
        wait_until(lambda: self.lua("return #vim.lsp.codelens.get(0) == 1"), "the lens")
        self.lua("vim.api.nvim_win_set_cursor(0, { 2, 0 }) vim.lsp.codelens.run()")
        self.wait_shown(2, "write_file")


if __name__ == "__main__":
    unittest.main()
