"""Completion, documentation and variables from the kernel that runs the cells."""

import unittest

from cellgate_client import SharedSidecarTest
from executions import RpcError


class Questions(SharedSidecarTest):
    def ask(self, what, **params):
        return self.cellgate.request(f"kernel/{what}", params)

    def complete(self, code):
        found = self.ask("complete", code=code, cursorPos=len(code))
        return [code[: found["cursorStart"]] + match for match in found["matches"]], found

    def test_what_a_cell_defined_is_completed(self):
        self.cellgate.run("class Plan:\n    def describe(self): ...\nüberplan = Plan()")
        codes, found = self.complete("überplan.desc")
        self.assertIn("überplan.describe", [code.replace("..", ".") for code in codes])
        self.assertEqual(len(found["types"]), len(found["matches"]))
        self.assertEqual(self.complete("no_such_name_at_all.")[1]["matches"], [])

    def test_a_cursor_in_the_middle_and_beyond_the_end(self):
        self.cellgate.run("whatever = 1")
        found = self.ask("complete", code="x = what + 1", cursorPos=8)
        self.assertIn("whatever", found["matches"])
        self.assertEqual((found["cursorStart"], found["cursorEnd"]), (4, 8))
        self.assertEqual(self.ask("complete", code="äwhatev", cursorPos=99)["cursorEnd"], 7)

    def test_what_a_name_stands_for_is_told_without_colours(self):
        self.cellgate.run("def plan(days: int):\n    'Says what to do.'")
        found = self.ask("inspect", code="plan(5)", cursorPos=2)
        self.assertTrue(found["found"])
        self.assertIn("plan(days: int)", found["text"])
        self.assertIn("Says what to do.", found["text"])
        self.assertNotIn("\x1b", found["text"])
        self.assertIn("def plan", self.ask("inspect", code="plan", cursorPos=4, detailLevel=1)["text"])
        self.assertEqual(self.ask("inspect", code="nothing_here", cursorPos=5), {"found": False})

    def test_asking_leaves_no_trace_in_the_session(self):
        before = self.cellgate.run("1")
        for _ in range(3):
            self.ask("variables")
            self.complete("prin")
        after = self.cellgate.run("_, len(In)")
        self.assertEqual(after.result()["executionCount"], before.result()["executionCount"] + 1)
        self.assertEqual([each["data"]["text/plain"] for each in after.outputs() if "data" in each],
                         [f"(1, {after.result()['executionCount'] + 1})"])

    def test_each_question_is_bounded(self):
        for what in ("complete", "inspect"):
            with self.subTest(what), self.assertRaises(RpcError) as caught:
                self.ask(what, code="x" * (2**20 + 1), cursorPos=0)
            self.assertEqual(caught.exception.code, -32602)


class Variables(SharedSidecarTest):
    def setUp(self):
        self.cellgate.run("%reset -f")

    def variables(self):
        found = self.cellgate.request("kernel/variables", {})
        return {each["name"]: (each["type"], each["value"], each.get("size")) for each in found["variables"]}, found

    def test_variables_are_shown_as_the_code_would_write_them(self):
        self.cellgate.run(
            "import math, numpy\n"
            "count = 3; text = 'two\\nlines'; days = list(range(100)); plan = {'a': [1, {'b': 2}]}\n"
            "grid = numpy.zeros((3, 4)); hidden_ = math.pi; _private = 1\n"
            "def function(): ...\n"
            "class Class:\n    def __repr__(self): return 'a Class\\x1b[2J'\n"
            "one = Class()")
        shown, found = self.variables()
        self.assertFalse(found["truncated"])
        self.assertEqual(list(shown), ["count", "text", "days", "plan", "grid", "hidden_", "one"])
        self.assertEqual(shown["count"], ("int", "3", None))
        self.assertEqual(shown["text"], ("str", "'two\\nlines'", "9"))
        self.assertEqual(shown["days"], ("list", "[0, 1, 2, 3, 4, 5, ...]", "100"))
        self.assertEqual(shown["plan"], ("dict", "{'a': [1, {'b': 2}]}", "1"))
        self.assertEqual(shown["grid"], ("numpy.ndarray", "float64", "(3, 4)"))
        self.assertEqual(shown["one"], ("__main__.Class", "a Class\\x1b[2J", None))

    def test_values_that_fail_or_are_huge_hold_nothing_up(self):
        self.cellgate.run(
            "class Bad:\n    def __repr__(self): raise ValueError('no')\n"
            "bad = Bad(); huge = 'x' * 10**8; many = {n: n for n in range(10**6)}")
        shown, _ = self.variables()
        self.assertEqual(shown["bad"][1], "<ValueError while it was looked at>")
        self.assertLess(len(shown["huge"][1]), 300)
        self.assertEqual(shown["huge"][2], str(10**8))
        self.assertEqual(shown["many"][2], str(10**6))

    def test_behind_values_that_take_long_only_types_are_shown(self):
        self.cellgate.run(
            "import time\n"
            "class Slow:\n    def __repr__(self): time.sleep(1); return 'slow'\n"
            "slow = [Slow() for _ in range(6)]; last = Slow()")
        shown, _ = self.variables()
        self.assertEqual(shown["slow"][1], "[slow, …, …, …, …, …]")
        self.assertEqual(shown["last"][1], "…")

    def test_of_very_many_the_first_are_shown(self):
        self.cellgate.run("globals().update({f'variable{n}': n for n in range(600)})")
        _, found = self.variables()
        self.assertTrue(found["truncated"])
        self.assertEqual(len(found["variables"]), 500)


class Busy(SharedSidecarTest):
    def test_nobody_waits_behind_a_cell(self):
        self.cellgate.run("1")
        cell = self.cellgate.execute("input()")
        cell.wait_running()
        for what, params in (("complete", {"code": "x", "cursorPos": 1}), ("inspect", {"code": "x", "cursorPos": 1}),
                             ("variables", {})):
            with self.subTest(what), self.assertRaises(RpcError) as caught:
                self.cellgate.request(f"kernel/{what}", params)
            self.assertEqual(caught.exception.code, 1009)
        self.cellgate.request("session/interrupt", {"sessionId": "default"})
        cell.result()
        self.assertIn("print", self.cellgate.request("kernel/complete", {"code": "prin", "cursorPos": 4})["matches"])

    def test_a_question_starts_no_kernel(self):
        with self.assertRaises(RpcError) as caught:
            self.cellgate.request("kernel/complete", {"sessionId": "nowhere", "code": "x", "cursorPos": 1})
        self.assertEqual(caught.exception.code, 1001)

    def test_a_question_that_takes_long_keeps_no_other_answer_back(self):
        self.cellgate.run("import time\nclass Slow:\n    def __repr__(self): time.sleep(3); return 'slow'\nslow = Slow()")
        asked = self.cellgate.start("kernel/variables", {})
        self.assertEqual([each["sessionId"] for each in self.cellgate.request("session/list")["sessions"]], ["default"])
        self.assertFalse(asked.done)
        self.assertEqual(asked.result()["variables"][-1]["value"], "slow")
        self.cellgate.run("del slow")


if __name__ == "__main__":
    unittest.main()
