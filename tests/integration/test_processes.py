"""However the sidecar ends, nothing that it started goes on. Each test starts something that tries to."""

import os
import signal
import subprocess
import unittest

from cellgate_client import Sidecar, WorkspaceTest
from processes import assert_no_orphans, command_of, descendants, living, processes_with, wait_until
from tools_testing import MCP_SERVER

# In a session of its own, deaf to SIGTERM and SIGHUP, with its output closed: what a daemon does.
DAEMON = """
import os, signal, sys, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
open(sys.argv[1], 'w').write(str(os.getpid()))
for fd in (0, 1, 2):
    os.close(fd)
while True:
    time.sleep(1000)
"""


class End(WorkspaceTest):
    def setUp(self):
        super().setUp()
        self.daemon = self.workspace.write("daemon.py", DAEMON)
        self.cellgate = Sidecar(self.workspace)
        self.addCleanup(self.finish)

    def finish(self):
        if self.cellgate.process.poll() is None:
            self.cellgate.kill()
        assert_no_orphans()

    def wait_for_daemon(self, mark):
        wait_until(lambda: (self.workspace.path / mark).exists() and (self.workspace.path / mark).read_text(),
                   f"the daemon {mark}")
        return wait_until(lambda: self.daemons(mark), f"the process of {mark}")

    @staticmethod
    def daemons(mark):
        return {pid for pid in processes_with(f"daemon.py {mark}") if command_of(pid).endswith(mark)}

    def start_everything(self):
        """A sandboxed session, one without a sandbox and a tool server, each with a daemon and a cell that runs."""
        start = "import subprocess, sys\nsubprocess.run([sys.executable, 'daemon.py', {!r}], check=True)\n"
        self.cellgate.session("open", sandbox=False)
        self.cellgate.run(start.format("from-open"), sessionId="open")
        self.cellgate.run(start.format("from-sandbox"))
        script = f"/usr/bin/python3 daemon.py from-server; exec /usr/bin/python3 -B {MCP_SERVER}"
        self.cellgate.request("wrappers/generate",
                              {"server": "fix", "config": {"command": "/bin/sh", "args": ["-c", script]}})
        for session in ("default", "open"):
            self.cellgate.execute("print('go', flush=True)\nwhile True: pass", sessionId=session).wait_for_text("go")
        for mark in ("from-open", "from-sandbox", "from-server"):
            self.assertEqual(len(self.wait_for_daemon(mark)), 1, mark)
        return descendants(self.cellgate.process.pid)

    def assert_all_end(self, started):
        self.assertGreaterEqual(len(started), 6)
        def left():
            return [f"{pid} ({command_of(pid)})" for pid in living(started)]
        wait_until(lambda: not left(), lambda: f"the end of {left()}", 20)
        assert_no_orphans()

    def test_exit_leaves_nothing(self):
        started = self.start_everything()
        self.cellgate.request("shutdown")
        self.cellgate.notify("exit")
        self.assertEqual(self.cellgate.wait_end(), 0)
        self.assert_all_end(started)

    def test_the_end_of_stdin_leaves_nothing(self):
        started = self.start_everything()
        self.cellgate.process.stdin.close()
        self.cellgate.wait_end()
        self.assert_all_end(started)

    def test_sigkill_leaves_nothing(self):
        started = self.start_everything()
        self.cellgate.process.send_signal(signal.SIGKILL)
        self.assertEqual(self.cellgate.wait_end(), -signal.SIGKILL)
        self.assert_all_end(started)
        self.assertEqual([f for f in self.workspace.files() if "daemon" not in f and not f.startswith("from-")], [])

    def test_sigkill_while_a_kernel_starts_leaves_nothing(self):
        self.cellgate.execute("1")
        wait_until(lambda: descendants(self.cellgate.process.pid), "a process of the kernel")
        self.cellgate.process.send_signal(signal.SIGKILL)
        self.cellgate.wait_end()
        assert_no_orphans()

    def test_closing_a_session_ends_all_of_it_and_nothing_else(self):
        self.cellgate.session("other")
        self.start_everything()
        self.cellgate.request("session/close", {"sessionId": "open"})
        wait_until(lambda: not self.daemons("from-open"), "the end of the closed session's daemon")
        self.assertTrue(self.daemons("from-sandbox"))
        self.assertEqual(self.cellgate.run("print('here')", sessionId="other").text(), "here\n")

    def test_a_restart_ends_what_the_old_kernel_started(self):
        self.start_everything()
        for session, mark in (("open", "from-open"), ("default", "from-sandbox")):
            self.cellgate.request("session/restart", {"sessionId": session})
            wait_until(lambda: not self.daemons(mark), f"the end of {mark}")

    def test_a_kernel_that_dies_takes_what_it_started_along(self):
        start = "import subprocess, sys, os\nsubprocess.run([sys.executable, 'daemon.py', 'orphan'], check=True)\n"
        self.cellgate.run(start)
        self.wait_for_daemon("orphan")
        self.assertEqual(self.cellgate.run("os._exit(1)").result()["status"], "killed")
        wait_until(lambda: not self.daemons("orphan"), "the end of the dead kernel's daemon")


class TheControl(WorkspaceTest):
    def test_without_cellgate_the_daemon_does_get_away(self):
        """Or the tests above would prove nothing."""
        daemon = self.workspace.write("daemon.py", DAEMON)
        subprocess.run(["/usr/bin/python3", str(daemon), str(self.workspace.path / "free")], check=True)
        mark = self.workspace.path / "free"
        pid = int(wait_until(lambda: mark.exists() and mark.read_text(), "the daemon"))
        os.kill(pid, signal.SIGTERM)
        with self.assertRaises(AssertionError):
            assert_no_orphans(timeout=0.5)  # which kills it
        wait_until(lambda: not processes_with("daemon.py"), "the end of the daemon")


if __name__ == "__main__":
    unittest.main()
