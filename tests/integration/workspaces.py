"""`TestWorkspace` is a workspace with a home of its own, so that nothing of the machine's user is read or written."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class TestWorkspace:
    """A workspace, a home and the XDG directories, in one short path: sockets live below it."""

    def __init__(self):
        self.base = Path(tempfile.mkdtemp(prefix="cg", dir="/tmp"))
        self.path = self._folder("w")
        self.home = self._folder("h")
        self.runtime = self._folder("r", 0o700)
        self._traces = 0
        atexit.register(self.remove)

    def _folder(self, name, mode=0o755):
        folder = self.base / name
        folder.mkdir(mode=mode)
        return folder

    def new_trace(self):
        self._traces += 1
        return self.base / f"trace{self._traces}.jsonl"

    def environment(self, **more):
        variables = {
            "PATH": SYSTEM_PATH,
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_DATA_HOME": str(self.home / ".local/share"),
            "XDG_STATE_HOME": str(self.home / ".local/state"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "LANG": "C.UTF-8",
        }
        variables.update({name: os.environ[name] for name in os.environ if name.endswith("SAN_OPTIONS")})
        variables.update(more)
        return variables

    def write(self, path, text):
        """A file of the workspace."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    def make_environment(self, folder=".venv"):
        """A Python of the workspace's own, with the system's packages."""
        self.write(f"{folder}/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = true\n")
        (self.path / folder / "bin").mkdir()
        (self.path / folder / "bin/python").symlink_to("/usr/bin/python3")

    def files(self):
        """What there is in the workspace, without the package of wrappers."""
        return sorted(
            str(path.relative_to(self.path))
            for path in self.path.rglob("*")
            if path.relative_to(self.path).parts[0] != "mcptools"
        )

    def remove(self):
        shutil.rmtree(self.base, ignore_errors=True)
