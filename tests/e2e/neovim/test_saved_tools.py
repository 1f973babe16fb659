"""A function that a cell defines becomes a tool, from Neovim."""

import json
import os
import signal
import unittest

from neovim_testing import NeovimTest

CELLS = """# %%
def double(n: int) -> int:
    "Doubles a number."
    return 2 * n
# %%
from mcptools.saved import double
print(double.run(n=21).result)
"""

READS = """# %%
from mcptools.host import read_file
def notes():
    return read_file.run(path="notes.txt").content
notes()
"""


class SavedTools(NeovimTest):
    def allow(self, neovim, *texts):
        neovim.wait(lambda: neovim.approvals(), "the question")
        neovim.command("Cellgate approvals")
        neovim.wait_screen(*texts)
        neovim.wait_answerable()
        neovim.keys("1")
        neovim.wait(lambda: not neovim.approvals(), "the end of the question")

    def test_the_function_of_a_cell_is_saved_and_called(self):
        neovim = self.neovim(self.workspace.write("a.py", CELLS))
        neovim.command("Cellgate run")
        neovim.wait_finished(1)
        neovim.command("Cellgate save")
        self.allow(neovim, "save_tool", "def double(n: int) -> int:")
        neovim.wait_message("saved double; to import it: :Cellgate generate saved")
        neovim.command("Cellgate generate saved")
        neovim.wait_message("mcptools.saved has 1 module")
        neovim.keys("G")
        neovim.command("Cellgate run")
        self.allow(neovim, "saved", "double", "21")
        neovim.wait_finished(2)
        self.assertEqual(neovim.wait_output("42"), ["42"])

    def test_what_an_earlier_sidecar_ran_is_saved_with_rules_for_what_it_was_allowed(self):
        self.workspace.write("notes.txt", "kept")
        neovim = self.neovim(self.workspace.write("a.py", READS))
        neovim.command("Cellgate generate host")
        neovim.wait_message("mcptools.host has")
        neovim.command("Cellgate run")
        self.allow(neovim, "read_file", "notes.txt")
        neovim.wait_finished(1)
        os.kill(self.sidecar_pid(), signal.SIGKILL)
        neovim.wait_message("a sidecar ended without a goodbye")
        neovim.command("Cellgate save")
        neovim.wait(lambda: neovim.approvals(), "the question")
        asked = json.loads(neovim.approvals()[0]["action"]["argumentsText"])
        self.assertEqual((asked["name"], asked["rules"]), ("notes", ["allow host/read_file path=notes.txt"]))
        self.allow(neovim, "save_tool", "allow host/read_file path=notes.txt")
        neovim.wait_message("saved notes; to import it: :Cellgate generate saved")
        neovim.command("Cellgate record def notes")
        neovim.wait_screen("ran: from mcptools.host import read_file")
        neovim.keys("G$?ran: from<CR>S")  # above are runs that save_tool made
        neovim.wait(lambda: neovim.approvals(), "the question of the record's row")
        self.assertEqual(json.loads(neovim.approvals()[0]["action"]["argumentsText"]), asked)


if __name__ == "__main__":
    unittest.main()
