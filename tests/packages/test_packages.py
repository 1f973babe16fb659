"""The Debian package and the tar, installed and used as their users would, in a root that has only what they ask for."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = REPOSITORY / "build"
ROOT = BUILD / "e2e" / "root"
IN_ROOT = REPOSITORY / "tests" / "packages" / "in-root"
CELL = """# %%
from mcptools.host import read_file

print("words:", len(read_file.run(path="notes.txt").content.split()))
"""


class Packages(unittest.TestCase):
    def setUp(self):
        # /tmp is the one folder that both roots have.
        self.folder = Path(tempfile.mkdtemp(prefix="cellgate-packages-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "plan").mkdir()
        (self.folder / "plan" / "notes.txt").write_text("Five days in May.\n")
        (self.folder / "plan" / "first.py").write_text(CELL)

    def run_in_root(self, script, status=0):
        result = subprocess.run(
            [IN_ROOT, ROOT, self.folder, "/bin/sh", "-euc", script], text=True, capture_output=True, timeout=300,
            env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
        )
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout

    def use(self, program):
        """A cell with a tool call: denied without a rule, allowed by the option that the denial names."""
        in_plan = f"cd {self.folder}/plan && {program}"
        self.assertIn("cellgate 0.", self.run_in_root(f"{program} --version"))
        self.assertIn("mcptools.host.read_file", self.run_in_root(f"{in_plan} generate host"))
        denied = self.run_in_root(f"{in_plan} run first.py 2>&1", status=1)
        self.assertIn("--allow 'host/read_file path=notes.txt'", denied)
        allowed = self.run_in_root(f"{in_plan} run --allow 'host/read_file path=notes.txt' first.py")
        self.assertIn("words: 4", allowed)

    def test_the_debian_package_is_installed_used_and_removed(self):
        shutil.copy(BUILD / "cellgate_amd64.deb", self.folder)
        # The root stays as it was for the next run.
        self.addCleanup(self.run_in_root, "dpkg --purge cellgate")
        self.run_in_root(f"dpkg --install {self.folder}/cellgate_amd64.deb")
        self.use("cellgate")
        plugin = "/usr/share/nvim/site/pack/cellgate/opt/cellgate"
        self.run_in_root(f"test -f {plugin}/plugin/cellgate.lua && test -f {plugin}/doc/cellgate.txt")
        self.run_in_root("test -f /usr/share/doc/cellgate/docs/neovim.md")
        self.assertIn(".TH", self.run_in_root("zcat /usr/share/man/man1/cellgate.1.gz"))
        for file in ("bash-completion/completions/cellgate", "zsh/vendor-completions/_cellgate",
                     "fish/vendor_completions.d/cellgate.fish"):
            self.assertIn("complete --", self.run_in_root(f"cat /usr/share/{file}"))
        self.run_in_root("dpkg --remove cellgate && ! test -e /usr/lib/cellgate && ! test -e /usr/bin/cellgate")

    def test_the_tar_works_where_it_is_unpacked_and_after_it_was_moved(self):
        with tempfile.TemporaryDirectory(dir=self.folder) as unpacked:
            subprocess.run(["tar", "-xzf", BUILD / "cellgate-linux-x64.tar.gz", "-C", unpacked], check=True)
            [folder] = Path(unpacked).iterdir()
            moved = folder.rename(self.folder / "cellgate here")
        self.use(f"'{moved}/bin/cellgate'")
        self.assertTrue((moved / "neovim" / "plugin" / "cellgate.lua").is_file())
        self.assertTrue((moved / "share" / "doc" / "cellgate" / "docs" / "vscode.md").is_file())
        self.assertTrue((moved / "share" / "man" / "man1" / "cellgate.1.gz").is_file())


if __name__ == "__main__":
    unittest.main()
