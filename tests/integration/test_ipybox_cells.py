"""Cells as ipybox's own tests run them: values, errors, output, state, time. IPYBOX.md says which case is where."""

import json
import unittest

from cellgate_client import SharedSidecarTest
from processes import TIMEOUT


class Values(SharedSidecarTest):
    # Code, what it prints, its value.
    CELLS = [
        ("print('hello world')", "hello world\n", None),
        ("2 + 2", "", "4"),
        ("total = 0\nfor i in range(1, 6):\n    total += i\n\ntotal", "", "15"),
        ("x = 42", "", None),
        ("print('one')\nprint('two')\nprint('three')", "one\ntwo\nthree\n", None),
        ("", "", None),
        ("# nothing", "", None),
        ("print('printed')\n'value'", "printed\n", "'value'"),
    ]

    def test_what_is_printed_and_the_last_value(self):
        for code, printed, value in self.CELLS:
            with self.subTest(code):
                execution = self.run_ok(code)
                self.assertEqual(execution.text(), printed)
                values = [o["data"]["text/plain"] for o in execution.outputs() if o["output_type"] == "execute_result"]
                self.assertEqual(values, [] if value is None else [value])

    def test_ten_thousand_lines_of_code(self):
        code = "\n".join(f"x{i} = {i}" for i in range(10000)) + "\nprint(x0 + x9999)"
        self.assertEqual(self.run_ok(code).text(), "9999\n")

    def test_half_a_million_characters_in_one_line(self):
        self.assertEqual(self.run_ok("print('y' * 500_000)").text(), "y" * 500_000 + "\n")

    def test_a_hundred_pieces_of_an_async_cell_keep_their_order(self):
        execution = self.run_ok("import asyncio\nfor i in range(100):\n    print(f'piece {i}', flush=True)\n"
                                "    await asyncio.sleep(0)\n")
        self.assertEqual(execution.text(), "".join(f"piece {i}\n" for i in range(100)))

    def test_two_pieces_are_two_outputs_when_time_passes_between(self):
        release = self.workspace.path / "release"
        # print() writes its line's end on its own, which the clock can divide from the rest
        execution = self.cellgate.execute("import os, sys\n_ = sys.stdout.write('first\\n')\n"
                                          f"while not os.path.exists({str(release)!r}): pass\n"
                                          "_ = sys.stdout.write('second\\n')")
        execution.wait_for_text("first\n")  # although it was not flushed
        self.assertFalse(execution.pending.done)
        release.write_text("")
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual([o["text"] for o in execution.outputs()], ["first\n", "second\n"])

    def test_each_figure_is_one_picture_in_its_place(self):
        execution = self.run_ok("try:\n    import matplotlib\nexcept ImportError:\n    print('none')\nelse:\n"
                                "    import matplotlib.pyplot as plt\n    for i in range(2):\n"
                                "        plt.plot([1, 2])\n        print('before', i, flush=True)\n        plt.show()\n")
        if execution.text() == "none\n":
            self.skipTest("matplotlib is not installed")
        kinds = [o.get("text") or "image/png;" for o in execution.outputs() if "image/png" in o.get("data", {})
                 or o["output_type"] == "stream"]  # one text may come in parts
        self.assertEqual("".join(kinds), "before 0\nimage/png;before 1\nimage/png;")

    def test_variables_of_the_session_are_seen_beside_the_systems(self):
        self.cellgate.session("env", env={"TEST_VAR": "from the session"})
        code = "import os\nprint(os.environ['TEST_VAR'], bool(os.environ['PATH']))"
        execution = self.cellgate.run(code, sessionId="env")
        self.assertEqual(execution.text(), "from the session True\n")
        self.cellgate.request("session/close", {"sessionId": "env"})


class Errors(SharedSidecarTest):
    CELLS = [
        ("raise ValueError('test error')", "ValueError", "test error"),
        ("def broken(:", "SyntaxError", "invalid syntax"),
        ("1 / 0", "ZeroDivisionError", "division by zero"),
        ("undefined_name", "NameError", "name 'undefined_name' is not defined"),
    ]

    def test_type_message_and_place(self):
        for code, name, message in self.CELLS:
            with self.subTest(code):
                result = self.cellgate.run(code).result()
                self.assertEqual(result["status"], "error")
                self.assertEqual(result["error"]["ename"], name)
                self.assertIn(message, result["error"]["evalue"])

    def test_the_traceback_names_the_users_function(self):
        error = self.cellgate.run("def foo():\n    raise RuntimeError('in foo')\n\nfoo()").result()["error"]
        self.assertIn("foo", "\n".join(error["traceback"]))
        frames = [(frame["function"], frame["line"]) for frame in error["frames"]]
        self.assertEqual(frames, [("<module>", 3), ("foo", 1)])

    def test_names_messages_and_frames_have_no_colours(self):
        # Of the traceback the colours are kept: an editor shows them.
        error = self.cellgate.run("def foo():\n    raise RuntimeError('in foo')\nfoo()").result()["error"]
        self.assertNotIn("\\u001b", json.dumps({key: value for key, value in error.items() if key != "traceback"}))

    def test_programs_that_find_no_terminal_print_no_colours(self):
        (self.workspace.path / "folder").mkdir(exist_ok=True)
        for code in ("import subprocess\nprint(subprocess.run(['ls'], capture_output=True, text=True).stdout)", "!ls"):
            with self.subTest(code):
                text = self.run_ok(code).text()
                self.assertIn("folder", text)
                self.assertNotIn("\x1b", text)

    def test_what_came_before_an_error_is_not_lost(self):
        execution = self.cellgate.run("print('before')\nfrom IPython.display import display\ndisplay('shown')\n1 / 0")
        self.assertEqual(execution.text(), "before\n")
        self.assertEqual([o["output_type"] for o in execution.outputs()], ["stream", "display_data", "error"])


class State(SharedSidecarTest):
    def test_variables_functions_and_imports_persist(self):
        self.run_ok("x = 42")
        self.run_ok("def greet(name):\n    return f'hello {name}'")
        self.run_ok("import math")
        self.assertEqual(self.run_ok("print(x, greet('ada'), math.floor(1.5))").text(), "42 hello ada 1\n")

    def test_a_change_of_directory_stays_unless_it_was_to_be_undone(self):
        (self.workspace.path / "other").mkdir(exist_ok=True)
        other = str(self.workspace.path / "other")
        for change in (f"import os\nos.chdir({other!r})", f"%cd {other}"):
            with self.subTest(change):
                self.cellgate.session("wandering")
                self.cellgate.run(change, sessionId="wandering")
                where = self.cellgate.run("import os\nprint(os.getcwd())", sessionId="wandering")
                self.assertEqual(where.text(), other + "\n")
                self.cellgate.request("session/close", {"sessionId": "wandering"})
                self.cellgate.session("settled", cwd="other", restoreCwd=True)
                self.cellgate.run(change.replace(other, "/"), sessionId="settled")
                where = self.cellgate.run("import os\nprint(os.getcwd())", sessionId="settled")
                self.assertEqual(where.text(), other + "\n")
                self.cellgate.request("session/close", {"sessionId": "settled"})

    def test_a_folder_that_is_deleted_under_the_code_breaks_nothing(self):
        (self.workspace.path / "gone").mkdir()
        self.cellgate.session("homeless", cwd="gone", restoreCwd=True)
        first = self.cellgate.run("import os\nos.rmdir(os.getcwd())", sessionId="homeless")
        self.assertEqual(first.result()["status"], "ok")
        self.assertEqual(self.cellgate.run("print('goes on')", sessionId="homeless").text(), "goes on\n")
        self.cellgate.request("session/close", {"sessionId": "homeless"})

    def test_nothing_of_ours_is_in_the_namespace(self):
        for options in ({}, {"cwd": ".", "restoreCwd": True}):
            with self.subTest(options):
                self.cellgate.session("fresh", **options)
                names = self.cellgate.run("print([n for n in dir() if 'cellgate' in n.lower() or 'mcp' in n.lower()])",
                                          sessionId="fresh")
                self.assertEqual(names.text(), "[]\n")
                self.cellgate.request("session/close", {"sessionId": "fresh"})


class Time(SharedSidecarTest):
    def test_what_takes_too_long_is_interrupted_says_so_and_leaves_the_state(self):
        self.run_ok("a = 5")
        execution = self.cellgate.run("import time\ntime.sleep(60)", timeoutSeconds=0.2)
        self.assertEqual(execution.result()["status"], "timeout")
        self.assertIn("0.20s", execution.result()["reason"])
        self.assertEqual(self.run_ok("a").data()["text/plain"], "5")
        self.assertEqual(self.cellgate.run("while True: pass", timeoutSeconds=0.2).result()["status"], "timeout")
        self.assertEqual(self.run_ok("a").data()["text/plain"], "5")

    def test_a_cancelled_cell_ends_at_once_and_the_next_one_works(self):
        execution = self.cellgate.execute("import time\nprint('asleep', flush=True)\ntime.sleep(600)",
                                          timeoutSeconds=300).wait_for_text("asleep")
        self.cellgate.request("execute/cancel", {"executionId": execution.id})
        self.assertEqual(execution.result()["status"], "cancelled")  # and not the timeout's
        self.assertEqual(self.run_ok("print('next')").text(), "next\n")

    def test_code_that_swallows_the_interrupt_does_not_hold_its_session_for_ever(self):
        self.cellgate.session("stubborn")
        execution = self.cellgate.execute(
            "print('deaf', flush=True)\n"
            "while True:\n    try:\n        while True: pass\n    except KeyboardInterrupt: pass",
            sessionId="stubborn").wait_for_text("deaf")
        self.cellgate.request("execute/cancel", {"executionId": execution.id, "graceSeconds": 0.1, "force": True})
        self.assertIn(execution.result()["status"], ("cancelled", "killed"))
        self.assertEqual(self.cellgate.run("print('again')", sessionId="stubborn").text(), "again\n")
        self.cellgate.request("session/close", {"sessionId": "stubborn"})

    def test_a_kernel_that_ends_itself_is_told_and_its_successor_has_the_same_walls(self):
        self.cellgate.session("mortal")
        died = self.cellgate.run("import os\nos._exit(1)", sessionId="mortal", timeout=TIMEOUT)
        self.assertEqual(died.result()["status"], "killed")
        layers = self.cellgate.run("1", sessionId="mortal").result()["layers"]
        self.assertEqual(layers, died.result()["layers"])
        self.cellgate.request("session/close", {"sessionId": "mortal"})


if __name__ == "__main__":
    unittest.main()
