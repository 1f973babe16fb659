"""Many sessions of one sidecar on one Jupyter server: each has its own kernel there, and the sidecar's memory and
processor time grow with their number. The kernels are scripted ones (fixtures/fake_kernel.py), as memory is for cellgate.

CELLGATE_FLEET=200 starts so many and prints what they cost.
"""

import json
import os
import tempfile
import time
import unittest
from pathlib import Path

from cellgate_client import FIXTURES, WorkspaceTest
from measuring import memory, sanitized
from remote_testing import TOKEN, JupyterServer, has_jupyter_server

SESSIONS = int(os.environ.get("CELLGATE_FLEET", 20))
AT_A_TIME = 5
ALLOCATORS_STEP = 2_000_000  # bytes by which what a process holds may rise, however many sessions it has

# A ZeroMQ context has at most 1023 sockets, which are those of about 170 kernels of a Jupyter Server.
SERVER_CONFIG = """
import zmq
stock = zmq.Context.__init__
def begin(self, *arguments, **more):
    stock(self, *arguments, **more)
    self.set(zmq.MAX_SOCKETS, 20000)
zmq.Context.__init__ = begin
"""


def processor_time(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@unittest.skipUnless(has_jupyter_server(), "needs python3-jupyter-server")
class Fleet(WorkspaceTest):
    def setUp(self):
        super().setUp()
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        spec = Path(home.name) / ".local/share/jupyter/kernels/fake"
        spec.mkdir(parents=True)
        (spec / "kernel.json").write_text(json.dumps({
            "argv": ["/usr/bin/python3", "-I", str(FIXTURES / "fake_kernel.py"), "{connection_file}"],
            "display_name": "Fake", "language": "fake", "interrupt_mode": "message"}))
        config = Path(home.name) / ".jupyter/jupyter_server_config.py"
        config.parent.mkdir()
        config.write_text(SERVER_CONFIG)
        self.server = JupyterServer(home.name)
        self.addCleanup(self.server.close)

    def in_turns(self, numbers, begin):
        numbers = list(numbers)
        for i in range(0, len(numbers), AT_A_TIME):
            for each in [begin(n) for n in numbers[i : i + AT_A_TIME]]:
                each.result()

    def create(self, n):
        return self.cellgate.start("session/create", {
            "sessionId": f"s{n}", "kernel": {"server": {"url": self.server.url, "token": TOKEN, "name": "fake"}}})

    def measured(self, numbers):
        """Starts them. Bytes and seconds of the sidecar for each, and seconds in all for each."""
        pid = self.cellgate.process.pid
        before = memory(pid), processor_time(pid), time.monotonic()
        self.in_turns(numbers, self.create)
        after = memory(pid), processor_time(pid), time.monotonic()
        return [(b - a) / len(numbers) for a, b in zip(before, after)]

    def test_each_has_its_kernel_and_costs_as_much_as_the_others(self):
        self.cellgate = self.sidecar()
        self.measured(range(-AT_A_TIME, 0))  # what is needed once
        first = self.cellgate.request("session/list")["sessions"][0]
        self.assertIn("Python can and fake cannot", first["sandboxNotices"][-1])
        half = SESSIONS // 2
        first = self.measured(range(half))
        second = self.measured(range(half, SESSIONS))
        if not sanitized():
            self.assertLess(second[0], 1_000_000, "bytes for a session")
            self.assertLess(second[0], 1.5 * first[0] + ALLOCATORS_STEP / half, "bytes for a session, the more there are")
            self.assertLess(second[1], 2 * first[1] + 0.005, "processor time for a session, the more there are")
        self.assertEqual(len(self.server.kernels()), SESSIONS + AT_A_TIME)
        cells = [self.cellgate.execute(f"print {n}", sessionId=f"s{n}") for n in range(SESSIONS)]
        self.assertEqual([cell.text() for cell in cells if cell.result()], [f"{n}\n" for n in range(SESSIONS)])
        if "CELLGATE_FLEET" in os.environ:
            for name, (held, seconds, elapsed) in (("first", first), ("second", second)):
                print(f"{name} {half}: {held / 1000:.0f} kB, {seconds * 1000:.1f} ms of processor time, "
                      f"{elapsed * 1000:.0f} ms elapsed for each session")
        begun = time.monotonic()
        self.in_turns(range(-AT_A_TIME, SESSIONS), lambda n: self.cellgate.start("session/close", {"sessionId": f"s{n}"}))
        self.assertEqual(self.server.kernels(), [])
        if "CELLGATE_FLEET" in os.environ:
            print(f"closed in {time.monotonic() - begun:.1f} s")


if __name__ == "__main__":
    unittest.main()
