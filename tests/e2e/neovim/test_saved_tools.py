"""A function that a cell defines becomes a tool, from Neovim."""

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


class SavedTools(NeovimTest):
    def allow(self, neovim, *texts):
        neovim.wait_screen("asks #")
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
        neovim.wait(lambda: neovim.approvals(), "the question")
        neovim.command("Cellgate approvals")
        neovim.wait_screen("save_tool", "def double(n: int) -> int:")
        neovim.wait_answerable()
        neovim.keys("1")
        neovim.wait_message("double is saved as saved/double")
        neovim.command("Cellgate generate saved")
        neovim.wait_message("mcptools.saved has 1 modules")
        neovim.keys("G")
        neovim.command("Cellgate run")
        self.allow(neovim, "saved", "double", "21")
        neovim.wait_finished(2)
        self.assertEqual(neovim.wait_output("42"), ["42"])


if __name__ == "__main__":
    unittest.main()
