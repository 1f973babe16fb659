"""Events: what happens in a workspace, as it happens, and the figures of a sidecar."""

import json
import os
import signal
import subprocess
import threading
import unittest

from cellgate_client import CELLGATE, Sidecar, WorkspaceSidecarTest, WorkspaceTest
from executions import RpcError
from processes import OWN, TIMEOUT, start_process, wait_until
from tools_testing import ECHO, ToolsTest

TWO_CALLS = ECHO + """
try:
    tool_1.run(s='no')
except Exception:
    pass
tool_1.run(s='yes')
"""
BURN = """
import time
kept = b'x' * 150_000_000
end = time.process_time() + 1
while time.process_time() < end:
    pass
"""


def entries_of(cellgate, execution):
    """What a subscriber has heard of an execution, once it has ended."""
    cellgate.wait_for("events/entry", lambda entry: (entry["type"], entry.get("executionId")) ==
                      ("execution.ended", execution.id))
    return [entry for entry in cellgate.received("events/entry") if entry.get("executionId") == execution.id]


class AFollower(ToolsTest):
    generated = ("fix",)

    def test_hears_of_a_cell_and_its_calls_in_order(self):
        begin = self.cellgate.request("events/subscribe")["fromSeq"]
        execution = self.cellgate.execute(TWO_CALLS)
        self.cellgate.deny(self.cellgate.approval())
        self.cellgate.allow(self.cellgate.approval())
        execution.result()
        entries = entries_of(self.cellgate, execution)
        self.assertEqual([entry["type"] for entry in entries],
                         ["execution.started", "action.decided", "action.decided", "action.ended", "execution.ended"])
        self.assertEqual([entry["data"]["decision"] for entry in entries[1:3]], ["deny", "allow"])
        heard = [entry["seq"] for entry in self.cellgate.received("events/entry") if entry["seq"] >= begin]
        self.assertEqual(heard, list(range(begin, begin + len(heard))))
        recorded = self.cellgate.request("record/query", {"executionId": execution.id})["entries"][::-1]
        self.assertEqual(entries, recorded)

    def test_hears_only_what_it_asked_for_and_nothing_once_it_has_enough(self):
        self.cellgate.request("events/subscribe", {"types": ["execution.ended"], "sessionId": "default"})
        before = len(self.cellgate.received("events/entry"))
        execution = self.cellgate.run("1")
        entries_of(self.cellgate, execution)
        heard = self.cellgate.received("events/entry")[before:]
        self.assertEqual([entry["type"] for entry in heard], ["execution.ended"])
        self.cellgate.request("events/unsubscribe")
        self.cellgate.run("2")
        self.cellgate.request("record/query")  # what was said before its answer has been heard
        self.assertEqual(len(self.cellgate.received("events/entry")), before + 1)


class Again(WorkspaceTest):
    def test_a_later_sidecar_tells_it_all_from_the_beginning(self):
        with Sidecar(self.workspace) as one:
            one.request("events/subscribe", {"fromSeq": 0})
            first = entries_of(one, one.run("1"))
        with Sidecar(self.workspace) as two:
            self.assertEqual(two.request("events/subscribe", {"fromSeq": 0}), {"fromSeq": 0})
            entries_of(two, two.run("2", executionId="again"))
            heard = two.received("events/entry")
        self.assertEqual([entry["seq"] for entry in heard], list(range(len(heard))))
        self.assertEqual([entry for entry in heard if entry["seq"] in {each["seq"] for each in first}], first)
        types = [entry["type"] for entry in heard]
        self.assertEqual((types.count("session.created"), types.count("session.closed")), (2, 1), types)


class OnTheCommandLine(WorkspaceSidecarTest):
    def command(self, *arguments):
        return subprocess.run([CELLGATE, *arguments], cwd=self.workspace.path, env=self.workspace.environment(),
                              text=True, capture_output=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL)

    def follow(self, *arguments):
        process = start_process([CELLGATE, "events", *arguments], cwd=self.workspace.path,
                                env=self.workspace.environment(), text=True, stdout=subprocess.PIPE,
                                stdin=subprocess.DEVNULL)
        self.addCleanup(OWN.discard, process.pid)
        self.addCleanup(process.kill)
        return process

    def lines_of(self, process):
        lines = []
        reader = threading.Thread(target=lambda: [lines.append(line) for line in process.stdout], daemon=True)
        reader.start()
        self.addCleanup(reader.join, TIMEOUT)
        return lines

    def test_a_cell_of_another_client_is_seen_as_it_runs(self):
        follower = self.follow("--json")  # before there is a record
        lines = self.lines_of(follower)
        editor = self.editor()
        execution = editor.run("'seen'")
        types = lambda: [entry["type"] for entry in map(json.loads, lines) if entry.get("executionId") == execution.id]
        wait_until(lambda: types() == ["execution.started", "execution.ended"], "the cell to be shown")
        editor.request("session/close", {"sessionId": "default"})
        wait_until(lambda: '"session.closed"' in "".join(lines), "the end of the session to be shown")
        os.kill(follower.pid, signal.SIGINT)
        self.assertEqual(follower.wait(TIMEOUT), 0)
        self.assertEqual([json.loads(line)["seq"] for line in lines], list(range(len(lines))))

    def test_it_begins_with_the_newest_or_where_it_is_told_to_and_ends_with_its_reader(self):
        editor = self.editor()
        for number in range(12):
            editor.run(f"'cell {number}'")
        runs = self.lines_of(self.follow("--type", "execution.started", "--session", "default", "--from", "0"))
        wait_until(lambda: len(runs) == 12, "all cells")
        self.assertIn("runs: 'cell 0'", runs[0])
        newest = self.follow("--json")
        first = json.loads(newest.stdout.readline())
        last = editor.request("record/query", {"limit": 1})["entries"][0]
        self.assertEqual(first["seq"], last["seq"] - 19)
        newest.stdout.close()
        self.assertEqual(newest.wait(TIMEOUT), 0)

    def test_figures_of_a_session_that_uses_processor_and_memory(self):
        editor = self.editor()
        editor.run(BURN)
        stats = editor.request("stats")
        (session,) = stats["sessions"]
        self.assertEqual((session["sessionId"], session["status"], session["queueLength"]), ("default", "idle", 0))
        self.assertGreaterEqual(session["processorSeconds"], 1)
        self.assertGreaterEqual(session["memoryBytes"], 150_000_000)
        self.assertGreaterEqual(session["processes"], 1)
        self.assertGreater(stats["memoryBytes"], 0)
        self.assertEqual(stats["executions"], {"queued": 0, "running": 0, "finished": 1})
        printed = json.loads(self.command("stats", "--json").stdout)
        self.assertEqual(printed["startedAt"], stats["startedAt"])
        table = self.command("stats")
        self.assertEqual((table.returncode, table.stderr), (0, ""))
        self.assertIn("executions: 0 running, 0 waiting, 1 ended", table.stdout)
        self.assertRegex(table.stdout, r"(?m)^default +idle +0 +\d+ +\d+\.\d\d s +\d+\.\d MiB$")

    def test_figures_of_what_runs_and_waits_for_an_answer(self):
        editor = self.editor()
        editor.request("wrappers/generate", {"server": "host"})
        self.workspace.write("notes.txt", "read")
        running = editor.execute("from mcptools.host import read_file\nread_file.run(path='notes.txt')")
        asked = editor.approval()
        waiting = editor.execute("1")
        stats = editor.request("stats")
        self.assertEqual(stats["executions"], {"queued": 1, "running": 1, "finished": 0})
        self.assertEqual((stats["pendingApprovals"], stats["toolCalls"], stats["approvals"]),
                         (1, {"count": 0}, {"count": 0}))
        editor.allow(asked)
        running.result()
        waiting.result()
        stats = editor.request("stats")
        self.assertEqual((stats["pendingApprovals"], stats["toolCalls"]["count"], stats["approvals"]["count"]), (0, 1, 1))
        self.assertGreater(stats["approvals"]["p50Seconds"], 0)
        self.assertEqual(stats["executions"], {"queued": 0, "running": 0, "finished": 2})

    def test_figures_need_a_sidecar_and_a_user(self):
        none = self.command("stats")
        self.assertEqual(none.returncode, 1)
        self.assertIn("no sidecar runs for", none.stderr)
        agent = self.agent()
        for method in ("stats", "events/subscribe", "events/unsubscribe"):
            with self.assertRaises(RpcError) as refused:
                agent.request(method)
            self.assertEqual(refused.exception.code, 1013)


if __name__ == "__main__":
    unittest.main()
