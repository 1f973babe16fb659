"""A hundred sessions and a thousand waiting approvals in one sidecar: what each costs, and that no client waits for it.

The kernels are scripted ones (fixtures/fake_kernel.py), so that this needs memory for a hundred small processes only.
With CELLGATE_TURNS, the library that `./dev bench` loads to watch the event loop, no turn may be longer than 50 ms:
that is a measurement, and belongs on a machine that does nothing else.
"""

import json
import os
import statistics
import time
import unittest

from cellgate_client import FIXTURES, WorkspaceTest, arguments_of
from measuring import memory, sanitized

SESSIONS = int(os.environ.get("CELLGATE_SESSIONS", 100))
CALLS = 10  # of each, all at once
TURNS = os.environ.get("CELLGATE_TURNS")


class ManySessions(WorkspaceTest):
    def start(self):
        folder = self.workspace.home / "jupyter/kernels/fake"
        folder.mkdir(parents=True)
        (folder / "kernel.json").write_text(json.dumps({
            "argv": ["/usr/bin/python3", "-I", str(FIXTURES / "fake_kernel.py"), "{connection_file}"],
            "display_name": "Fake", "language": "fake", "interrupt_mode": "message"}))
        more = {"JUPYTER_PATH": str(self.workspace.home / "jupyter")}
        if TURNS:
            more |= {"LD_PRELOAD": TURNS, "BENCH_TURNS": str(self.workspace.base / "turns")}
        return self.sidecar(environment=self.workspace.environment(**more))

    def open_sessions(self, cellgate, numbers):
        """A few at a time: starting a hundred processes at once measures the machine."""
        numbers = list(numbers)
        for i in range(0, len(numbers), 5):
            starting = [cellgate.start("session/create", {"sessionId": f"s{n}", "kernel": {"name": "fake"},
                                                          "sandbox": False}) for n in numbers[i : i + 5]]
            for each in starting:
                each.result()

    def latency(self, cellgate, session):
        """Of a small question and of a small cell, while all the others wait."""
        times = []
        for _ in range(20):
            begun = time.monotonic()
            cellgate.request("session/list")
            cellgate.run("print x", sessionId=session)
            times.append(time.monotonic() - begun)
        return statistics.median(times)

    def test_memory_grows_with_their_number_and_nothing_else_does(self):
        cellgate = self.start()
        pid = cellgate.process.pid
        few = SESSIONS // 10
        self.open_sessions(cellgate, ["idle", *range(few)])
        at_few = memory(pid)
        latency_at_few = self.latency(cellgate, "sidle")
        self.open_sessions(cellgate, range(few, SESSIONS))
        at_all = memory(pid)
        each = (at_all - at_few) / (SESSIONS - few)
        if not sanitized():
            self.assertLess(each, 1_000_000, "bytes for a session")

        running = [cellgate.execute(f"call {CALLS} file{i}.", sessionId=f"s{i}") for i in range(few)]
        first = cellgate.approvals(few * CALLS)
        at_few_asked = memory(pid)
        running += [cellgate.execute(f"call {CALLS} file{i}.", sessionId=f"s{i}") for i in range(few, SESSIONS)]
        approvals = first + cellgate.approvals((SESSIONS - few) * CALLS)
        at_all_asked = memory(pid)
        each = (at_all_asked - at_few_asked) / (len(approvals) - len(first))
        if not sanitized():
            self.assertLess(each, 50_000, "bytes for an approval that waits")

        # While a thousand wait, a cell of another session runs as before. A generous bound: the bench has the figures.
        latency = self.latency(cellgate, "sidle")
        self.assertLess(latency, max(20 * latency_at_few, 0.5))
        self.assertEqual(len(cellgate.waiting()), SESSIONS * CALLS)
        self.assertEqual({a["sessionId"] for a in approvals}, {f"s{i}" for i in range(SESSIONS)})

        # One answer for all of them; each call hears its own.
        denied = [a["approvalId"] for a in approvals if arguments_of(a)["path"].endswith(".0")]
        allowed = [a["approvalId"] for a in approvals if a["approvalId"] not in set(denied)]
        cellgate.request("approval/respond", {"approvalIds": denied, "decision": "deny", "reason": "no"})
        cellgate.request("approval/respond", {"approvalIds": allowed, "decision": "allow", "scope": "once"})
        for execution in running:
            self.assertEqual(execution.result()["status"], "ok")
            self.assertEqual(execution.text().split(), ["error"] + ["result"] * (CALLS - 1))
        self.assertEqual(len(self.workspace.files()), SESSIONS * (CALLS - 1))
        self.assertEqual(cellgate.waiting(), [])

        closing = [cellgate.start("session/close", {"sessionId": f"s{i}"}) for i in range(SESSIONS)]
        for each in closing:
            each.result()
        cellgate.close()
        if TURNS:
            turns, long, longest = (self.workspace.base / "turns").read_text().split()
            print(f"{turns} turns, the longest {float(longest) * 1000:.1f} ms; latency {latency_at_few * 1000:.1f} ms "
                  f"beside {few} sessions, {latency * 1000:.1f} ms beside {SESSIONS} and {len(approvals)} approvals; "
                  f"memory {at_few / 1e6:.1f}, {at_all / 1e6:.1f}, {at_all_asked / 1e6:.1f} MB")
            self.assertEqual(long, "0", longest)


if __name__ == "__main__":
    unittest.main()
