"""Functions that a user keeps as tools: `host/save_tool`, and the tool server `saved`."""

import contextlib
import json
import unittest

from cellgate_client import WorkspaceSidecarTest, WorkspaceTest, arguments_of
from cli_testing import CliTest
from executions import RpcError
from tools_testing import ToolsTest, fixture_server, text_of

TOTAL = '''
from typing import Literal, Optional

def total(prices: list[float], currency: Literal["EUR", "USD"] = "EUR", note: Optional[str] = None) -> dict[str, float]:
    """Adds prices up.

    Args:
        prices: of all items
    """
    print("adding", len(prices))
    return {currency: sum(prices)}
'''
# `tool_2` of the fixture server answers with its argument.
ECHO = '''
from mcptools.fix import tool_2

def echo(text: str):
    return tool_2.run(s=text)
'''


class SavedToolsTest(ToolsTest):
    def save(self, name, code, **more):
        result = self.call("host", "save_tool", {"name": name, "code": code, **more})
        self.assertNotIsInstance(result, RpcError, result)
        self.assertFalse(result.get("isError"), text_of(result))
        self.addCleanup(self.remove, name)
        return result

    def remove(self, name):
        return self.call("host", "remove_tool", {"name": name})

    def saved_is_listed(self):
        return "saved" in [each["name"] for each in self.cellgate.request("toolServers/list")["servers"]]


class SavedTools(SavedToolsTest):
    # --- saving

    def test_a_function_is_saved_after_a_yes_to_all_of_it(self):
        self.assertFalse(self.saved_is_listed())
        result = self.save("total", TOTAL, rules=["allow fix/tool_2"], test={"prices": [1.5, 2]})
        shown = "\n".join(self.approval["display"])
        for line in ("  | def total(prices: list[float]", "  |     return {currency: sum(prices)}", 'rules: ["allow fix/tool_2"]'):
            self.assertIn(line, shown)
        self.assertEqual([each["label"] for each in self.approval["choices"] if each.get("rule")], [], self.approval)
        found = result["structuredContent"]
        self.assertEqual(found["value"], {"EUR": 3.5})
        self.assertEqual(found["inputSchema"], {
            "type": "object", "required": ["prices"], "additionalProperties": False, "properties": {
                "prices": {"type": "array", "items": {"type": "number"}, "description": "of all items"},
                "currency": {"enum": ["EUR", "USD"], "default": "EUR"},
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}}})
        self.assertEqual(found["outputSchema"]["properties"]["result"],
                         {"type": "object", "additionalProperties": {"type": "number"}})
        self.assertTrue(self.saved_is_listed())
        [tool] = self.cellgate.request("tools/search", {"query": "add up the prices"})["tools"][:1]
        self.assertEqual((tool["server"], tool["tool"]), ("saved", "total"))
        again = self.save("total", TOTAL)
        self.assertTrue(again["structuredContent"]["replaced"])
        self.assertIn("replaces the tool saved before", text_of(again))
        self.assertNotIn("replaces", text_of(result))
        self.remove("total")
        self.assertFalse(self.saved_is_listed())

    def test_what_cannot_be_saved_is_refused_before_anybody_is_asked(self):
        for payload, reason in (
                ({"name": "no name", "code": "x"}, "the name of a function"),
                ({"name": "../x", "code": "x"}, "the name of a function"),
                ({"name": "totl", "code": TOTAL}, "Did you mean total?"),
                ({"name": "x", "code": "x", "rules": ["allow everything"]}, "everything"),
                ({"name": "x", "code": "x", "rules": ["allow host/read_file nothing=1"]}, "nothing"),
                ({"name": "x", "code": "x", "rules": ["allow fix/tool_2 --uses 3"]}, "--uses"),
                ({"name": "x", "code": "x", "rules": ["allow saved/other"]}, "calls no saved tool"),
                ({"name": "x", "code": "x", "rules": ["allow another/tool"]}, "no tool server")):
            with self.subTest(payload):
                error = self.call("host", "save_tool", payload)
                self.assertIsInstance(error, RpcError)
                self.assertIsNone(self.approval)
                self.assertIn(reason, str(error))

    def test_code_that_is_no_tool_is_not_saved(self):
        for code, test, reason in (
                ("bad = 1", None, "defines no function bad"),
                ("def bad(*values): pass", None, "*values has none"),
                ("1 / 0  # bad", None, "ZeroDivisionError: division by zero (line 1)"),
                ("\n\ndef bad(n: int):\n    return 1 / n", {"n": 0}, "(line 4)"),
                ("def bad(): return object()", {}, "which JSON does not have"),
                ("def bad(): print('x' * 17_000_000)", {}, "is more than"),
                ("%%writefile other.py\ndef bad(): pass", {}, "its code ends before")):
            with self.subTest(code):
                payload = {"name": "bad", "code": code, **({} if test is None else {"test": test})}
                result = self.call("host", "save_tool", payload)
                self.assertTrue(result["isError"])
                self.assertIn(reason, text_of(result))
                self.assertFalse(self.saved_is_listed())

    def test_a_no_saves_nothing(self):
        error = self.call("host", "save_tool", {"name": "total", "code": TOTAL}, "deny")
        self.assertEqual(error.code, 1014)
        self.assertFalse(self.saved_is_listed())

    def test_no_rule_covers_what_was_not_shown(self):
        self.assert_error(1015, self.cellgate.request, "policy/add",
                          {"scope": "always", "rule": {"effect": "allow", "kind": "host", "tool": "save_tool"}})

    # --- calling

    def test_it_is_called_from_a_cell(self):
        self.save("total", TOTAL)
        self.cellgate.request("wrappers/generate", {"server": "saved"})
        execution = self.cellgate.execute("from mcptools.saved import total\n"
                                          "print(total.run(prices=[1, 2], currency='USD').result)")
        asked = self.cellgate.approval()
        self.assertEqual((asked["action"]["server"], asked["action"]["tool"]), ("saved", "total"))
        self.assertEqual(asked["origin"]["line"], 1)
        self.cellgate.allow(asked)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertIn("3", execution.text())
        self.assertNotIn("adding", execution.text())

    def test_arguments_that_do_not_fit_its_signature_reach_no_code(self):
        self.save("total", TOTAL)
        error = self.call("saved", "total", {"prices": "all"})
        self.assertEqual(error.code, 1020)

    def test_it_runs_where_nothing_else_has_run(self):
        self.run_ok("secret = 41")
        self.save("look", "def look():\n    return 'secret' in globals()")
        for _ in range(2):
            result = self.call("saved", "look", {})
            self.assertEqual(result["structuredContent"], {"result": False})
        self.assertEqual([s["sessionId"] for s in self.cellgate.request("session/list")["sessions"] if "saved" in s["sessionId"]], [])
        ends = [each for each in self.cellgate.notifications["session/changed"]
                if each["sessionId"].startswith("saved-") and each["status"] == "dead"]
        self.assertGreaterEqual(len(ends), 3)
        self.assertEqual([each for each in ends if "reason" in each], [])  # editors do not warn of these
        ran = self.cellgate.request("record/query", {"types": ["execution.started"]})["entries"][:2]
        self.assertEqual([each["data"]["savedTool"] for each in ran], ["look", "look"])  # one each, of the tool's code

    def test_modules_of_the_workspace_which_any_code_writes_are_not_imported(self):
        self.workspace.write("statistics.py", "where = 'the workspace'")
        self.addCleanup((self.workspace.path / "statistics.py").unlink)
        code = "import os, statistics\ndef where(): return [hasattr(statistics, 'where'), os.getcwd()]"
        self.save("where", code)
        self.assertEqual(self.call("saved", "where", {})["structuredContent"]["result"], [False, str(self.workspace.path)])
        self.cellgate.session("fresh")
        control = self.run_ok("import statistics\nprint(statistics.where)", sessionId="fresh")
        self.assertEqual(control.text(), "the workspace\n")

    def test_arguments_are_what_the_hints_say(self):
        self.save("kinds", """
import dataclasses, datetime, enum
from pathlib import Path
class Colour(enum.Enum):
    RED = "red"
@dataclasses.dataclass
class Order:
    count: int
    day: datetime.date = datetime.date(2026, 1, 1)
def kinds(order: Order, colour: Colour, paths: list[Path], more: Order | None = None) -> list[str]:
    return [repr(order.count * 2), repr(order.day), colour.name, paths[0].name, repr(more)]
""")
        result = self.call("saved", "kinds", {"order": {"count": 2, "day": "2026-02-03"}, "colour": "red", "paths": ["a/b"]})
        self.assertEqual(result["structuredContent"]["result"], ["4", "datetime.date(2026, 2, 3)", "RED", "b", "None"])
        error = self.call("saved", "kinds", {"order": {}, "colour": "red", "paths": []})
        self.assertIn("count", str(error))
        error = self.call("saved", "kinds", {"order": {"count": 1}, "colour": "blue", "paths": []})
        self.assertEqual(error.code, 1020)

    def test_an_async_function(self):
        self.save("later", "import asyncio\nasync def later(n: int) -> int:\n    await asyncio.sleep(0)\n    return n + 1")
        self.assertEqual(self.call("saved", "later", {"n": 1})["structuredContent"], {"result": 2})

    def test_an_error_is_told_with_its_line(self):
        self.save("fails", "def fails():\n    raise ValueError('no such plan')")
        result = self.call("saved", "fails", {})
        self.assertTrue(result["isError"])
        self.assertIn("ValueError: no such plan (line 2)", text_of(result))

    def test_an_interrupt_of_the_cell_ends_the_run(self):
        self.save("waits", "import time\ndef waits():\n    time.sleep(1000)")
        self.cellgate.request("wrappers/generate", {"server": "saved"})
        execution = self.cellgate.execute("from mcptools.saved import waits\nwaits.run()")
        self.cellgate.allow(self.cellgate.approval())

        def runs():
            return [s for s in self.cellgate.request("session/list")["sessions"] if "saved" in s["sessionId"]]

        self.cellgate.wait(lambda: any(s["status"] == "busy" for s in runs()), "the run")
        self.cellgate.request("execute/cancel", {"executionId": execution.id})
        execution.result()
        self.cellgate.wait(lambda: not runs(), "the end of the run")

    def test_a_call_that_is_cancelled_at_once_leaves_no_run(self):
        self.save("one", "def one():\n    return 1")
        for _ in range(3):
            pending = self.cellgate.start("tools/call", {"server": "saved", "tool": "one", "arguments": {}})
            self.cellgate.allow(self.cellgate.approval())
            self.cellgate.notify("$/cancelRequest", {"id": pending.id})
            with contextlib.suppress(RpcError):
                pending.result()
        self.cellgate.wait(lambda: not [s for s in self.cellgate.request("session/list")["sessions"] if "saved" in s["sessionId"]],
                           "the end of the runs")

    # --- its own rules

    def test_its_rules_count_in_its_runs_and_for_nothing_else(self):
        self.save("echo", ECHO, rules=["allow fix/tool_2"])
        result = self.call("saved", "echo", {"text": "hello"})  # the control: the call itself is asked about, no other one
        self.assertIn("hello", json.dumps(result["structuredContent"]))
        execution = self.cellgate.execute("from mcptools.fix import tool_2\ntool_2.run(s='hello')")
        self.cellgate.deny(self.cellgate.approval())
        self.assert_denied(execution, "")

    def test_its_rules_can_be_those_of_an_execution_which_are_shown(self):
        execution = self.cellgate.execute("from mcptools.fix import tool_2\nfrom mcptools.host import read_file\n"
                                          "tool_2.run(s='x')\ntool_2.run(s='y')\nread_file.run(path='a.txt')")
        for _ in range(3):
            self.cellgate.allow(self.cellgate.approval())
        execution.result()
        self.save("echo", ECHO, rulesOf=[execution.id])
        self.assertEqual(arguments_of(self.approval)["rules"], ["allow fix/tool_2", "allow host/read_file path=a.txt"])
        self.assertNotIn("rulesOf", arguments_of(self.approval))
        self.call("saved", "echo", {"text": "hello"})

    def test_without_a_rule_each_call_of_a_run_is_asked_about(self):
        self.save("echo", ECHO)
        pending = self.cellgate.start("tools/call", {"server": "saved", "tool": "echo", "arguments": {"text": "hello"}})
        self.cellgate.allow(self.cellgate.approval())
        asked = self.cellgate.approval()
        self.assertEqual((asked["action"]["server"], asked["action"]["tool"]), ("fix", "tool_2"))
        self.assertEqual(asked["origin"]["text"].strip(), "return tool_2.run(s=text)")
        self.cellgate.deny(asked)
        self.assertIn("ApprovalDenied", text_of(pending.result()))

    def test_other_code_is_another_tool_to_stored_rules(self):
        self.save("number", "def number():\n    return 1")
        self.call("saved", "number", {}, rule={"effect": "allow", "kind": "tool", "server": "saved", "tool": "number"}, scope="always")
        self.call("saved", "number", {})
        self.assertIsNone(self.approval)
        self.save("number", "def number():\n    return 2")
        self.assertEqual(self.call("saved", "number", {})["structuredContent"], {"result": 2})
        self.assertIsNotNone(self.approval)

    def test_a_cell_that_asks_nobody_asks_nobody_by_way_of_a_tool(self):
        self.save("echo", ECHO)
        self.cellgate.request("wrappers/generate", {"server": "saved"})
        self.cellgate.request("policy/add", {"scope": "workspace", "rule": {"effect": "allow", "kind": "tool", "server": "saved"}})
        execution = self.cellgate.execute("from mcptools.saved import echo\necho.run(text='x')", approvals="deny")
        self.assertEqual(execution.result()["status"], "error")
        self.assertIn("no user is asked", json.dumps(execution.result()))

    def test_a_saved_tool_calls_no_saved_tool(self):
        self.save("one", "def one():\n    return 1")
        self.cellgate.request("wrappers/generate", {"server": "saved"})
        self.save("two", "from mcptools.saved import one\ndef two():\n    return one.run().result")
        pending = self.cellgate.start("tools/call", {"server": "saved", "tool": "two", "arguments": {}})
        for _ in range(2):
            self.cellgate.allow(self.cellgate.approval())
        self.assertIn("calls no saved tool", text_of(pending.result()))


class OtherServer(SavedToolsTest):
    def test_its_rules_do_not_count_for_another_server_of_the_name(self):
        self.save("echo", ECHO, rules=["allow fix/tool_2"])
        self.cellgate.request("toolServers/add", {"server": "fix", "config": fixture_server(env={"OTHER": "1"})})
        pending = self.cellgate.start("tools/call", {"server": "saved", "tool": "echo", "arguments": {"text": "hello"}})
        self.cellgate.allow(self.cellgate.approval())
        asked = self.cellgate.approval()
        self.assertEqual((asked["action"]["kind"], asked["action"]["server"]), ("tool", "fix"))
        self.cellgate.deny(asked)
        pending.result()


NUMBER = {"name": "number", "code": "def number():\n    return 1"}


class Kept(WorkspaceTest):
    def test_it_stays_for_this_workspace(self):
        for last in (False, True):
            cellgate = self.sidecar()
            servers = {each["name"]: each for each in cellgate.request("toolServers/list")["servers"]}
            if last:
                self.assertEqual([each["name"] for each in servers["saved"]["tools"]], ["number"])
            else:
                self.assertNotIn("saved", servers)
                pending = cellgate.start("tools/call", {"server": "host", "tool": "save_tool", "arguments": NUMBER})
                cellgate.allow(cellgate.approval())
                pending.result()
            cellgate.close()


class AtATerminal(CliTest):
    def test_its_rules_come_from_the_record_of_a_run_that_has_ended(self):
        (self.workspace.path / "notes.txt").write_text("kept")
        self.cli("generate", "host")
        script = self.script("from mcptools.host import read_file\n# %%\ndef notes():\n"
                             "    return read_file.run(path='notes.txt').content\n# %%\nprint(notes())\n", "notes.py")
        ran = self.cli("run", "--allow", "host/read_file path=notes.txt", script)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        lines = self.cli("record", "export", "--root", str(self.workspace.path), rooted=False).stdout.splitlines()
        decided = [entry for entry in map(json.loads, lines) if entry["type"] == "action.decided"][-1]
        for named in (str(decided["seq"]), decided["executionId"]):
            terminal = self.terminal("save", "--rules-of", named, script, "notes")
            terminal.expect(r"allow host/read_file")
            terminal.expect("your answer: ")
            terminal.type("d")
            terminal.expect("why")
            terminal.type("not now")
            self.assertEqual(terminal.wait_end(), 1)
        for named, why in (("0", "belongs to no execution"), ("none", 'the record has no execution "none"')):
            refused = self.cli("save", "--rules-of", named, script, "notes")
            self.assertEqual(refused.returncode, 1)
            self.assertIn(why, refused.stderr)


class OfAgents(WorkspaceSidecarTest):
    def test_an_agent_saves_and_calls_what_a_user_agrees_to(self):
        editor = self.editor()
        agent = self.agent()
        for server, tool, payload in (("host", "save_tool", NUMBER), ("saved", "number", {})):
            pending = agent.start("tools/call", {"server": server, "tool": tool, "arguments": payload})
            asked = editor.approval()
            self.assertIn("agent", asked)
            editor.allow(asked)
            result = pending.result()
            self.assertFalse(result.get("isError"), result)
        self.assertEqual(result["structuredContent"], {"result": 1})

    def test_no_client_uses_the_session_of_a_run(self):
        editor = self.editor(options={"mcpServers": {"fix": fixture_server()}})
        agent = self.agent()
        for server in ("fix", "host"):
            editor.request("wrappers/generate", {"server": server})
        pending = editor.start("tools/call", {"server": "host", "tool": "save_tool", "arguments": {
            "name": "echo", "code": "from mcptools.host import read_file\n" + ECHO.replace(
                "return", "read_file.run(path='a.txt')\n    return"), "rules": ["allow fix/tool_2"]}})
        editor.allow(editor.approval())
        self.assertFalse(pending.result().get("isError"), pending.result())
        call = editor.start("tools/call", {"server": "saved", "tool": "echo", "arguments": {"text": "x"}})
        editor.allow(editor.approval())
        waits = editor.approval()  # host/read_file, which no rule covers
        run = waits["sessionId"]
        for client in (agent, editor):
            for method, params in (("tools/call", {"server": "fix", "tool": "tool_2", "arguments": {"s": "x"}, "sessionId": run}),
                                   ("execute", {"code": "1", "sessionId": run}),
                                   ("session/restart", {"sessionId": run})):
                with self.subTest(method), self.assertRaises(RpcError) as refused:
                    client.request(method, params)
                self.assertEqual(refused.exception.code, 1013)
        editor.deny(waits)
        call.result()

    def test_what_a_user_wants_to_see_first_does_not_reach_an_agent_by_way_of_a_tool(self):
        self.workspace.write("notes.txt", "private")
        editor = self.editor()
        agent = self.agent()
        code = "from mcptools.host import read_file\ndef notes():\n    return read_file.run(path='notes.txt').content"
        editor.request("wrappers/generate", {"server": "host"})
        pending = editor.start("tools/call", {"server": "host", "tool": "save_tool", "arguments": {
            "name": "notes", "code": code, "rules": ["allow host/read_file"]}})
        editor.allow(editor.approval())
        pending.result()
        editor.request("policy/add", {"scope": "workspace", "rule": {"effect": "review", "kind": "host", "tool": "read_file"}})
        call = agent.start("tools/call", {"server": "saved", "tool": "notes", "arguments": {}})
        editor.allow(editor.approval())
        shown = editor.approval()
        self.assertEqual(shown["action"]["kind"], "output")
        self.assertIn("private", "\n".join(shown["display"]))
        editor.deny(shown)
        with self.assertRaises(RpcError) as refused:
            call.result()
        self.assertNotIn("private", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
