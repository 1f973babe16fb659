"""The sandbox's walls from TypeScript and bash. Each attempt has its control: the same code outside the sandbox gets through."""

import contextlib
import os
import signal
import socket
import subprocess
import unittest

from cellgate_client import SharedSidecarTest
from language_testing import DENO
from workspaces import SYSTEM_PATH

# What is tried, as bash and as TypeScript. Each prints "through: …" with what it got, or changes what the test looks at.
ATTEMPTS = {
    "read a key of the home directory": (
        'echo "through: $(cat {home}/.ssh/id_ed25519)"',
        'console.log("through:", Deno.readTextFileSync("{home}/.ssh/id_ed25519"))'),
    "read .env of the workspace": (
        'echo "through: $(cat .env)"',
        'console.log("through:", Deno.readTextFileSync(".env"))'),
    "rename .env and read it": (
        'mv .env moved && echo "through: $(cat moved)"; mv moved .env',
        'Deno.renameSync(".env", "moved"); console.log("through:", Deno.readTextFileSync("moved")); '
        'Deno.renameSync("moved", ".env")'),
    "read .env by another program": (
        'python3 -c \'print("through:", open(".env").read())\'',
        'console.log(new TextDecoder().decode(new Deno.Command("sh", {{ args: ["-c", "echo through: $(cat .env)"] }})'
        '.outputSync().stdout))'),
    "write outside the workspace": (
        'echo x > {base}/written',
        'Deno.writeTextFileSync("{base}/written", "x")'),
    "write a hook of git's": (
        'echo x > .git/hooks/post-commit',
        'Deno.writeTextFileSync(".git/hooks/post-commit", "x")'),
    "connect to a port of the machine": (
        'exec 3<>/dev/tcp/127.0.0.1/{port}; echo hello >&3',
        'const c = await Deno.connect({{ hostname: "127.0.0.1", port: {port} }}); await c.write(new TextEncoder().encode("hello"))'),
    "connect to a unix socket outside": (
        'python3 -c \'import socket; s = socket.socket(socket.AF_UNIX); s.connect("{base}/outside.sock")\'',
        'await Deno.connect({{ transport: "unix", path: "{base}/outside.sock" }})'),
    "end a process outside": (
        'kill -9 {pid}',
        'Deno.kill({pid}, "SIGKILL")'),
    "read the environment of a process outside": (
        'echo "through: $(tr "\\0" " " < /proc/{pid}/environ)"',
        'console.log("through:", Deno.readTextFileSync("/proc/{pid}/environ"))'),
    "find a variable of the process that started cellgate": (
        'test -n "$OUTSIDE" && echo "through: $OUTSIDE"',
        'if (Deno.env.get("OUTSIDE")) console.log("through:", Deno.env.get("OUTSIDE"))'),
}


class Outside:
    """What is outside the sandbox, and whether an attempt reached it."""

    def __init__(self, workspace):
        self.workspace = workspace
        self.listeners = [self._listen(socket.AF_INET, ("127.0.0.1", 0)),
                          self._listen(socket.AF_UNIX, f"{workspace.base}/outside.sock")]
        self.port = self.listeners[0].getsockname()[1]

    @staticmethod
    def _listen(family, address):
        listener = socket.socket(family)
        listener.bind(address)
        listener.listen()
        listener.setblocking(False)
        return listener

    def _accept(self):
        """Whether something has connected, though it may have ended since."""
        connected = False
        for listener in self.listeners:
            with contextlib.suppress(BlockingIOError):
                while True:
                    listener.accept()[0].close()
                    connected = True
        return connected

    def fresh(self):
        """Before an attempt."""
        for path in (self.workspace.base / "written", self.workspace.path / ".git/hooks/post-commit"):
            path.unlink(missing_ok=True)
        self._accept()
        self.process = subprocess.Popen(["sleep", "600"], env={"OUTSIDE": "token"})
        self.places = {"home": self.workspace.home, "base": self.workspace.base, "port": self.port, "pid": self.process.pid}

    def reached(self, printed):
        """What an attempt got, after it."""
        found = ["read"] if any(secret in printed for secret in ("PRIVATE KEY", "TOKEN=hidden", "OUTSIDE=token",
                                                                 "through: token")) else []
        found += [path.name for path in (self.workspace.base / "written", self.workspace.path / ".git/hooks/post-commit")
                  if path.exists()]
        found += ["connected"] if self._accept() else []
        self.process.terminate()
        found += ["ended a process"] if self.process.wait() == -signal.SIGKILL else []  # the attempt's, which came first
        return found


class Walls(SharedSidecarTest):
    environment = {"PATH": f"{DENO.parent}:{SYSTEM_PATH}", "OUTSIDE": "token"}

    @classmethod
    def prepare(cls):
        (cls.workspace.home / ".ssh").mkdir()
        (cls.workspace.home / ".ssh/id_ed25519").write_text("PRIVATE KEY")
        cls.workspace.write(".env", "TOKEN=hidden")
        subprocess.run(["git", "init", "-q", cls.workspace.path], check=True)
        cls.outside = Outside(cls.workspace)

    def attempts(self, language, column, run_outside):
        self.cellgate.session(language, language=language)
        for name, codes in ATTEMPTS.items():
            with self.subTest(language=language, attempt=name):
                self.outside.fresh()
                code = codes[column].format(**self.outside.places)
                execution = self.cellgate.run(code, sessionId=language, approvals="deny")
                execution.result()
                self.assertEqual(self.outside.reached(execution.text() + execution.text("stderr")), [])
                self.outside.fresh()
                code = codes[column].format(**self.outside.places)
                ended = run_outside(code)
                self.assertNotEqual(self.outside.reached(ended.stdout + ended.stderr), [], ended)

    def outside_run(self, argv, **options):
        return subprocess.run(argv, cwd=self.workspace.path, text=True, capture_output=True, timeout=60, check=False,
                              env={**os.environ, **self.environment, "DENO_DIR": str(self.workspace.base / "deno"),
                                   "DENO_NO_UPDATE_CHECK": "1"}, **options)

    def test_bash(self):
        self.attempts("bash", 0, lambda code: self.outside_run(["bash", "-c", code]))

    @unittest.skipUnless(DENO.exists(), "npm's packages are not installed")
    def test_typescript(self):
        self.attempts("typescript", 1, lambda code: self.outside_run([str(DENO), "run", "-A", "--ext=ts", "-"], input=code))


if __name__ == "__main__":
    unittest.main()
