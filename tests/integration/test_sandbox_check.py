"""`cellgate sandbox test`: what it tries, that all of it is held here, and that it would tell if it were not."""

import json
import os
import re
import shutil
import signal
import subprocess
import unittest

from attempts_table import table, written_table
from cellgate_client import CELLGATE, REPOSITORY
from processes import wait_until
from workspaces import TestWorkspace

# What tests/unit/sandbox/ESCAPES.md calls stopped, and a program on a user's machine does not try.
NOT_TRIED = {
    "net-proxy-rebind": "it needs a name that resolves to this machine", "net-proxy-smuggle": "it needs an allowed server",
    "net-proxy-hammer": "it is about others, who are not there", "res-output-display": "it needs a kernel",
    "res-zipbomb": "nothing unpacks", "prod-forge-approval": "it needs a sidecar", "prod-print-spoof": "it needs a sidecar",
    "prod-direct-mcp": "it needs a server", "prod-kernel-comm": "it needs a kernel", "prod-pickle": "nothing reads it",
    "life-sigkill-supervisor": "it needs a sidecar to kill",
    "res-memfd": "it would take the machine's memory", "res-memfd-many": "it would take the machine's memory",
}
# Only root can do these without the sandbox; or the system's own switch may be off.
OF_ROOT = {"fs-mknod", "fs-proc-root", "fs-proc-write", "fs-write-pth", "fs-write-root", "priv-sudo", "ns-chroot", "ns-setns", "priv-setuid0", "fs-open-by-handle", "net-afalg", "priv-tiocsti",
           "priv-ptrace", "net-vsock"}


# These work on gVisor's own kernel, and reach nothing of the machine.
OWN_OF_GVISOR = {"fs-disk-raw", "fs-proc-write", "fs-write-root", "net-interfaces", "net-netlink", "ns-user", "priv-bpf",
                 "priv-nnp", "priv-x32"}

# Without namespaces these see that something is there, and can neither read nor change it.
LACKING = {"fs-read-etc", "ipc-shared-memory", "net-interfaces", "ns-see-processes"}


class SandboxCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.workspace = TestWorkspace()
        cls.addClassCleanup(cls.workspace.remove)
        cls.scratch = cls.workspace.base / "t"
        cls.scratch.mkdir()
        cls.report = cls.run_trial("--json")

    @classmethod
    def run_trial(cls, *options, code=0):
        ended = subprocess.run([CELLGATE, "sandbox", "test", *options],
                               env=cls.workspace.environment(TMPDIR=str(cls.scratch)),
                               cwd=cls.workspace.path, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert ended.returncode == code, (ended.returncode, ended.stdout, ended.stderr)
        return json.loads(ended.stdout) if "--json" in options else ended.stdout

    def attempts(self, report=None):
        return {attempt["id"]: attempt for attempt in (report or self.report)["attempts"]}

    def test_everything_is_held_here_or_said_not_to_be_had(self):
        self.assertTrue(self.report["held"])
        self.assertLessEqual({"bwrap", "seccomp", "network-namespace", "protected-files"}, set(self.report["layers"]))
        for name, attempt in self.attempts().items():
            inside = attempt["inSandbox"]
            if inside["outcome"] == "notTried":
                self.assertRegex(name, "^res-")  # a limit of which this machine has none
                self.assertTrue(inside["detail"])
            else:
                self.assertEqual(inside["outcome"], "held", attempt)

    def test_one_that_is_stopped_leaves_nothing(self):
        for stop in (signal.SIGINT, signal.SIGTERM):
            check = subprocess.Popen([CELLGATE, "sandbox", "test"],
                                     env=self.workspace.environment(TMPDIR=str(self.scratch)),
                                     cwd=self.workspace.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True)
            self.addCleanup(check.kill)  # should it fail
            wait_until(lambda: any(self.scratch.glob("cellgate-check-*/places/*")), "the check has begun")
            check.send_signal(stop)
            said, _ = check.communicate()
            self.assertEqual(check.returncode, 128 + stop, said)
            self.assertEqual(list(self.scratch.iterdir()), [])

    def test_without_the_sandbox_the_attempts_work(self):
        works = {name for name, attempt in self.attempts().items() if attempt["without"]["outcome"] == "escaped"}
        controlled = {name for name, attempt in self.attempts().items() if attempt["without"]["outcome"] != "notTried"}
        self.assertGreater(len(controlled), 30)
        self.assertLessEqual(controlled - works, OF_ROOT)

    def test_a_sandbox_that_holds_nothing_is_told(self):
        report = self.run_trial("--no-sandbox", "--json", code=1)
        self.assertFalse(report["held"])
        escaped = {name for name, attempt in self.attempts(report).items()
                   if attempt["inSandbox"]["outcome"] == "escaped"}
        works = {name for name, attempt in self.attempts().items() if attempt["without"]["outcome"] == "escaped"}
        self.assertEqual(escaped, works)
        # What would harm without a sandbox is not tried in its place either.
        self.assertEqual(self.attempts(report)["priv-kill-all"]["inSandbox"]["outcome"], "notTried")

    def test_the_weaker_sandbox_holds_all_but_what_it_says(self):
        report = self.run_trial("--sandbox", "landlock", "--json")
        self.assertTrue(report["held"])
        self.assertLessEqual({"landlock", "no-network", "protected-names"}, set(report["layers"]))
        attempts = self.attempts(report)
        self.assertEqual(attempts.keys(), self.attempts().keys())
        lacking = {name for name, attempt in attempts.items() if attempt["inSandbox"]["outcome"] == "lacking"}
        self.assertEqual(lacking, LACKING)
        for name, attempt in attempts.items():
            if name not in lacking and not name.startswith("res-"):
                self.assertEqual(attempt["inSandbox"]["outcome"], "held", attempt)
                self.assertIn(attempt["layer"], report["layers"])
        text = self.run_trial("--sandbox", "landlock")
        self.assertRegex(text, r"(?m)^none +ipc-shared-memory +lacks ")
        self.assertRegex(text, rf"\d+ held, 0 escaped, {len(LACKING)} lacking, 0 unclear")

    @unittest.skipIf(shutil.which("runsc") is None, "gVisor is not installed (apt install runsc)")
    def test_gvisor_holds_everything_too_and_the_docs_say_what_each_launcher_holds(self):
        report = self.run_trial("--sandbox", "gvisor", "--json")
        self.assertTrue(report["held"])
        attempts = self.attempts(report)
        self.assertEqual(attempts.keys(), self.attempts().keys())
        own = {name for name, attempt in attempts.items() if attempt["inSandbox"]["outcome"] == "lacking"}
        self.assertEqual(own, OWN_OF_GVISOR)
        for name, attempt in attempts.items():
            if name not in own and not name.startswith("res-"):
                self.assertEqual(attempt["inSandbox"]["outcome"], "held", attempt)
                self.assertIn(attempt["layer"], report["layers"])
        weaker = self.run_trial("--sandbox", "landlock", "--json")
        self.assertEqual(written_table(), table({"bwrap": self.report, "gvisor": report, "landlock": weaker}),
                         "write docs/escape-attempts.md again by attempts_table.py")

    def test_the_table_has_a_line_for_each_and_says_how_many_were_held(self):
        text = self.run_trial()
        for name, attempt in self.attempts().items():
            self.assertRegex(text, rf"(?m)^{attempt['layer']} +{name} +(held|-) ")
        self.assertRegex(text, rf"{len(self.attempts())} attempts: \d+ held, 0 escaped, 0 unclear")

    def test_what_is_said_to_be_stopped_is_tried(self):
        text = (REPOSITORY / "tests/unit/sandbox/ESCAPES.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"(?m)^\| ([a-z0-9]+(?:-[a-z0-9]+)+) \| ([a-z ]+) \|", text))
        stopped = {name for name, verdict in rows.items() if verdict == "stopped"}
        self.assertGreater(len(stopped), 40)
        tried = set(self.attempts())
        self.assertEqual(stopped - tried - NOT_TRIED.keys(), set())
        self.assertEqual(NOT_TRIED.keys() & tried, set())
        # Of what is declared, one file too large is tried; many that are not are the user's disk.
        self.assertEqual({name for name in tried if rows.get(name) not in ("stopped", "in part")}, {"res-disk-cwd"})

    def test_it_leaves_nothing(self):
        self.assertEqual(os.listdir(self.scratch), [])
        self.assertEqual(os.listdir(self.workspace.path), [])


if __name__ == "__main__":
    unittest.main()
