"""What cells print, show and ask for, and how their errors arrive."""

import json
import threading
import unittest

from cellgate_client import SharedSidecarTest
from executions import RpcError
from processes import TIMEOUT


class Output(SharedSidecarTest):
    def test_printed_text_comes_before_the_answer(self):
        execution = self.cellgate.execute("print('hello world')")
        result = execution.result()
        self.assertEqual(execution.text(), "hello world\n")
        self.assertEqual(result["status"], "ok")
        self.assertEqual(result["executionId"], execution.id)
        self.assertEqual(result["outputBytes"],
                         sum(len(json.dumps(output, separators=(",", ":"))) for output in execution.outputs()))
        self.assertFalse(result["truncated"])
        self.assertEqual(result["waitedSeconds"], 0)
        self.assertGreater(result["durationSeconds"], 0)

    def test_the_last_value_is_the_result(self):
        self.assertEqual(self.run_ok("2 + 2").data()["text/plain"], "4")
        self.assertEqual(self.run_ok("x = 42").outputs(), [])
        self.assertEqual(self.run_ok("").outputs(), [])
        self.assertEqual(self.run_ok("total = 0\nfor i in range(6):\n    total += i\ntotal").data()["text/plain"], "15")

    def test_a_result_carries_every_mime_type_it_has(self):
        data = self.run_ok("""
            class Rich:
                def _repr_mimebundle_(self, include=None, exclude=None):
                    return {"text/plain": "p", "text/html": "<b>é</b>", "application/json": {"a": [1, None, 1.5]},
                            "image/png": "iVBORw0KGgo="}
            Rich()
        """.replace("\n            ", "\n")).data()
        self.assertEqual(data["text/html"], "<b>é</b>")
        self.assertEqual(data["application/json"], {"a": [1, None, 1.5]})
        self.assertEqual(data["image/png"].strip(), "iVBORw0KGgo=")

    def test_a_display_is_updated_by_its_id(self):
        outputs = self.run_ok(
            "from IPython.display import display, update_display\n"
            "display({'text/plain': 'one'}, raw=True, display_id='d')\n"
            "update_display({'text/plain': 'two'}, raw=True, display_id='d')").outputs()
        self.assertEqual([o["output_type"] for o in outputs], ["display_data", "update_display_data"])
        self.assertEqual(outputs[0]["transient"]["display_id"], "d")
        self.assertEqual(outputs[1]["transient"]["display_id"], "d")
        self.assertEqual(outputs[1]["data"], {"text/plain": "two"})

    def test_clear_output_is_told_in_its_place(self):
        outputs = self.run_ok(
            "from IPython.display import clear_output\nprint('old', flush=True)\nclear_output(wait=True)\n"
            "print('new')").outputs()
        self.assertEqual([o["output_type"] for o in outputs], ["stream", "clear_output", "stream"])
        self.assertTrue(outputs[1]["wait"])

    def test_standard_error_is_told_apart(self):
        execution = self.run_ok("import sys\nprint('out')\nprint('err', file=sys.stderr)")
        self.assertEqual((execution.text(), execution.text("stderr")), ("out\n", "err\n"))

    def test_programs_that_the_cell_starts_are_heard(self):
        execution = self.run_ok("import subprocess\nsubprocess.run(['sh', '-c', 'echo out; echo err >&2'])\n!echo bang")
        self.assertIn("out\n", execution.text())
        self.assertIn("err\n", execution.text() + execution.text("stderr"))
        self.assertIn("bang", execution.text())

    def test_output_arrives_while_the_cell_runs(self):
        self.cellgate.handlers["input/request"] = lambda params: {"value": ""}
        execution = self.cellgate.execute("print('before', flush=True)\nimport os\n"
                                          "while not os.path.exists('go'): pass\nprint('after')")
        execution.wait_for_text("before")
        self.assertFalse(execution.pending.done)
        self.workspace.write("go", "")
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(execution.text(), "before\nafter\n")

    def test_any_character_survives(self):
        text = "é😀\u202e\x00\x1b[31m\x7f\ud7ff\ue000\U0010ffff\r\t"
        self.assertEqual(self.run_ok(f"print({text!r}, end='')").text(), text)

    def test_half_a_surrogate_pair_takes_nothing_else_with_it(self):
        execution = self.run_ok("print('before')\nprint('a\\ud800b')\nprint('after')\n'\\ud800'")
        self.assertEqual(execution.text(), "before\na\ufffdb\nafter\n")
        self.assertEqual(execution.data()["text/plain"], "'\\ud800'")
        error = self.cellgate.run("raise ValueError('\\udfff!')").result()["error"]
        self.assertEqual(error["evalue"], "\ufffd!")
        self.assertEqual(self.run_ok("print('next')").text(), "next\n")

    def test_what_a_pager_would_show_is_output(self):
        self.workspace.write("loaded.py", "x = 'loaded'\n")
        for code, words in (("print?", "Docstring"), ("%load loaded.py", "x = 'loaded'")):
            shown, = self.run_ok(code).outputs()
            self.assertEqual(shown["output_type"], "display_data")
            self.assertIn(words, shown["data"]["text/plain"])

    def test_a_thread_that_prints_after_the_end_is_marked_late(self):
        execution = self.run_ok(
            "import threading, os\n"
            "def later():\n    while not os.path.exists('later'): pass\n    print('late', flush=True)\n"
            "threading.Thread(target=later).start()\nprint('in time')")
        self.workspace.write("later", "")
        execution.wait_for_text("late\n")
        last = execution.notifications()[-1]
        self.assertTrue(last["late"])
        self.assertEqual(execution.text(), "in time\nlate\n")

    def test_silent_cells_count_and_show_no_result(self):
        before = self.run_ok("1").result()["executionCount"]
        execution = self.run_ok("1 + 1", silent=True)
        self.assertEqual(execution.outputs(), [])
        self.assertEqual(self.run_ok("1").result()["executionCount"], before + 1)

    def test_history_works_as_in_a_stock_kernel(self):
        self.run_ok("remembered = 'by In'")
        self.run_ok("'by Out'")
        execution = self.run_ok("print(In[-2], Out[max(Out)])")
        self.assertIn("by Out", execution.text())
        self.assertIn("by In", self.run_ok("%history").text())

    def test_a_figure_is_a_picture(self):
        code = "import importlib.util\nprint(importlib.util.find_spec('matplotlib') is not None)"
        if self.run_ok(code).text() != "True\n":
            self.skipTest("matplotlib is not installed")
        execution = self.run_ok("%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
        self.assertTrue(any("image/png" in o.get("data", {}) for o in execution.outputs()))


class LargeOutput(SharedSidecarTest):
    def test_fifty_thousand_lines_are_complete_and_in_order(self):
        execution = self.run_ok("for i in range(50_000): print(i)")
        self.assertEqual(execution.text(), "".join(f"{i}\n" for i in range(50_000)))
        self.assertTrue(all(len(n["output"]["text"].encode()) <= 256 * 1024 for n in execution.notifications()))

    def test_fifty_thousand_unbuffered_lines_are_complete_and_in_order(self):
        execution = self.run_ok("for i in range(5_000): print(i, flush=True)")
        self.assertEqual(execution.text(), "".join(f"{i}\n" for i in range(5_000)))

    def test_one_long_line_is_cut_into_records_and_not_between_bytes(self):
        execution = self.run_ok("print('é' * 500_000, end='')")
        self.assertEqual(execution.text(), "é" * 500_000)
        self.assertGreater(len(execution.notifications()), 3)

    def test_the_journal_can_be_read_in_pages(self):
        execution = self.run_ok("for i in range(20_000): print(f'{i:060d}')")
        whole = execution.text()
        text, seq, pages = "", 0, 0
        while True:
            page = self.cellgate.request("output/read",
                                         {"executionId": execution.id, "fromSeq": seq, "maxBytes": 100_000})
            pages += 1
            self.assertEqual([r["seq"] for r in page["records"]][:1], [seq] if page["records"] else [])
            text += "".join(r["output"]["text"] for r in page["records"])
            self.assertLess(len(json.dumps(page)), 1_000_000)
            self.assertEqual(page["droppedBytes"], 0)
            if page["complete"]:
                break
            self.assertGreater(page["nextSeq"], seq)
            seq = page["nextSeq"]
        self.assertEqual(text, whole)
        self.assertGreater(pages, 2)
        past_the_end = self.cellgate.request("output/read", {"executionId": execution.id, "fromSeq": page["nextSeq"]})
        self.assertEqual((past_the_end["records"], past_the_end["complete"]), ([], True))

    def test_at_least_one_record_comes_however_small_the_page(self):
        execution = self.run_ok("print('x' * 10_000)\n'result'")
        page = self.cellgate.request("output/read", {"executionId": execution.id, "maxBytes": 1})
        self.assertEqual(len(page["records"]), 1)
        self.assertFalse(page["complete"])

    def test_large_data_reaches_a_client_that_takes_it_in_the_message(self):
        data = self.run_ok("class Big:\n    def _repr_html_(self): return 'h' * 1_000_000\nBig()").data()
        self.assertEqual(data["text/html"], "h" * 1_000_000)


class LargeDataInFiles(SharedSidecarTest):
    capabilities = {"approvals": True, "images": "file"}

    def test_a_large_picture_is_a_file_and_a_small_one_is_not(self):
        code = ("class P:\n    def _repr_mimebundle_(self, **k):\n"
                "        return {{'text/plain': 'p', 'image/png': 'QUJD' * {}}}\nP()")
        small = self.run_ok(code.format(10))
        self.assertEqual(small.data()["image/png"].strip(), "QUJD" * 10)
        execution = self.run_ok(code.format(200_000))
        self.assertEqual(set(execution.data()), {"text/plain"})
        [file] = execution.notifications()[-1]["files"]
        self.assertEqual(file["mime"], "image/png")
        self.assertEqual(file["bytes"], 600_000)
        with open(file["path"], "rb") as stream:
            self.assertEqual(stream.read(), b"ABC" * 200_000)
        self.assertFalse(file["path"].startswith(str(self.workspace.path)))
        [record] = self.cellgate.request("output/read", {"executionId": execution.id})["records"]
        self.assertEqual(record["files"], [file])


class Errors(SharedSidecarTest):
    CELL = {"uri": "file:///home/ada/plan.py", "line": 10}

    def error_of(self, code, **params):
        execution = self.cellgate.run(code, **params)
        result = execution.result()
        self.assertEqual(result["status"], "error", result)
        shown = [o for o in execution.outputs() if o["output_type"] == "error"]
        self.assertEqual(len(shown), 1)
        self.assertEqual(shown[0]["ename"], result["error"]["ename"])
        return result["error"]

    def test_an_exception_has_its_type_its_message_and_its_frames_in_the_editors_lines(self):
        error = self.error_of("def inner():\n    raise ValueError('no')\n\ndef outer():\n    inner()\nouter()",
                              cell=self.CELL)
        self.assertEqual((error["ename"], error["evalue"]), ("ValueError", "no"))
        uri = self.CELL["uri"]
        self.assertEqual([(f["uri"], f["line"], f["function"]) for f in error["frames"]],
                         [(uri, 15, "<module>"), (uri, 14, "outer"), (uri, 11, "inner")])
        self.assertIn("ValueError", "\n".join(error["traceback"]))

    def test_without_a_document_lines_count_from_the_start_of_the_code(self):
        [frame] = self.error_of("\n\n1 / 0")["frames"]
        self.assertEqual(frame["line"], 2)
        self.assertNotIn("uri", frame)

    def test_a_function_of_an_earlier_cell_keeps_that_cells_place(self):
        self.run_ok("def earlier():\n    raise KeyError('k')", cell={"uri": "file:///a.py", "line": 100})
        frames = self.error_of("earlier()", cell=self.CELL)["frames"]
        self.assertEqual([(f.get("uri"), f["line"]) for f in frames], [(self.CELL["uri"], 10), ("file:///a.py", 101)])

    def test_a_library_in_the_middle_keeps_its_own_file(self):
        frames = self.error_of("import json\njson.loads('{')", cell=self.CELL)["frames"]
        self.assertEqual((frames[0]["uri"], frames[0]["line"]), (self.CELL["uri"], 11))
        self.assertTrue(frames[-1]["uri"].startswith("file:///"), frames)
        self.assertTrue(frames[-1]["uri"].endswith("json/decoder.py"), frames)

    def test_a_syntax_error_names_its_line(self):
        error = self.error_of("x = 1\nif x\n    pass", cell=self.CELL)
        self.assertEqual(error["ename"], "SyntaxError")
        self.assertEqual([(f["uri"], f["line"]) for f in error["frames"]], [(self.CELL["uri"], 11)])

    def test_exit_codes_and_interrupts_are_errors_of_the_cell_alone(self):
        self.assertEqual(self.error_of("raise SystemExit(3)")["ename"], "SystemExit")
        self.assertEqual(self.error_of("raise KeyboardInterrupt")["ename"], "KeyboardInterrupt")
        self.assertEqual(self.run_ok("1 + 1").data()["text/plain"], "2")

    def test_code_that_no_kernel_takes_is_refused(self):
        self.assert_error(-32602, self.cellgate.run, "print(1)\x00")

    def test_an_error_that_only_the_reply_tells_of_is_shown(self):
        self.cellgate.session("odd")
        # As kernels do that are no ipykernel.
        execution = self.cellgate.run(
            "get_ipython().kernel.do_execute = (lambda kernel: lambda *a, **k: {'status': 'error', 'ename': 'Odd', "
            "'evalue': 'no traceback', 'traceback': [], 'execution_count': 5})(get_ipython().kernel)", sessionId="odd")
        self.assertEqual(execution.result()["status"], "ok")
        told = self.cellgate.run("anything", sessionId="odd")
        self.assertEqual(told.result()["status"], "error")
        self.assertEqual([(o["ename"], o["traceback"]) for o in told.outputs()], [("Odd", ["Odd: no traceback"])])
        self.cellgate.request("session/close", {"sessionId": "odd"})

    def test_an_error_that_the_kernel_printed_is_shown_once(self):
        self.assertIn("ZeroDivisionError", str(self.cellgate.run("get_ipython().run_cell('1/0')").outputs()))
        for code in ("%nosuchmagic", "import asyncio\nawait asyncio.sleep(0)\n%nosuchmagic"):
            told = self.cellgate.run(code)
            self.assertEqual(told.result()["error"]["ename"], "UsageError")
            self.assertEqual(told.text("stderr").count("nosuchmagic"), 1)
            self.assertNotIn("error", [o["output_type"] for o in told.outputs()])
            self.assertNotIn("ZeroDivisionError", str(told.result()))

    def test_what_was_printed_before_the_error_is_there(self):
        execution = self.cellgate.run("print('so far')\n1 / 0")
        self.assertEqual(execution.text(), "so far\n")

    def test_an_error_nobody_can_print_breaks_nothing(self):
        execution = self.cellgate.run("class E(Exception):\n    def __str__(self): raise RuntimeError('again')\n"
                                      "raise E")
        self.assertEqual(execution.result()["status"], "error")
        self.assertEqual(self.run_ok("1 + 1").data()["text/plain"], "2")


class Input(SharedSidecarTest):
    def setUp(self):
        self.answers = []
        self.cellgate.handlers["input/request"] = lambda params: {"value": self.answers.pop(0)}

    def test_the_code_reads_what_the_user_types(self):
        self.answers = ["Ada", "s3cret é"]
        execution = self.run_ok("import getpass\nname = input('Name: ')\nword = getpass.getpass('Word: ')\n"
                                "print(name, word)")
        self.assertEqual(execution.text(), "Ada s3cret é\n")
        first, second = self.cellgate.requests["input/request"][-2:]
        self.assertEqual((first["prompt"], first["password"], first["executionId"]), ("Name: ", False, execution.id))
        self.assertEqual((second["prompt"], second["password"]), ("Word: ", True))

    def test_a_client_that_refuses_is_the_end_of_the_file(self):
        def refuse(params):
            raise RpcError(-32800, "closed the box")
        self.cellgate.handlers["input/request"] = refuse
        result = self.cellgate.run("input()").result()
        self.assertEqual(result["error"]["ename"], "EOFError")

    def test_a_cell_that_waits_for_input_can_be_cancelled(self):
        released = threading.Event()
        self.addCleanup(released.set)

        def wait(params):
            released.wait(TIMEOUT)
            return {"value": "too late"}
        self.cellgate.handlers["input/request"] = wait
        before = len(self.cellgate.requests["input/request"])
        execution = self.cellgate.execute("input('forever')")
        self.cellgate.wait(lambda: len(self.cellgate.requests["input/request"]) > before, "the question")
        self.cellgate.request("execute/cancel", {"executionId": execution.id})
        self.assertEqual(execution.result()["status"], "cancelled")
        released.set()
        self.assertEqual(self.run_ok("1 + 1").data()["text/plain"], "2")


class NoInput(SharedSidecarTest):
    capabilities = {}

    def test_a_client_that_cannot_be_asked_is_the_end_of_the_file(self):
        result = self.cellgate.run("input('anyone?')").result()
        self.assertEqual((result["status"], result["error"]["ename"]), ("error", "EOFError"))
        self.assertEqual(self.cellgate.requests["input/request"], [])


if __name__ == "__main__":
    unittest.main()
