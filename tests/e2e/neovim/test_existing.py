"""A kernel that already runs, in Neovim: its variables, a call through the gate, and that it is left running."""

import unittest

from neovim_testing import NeovimTest
from existing_kernel import ExistingKernel  # of tests/integration


class Existing(NeovimTest):
    def test_existing_kernel(self):
        kernel = ExistingKernel()
        self.addCleanup(kernel.end)
        kernel.run("kept = 41")
        file = self.workspace.write(
            "a.py", "# %%\nprint('kept', kept)\n# %%\nfrom mcptools.host import write_file\n"
                    "write_file.run(path='made.txt', content='x')\n")
        neovim = self.neovim(file, settings={"kernels": {"python": {"connectionFile": kernel.file}}})
        neovim.command("Cellgate run")
        neovim.wait_output("kept 41")
        neovim.command("Cellgate generate host")
        neovim.wait_message("mcptools.host has")
        neovim.command("Cellgate next")
        neovim.command("Cellgate run")
        neovim.wait_screen("asks #", 'path: "made.txt"', "a.py line 5")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("1")
        neovim.wait_finished(2)
        self.assertEqual((self.workspace.path / "made.txt").read_text(), "x")
        neovim.command("Cellgate stop")
        neovim.wait_message("stopped")
        neovim.quit()
        self.assertEqual(kernel.value("kept"), "41")


if __name__ == "__main__":
    unittest.main()
