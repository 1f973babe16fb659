"""Which files a cell changed: shown in Neovim, as diffs, and undone."""

import sys
import unittest

from neovim_testing import REPOSITORY, NeovimTest

sys.path.insert(0, str(REPOSITORY / "tests" / "integration"))
from mcp_testing import McpClient  # noqa: E402

CHANGES = """# %%
import os
open("new.txt", "w").write("made here\\n")
open("notes.txt", "a").write("second line\\n")
os.remove("old.txt")
"""
BEFORE = {"new.txt": None, "notes.txt": "first line\n", "old.txt": "old\n"}
AFTER = {"new.txt": "made here\n", "notes.txt": "first line\nsecond line\n", "old.txt": None}


class Changes(NeovimTest):
    def setUp(self):
        super().setUp()
        for name in ("notes.txt", "old.txt"):
            self.workspace.write(name, BEFORE[name])

    def files(self):
        return {name: self.text_of(name) for name in BEFORE}

    def text_of(self, name):
        try:
            return (self.workspace.path / name).read_text()
        except FileNotFoundError:  # it may go at any moment
            return None

    def wait_files(self, neovim, expected):
        neovim.wait(lambda: self.files() == expected, lambda: f"{expected}, and there is {self.files()}")

    def changed(self, **settings):
        """A Neovim whose cell has changed three files."""
        neovim = self.neovim(self.workspace.write("a.py", CHANGES), settings=settings)
        neovim.command("Cellgate run")
        neovim.wait_finished(1)
        self.wait_files(neovim, AFTER)
        return neovim

    def test_files_are_listed_shown_and_undone_and_the_undo_too(self):
        neovim = self.changed()
        neovim.wait_screen("3 files changed")
        neovim.command("Cellgate changes")
        neovim.wait_screen("cellgate://changes", "A new.txt  10 B", "M notes.txt  11 B → 23 B", "D old.txt  4 B")
        neovim.keys("/M notes<CR>")
        neovim.keys("<CR>")
        neovim.wait_lua("return vim.fn.tabpagenr('$') == 2 and #vim.api.nvim_tabpage_list_wins(0) == 2", "a tab with a diff")
        neovim.wait_screen("first line", "second line")
        neovim.keys("q")
        neovim.wait_lua("return vim.fn.tabpagenr('$') == 1", "the end of the tab")
        neovim.command_with_menu("wincmd t | Cellgate undo", "Undo what changed in 3 files: delete 1, restore 1, bring back 1?", "1: undo")
        neovim.keys("1<CR>")
        self.wait_files(neovim, BEFORE)
        neovim.wait_screen("3 files changed, undone", "R undoes the undo")
        neovim.command_with_menu("call feedkeys('R')", "Undo what changed in 3 files: ")
        neovim.keys("1<CR>")
        self.wait_files(neovim, AFTER)
        neovim.wait_screen("3 files changed", gone=("changed, undone",))

    def test_a_file_that_was_changed_since_prevents_an_undo_of_all_and_shows_how(self):
        neovim = self.changed()
        neovim.wait_screen("3 files changed")
        self.workspace.write("notes.txt", "mine\n")
        neovim.command_with_menu("Cellgate undo", "1: undo")
        neovim.keys("1<CR>")
        neovim.wait_screen("not undone: notes.txt")
        self.assertEqual(self.files(), AFTER | {"notes.txt": "mine\n"})
        neovim.keys("/not undone<CR>")
        neovim.keys("<CR>")
        neovim.wait_screen("second line", "mine")
        neovim.keys("<C-w>h")
        neovim.keys("q")
        neovim.wait_lua("return vim.fn.tabpagenr('$') == 1", "the end of the tab")
        neovim.keys("/old.txt<CR>")
        neovim.command_with_menu("call feedkeys('u')", "Undo what changed in old.txt: bring back it?")
        neovim.keys("1<CR>")
        self.wait_files(neovim, AFTER | {"notes.txt": "mine\n", "old.txt": "old\n"})

    def test_a_buffer_of_a_file_that_is_undone_is_read_again(self):
        neovim = self.changed()
        neovim.command("split notes.txt")
        neovim.wait_screen("second line")
        neovim.command("wincmd p")
        neovim.command_with_menu("Cellgate undo", "1: undo")
        neovim.keys("1<CR>")
        neovim.wait_lua("return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('notes.txt'), 0, -1, false)) == 'first line'",
                        "the file as it was in its buffer")

    def test_what_was_changed_before_neovim_started_is_undone_too(self):
        self.changed().quit()
        neovim = self.neovim(self.workspace.path / "a.py")
        neovim.wait_screen("3 files changed")
        neovim.command_with_menu("Cellgate undo", "1: undo")
        neovim.keys("1<CR>")
        self.wait_files(neovim, BEFORE)

    def test_changes_are_not_kept_where_the_setting_says_so(self):
        neovim = self.changed(keep_changes=False)
        neovim.command("Cellgate undo")
        neovim.wait_screen("no changes of")
        self.assertEqual(self.files(), AFTER)

    def test_an_agents_changes_are_listed_and_undone(self):
        neovim = self.neovim(self.workspace.write("a.py", "# %%\n1\n"))
        neovim.command("Cellgate attach")
        agent = McpClient(self.workspace, "helper")
        self.addCleanup(agent.close)
        agent.initialize()
        agent.call("execute", code=CHANGES)
        neovim.command("Cellgate changes")
        neovim.wait_screen("helper: 3 files changed")
        neovim.keys("/helper<CR>")
        neovim.keys("<CR>")
        neovim.wait_screen("D old.txt  4 B")
        neovim.command_with_menu("call feedkeys('U')", "Undo what changed in 3 files: ")
        neovim.keys("1<CR>")
        self.wait_files(neovim, BEFORE)

    def test_an_agents_edit_of_an_open_file_is_seen_and_kept_or_undone(self):
        neovim = self.neovim(self.workspace.write("a.py", "# %%\n1\n"))
        neovim.command("Cellgate attach")
        agent = McpClient(self.workspace, "helper")
        self.addCleanup(agent.close)
        agent.initialize()
        agent.call("execute", code='open("a.py", "a").write("# %%\\nprint(6 * 7)\\n")\nget_ipython().run_line_magic("run", "a.py")')
        neovim.wait_screen("print(6 * 7)", "helper changed a.py: :Cellgate! changes")
        neovim.command("Cellgate! changes")
        neovim.keys("/helper<CR>")
        neovim.keys("<CR>")
        neovim.wait_screen("M a.py")
        neovim.command_with_menu("call feedkeys('U')", "Undo what changed in a.py: restore it?")
        neovim.keys("1<CR>")
        neovim.wait(lambda: self.text_of("a.py") == "# %%\n1\n", lambda: f"the file as it was: {self.text_of('a.py')}")
        neovim.wait_lua("return #vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.py'), 0, -1, false) == 2", "the buffer as it was")


if __name__ == "__main__":
    unittest.main()
