"""Packages of npm, made here, and the registry that offers them; nothing is downloaded from elsewhere."""

import base64
import contextlib
import hashlib
import http.server
import io
import json
import tarfile
import threading
import urllib.parse

from processes import TIMEOUT


def tarball(files):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text.encode())
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
    return made.getvalue()


class NpmRegistry:
    """A registry. `hold`: names of packages whose files are not handed out before it is `released`."""

    def __init__(self):
        self.packages = {}  # of each name: by version, what describes it and its file
        self.asked = []
        self.hold = set()
        self.released = threading.Event()
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path = urllib.parse.unquote(self.path)[1:]
                registry.asked.append(path)
                body = registry.answer(path)
                with contextlib.suppress(OSError):
                    self.send_response(404 if body is None else 200)
                    self.send_header("Content-Length", str(len(body or b"")))
                    self.end_headers()
                    self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def add(self, name, version, code, dependencies=None, scripts=None, files=None):
        """`code`: of its main module, CommonJS. `files`: further ones."""
        described = {"name": name, "version": version, "main": "index.js", "dependencies": dependencies or {},
                     "scripts": scripts or {}}
        file = tarball({"package.json": json.dumps(described), "index.js": code, **(files or {})})
        place = f"{self.url}/files/{name}={version}.tgz"
        digest = base64.b64encode(hashlib.sha512(file).digest()).decode()
        described = {**described, "dist": {"tarball": place, "integrity": f"sha512-{digest}",
                                           "shasum": hashlib.sha1(file).hexdigest()},
                     **({"hasInstallScript": True} if scripts else {})}
        self.packages.setdefault(name, {})[version] = (described, file)

    def answer(self, path):
        """What is sent, or nothing for what is not there."""
        if path.startswith("files/"):
            name, _, version = path.removeprefix("files/").removesuffix(".tgz").rpartition("=")
            if name in self.hold:
                self.released.wait(TIMEOUT)
            return self.packages[name][version][1]
        versions = self.packages.get(path)
        if path == "ran":
            return b"noted"
        if not versions:
            return None
        return json.dumps({"name": path, "dist-tags": {"latest": max(versions)},
                           "versions": {version: made[0] for version, made in versions.items()}}).encode()

    def ran(self):
        return self.asked.count("ran")

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
