"""Images for tests, made offline from this machine's Python: a root with ipykernel and the libraries that it loads."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from processes import OWN, orphans
from workspaces import SYSTEM_PATH

WITHOUT = shutil.which("podman") is None
TO_HAVE = "podman is not installed (apt install podman)"

LIBRARY = Path(os.__file__).parent
LOADED = """
import sys
import ipykernel_launcher, ipykernel.kernelapp, ipykernel.ipkernel, IPython, zmq, encodings.idna, asyncio, urllib.request
import multiprocessing.pool, sqlite3
print("\\n".join(module.__file__ for module in list(sys.modules.values()) if getattr(module, "__file__", None)))
print("\\n".join(line.split()[-1] for line in open("/proc/self/maps") if ".so" in line))
"""


def _copy(path, root):
    target = root / path.relative_to("/")
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__", "test", "tests"))
    else:
        shutil.copy(path, target)


def make_root(root):
    """Python, its standard library, ipykernel and what it imports, and their libraries; no shell."""
    printed = subprocess.run(["/usr/bin/python3", "-I", "-c", LOADED], check=True, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL).stdout
    shutil.copytree(LIBRARY, root / LIBRARY.relative_to("/"), ignore=shutil.ignore_patterns(
        "__pycache__", "test", "idlelib", "lib2to3", "ensurepip", "config-*", "dist-packages", "tkinter", "*.a"))
    for name in sorted(set(printed.split())):
        path = Path(name)
        if "dist-packages" in path.parts:
            _copy(Path(*path.parts[: path.parts.index("dist-packages") + 2]), root)
        elif ".so" in path.name and LIBRARY not in path.parents:
            _copy(path.parent.resolve() / path.name, root)
    python = Path("/usr/bin/python3").resolve()
    _copy(python, root)
    (root / "usr/bin/python3").symlink_to(python.name)
    for folder in ("etc", "home", "var/tmp", "usr/lib64", "opt"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for folder in ("bin", "lib", "lib64"):
        (root / folder).symlink_to(f"usr/{folder}")
    loader = Path("/lib64/ld-linux-x86-64.so.2")
    if loader.exists():
        shutil.copy(loader, root / "usr/lib64")
    subprocess.run(["/sbin/ldconfig", "-r", root], check=True)


class Podman:
    """podman with a storage of its own. `environment`: for podman, and for a cellgate that is to use it."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="cgp", dir="/tmp"))
        self.root = self.folder / "root"
        (self.folder / "storage.conf").write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{self.folder}/graph"\nrunroot = "{self.folder}/run"\n'
            f'rootless_storage_path = "{self.folder}/graph"\n')
        self.environment = {"CONTAINERS_STORAGE_CONF": str(self.folder / "storage.conf")}
        before = orphans()
        self("info")
        self.kept = orphans() - before  # the process that podman keeps for an ordinary user's name space
        OWN.update(self.kept)

    def __call__(self, *arguments):
        done = subprocess.run(["podman", *arguments], text=True, capture_output=True,
                              env={"PATH": SYSTEM_PATH, "HOME": str(self.folder), **self.environment})
        if done.returncode != 0:
            raise AssertionError(f"podman {arguments[0]}: {done.stderr}")
        return done.stdout

    def import_root(self, name, *without):
        archive = self.folder / f"{name}.tar"
        subprocess.run(["tar", "--create", "--owner=0", "--group=0", f"--file={archive}", f"--directory={self.root}",
                        *[f"--exclude={each}" for each in without], "."], check=True)
        self("import", "--quiet", str(archive), name)
        archive.unlink()

    def remove(self):
        self("image", "rm", "--all", "--force")
        for pid in self.kept:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            OWN.discard(pid)
        shutil.rmtree(self.folder, ignore_errors=True)
