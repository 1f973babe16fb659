"""Completion, documentation and variables from the kernel that runs the cells."""

import unittest

from cellgate_client import SharedSidecarTest
from executions import RpcError
from language_testing import DenoTest, LanguageTest


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


class OtherLanguageTest(LanguageTest):
    """Each test has a new kernel."""

    def setUp(self):
        self.cellgate.request("session/restart", {"sessionId": "s"})

    def variables(self):
        found = self.cellgate.request("kernel/variables", {"sessionId": "s"})
        return {each["name"]: (each["type"], each["value"], each.get("size")) for each in found["variables"]}

    def inspect(self, code, cursor):
        return self.cellgate.request("kernel/inspect", {"sessionId": "s", "code": code, "cursorPos": cursor})

    def assert_asking_leaves_no_trace(self, code):
        before = self.run_ok(code)
        known = len(self.cellgate.received("execute/output"))
        self.variables()
        self.inspect("nothing_here", 3)
        after = self.run_ok(code)
        self.assertEqual(after.result()["executionCount"], before.result()["executionCount"] + 1)
        outputs = self.cellgate.received("execute/output")[known:]
        self.assertEqual({each["executionId"] for each in outputs}, {after.id})


class Typescript(DenoTest, OtherLanguageTest):
    def test_what_cells_declared_is_listed(self):
        self.assertEqual(self.variables(), {})
        self.run_ok("let count = 3; const text = 'two\\nlines'; var days = Array.from({length: 100}, (_, i) => i);\n"
                    "const { plan, other: renamed } = { plan: { a: [1, { b: null }] }, other: undefined };\n"
                    "class Way { length = 7 }; function go() {}; const arrow = () => 1; const way = new Way();\n"
                    "import * as paths from 'node:path'; import { basename, sep } from 'node:path';\n"
                    "enum Size { small }; const map = new Map([[1, 2]]); { let inner = 1 }\n"
                    "globalThis.shared = 1; let name = 'not the global'; let ünder = 1; let $ = 2; undefined")
        shown = self.variables()
        self.assertEqual(set(shown), {"count", "text", "days", "plan", "renamed", "way", "sep", "Size", "map", "shared",
                                      "name", "ünder", "$"})
        self.assertEqual(shown["count"], ("number", "3", None))
        self.assertEqual(shown["text"], ("string", '"two\\nlines"', "9"))
        self.assertEqual(shown["days"], ("Array", "[ 0, 1, 2, 3, 4, 5, ... 94 more items ]", "100"))
        self.assertEqual(shown["plan"], ("Object", "{ a: [ 1, { b: null } ] }", None))
        self.assertEqual(shown["renamed"], ("undefined", "undefined", None))
        self.assertEqual(shown["way"], ("Way", "Way { length: 7 }", None))
        self.assertEqual(shown["map"], ("Map", "Map(1) { 1 => 2 }", "1"))
        self.assertEqual(shown["name"][1], '"not the global"')
        self.assert_asking_leaves_no_trace("1 + 1")

    def test_values_that_fail_or_are_huge_hold_nothing_up(self):
        self.run_ok("const bad = { [Symbol.for('Deno.customInspect')]() { throw new TypeError('no') } };\n"
                    "const huge = 'x'.repeat(10**7); const many = new Array(10**6).fill(0);\n"
                    "const secret = { get key() { throw new Error('a getter ran') } }; undefined")
        shown = self.variables()
        self.assertEqual(shown["bad"][1], "<TypeError while it was looked at>")
        self.assertLess(len(shown["huge"][1]), 300)
        self.assertEqual((shown["huge"][2], shown["many"][2]), (str(10**7), str(10**6)))
        self.assertEqual(shown["secret"][1], "{ key: [Getter] }")

    def test_code_of_a_cell_can_hide_the_globals_that_looking_needs(self):
        self.run_ok("let JSON = 1; let Object_ = 2; class Map2 {}; let console2 = console; undefined")
        self.assertEqual(self.variables()["JSON"][:2], ("number", "1"))

    def test_a_variable_is_described(self):
        self.run_ok("const trip = { days: 3 }; function depart(day: number) { return day }")
        self.assertEqual(self.inspect("trip.days", 2), {"found": True, "text": "trip: Object\n{ days: 3 }"})
        self.assertIn("function depart(day)", self.inspect("x = depart(5)", 7)["text"])
        for code, cursor in (("trip.days", 6), ("nothing_here", 3), ("if (1)", 1), ("", 0), ("fetch", 2), ("localStorage", 3),
                             ("trip;x", 99)):
            with self.subTest(code):
                self.assertEqual(self.inspect(code, cursor), {"found": False})


class Bash(OtherLanguageTest):
    language = "bash"

    def test_what_cells_set_is_listed_in_bashs_words(self):
        self.assertEqual(self.variables(), {})
        self.run_ok("one=1; declare -i number=42; list=(a 'b c'); declare -A plan=([x]=1); export shown='it is'\n"
                    "function go() { local inner=1; }; go; multi=$'two\\nlines'; HOME=/elsewhere; declare -r fixed=2\n"
                    "IFS=,; n=keep; read -r <<<reply; cd /tmp; cd -")
        shown = self.variables()
        self.assertEqual(shown["one"], ("string", '"1"', "1"))
        self.assertEqual(shown["number"], ("integer", '"42"', "2"))
        self.assertEqual(shown["list"], ("array", '([0]="a" [1]="b c")', "2"))
        self.assertEqual(shown["plan"], ("associative array", '([x]="1" )', "1"))
        self.assertEqual(shown["shown"], ("string, exported", '"it is"', "5"))
        self.assertEqual(shown["multi"], ("string", "$'two\\nlines'", "9"))
        self.assertEqual(shown["HOME"][1], '"/elsewhere"')
        self.assertEqual(shown["fixed"][0], "string, readonly")
        self.assertEqual(set(shown) - {"REPLY"}, {"one", "number", "list", "plan", "shown", "multi", "HOME", "fixed", "IFS", "n"})
        self.assertEqual(self.run_ok("echo $n").text(), "keep\n")
        self.run_ok("set -u; set -C; set -x")
        self.assertIn("one", self.variables())
        self.run_ok("set +u; set +C; set +x; printf() { echo mine; }; declare() { echo mine; }; IFS=$' \\t\\n'")
        self.assertIn("one", self.variables())
        self.run_ok("unset -f printf declare; unset one")
        self.assertNotIn("one", self.variables())
        self.assert_asking_leaves_no_trace("echo 1")

    def test_what_is_printed_meanwhile_is_not_lost(self):
        cell = self.run_ok("(while ! [ -e go ]; do sleep 0.05; done; echo late) &")
        self.variables()
        self.workspace.write("go", "")
        cell.wait_for_text("late")

    def test_a_variable_and_a_function_are_described(self):
        self.run_ok("trip=3; depart() { echo go; }")
        self.assertEqual(self.inspect("echo $trip", 7)["text"].strip(), 'declare -- trip="3"')
        self.assertIn("depart is a function", self.inspect("depart", 2)["text"])


if __name__ == "__main__":
    unittest.main()
