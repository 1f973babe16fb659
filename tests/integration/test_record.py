"""The record: what happened in a workspace, who may read it, and that it proves itself."""

import json
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

from cellgate_client import CELLGATE, Sidecar, WorkspaceTest
from executions import RpcError
from mcp_testing import McpTest, details_of
from processes import TIMEOUT, wait_until
from test_mcp_agent import FIX
from tools_testing import ECHO, ToolsTest, fixture_server


def command(workspace, *arguments):
    return subprocess.run([CELLGATE, "record", *arguments], cwd=workspace.path, env=workspace.environment(), text=True,
                          capture_output=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL)


def database_of(workspace):
    (found,) = (workspace.home / ".local/state/cellgate/records").glob("*/record.sqlite")
    return found


def write_settings(workspace, **settings):
    folder = workspace.home / ".config/cellgate"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / "record.json").write_text(json.dumps(settings))


class WhatHappened(ToolsTest):
    generated = ("fix",)

    def entries(self, **params):
        return self.cellgate.request("record/query", params)["entries"][::-1]

    def test_a_cell_its_call_and_who_allowed_it_are_there_in_order(self):
        execution = self.cellgate.execute(ECHO + "tool_1.run(s='kept')")
        self.cellgate.allow(self.cellgate.approval())
        execution.result()
        entries = self.entries(executionId=execution.id)
        self.assertEqual([entry["type"] for entry in entries],
                         ["execution.started", "action.decided", "action.ended", "execution.ended"])
        self.assertEqual([entry["actor"] for entry in entries], ["user", "user", "cellgate", "cellgate"])
        decided = entries[1]["data"]
        self.assertEqual((decided["decision"], decided["by"], decided["action"]["argumentsText"]),
                         ("allow", "user", '{"s":"kept"}'))
        self.assertIn("tool_1.run", decided["origin"]["text"])
        self.assertEqual(entries[0]["data"]["code"], ECHO + "tool_1.run(s='kept')")
        ended = entries[2]["data"]
        self.assertEqual((ended["status"], ended["number"], ended["run"]),
                         ("succeeded", decided["number"], decided["run"]))

    def test_rules_and_what_they_decide_are_there(self):
        rule = self.cellgate.request("policy/add", {"rule": {"kind": "tool", "server": "fix", "tool": "tool-1",
                                                             "effect": "deny"}, "scope": "workspace"})
        execution = self.cellgate.run(ECHO + "tool_1.run(s='x')")
        self.cellgate.request("policy/remove", {"ruleId": rule["id"]})
        (decided,) = self.entries(executionId=execution.id, types=["action.decided"])
        self.assertEqual((decided["actor"], decided["data"]["rule"]["id"]), ("rule", rule["id"]))
        self.assertEqual(self.entries(types=["policy.added"])[-1]["data"]["rule"], rule)
        self.assertEqual(self.entries(types=["policy.removed"])[-1]["data"], {"ruleId": rule["id"]})

    def test_it_is_searched_and_read_in_pages(self):
        executions = [self.cellgate.run(f"'needle {i}'") for i in range(3)]
        page = self.cellgate.request("record/query", {"text": "NEEDLE", "types": ["execution.started"], "limit": 2})
        self.assertEqual([entry["executionId"] for entry in page["entries"]], [executions[2].id, executions[1].id])
        self.assertTrue(page["more"])
        rest = self.cellgate.request("record/query", {"text": "needle", "types": ["execution.started"],
                                                      "beforeSeq": page["entries"][-1]["seq"]})
        self.assertEqual(([entry["executionId"] for entry in rest["entries"]], rest["more"]), ([executions[0].id], False))
        self.assertEqual(self.entries(since=page["entries"][1]["time"], until=page["entries"][1]["time"]), [])

    def test_what_fails_and_a_kernel_that_ends_are_there(self):
        execution = self.cellgate.run("raise ValueError('no')")
        self.assertEqual(self.entries(executionId=execution.id)[-1]["data"]["error"],
                         {"ename": "ValueError", "evalue": "no"})
        late = self.cellgate.run("while True: pass", timeoutSeconds=0.3)
        ended = [(entry["type"], entry["data"]["status"]) for each in (execution, late)
                 for entry in self.entries(executionId=each.id)[-1:]]
        self.assertEqual(ended, [("execution.ended", "error"), ("execution.ended", "timeout")])
        self.cellgate.session("short")
        self.cellgate.request("session/restart", {"sessionId": "short"})
        self.cellgate.request("session/close", {"sessionId": "short"})
        self.assertEqual([entry["type"] for entry in self.entries(sessionId="short") if "action" not in entry["type"]],
                         ["session.created", "kernel.started", "kernel.ended", "kernel.started", "kernel.ended",
                          "session.closed"])
        (created,) = self.entries(sessionId="short", types=["session.created"])
        self.assertEqual(created["data"], {"kernel": "python3", "language": "python", "sandbox": "bwrap"})

    def test_it_verifies_while_it_is_written(self):
        result = self.cellgate.request("record/verify")
        self.assertEqual((result["ok"], result["entries"]), (True, self.entries()[-1]["seq"] + 1))


class Spans(ToolsTest):
    generated = ("fix",)

    def test_executions_and_their_calls_are_spans_of_opentelemetry(self):
        for answer in ("allow", "deny"):
            execution = self.cellgate.execute(ECHO + f"tool_1.run(s='{answer}')")
            self.cellgate.respond(self.cellgate.approval(), answer)
            execution.result()
        self.cellgate.request("record/verify")  # what happened is stored
        (line,) = command(self.workspace, "export", "--otlp").stdout.splitlines()
        (resource,) = json.loads(line)["resourceSpans"]
        attributes = {each["key"]: each["value"]["stringValue"] for each in resource["resource"]["attributes"]}
        self.assertEqual(attributes, {"service.name": "cellgate", "cellgate.workspace": str(self.workspace.path)})
        spans = resource["scopeSpans"][0]["spans"]
        executions = [span for span in spans if span["name"].startswith("execute ")]
        calls = [span for span in spans if span["name"] == "tool tool-1 of fix"]
        self.assertEqual([span["status"]["code"] for span in executions], [1, 2])
        self.assertEqual([span["status"]["code"] for span in calls], [1, 2])
        for execution, call in zip(executions, calls):
            self.assertEqual((call["traceId"], call["parentSpanId"]), (execution["traceId"], execution["spanId"]))
            self.assertRegex(call["traceId"] + " " + call["spanId"], "^[0-9a-f]{32} [0-9a-f]{16}$")
            times = [int(each) for each in (execution["startTimeUnixNano"], call["startTimeUnixNano"],
                                            call["endTimeUnixNano"], execution["endTimeUnixNano"])]
            self.assertEqual(times, sorted(times))
        again = command(self.workspace, "export", "--otlp").stdout
        self.assertEqual(again, line + "\n")


class TraceContext(WorkspaceTest):
    CALL = "from mcptools.fix import environment\nprint(environment.run())"

    def server_s_meta(self):
        """What the tool server gets with a call of a cell."""
        with Sidecar(self.workspace, options={"mcpServers": {"fix": fixture_server()}}) as cellgate:
            cellgate.request("wrappers/generate", {"server": "fix"})
            return json.loads(cellgate.run(self.CALL, approvals="allow").text())["meta"]

    def test_a_tool_server_gets_the_ids_that_the_export_has_if_the_user_wants_that(self):
        self.assertNotIn("traceparent", self.server_s_meta())  # the control: the default
        write_settings(self.workspace, traceContext=True)
        version, trace, span, flags = self.server_s_meta()["traceparent"].split("-")
        self.assertEqual((version, flags), ("00", "01"))
        (line,) = command(self.workspace, "export", "--otlp").stdout.splitlines()
        spans = json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]
        (call,) = [each for each in spans if each["spanId"] == span]
        self.assertEqual((call["traceId"], call["name"]), (trace, "tool environment of fix"))
        (execution,) = [each for each in spans if each["spanId"] == call["parentSpanId"]]
        self.assertEqual((execution["traceId"], execution["name"]), (trace, "execute from mcptools.fix import environment"))


class Later(WorkspaceTest):
    """Once the sidecar has ended: by the command line, and by a verifier that knows only the format."""

    def setUp(self):
        super().setUp()
        self.workspace.write("a.txt", "a")

    def run_once(self, code):
        with Sidecar(self.workspace) as cellgate:
            return cellgate.run(code).id

    def test_sidecars_go_on_with_the_record_of_earlier_ones(self):
        first, second = self.run_once("'one'"), self.run_once("'two'")
        listed = command(self.workspace, "list")
        self.assertIn("runs: 'one'", listed.stdout)
        self.assertLess(listed.stdout.index("'one'"), listed.stdout.index("'two'"))
        exported = [json.loads(line) for line in command(self.workspace, "export").stdout.splitlines()]
        self.assertEqual([entry["seq"] for entry in exported], list(range(len(exported))))
        self.assertEqual([entry["executionId"] for entry in exported if entry["type"] == "execution.started"],
                         [first, second])
        of_one = command(self.workspace, "export", "--execution", first).stdout.splitlines()
        self.assertEqual({json.loads(line)["executionId"] for line in of_one}, {first})
        shown = json.loads(command(self.workspace, "show", str(exported[-1]["seq"])).stdout)
        self.assertEqual(shown, exported[-1])
        verified = command(self.workspace, "verify")
        self.assertEqual((verified.returncode, verified.stderr), (0, ""))
        self.assertIn(f"{len(exported)} entries, as they were written", verified.stdout)
        independent = subprocess.run([sys.executable, "-B", Path(__file__).with_name("record_verifier.py"),
                                      database_of(self.workspace).parent], text=True, capture_output=True)
        self.assertEqual(independent.stdout, f"ok: {len(exported)} entries, 0 removed\n")

    def test_one_entry_proves_itself_without_the_others(self):
        self.run_once("'one'")
        folder = database_of(self.workspace).parent
        proof = json.loads(command(self.workspace, "prove", "2", "--json").stdout)
        self.assertEqual(json.loads(proof["entry"]), json.loads(command(self.workspace, "show", "2").stdout))
        words = command(self.workspace, "prove", "2")
        for each in (proof["leaf"], proof["root"], proof["checkpoint"], *proof["path"]):
            self.assertIn(each, words.stdout)

        def check(changed):
            file = self.workspace.write("proof.json", json.dumps(changed))
            return subprocess.run([sys.executable, "-B", Path(__file__).with_name("record_verifier.py"), "--proof",
                                   folder / "record.pub", file], text=True, capture_output=True)

        self.assertEqual(check(proof).stdout, f"ok: entry 2 is one of {proof['size']}\n")
        self.assertEqual(check({**proof, "entry": proof["entry"].replace("2", "3")}).returncode, 1)
        self.assertEqual(check({**proof, "path": proof["path"][::-1]}).returncode, 1)
        missing = command(self.workspace, "prove", "100000")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("expected the number of an entry", missing.stderr)

    def test_the_end_of_a_sidecar_closes_its_sessions(self):
        with Sidecar(self.workspace) as cellgate:
            cellgate.session("one")
            cellgate.session("two")
        exported = [json.loads(line) for line in command(self.workspace, "export").stdout.splitlines()]
        for session in ("one", "two"):
            types = [entry["type"] for entry in exported
                     if entry.get("sessionId") == session and "action" not in entry["type"]]
            self.assertEqual(types, ["session.created", "kernel.started", "kernel.ended", "session.closed"])

    def test_one_changed_byte_is_found_and_named(self):
        self.run_once("'harmless'")
        path = database_of(self.workspace)
        database = sqlite3.connect(path)
        ((seq,),) = database.execute("SELECT seq FROM entries WHERE json LIKE '%execution.started%'").fetchall()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        bytes_ = path.read_bytes()
        self.assertEqual(bytes_.count(b"'harmless'"), 1)
        path.write_bytes(bytes_.replace(b"'harmless'", b"'harmlesz'"))
        found = command(self.workspace, "verify")
        self.assertEqual(found.returncode, 1)
        self.assertIn(f"entry {seq} was changed", found.stderr)
        path.write_bytes(bytes_)
        self.assertEqual(command(self.workspace, "verify").returncode, 0)

    def test_a_record_that_was_cut_is_found_by_a_checkpoint_kept_elsewhere(self):
        kept = self.workspace.path / "kept"
        write_settings(self.workspace, checkpointCopy=str(kept))
        self.run_once("'a'")
        with sqlite3.connect(database_of(self.workspace)) as database:
            for table, column in (("entries", "seq"), ("checkpoints", "size")):
                database.execute(f"DELETE FROM {table} WHERE {column} >= 2")
        database.close()
        self.assertEqual(command(self.workspace, "verify").returncode, 0)  # the control
        found = command(self.workspace, "verify", "--checkpoint", str(kept))
        self.assertEqual(found.returncode, 1)
        self.assertIn("the record ends at", found.stderr)

    def test_it_is_where_xdg_state_home_says(self):
        moved = self.workspace.base / "moved"
        with Sidecar(self.workspace, environment=self.workspace.environment(XDG_STATE_HOME=str(moved))) as cellgate:
            cellgate.run("1")
        self.assertEqual(len(list(moved.glob("cellgate/records/*/record.sqlite"))), 1)
        self.assertFalse((self.workspace.home / ".local/state").exists())
        with self.assertRaises(ValueError):
            database_of(self.workspace)

    def test_two_sidecars_of_a_workspace_share_it(self):
        with Sidecar(self.workspace) as one, Sidecar(self.workspace) as two:
            executions = [sidecar.run("1").id for _ in range(5) for sidecar in (one, two)]
            two.request("record/verify")  # what it has to write is written
            found = one.request("record/query", {"types": ["execution.started"]})["entries"]
            found.sort(key=lambda entry: entry["time"])  # each writes what happened within 50 ms at a time
            self.assertEqual([entry["executionId"] for entry in found], executions)
        self.assertEqual(command(self.workspace, "verify").returncode, 0)

    def test_what_is_beyond_the_size_to_keep_goes_and_the_rest_verifies(self):
        with Sidecar(self.workspace) as cellgate:
            cellgate.request("wrappers/generate", {"server": "host"})
            cellgate.run("from mcptools.host import read_file\nfor i in range(200):\n    read_file.run(path='a.txt')",
                         approvals="allow")
            entries = cellgate.request("record/query")["entries"][0]["seq"]
        self.assertGreater(entries, 400)
        write_settings(self.workspace, maxBytes=1)
        with Sidecar(self.workspace) as cellgate:
            wait_until(lambda: cellgate.request("record/query", {"types": ["record.pruned"]})["entries"], "it to go")
            left = cellgate.request("record/query", {"limit": 1000})["entries"]
            self.assertEqual(left[-1]["seq"], entries // 256 * 256)
        self.assertIn("of them are pruned", command(self.workspace, "verify").stdout)

    def test_without_a_record_the_command_says_so(self):
        found = command(self.workspace, "list")
        self.assertEqual(found.returncode, 1)
        self.assertIn("no record", found.stderr)
        self.assertIn("expected a time such as", command(self.workspace, "list", "--since", "yesterday").stderr)


class ThatCannotBeWritten(WorkspaceTest):
    """By default work goes on, and the record says what it missed; a user may want nothing to run then."""

    def broken(self, **settings):
        write_settings(self.workspace, **settings)
        with Sidecar(self.workspace) as cellgate:
            cellgate.run("1")
        path = database_of(self.workspace)
        path.unlink()
        path.mkdir()
        cellgate = self.sidecar()
        cellgate.request("wrappers/generate", {"server": "host"})
        self.workspace.write("notes.txt", "read")
        return cellgate

    HOST = "from mcptools.host import read_file\nprint(read_file.run(path='notes.txt').content)"

    def test_goes_on_and_says_so(self):
        cellgate = self.broken()
        execution = cellgate.run(self.HOST, approvals="allow")
        self.assertEqual(execution.text(), "read\n")
        self.assertIn("cannot", cellgate.request("record/query")["problem"])
        self.assertIn("is not recorded", cellgate.log())

    def test_denies_what_a_user_wants_recorded(self):
        cellgate = self.broken(required=True)
        execution = cellgate.run(self.HOST, approvals="allow")
        self.assertIn("it cannot be recorded", execution.result()["error"]["evalue"])
        self.assertIn("cannot", cellgate.request("record/query")["problem"])
        self.assertEqual(execution.text(), "")


class OfAnAgent(McpTest):
    def test_is_its_own_executions_alone(self):
        editor = self.editor(options=FIX)
        mine = editor.run("1").id
        stranger = self.agent()
        theirs = stranger.run("2").id
        self.assertEqual({entry["executionId"] for entry in
                          stranger.request("record/query", {"executionId": theirs})["entries"]}, {theirs})
        for params in ({}, {"executionId": mine}, {"sessionId": "default"}):
            with self.assertRaises(RpcError) as refused:
                stranger.request("record/query", params)
            self.assertEqual(refused.exception.code, 1013)
        with self.assertRaises(RpcError):
            stranger.request("record/verify")
        agent = self.mcp(name="scribe")
        execution = details_of(agent.call("execute", code="3", details=True))["execution_id"]
        (started,) = editor.request("record/query", {"executionId": execution, "types": ["execution.started"]})["entries"]
        self.assertEqual((started["actor"], started["data"]["agent"]), ("agent", "scribe"))


if __name__ == "__main__":
    unittest.main()
