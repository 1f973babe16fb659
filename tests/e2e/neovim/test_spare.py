"""The kernel that is kept ready, in Neovim: a restart has it, the list of kernels says so, and it ends with Neovim."""

import unittest

from neovim_testing import NeovimTest, wait_until
from processes import processes_with  # of tests/integration


class Spare(NeovimTest):
    def run_cell_and_restart(self, meanwhile=lambda neovim: None, **settings):
        neovim = self.neovim(self.workspace.write("a.py", "# %%\nimport os\nprint('kernel', os.getpid())\n"), settings=settings)
        neovim.command("Cellgate run")
        neovim.wait_output("kernel")
        meanwhile(neovim)
        neovim.command("Cellgate restart")
        neovim.wait_message("the kernel was restarted")
        neovim.command("Cellgate run")
        neovim.wait_finished(2)
        return neovim

    def test_a_restart_has_it_and_it_ends_with_neovim(self):
        def wait_ready(neovim):
            neovim.wait(lambda: "a spare kernel is ready" in self.log_of_the_sidecar(), "a spare kernel")
            neovim.command("Cellgate kernels")
            neovim.wait_screen("kept ready for the next session: ")
            neovim.keys("q")

        neovim = self.run_cell_and_restart(wait_ready, linger_seconds=0)
        neovim.wait(lambda: "session default: has the spare kernel" in self.log_of_the_sidecar(), "a session that has it")
        neovim.wait(lambda: self.log_of_the_sidecar().count("a spare kernel is ready") == 2, "the next one")
        self.assertTrue(processes_with("bootstrap.py"))
        neovim.quit()
        wait_until(lambda: not processes_with("bootstrap.py"), "the end of both kernels")

    def test_none_where_its_user_wants_none(self):
        self.run_cell_and_restart(spare_kernel=False)
        self.assertNotIn("spare kernel", self.log_of_the_sidecar())


if __name__ == "__main__":
    unittest.main()
