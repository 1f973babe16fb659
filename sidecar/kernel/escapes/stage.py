"""The stage: targets for the attempts, outside of the sandbox, which are checked after each."""

import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys

from attempts import SECRET, libc, write


class Stage:
    def __init__(self, folder):
        self.folder = folder
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.name = os.path.basename(os.path.dirname(folder))  # of this trial alone
        self.abstract = socket.socket(socket.AF_UNIX)
        self.abstract.bind("\0" + self.name)
        self.abstract.listen()
        self.shared = f"/dev/shm/{self.name}"
        write(self.shared)
        self.process = None
        self.sockets = []
        self.places = 0

    def close(self):
        self.end_process()
        os.unlink(self.shared)

    def end_process(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = None

    def put(self, name, text="x"):
        path = os.path.join(self.base, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def new(self):
        """A folder that no attempt has seen."""
        self.base = os.path.join(self.folder, str(self.places))
        self.places += 1
        self.put("home/.ssh/id_rsa", SECRET)
        for name in (".env", ".envrc", "deploy/.env.production", "deploy/secrets/prod"):
            self.put("home/work/" + name, SECRET)
        os.symlink("secrets/prod", os.path.join(self.base, "home/work/deploy/.env"))
        for name in (".git/HEAD", ".git/hooks/sample", ".mcp.json", ".git/config", ".vscode/tasks.json",
                     "part/.vscode/tasks.json", "mcptools/__init__.py"):
            self.put("home/work/" + name)
        os.link(os.path.join(self.base, "home/work/.env"), os.path.join(self.base, "home/work/notes.txt"))
        os.link(os.path.join(self.base, "home/.ssh/id_rsa"), os.path.join(self.base, "home/work/key.txt"))
        for name in ("hooks/sample", "config", "HEAD", "worktrees/main/HEAD"):
            self.put("home/work/trees/.bare/" + name)
        self.put("home/work/trees/.bare/worktrees/main/commondir", "../..\n")
        self.put("home/work/trees/main/.git", "gitdir: ../.bare/worktrees/main\n")
        for name in ("releases/1/claude/settings.json", "scripts/hook", "conf/other", ".git/hooks/sample"):
            self.put("home/work/linked/" + name)
        for name, target in ((".claude", "current/claude"), ("current", "releases/1"), (".mcp.json", "conf/mcp.json"),
                             (".git/hooks/pre-commit", "../../scripts/hook")):
            os.symlink(target, os.path.join(self.base, "home/work/linked", name))
        for name in ("1", "2"):
            os.makedirs(os.path.join(self.base, "run", name), mode=0o700)
        for each in self.sockets:
            each.close()
        self.sockets = [self.listener("run/2/s"), self.listener("home/work/socket")]
        self.end_process()
        self.process = subprocess.Popen(["sleep", "600"], env={"SECRET": SECRET}, stdin=subprocess.DEVNULL)
        self.udp.setblocking(False)
        while self.datagram():
            pass
        key = os.path.join(self.base, "home/.ssh/id_rsa")
        return {"home": os.path.join(self.base, "home"), "workspace": os.path.join(self.base, "home/work"),
                "session": os.path.join(self.base, "run/1"), "socket": os.path.join(self.base, "run/2/s"),
                "process": self.process.pid, "abstract": self.name, "shared": self.shared,
                "tcp": self.tcp.getsockname()[1], "udp": self.udp.getsockname()[1], "handle": self.handle(key)}

    def listener(self, name):
        made = socket.socket(socket.AF_UNIX)
        made.bind(os.path.join(self.base, name))
        made.listen()
        return made

    @staticmethod
    def handle(path):
        """As name_to_handle_at(2) has it: type, and bytes in hexadecimal."""
        size = 128
        buffer = ctypes.create_string_buffer(size.to_bytes(4, sys.byteorder) + bytes(4 + size))
        if libc.name_to_handle_at(-100, path.encode(), buffer, ctypes.byref(ctypes.c_int()), 0) != 0:
            return [0, ""]
        size, kind = (int.from_bytes(buffer.raw[at : at + 4], sys.byteorder) for at in (0, 4))
        return [kind, buffer.raw[8 : 8 + size].hex()]

    def datagram(self):
        try:
            return bool(self.udp.recv(100))
        except BlockingIOError:
            return False

    def left(self, what):
        return self.datagram() if what == "datagram" else self.process.poll() is not None

    def drop(self):
        self.end_process()
        for each in self.sockets:
            each.close()
        shutil.rmtree(self.base, ignore_errors=True)


def stage(folder):
    theatre = Stage(folder)
    try:
        for line in sys.stdin:
            request = json.loads(line)
            answer = {"new": theatre.new, "drop": theatre.drop, "left": lambda: theatre.left(request["what"])}
            print(json.dumps(answer[request["do"]]()), flush=True)
    finally:
        theatre.close()
