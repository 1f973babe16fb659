"""Root and others differ in what the system lets them do, and these tests are mostly run as one of them. Run as root,
this runs those again as an ordinary user, in which it matters: connections with real programs, kills, processes, limits,
tool servers in the sandbox, gVisor, images, and `cellgate sandbox test`. (Of the launchers, tests/unit/sandbox does so itself.) What needs
npm packages stays with root: they may lie where only root can go."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from cellgate_client import CELLGATE, REPOSITORY
from measuring import sanitized

USER = "1001"
AS_USER = ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups", "--inh-caps=-all"]
NETWORK = "import own_network, os, sys; own_network.prepare(); os.execvp(sys.argv[1], sys.argv[1:])"


@unittest.skipUnless(os.geteuid() == 0, "this is an ordinary user already")
@unittest.skipIf(sanitized(), "what the system lets a user do is the same with a sanitizer")
class AsAnOrdinaryUser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="cgu", dir="/tmp")
        cls.addClassCleanup(folder.cleanup)
        cls.copy = Path(folder.name)
        for part in ("tests/integration", "tests/contract", "tests/fixtures", "tests/unit/sandbox", "schemas", "docs"):
            shutil.copytree(REPOSITORY / part, cls.copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(CELLGATE, cls.copy / "cellgate")
        for path in (cls.copy, *cls.copy.rglob("*")):
            path.chmod(0o755 if path.is_dir() or path.name == "cellgate" else 0o644)

    def again(self, name, before=(), only=(), **variables):
        command = [*AS_USER, sys.executable, "-B", str(self.copy / f"tests/integration/test_{name}.py"), *only]
        environment = {**os.environ, "CELLGATE": str(self.copy / "cellgate"), "HOME": "/nonexistent", **variables}
        done = subprocess.run([*before, *command], cwd=self.copy / "tests/integration", env=environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said[-20000:])
        # Not that all of it was skipped.
        ran = int(said.rsplit("Ran ", 1)[1].split()[0])
        skipped = int(said.rsplit("skipped=", 1)[1].split(")")[0].split(",")[0]) if "skipped=" in said else 0
        self.assertGreater(ran, skipped, said[-2000:])

    def test_it_is_one(self):
        done = subprocess.run([*AS_USER, "/bin/sh", "-c", "id -u; id -G; cat /etc/shadow"], text=True, capture_output=True)
        self.assertEqual((done.stdout, done.returncode != 0), (f"{USER}\n{USER}\n", True))

    def again_in_a_network(self, name, **options):
        """Of its own, which is root's to make."""
        self.again(name, before=["unshare", "--net", "--mount", sys.executable, "-B", "-c", NETWORK],
                   CELLGATE_OWN_NETWORK="prepared", **options)

    def test_connections(self):
        self.again_in_a_network("network")

    def test_kills(self):
        self.again("kills", CELLGATE_KILLS="25")

    def test_processes(self):
        self.again("processes")

    def test_limits(self):
        self.again("limits")

    def test_tool_servers_in_the_sandbox(self):
        self.again_in_a_network("server_sandbox")

    @unittest.skipIf(shutil.which("runsc") is None, "gVisor is not installed (apt install runsc)")
    def test_gvisor(self):
        self.again("gvisor", only=["InGvisor", "SettingsFile", "LimitsAndEnds"])

    @unittest.skipIf(shutil.which("podman") is None, "podman is not installed (apt install podman)")
    def test_images(self):
        self.again_in_a_network("image", only=["InAnImage"])

    def test_the_sandbox_s_own_trial(self):
        self.again("sandbox_check")


if __name__ == "__main__":
    unittest.main()
