"""Tool calls as ipybox's and mcpygen's own tests make them, over stdio. IPYBOX.md says which case is where."""

import json
import unittest

from cellgate_client import arguments_of
from processes import TIMEOUT, wait_until
from tools_testing import ToolsTest, fixture_server, text_of


class Calls(ToolsTest):
    def test_the_package_has_a_module_for_each_tool_and_each_can_be_called_both_ways(self):
        modules = {module["tool"]: module["module"] for module in self.modules["fix"]["modules"]}
        self.assertLessEqual({("tool-1", "mcptools.fix.tool_1"), ("tool_2", "mcptools.fix.tool_2"),
                              ("tool_3", "mcptools.fix.tool_3")}, set(modules.items()))
        for path in ("__init__.py", "tool_1.py", "tool_2.py", "tool_3.py"):
            self.assertTrue((self.workspace.path / "mcptools/fix" / path).is_file())
        code = ("from mcptools.fix import tool_1, tool_2, tool_3\n"
                "print({0}tool_1.{1}(s='hello'))\nprint({0}tool_2.{1}(s='hello', delay=None))\n"
                "r = {0}tool_3.{1}(name='test', level=3)\n"
                "print(type(r).__name__, r.status, r.count, r.inner.code, r.inner.details)\n")
        expected = ("You passed to tool 1: hello\nYou passed to tool 2: hello\n"
                    "Result completed_test 4 300 Processing test at level 3\n")
        before = self.cellgate.asked()
        for awaiting, run in (("", "run"), ("await ", "run_async")):
            with self.subTest(run):
                execution = self.run_ok(code.format(awaiting, run), approvals="allow")
                self.assertEqual(execution.text(), expected)
        self.assertEqual(self.cellgate.asked(), before)

    def test_a_question_names_server_tool_and_arguments_as_the_server_does(self):
        execution = self.cellgate.execute("from mcptools.fix import tool_1, tool_2\n"
                                          "print(tool_1.run(s='one'))\nprint(tool_2.run(s='two'))")
        for tool, text in (("tool-1", "one"), ("tool_2", "two")):
            approval = self.cellgate.approval()
            action = approval["action"]
            self.assertEqual((action["server"], action["tool"], arguments_of(approval)),
                             ("fix", tool, {"s": text}))
            self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(execution.text(), "You passed to tool 1: one\nYou passed to tool 2: two\n")

    def test_a_no_names_its_reason_and_the_cell_ends(self):
        execution = self.cellgate.execute("from mcptools.fix import tool_1\nprint('before')\ntool_1.run(s='x')\n"
                                          "print('after')")
        self.cellgate.deny(self.cellgate.approval(), reason="rejected by the user")
        self.assert_denied(execution, "rejected by the user")
        self.assertEqual(execution.text(), "before\n")

    def test_a_rule_asks_nobody(self):
        rule = {"effect": "allow", "kind": "tool", "server": "fix"}
        self.cellgate.request("policy/add", {"scope": "workspace", "rule": rule})
        before = self.cellgate.asked()
        self.assertIn("tool 1: x", self.run_ok("from mcptools.fix import tool_1\nprint(tool_1.run(s='x'))").text())
        self.assertEqual(self.cellgate.asked(), before)

    def test_answers_to_calls_at_the_same_time_reach_their_own_call(self):
        execution = self.cellgate.execute(
            "import asyncio\nfrom mcptools.fix import tool_1\n"
            "print(*await asyncio.gather(*(tool_1.run_async(s=str(i)) for i in range(8)), return_exceptions=True),"
            " sep='\\n')")
        for approval in reversed(self.cellgate.approvals(8)):
            number = int(arguments_of(approval)["s"])
            if number % 2:
                self.cellgate.deny(approval, reason=f"not {number}")
            else:
                self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(execution.text().splitlines(),
                         [f"not {i}" if i % 2 else f"You passed to tool 1: {i}" for i in range(8)])

    def test_output_before_a_call_is_there_while_the_question_waits(self):
        execution = self.cellgate.execute("from mcptools.fix import tool_1\nprint('before')\ntool_1.run(s='x')\n"
                                          "print('after')")
        approval = self.cellgate.approval()
        execution.wait_for_text("before\n")
        self.assertNotIn("after", execution.text())
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(execution.text(), "before\nafter\n")

    def test_the_tools_own_name_is_its_only_one(self):
        self.assertIn("tool 1: x", text_of(self.call("fix", "tool-1", {"s": "x"})))
        wrong = self.call("fix", "tool_1", {"s": "x"})
        self.assertEqual(wrong.code, 1019)
        self.assertIn("tool-1", wrong.hint)

    def test_what_cannot_be_called_is_an_error_and_the_next_call_works(self):
        for server, tool, arguments, code in (("fix", "no_such_tool", {}, 1019), ("nobody", "x", {}, 1017),
                                              ("fix", "tool-1", {}, 1020), ("fix", "tool-1", {"s": 5}, 1020),
                                              ("fix", "tool_3", {"name": "a", "level": "x"}, 1020)):
            with self.subTest((server, tool, arguments)):
                self.assertEqual(self.call(server, tool, arguments).code, code)
                self.assertIsNone(self.approval)  # no user was asked about what cannot be
        self.assertIn("tool 1: x", text_of(self.call("fix", "tool-1", {"s": "x"})))

    def test_pictures_reach_the_code(self):
        execution = self.run_ok("from mcptools.fix import image\nblocks = image.run()\n"
                                "print([block.mime_type for block in blocks])\nblocks[0]", approvals="allow")
        self.assertEqual(execution.text(), "['image/png']\n")
        self.assertIn("image/png", execution.data())


class Cancelling(ToolsTest):
    generated = ("fix",)

    @classmethod
    def prepare(cls):
        cls.log = cls.workspace.path / "received.jsonl"
        server = fixture_server()
        server["args"] = [*server["args"], "--log", str(cls.log)]
        cls.options = {"mcpServers": {"fix": server}}

    def received(self, method):
        messages = map(json.loads, self.log.read_text().splitlines())
        return [message for message in messages if message.get("method") == method]

    def begin(self, **params):
        """A cell whose call of a tool that never answers is under way."""
        calls = len(self.received("tools/call"))
        execution = self.cellgate.execute("from mcptools.fix import hang\nhang.run()", approvals="allow", **params)
        wait_until(lambda: len(self.received("tools/call")) > calls, "the server to be called")
        return execution, self.received("tools/call")[-1]["id"]

    def assert_withdrawn(self, request):
        def withdrawn():
            return any(message["params"]["requestId"] == request
                       for message in self.received("notifications/cancelled"))
        wait_until(withdrawn, "the server's notification")

    def test_a_cancelled_cell_cancels_its_call_at_the_server(self):
        execution, request = self.begin()
        self.cellgate.request("execute/cancel", {"executionId": execution.id})
        self.assertEqual(execution.result()["status"], "cancelled")
        self.assert_withdrawn(request)

    def test_a_call_that_outlives_its_cell_is_listed_and_cancelled(self):
        calls = len(self.received("tools/call"))
        rule = {"kind": "tool", "server": "fix", "tool": "hang", "effect": "allow"}
        self.cellgate.run("1")
        self.cellgate.request("policy/add", {"rule": rule, "scope": "session", "sessionId": "default"})
        self.cellgate.run("import threading\nfrom mcptools.fix import hang\n"
                          "def work():\n    try: hang.run()\n    except Exception as problem: global error; error = problem\n"
                          "thread = threading.Thread(target=work)\nthread.start()")
        wait_until(lambda: len(self.received("tools/call")) > calls, "the server to be called")
        past = self.cellgate.request("policy/decisions")["decisions"][0]
        self.assertEqual((past["action"]["tool"], past.get("cancellable"), past.get("outcome")), ("hang", True, None))
        self.cellgate.request("action/cancel", {"number": past["number"]})
        self.assert_withdrawn(self.received("tools/call")[-1]["id"])
        execution = self.cellgate.run("thread.join()\nprint(type(error).__name__, error)")
        self.assertEqual(execution.text(), "ToolCallError fix.hang: a user cancelled this call\n")
        ended = self.cellgate.request("policy/decisions")["decisions"][0]
        self.assertEqual((ended["outcome"]["status"], ended.get("cancellable")), ("cancelled", None))
        self.cellgate.request("action/cancel", {"number": past["number"]})  # it has ended

    def test_a_timeout_does_so_too(self):
        execution, request = self.begin(timeoutSeconds=1)
        self.assertEqual(execution.result()["status"], "timeout")
        self.assert_withdrawn(request)

    def test_a_question_of_a_cancelled_cell_is_withdrawn(self):
        execution = self.cellgate.execute("from mcptools.fix import tool_1\ntool_1.run(s='x')")
        approval = self.cellgate.approval()
        self.cellgate.request("execute/cancel", {"executionId": execution.id})
        self.assertEqual(execution.result(TIMEOUT)["status"], "cancelled")
        self.assertEqual(self.cellgate.resolved(approval)["by"], "cancelled")
        self.assert_error(1010, self.cellgate.allow, approval)
        self.assertIn("tool 1: y", text_of(self.call("fix", "tool-1", {"s": "y"})))


class Clocks(ToolsTest):
    """A user takes longer than the cell may: as long as another cell with the same time needs to run out of it.

    The times themselves are proven with a clock of the test's own in unit.session. Here a slow machine may take
    seconds for what a quick one does at once, so that a cell may take long and has everything imported before."""

    LIMIT = 10
    generated = ("fix",)

    def setUp(self):
        super().setUp()
        self.cellgate.session("other")
        self.addCleanup(self.cellgate.request, "session/close", {"sessionId": "other"})
        self.run_ok("import asyncio\nfrom mcptools.fix import tool_1, tool_2")

    def assert_out_of_time(self, result):
        """Interrupted, or ended with its kernel where the machine took longer for that than a cell is given."""
        self.assertIn(result["status"], ("timeout", "killed"), result)
        self.assertIn("interrupted", result["reason"], result)

    def outlast(self, seconds):
        self.assert_out_of_time(
            self.cellgate.run("while True: pass", sessionId="other", timeoutSeconds=seconds).result())

    def test_a_user_may_take_longer_than_the_cell(self):
        execution = self.cellgate.execute("print(tool_1.run(s='x'))", timeoutSeconds=self.LIMIT)
        approval = self.cellgate.approval()
        self.outlast(self.LIMIT + 0.5)
        self.assertFalse(execution.pending.done)
        self.cellgate.allow(approval)
        result = execution.result()
        self.assertEqual(result["status"], "ok", result)
        self.assertGreater(result["waitedSeconds"], self.LIMIT)

    def test_of_two_questions_at_once_the_first_answer_does_not_start_the_clock(self):
        execution = self.cellgate.execute(
            "print(*await asyncio.gather(tool_1.run_async(s='a'), tool_1.run_async(s='b')))",
            timeoutSeconds=self.LIMIT)
        first, second = self.cellgate.approvals(2)
        self.cellgate.allow(first)
        self.cellgate.resolved(first)
        self.outlast(self.LIMIT + 0.5)
        self.assertFalse(execution.pending.done)
        self.cellgate.allow(second)
        result = execution.result()
        self.assertEqual(result["status"], "ok", result)

    def test_work_after_the_answer_counts(self):
        execution = self.cellgate.execute("tool_1.run(s='x')\nwhile True: pass", timeoutSeconds=3)
        approval = self.cellgate.approval()
        self.outlast(1)
        self.cellgate.allow(approval)
        result = execution.result()
        self.assert_out_of_time(result)
        self.assertGreaterEqual(result["durationSeconds"], 4)

    def test_the_tools_own_time_counts(self):
        execution = self.cellgate.run("tool_2.run(s='x', delay=600)", approvals="allow", timeoutSeconds=1)
        self.assertEqual(execution.result()["status"], "timeout")
        # The tool server was notified, and is there for the next call.
        self.assertIn("tool 1: y", text_of(self.call("fix", "tool-1", {"s": "y"})))


if __name__ == "__main__":
    unittest.main()
