"""Kernels that cellgate does not start in its usual sandbox, in Neovim: on a Jupyter server in a network of its own, in
gVisor, in a container's image, and one that already runs."""

import importlib.util
import os
import random
import shutil
import tempfile
import time
import unittest
from pathlib import Path

from neovim_testing import NeovimTest, tiny_png
import image_testing  # of tests/integration, as those below
from existing_kernel import ExistingKernel
from remote_testing import TOKEN, JupyterServer, has_namespaces

CUTS = int(os.environ.get("CELLGATE_CUTS", 10))
LINES = 250
PAUSE = CUTS / 2 / LINES  # seconds: half a second for each cut
# The last cell runs until it is interrupted.
CELLS = f"""# %%
import os
print("runs in", os.getcwd(), os.uname().version, os.path.exists("/etc/debian_version"))
# %%
from mcptools.host import write_file
_ = write_file.run(path="made.txt", content="from afar")
# %%
from IPython.display import Image
Image({tiny_png()!r})
# %%
import time
for number in range({LINES}): print("line", number, flush=True); time.sleep({PAUSE})
while True: time.sleep(0.02)
"""


class Elsewhere(NeovimTest):
    def allow_call(self, neovim, line):
        neovim.wait_screen("asks #", 'path: "made.txt"', f"a.py line {line} (reported by the code)")
        self.assertFalse((self.workspace.path / "made.txt").exists())
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("1")

    def run_cells(self, neovim, where):
        """The first three cells. `where`: what the first one prints."""
        neovim.command("Cellgate run")
        neovim.wait_output(where)
        neovim.command("Cellgate generate host")
        neovim.wait_message("mcptools.host has")
        neovim.command("Cellgate next")
        neovim.command("Cellgate run")
        self.allow_call(neovim, 6)
        neovim.wait_finished(2)
        self.assertEqual((self.workspace.path / "made.txt").read_text(), "from afar")
        neovim.command("Cellgate next")
        neovim.command("Cellgate run")
        neovim.wait_finished(3)
        path = "".join(neovim.wait_output("picture: ")).split("picture: ")[1]  # a long one has several lines
        self.assertEqual(Path(path).read_bytes(), tiny_png())

    def choose_kernel(self, neovim, *words, typed=""):
        """In the menus, the entries with these words, and at the prompt between them what is typed."""
        neovim.lua("local words = ... local select = vim.ui.select "
                   "vim.ui.select = function(items, options, done) for _, item in ipairs(items) do "
                   "if options.format_item(item):find(words[1], 1, true) then table.remove(words, 1) "
                   "if not words[1] then vim.ui.select = select end return done(item) end end "
                   "error(words[1] .. ' is not offered') end", list(words))
        neovim.command_with_menu("Cellgate kernel")
        neovim.keys(typed + "<CR>")

    @unittest.skipUnless(importlib.util.find_spec("jupyter_server") and has_namespaces(), "needs python3-jupyter-server, and namespaces")
    def test_kernel_on_a_server(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        server = JupyterServer(Path(home.name), namespace=True)
        self.addCleanup(server.close)
        host = server.url.removeprefix("http://")
        neovim = self.neovim(self.workspace.write("a.py", CELLS))
        self.choose_kernel(neovim, "on a Jupyter server", "Python 3", typed=server.url)
        neovim.wait_screen("does not list its kernels: 403")
        neovim.command("Cellgate answer")
        neovim.wait_screen("cellgate://answer/", "token:")
        neovim.keys("/^token:<CR>")
        neovim.keys("<CR>")
        neovim.keys(TOKEN + "<CR>")
        neovim.wait_screen("token: ***")
        self.wait_half_a_second(neovim)
        neovim.keys(":w<CR>")
        neovim.wait_message(f"on {host}, unsandboxed")
        self.run_cells(neovim, f"runs in {Path(home.name).resolve()}")
        neovim.command("Cellgate next")
        neovim.command("Cellgate run")
        neovim.wait_output("line 0")
        server.way.cut_all()
        neovim.wait_output("was cut and made again")
        pauses = random.Random(7)
        for _ in range(CUTS - 1):
            time.sleep(pauses.uniform(0, 1))
            server.way.cut_all()
        neovim.wait_output(f"line {LINES - 1}")
        neovim.command("Cellgate output")
        shown = neovim.wait_lua("local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false) "
                                f"return vim.tbl_contains(lines, 'line {LINES - 1}') and lines")
        counted = [line for line in shown if line.startswith("line ")]
        if not any("may be lost" in line for line in shown):  # what is lost is announced
            self.assertEqual(len(counted), LINES)
        self.assertEqual(counted, sorted(set(counted), key=lambda line: int(line.split()[1])))
        neovim.keys("q")
        neovim.command("Cellgate kernels")
        neovim.wait_screen(f"session default: busy, on {server.url}")
        neovim.keys("q")
        neovim.command("Cellgate interrupt")
        neovim.wait_finished(4, "error")

    @unittest.skipUnless(shutil.which("runsc"), "needs runsc")
    def test_kernel_in_gvisor(self):
        neovim = self.neovim(self.workspace.write("a.py", CELLS), settings={"sandbox_launcher": "gvisor"})
        self.run_cells(neovim, f"runs in {self.workspace.path} #1 SMP Sun Jan 10 15:06:54 PST 2016")

    @unittest.skipIf(image_testing.WITHOUT, image_testing.TO_HAVE)
    def test_kernel_in_an_image(self):
        podman = image_testing.Podman()
        self.addCleanup(podman.remove)
        image_testing.make_root(podman.root)
        podman.import_root("analysis")
        neovim = self.neovim(self.workspace.write("a.py", CELLS), settings={"sandbox_image": "analysis"},
                             environment=podman.environment)
        self.run_cells(neovim, f"runs in {self.workspace.path} {os.uname().version} False")

    def test_kernel_that_already_runs(self):
        kernel = ExistingKernel()
        self.addCleanup(kernel.end)
        kernel.run("kept = 41")
        neovim = self.neovim(self.workspace.write(
            "a.py", "# %%\nprint('kept', kept)\n# %%\nfrom mcptools.host import write_file\n"
                    "_ = write_file.run(path='made.txt', content='x')\n"))
        self.choose_kernel(neovim, "already runs", typed=kernel.file)
        neovim.wait_message("unsandboxed")
        neovim.command("Cellgate run")
        neovim.wait_output("kept 41")
        neovim.command("Cellgate generate host")
        neovim.wait_message("mcptools.host has")
        neovim.command("Cellgate next")
        neovim.command("Cellgate run")
        self.allow_call(neovim, 5)
        neovim.wait_finished(2)
        self.assertEqual((self.workspace.path / "made.txt").read_text(), "x")
        neovim.command("Cellgate stop")
        neovim.wait_message("stopped")
        neovim.quit()
        self.assertEqual(kernel.value("kept"), "41")


if __name__ == "__main__":
    unittest.main()
