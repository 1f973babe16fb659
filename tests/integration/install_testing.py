"""Packages to install, made here, and the index that offers them; nothing is downloaded from elsewhere."""

import contextlib
import http.server
import io
import tarfile
import threading
import zipfile

from cellgate_client import WorkspaceTest
from executions import RpcError
from processes import TIMEOUT

BUILDING_PIP = ["-I", "-m", "pip"]
WITHOUT_BUILDS = """import runpy, sys
def refuse(event, _):
    if event in ("os.exec", "os.fork", "os.forkpty", "os.posix_spawn",
                 "os.system", "pty.spawn", "subprocess.Popen"):
        raise OSError("a package wanted to run code to be built: "
                      "only wheels are taken; "
                      "a user can allow source builds")
sys.addaudithook(refuse)
"""
PIP = ["-I", "-c", WITHOUT_BUILDS + 'runpy.run_module("pip", run_name="__main__", alter_sys=True)']
WHEELS = ["install", "--target", "/cellgate/packages", "--only-binary", ":all:", "--no-input",
          "--disable-pip-version-check", "--no-cache-dir", "--"]
BUILDS = [part for part in WHEELS if part not in ("--only-binary", ":all:")]
# A build backend that does what a hostile one would: it looks around, plants things, tells who listens that it ran, and
# writes down what it found in the package that it makes.
SETUP = '''
import io, os, urllib.request, zipfile
HERE = {here!r}
def attempt(what):
    try:
        return what()
    except Exception as error:
        return type(error).__name__
def read(path):
    with open(path) as file:
        return file.read()
def write(path):
    with open(path, "w") as file:
        return file.write("planted") and "planted"
def build_wheel(directory, config_settings=None, metadata_directory=None):
    urllib.request.urlopen(HERE["ran"], timeout=60).read()
    found = {{"secret": attempt(lambda: read(HERE["secret"])), "workspace": attempt(lambda: read(HERE["notes"])),
             "environment": dict(os.environ).get("CLOUD_TOKEN"), "outside": attempt(lambda: write(HERE["outside"])),
             "planted": attempt(lambda: write(HERE["planted"])), "installed": attempt(lambda: os.listdir(HERE["data"]))}}
    with zipfile.ZipFile(os.path.join(directory, "evil-1.0-py3-none-any.whl"), "w") as wheel:
        for name, text in {files!r}:
            wheel.writestr(name, text)
        wheel.writestr("evil.py", "FOUND = %r\\n" % found)
    return "evil-1.0-py3-none-any.whl"
'''
# One that tells what it can read of pip's own settings, and fails.
LEAKY = '''
import os
def build_wheel(directory, config_settings=None, metadata_directory=None):
    raise ValueError("found " + os.environ["PIP_INDEX_URL"])
'''


def metadata(name, version, *more):
    info = f"{name}-{version}.dist-info"
    lines = [f"Name: {name}", f"Version: {version}", *more]
    return [(f"{info}/METADATA", "Metadata-Version: 2.1\n" + "".join(line + "\n" for line in lines)),
            (f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
            (f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")]


def wheel(name, version, module, *more):
    """`more`: lines of its metadata."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for file, text in [(f"{name}.py", module), *metadata(name, version, *more)]:
            archive.writestr(file, text)
    return f"{name}-{version}-py3-none-any.whl", made.getvalue()


def sdist(setup, name="evil"):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for file, text in (("setup.py", setup), ("PKG-INFO", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"),
                           ("pyproject.toml", "[build-system]\nrequires = []\nbuild-backend = 'setup'\n"
                                              "backend-path = ['.']\n")):
            entry = tarfile.TarInfo(f"{name}-1.0/{file}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return f"{name}-1.0.tar.gz", made.getvalue()


class Index:
    """A package index. `hold`: names of packages whose files are not handed out before it is `released`."""

    def __init__(self):
        self.files = {}  # of each package: its files by their names
        self.asked = []
        self.hold = set()
        self.released = threading.Event()
        index = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                index.asked.append(self.path)
                kind, _, rest = self.path.strip("/").partition("/")
                package, _, file = rest.partition("/")
                body = b""
                if kind == "simple" and package in index.files:
                    body = "".join(f'<a href="/files/{package}/{name}">{name}</a>\n'
                                   for name in index.files[package]).encode()
                elif kind == "files":
                    if package in index.hold:
                        index.released.wait(TIMEOUT)
                    body = index.files[package][file]
                with contextlib.suppress(OSError):
                    self.send_response(200 if body or kind == "ran" else 404)
                    self.send_header("Content-Type", "text/html" if kind == "simple" else "application/octet-stream")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def add(self, package, made):
        self.files.setdefault(package, {})[made[0]] = made[1]

    def ran(self):
        return self.asked.count("/ran")

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


class InstallTest(WorkspaceTest):
    def setUp(self):
        super().setUp()
        self.index = Index()
        self.addCleanup(self.index.close)
        self.index.add("tiny", wheel("tiny", "1.0", "SIZE = 'tiny'\n"))
        self.index.add("other", wheel("other", "2.0", "SIZE = 'other'\n"))
        (self.workspace.home / ".ssh").mkdir()
        (self.workspace.home / ".ssh/id_ed25519").write_text("PRIVATE KEY")
        self.workspace.write("notes.txt", "the notes")
        self.data = self.workspace.home / ".local/share/cellgate"
        self.outside = self.workspace.base / "outside.txt"
        here = {"ran": self.index.url + "/ran", "secret": str(self.workspace.home / ".ssh/id_ed25519"),
                "notes": str(self.workspace.path / "notes.txt"), "outside": str(self.outside),
                "planted": str(self.workspace.path / "planted.txt"), "data": str(self.data)}
        self.index.add("evil", sdist(SETUP.format(here=here, files=metadata("evil", "1.0"))))

    def environment(self, **more):
        return self.workspace.environment(**{"PIP_INDEX_URL": self.index.url + "/simple/", "CLOUD_TOKEN": "s3cret",
                                             **more})

    def user(self, **options):
        return self.sidecar(environment=self.environment(), **options)

    @staticmethod
    def start(client, *packages, **more):
        return client.start("packages/install", {"packages": list(packages), **more})

    def install(self, client, *packages, **more):
        """With a user's yes."""
        pending = self.start(client, *packages, **more)
        client.allow(client.approval())
        return pending.result()

    def failed(self, pending, code):
        with self.assertRaises(RpcError) as caught:
            pending.result()
        self.assertEqual(caught.exception.code, code, caught.exception)
        return caught.exception

    def value(self, client, expression, **params):
        """What the kernel gives for it, or the name of the error."""
        execution = client.run(expression, **params)
        result = execution.result()
        return result["error"]["ename"] if result["status"] == "error" else execution.data()["text/plain"]

    def folders(self):
        """What lies beside and in what kernels see."""
        return sorted(str(path.relative_to(self.data / "packages")).split("/", 2)[2]
                      for path in (self.data / "packages").glob("*/*/**/*") if len(path.relative_to(
                          self.data / "packages").parts) in (3, 4))
