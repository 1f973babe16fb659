"""Cells: what they print and show, how they end, in which order they run, and what is left of them."""

import json
import os
import shutil
import signal
import subprocess
import threading
import unittest
from importlib.util import find_spec

from jupyter_client.manager import start_new_kernel

from cellgate_client import FIXTURES, PATIENCE, PlaceTest, RpcError, SharedSidecarTest


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
        self.place.write("go", "")
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
        self.place.write("loaded.py", "x = 'loaded'\n")
        for code, words in (("print?", "Docstring"), ("%load loaded.py", "x = 'loaded'")):
            shown, = self.run_ok(code).outputs()
            self.assertEqual(shown["output_type"], "display_data")
            self.assertIn(words, shown["data"]["text/plain"])

    def test_a_thread_that_prints_after_the_end_is_marked_late(self):
        execution = self.run_ok(
            "import threading, os\n"
            "def later():\n    while not os.path.exists('later'): pass\n    print('late', flush=True)\n"
            "threading.Thread(target=later).start()\nprint('in time')")
        self.place.write("later", "")
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
        self.assertFalse(file["path"].startswith(str(self.place.root)))
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

    def test_the_code_reads_what_the_person_types(self):
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
            released.wait(PATIENCE)
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


class Queue(SharedSidecarTest):
    def blocked(self, name):
        """A running cell that ends when the file `name` is there."""
        execution = self.cellgate.execute(f"import os, time\nwhile not os.path.exists({name!r}): time.sleep(0.01)")
        return execution.wait_running()

    def changes(self, execution):
        return [(c["state"], c.get("position")) for c in self.cellgate.received("execute/changed")
                if c["executionId"] == execution.id]

    def test_cells_run_in_the_order_in_which_they_came_and_know_their_place(self):
        first = self.blocked("queue1")
        others = [self.cellgate.execute(f"print({i})") for i in range(3)]
        for position, execution in enumerate(others, 1):
            info = self.cellgate.request("execution/get", {"executionId": execution.id})
            self.assertEqual((info["state"], info["position"]), ("queued", position))
            self.assertNotIn("result", info)
        self.assertEqual(self.cellgate.request("execution/get", {"executionId": first.id})["state"], "running")
        [session] = self.cellgate.request("session/list")["sessions"]
        self.assertEqual((session["queueLength"], session["status"]), (3, "busy"))
        self.place.write("queue1", "")
        counts = [execution.result()["executionCount"] for execution in (first, *others)]
        self.assertEqual(counts, sorted(counts))
        for position, execution in enumerate(others, 1):
            self.assertEqual(self.changes(execution),
                             [("queued", position), ("running", None), ("finished", None)])
        info = self.cellgate.request("execution/get", {"executionId": others[0].id})
        self.assertEqual((info["state"], info["result"]), ("finished", others[0].result()))

    def test_a_session_is_listed_while_its_kernel_starts(self):
        creating = self.cellgate.start("session/create", {"sessionId": "starting"})
        listed = {each["sessionId"]: each for each in self.cellgate.request("session/list")["sessions"]}
        self.assertEqual((listed["starting"]["status"], listed["starting"]["layers"]), ("starting", ["unknown"]))
        self.assertNotIn("unknown", creating.result()["layers"])
        self.cellgate.request("session/close", {"sessionId": "starting"})

    def test_a_queued_cell_that_is_cancelled_never_runs(self):
        first = self.blocked("queue2")
        second = self.cellgate.execute("open('ran', 'w')")
        third = self.cellgate.execute("print('third')")
        self.assertEqual(self.cellgate.request("execute/cancel", {"executionId": second.id}), {"kernelBusy": False})
        self.assertEqual(second.result()["status"], "cancelled")
        self.assertFalse(first.pending.done)
        info = self.cellgate.request("execution/get", {"executionId": third.id})
        self.assertEqual(info["position"], 1)
        self.place.write("queue2", "")
        self.assertEqual(third.result()["status"], "ok")
        self.assertFalse((self.place.root / "ran").exists())

    def test_a_running_cell_that_is_cancelled_is_interrupted(self):
        self.run_ok("kept = 5")
        execution = self.cellgate.execute("print('go', flush=True)\nwhile True: pass").wait_for_text("go")
        self.assertEqual(self.cellgate.request("execute/cancel", {"executionId": execution.id}), {"kernelBusy": False})
        self.assertEqual(execution.result()["status"], "cancelled")
        self.assertEqual(self.run_ok("kept").data()["text/plain"], "5")

    def test_cancelling_the_request_does_the_same(self):
        execution = self.cellgate.execute("print('go', flush=True)\nwhile True: pass").wait_for_text("go")
        self.cellgate.notify("$/cancelRequest", {"id": execution.pending.id})
        try:
            self.assertEqual(execution.result()["status"], "cancelled")
        except RpcError as error:
            self.assertEqual(error.code, -32800)
        info = self.cellgate.request("execution/get", {"executionId": execution.id})
        self.assertEqual(info["result"]["status"], "cancelled")
        self.run_ok("1")

    def test_a_cell_that_will_not_stop_is_told_and_then_forced(self):
        session = self.cellgate.session("stubborn")
        code = ("while True:\n    try:\n        print('go', flush=True)\n        while True: pass\n"
                "    except KeyboardInterrupt: print('no', flush=True)")
        execution = self.cellgate.execute(code, sessionId="stubborn").wait_for_text("go")
        answer = self.cellgate.request("execute/cancel", {"executionId": execution.id, "graceSeconds": 0.2})
        self.assertEqual(answer, {"kernelBusy": True})
        self.assertFalse(execution.pending.done)
        execution.wait_for_text("no")
        answer = self.cellgate.request("execute/cancel",
                                       {"executionId": execution.id, "graceSeconds": 0, "force": True})
        self.assertEqual(answer, {"kernelBusy": False})
        self.assertIn(execution.result()["status"], ("cancelled", "killed"))
        after = self.cellgate.run("print('new kernel')", sessionId="stubborn")
        self.assertEqual(after.text(), "new kernel\n")
        self.assertEqual(after.result()["executionCount"], 1)
        self.assertEqual(session["sessionId"], "stubborn")
        self.cellgate.request("session/close", {"sessionId": "stubborn"})

    def test_interrupting_a_session_leaves_its_queue(self):
        first = self.cellgate.execute("print('go', flush=True)\nwhile True: pass",
                                      stopOnError=False).wait_for_text("go")
        second = self.cellgate.execute("print('after')")
        self.assertEqual(self.cellgate.request("session/interrupt", {"sessionId": "default"}), {})
        result = first.result()
        self.assertEqual((result["status"], result["error"]["ename"]), ("error", "KeyboardInterrupt"))
        self.assertEqual(second.result()["status"], "ok")

    def test_an_error_cancels_what_the_client_queued_behind_it(self):
        first = self.blocked("queue3")
        broken = self.cellgate.execute("1 / 0")
        behind = self.cellgate.execute("open('behind', 'w')")
        self.place.write("queue3", "")
        self.assertEqual(first.result()["status"], "ok")
        self.assertEqual(broken.result()["status"], "error")
        self.assertEqual(behind.result()["status"], "cancelled")
        self.assertFalse((self.place.root / "behind").exists())

    def test_an_error_cancels_nothing_when_that_was_wanted(self):
        first = self.blocked("queue4")
        broken = self.cellgate.execute("1 / 0", stopOnError=False)
        behind = self.cellgate.execute("print('still')")
        self.place.write("queue4", "")
        self.assertEqual([e.result()["status"] for e in (first, broken, behind)], ["ok", "error", "ok"])

    def test_ids_are_taken_once(self):
        execution = self.run_ok("1", executionId="mine")
        self.assertEqual(execution.result()["executionId"], "mine")
        self.assert_error(1007, self.cellgate.run, "2", executionId="mine")
        self.cellgate.session("second")
        self.assert_error(1007, self.cellgate.run, "2", executionId="mine", sessionId="second")
        self.cellgate.request("session/close", {"sessionId": "second"})

    def test_an_execution_without_an_id_gets_one(self):
        result = self.cellgate.request("execute", {"code": "print('x')"})
        info = self.cellgate.request("execution/get", {"executionId": result["executionId"]})
        self.assertEqual(info["sessionId"], "default")
        self.assertEqual(info["result"], result)

    def test_what_is_not_there_is_said_so(self):
        self.assert_error(1006, self.cellgate.request, "execution/get", {"executionId": "nobody"})
        self.assert_error(1006, self.cellgate.request, "output/read", {"executionId": "nobody"})
        self.assert_error(1006, self.cellgate.request, "execute/cancel", {"executionId": "nobody"})
        self.assert_error(1001, self.cellgate.run, "1", sessionId="nobody")
        self.assert_error(1001, self.cellgate.request, "session/interrupt", {"sessionId": "nobody"})


class KernelsThatWantASignal(PlaceTest):
    def test_an_interrupt_reaches_a_kernel_in_its_sandbox_by_signal_and_nothing_else(self):
        folder = self.place.home / "jupyter/kernels/fake"
        folder.mkdir(parents=True)
        shutil.copy(FIXTURES / "fake_kernel.py", folder)
        (folder / "kernel.json").write_text(json.dumps({
            "argv": ["/usr/bin/python3", "{resource_dir}/fake_kernel.py", "{connection_file}", "--signal"],
            "display_name": "Fake", "language": "fake"}))
        cellgate = self.sidecar(environment=self.place.environment(JUPYTER_PATH=str(self.place.home / "jupyter")))
        for sandbox in (True, False):
            with self.subTest(sandbox=sandbox):
                cellgate.session("s", kernel={"name": "fake"}, sandbox=sandbox)
                execution = cellgate.execute("print go\nhang", sessionId="s").wait_for_text("go")
                self.assertEqual(cellgate.request("session/interrupt", {"sessionId": "s"}), {})
                self.assertEqual(execution.result()["error"]["ename"], "KeyboardInterrupt")
                cellgate.request("session/interrupt", {"sessionId": "s"})  # nothing runs
                self.assertEqual(cellgate.run("print again", sessionId="s").text(), "again\n")
                cellgate.request("session/close", {"sessionId": "s"})


class Clocks(SharedSidecarTest):
    def test_a_loop_is_interrupted_when_its_time_is_over(self):
        self.run_ok("kept = 7")
        execution = self.cellgate.run("print('go', flush=True)\nwhile True: pass", timeoutSeconds=0.3)
        result = execution.result()
        self.assertEqual(result["status"], "timeout")
        self.assertGreaterEqual(result["durationSeconds"], 0.3)
        self.assertEqual(execution.text(), "go\n")
        self.assertEqual(self.run_ok("kept").data()["text/plain"], "7")

    def test_the_time_in_the_queue_does_not_count(self):
        first = self.cellgate.execute("import time\ntime.sleep(6)").wait_running()
        second = self.cellgate.execute("print('in time')", timeoutSeconds=5)
        self.assertEqual((first.result()["status"], second.result()["status"]), ("ok", "ok"))

    def test_a_loop_that_cannot_be_interrupted_ends_with_its_kernel(self):
        self.cellgate.session("deaf")
        code = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('go', flush=True)\nwhile True: pass"
        execution = self.cellgate.run(code, sessionId="deaf", timeoutSeconds=0.1)
        self.assertEqual(execution.result()["status"], "killed")
        self.assertEqual(self.cellgate.run("print(1)", sessionId="deaf").text(), "1\n")
        self.cellgate.request("session/close", {"sessionId": "deaf"})


class State(SharedSidecarTest):
    def test_names_persist_from_cell_to_cell(self):
        self.run_ok("import math\nx = 42\ndef double(n): return 2 * n")
        self.assertEqual(self.run_ok("double(x) + math.floor(1.5)").data()["text/plain"], "85")

    def test_the_namespace_is_that_of_a_stock_kernel(self):
        names = "print(*sorted(dir()))"
        manager, client = start_new_kernel(kernel_name="python3", stderr=subprocess.DEVNULL)
        try:
            stock = []
            client.execute_interactive(names, timeout=PATIENCE,
                                       output_hook=lambda m: stock.append(m["content"].get("text", "")))
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
        self.cellgate.session("fresh")
        self.assertEqual(self.cellgate.run(names, sessionId="fresh").text(), "".join(stock))
        self.cellgate.request("session/close", {"sessionId": "fresh"})

    def test_what_was_left_out_to_start_sooner_is_there_when_it_is_asked_for(self):
        self.cellgate.session("fresh")
        self.assertEqual(self.cellgate.run("import gc, sys\nprint(gc.isenabled(), {'debugpy', 'jedi'} & set(sys.modules))",
                                           sessionId="fresh").text(), "True set()\n")
        cycle = "import weakref\nclass A: pass\na = A(); a.a = a; gone = weakref.ref(a)\ndel a\ngc.collect()\nprint(gone())"
        self.assertEqual(self.cellgate.run(cycle, sessionId="fresh").text(), "None\n")
        if find_spec("jedi"):
            complete = ("from IPython.core.completer import provisionalcompleter\nimport collections\n"
                        "with provisionalcompleter():\n"
                        "    found = list(get_ipython().Completer.completions('collections.Ordered', 19))\n"
                        "import jedi\n"
                        "print([c.type for c in found], sys.modules['IPython.core.completer'].jedi is jedi)")
            self.assertEqual(self.cellgate.run(complete, sessionId="fresh").text(), "['class'] True\n")
        if find_spec("debugpy"):
            self.assertEqual(self.cellgate.run("import debugpy\nprint(debugpy.is_client_connected())",
                                               sessionId="fresh").text(), "False\n")
        self.cellgate.request("session/close", {"sessionId": "fresh"})

    def test_sessions_know_nothing_of_each_other(self):
        self.cellgate.session("left")
        self.cellgate.session("right")
        self.cellgate.run("side = 'left'", sessionId="left")
        self.assertEqual(self.cellgate.run("side", sessionId="right").result()["error"]["ename"], "NameError")
        self.assertLessEqual({"left", "right"},
                             {s["sessionId"] for s in self.cellgate.request("session/list")["sessions"]})
        self.assert_error(1002, self.cellgate.session, "left")
        for name in ("left", "right"):
            self.cellgate.request("session/close", {"sessionId": name})
        self.assert_error(1001, self.cellgate.run, "1", sessionId="left")

    def test_a_restart_forgets_and_goes_on(self):
        self.cellgate.session("again")
        self.cellgate.run("x = 1", sessionId="again")
        waiting = self.cellgate.execute("print('go', flush=True)\nwhile True: pass",
                                        sessionId="again").wait_for_text("go")
        queued = self.cellgate.execute("1", sessionId="again")
        info = self.cellgate.request("session/restart", {"sessionId": "again"})
        self.assertEqual((info["sessionId"], info["executionCount"]), ("again", 0))
        self.assertIn(waiting.result()["status"], ("killed", "cancelled"))
        self.assertEqual(queued.result()["status"], "cancelled")
        result = self.cellgate.run("x", sessionId="again").result()
        self.assertEqual((result["error"]["ename"], result["executionCount"]), ("NameError", 1))
        states = [c["status"] for c in self.cellgate.received("session/changed") if c["sessionId"] == "again"]
        self.assertIn("restarting", states)
        self.cellgate.request("session/close", {"sessionId": "again"})

    def test_top_level_await_and_magics_work(self):
        self.assertEqual(self.run_ok("import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 3\n"
                                     "await f()")
                         .data()["text/plain"], "3")
        self.assertIn("2", self.run_ok("%%time\nprint(1 + 1)").text())

    def test_a_session_starts_where_it_was_told_and_goes_back_there(self):
        (self.place.root / "sub").mkdir()
        info = self.cellgate.session("placed", cwd="sub", restoreCwd=True, env={"COLOUR": "blue"})
        self.assertEqual(info["cwd"], str(self.place.root / "sub"))
        code = "import os\nprint(os.getcwd(), os.environ['COLOUR'])\nos.chdir('/')"
        for _ in range(2):
            self.assertEqual(self.cellgate.run(code, sessionId="placed").text(), f"{self.place.root}/sub blue\n")
        self.cellgate.request("session/close", {"sessionId": "placed"})
        # Also that can be hung by the code, and then be interrupted.
        self.cellgate.session("hung", cwd="sub", restoreCwd=True)
        hanging = self.cellgate.execute("import os\ndef chdir(path):\n    print('hung', flush=True)\n    while True: pass\n"
                                        "os.chdir = chdir", sessionId="hung").wait_for_text("hung")
        self.assertFalse(hanging.pending.done)
        self.cellgate.request("session/interrupt", {"sessionId": "hung"})
        self.assertEqual(hanging.result()["status"], "ok")
        hanging = self.cellgate.execute("1", sessionId="hung", timeoutSeconds=0.5)
        self.assertEqual(hanging.result()["status"], "ok")
        self.cellgate.request("session/close", {"sessionId": "hung"})
        # Without it, a change of directory stays.
        self.cellgate.session("wandering")
        self.cellgate.run("import os\nos.chdir('/usr')", sessionId="wandering")
        self.assertEqual(self.cellgate.run("print(os.getcwd())", sessionId="wandering").text(), "/usr\n")
        self.cellgate.request("session/close", {"sessionId": "wandering"})

    def test_kernels_are_listed_and_a_wrong_one_is_refused_with_what_to_do(self):
        kernels = self.cellgate.request("kernel/list")["kernels"]
        self.assertTrue(any(k["language"] == "python" and "problem" not in k for k in kernels), kernels)
        self.assert_error(1008, self.cellgate.session, "wrong", kernel={"name": "no-such-kernel"})
        self.place.write("fake/python3", "#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n").chmod(0o755)
        with self.assertRaises(RpcError):
            self.cellgate.session("wrong2", kernel={"interpreter": "/nonexistent/python"})
        self.assertNotIn("wrong", [s["sessionId"] for s in self.cellgate.request("session/list")["sessions"]])


class Death(SharedSidecarTest):
    """A kernel that dies is said to have died, and how; the next cell has a new one."""

    def dies(self, code, *words):
        with self.subTest(code):
            execution = self.cellgate.execute(f"print('alive', flush=True)\n{code}")
            queued = self.cellgate.execute("open('ran', 'w')")
            result = execution.result()
            self.assertEqual(result["status"], "killed", result)
            for word in words:
                self.assertIn(word, result["reason"])
            self.assertEqual(queued.result()["status"], "cancelled")
            after = self.run_ok("print('again')")
            self.assertEqual((after.text(), after.result()["executionCount"]), ("again\n", 1))
            self.assertFalse((self.place.root / "ran").exists())
            reasons = [c.get("reason", "") for c in self.cellgate.received("session/changed")]
            self.assertTrue(any(all(word in reason for word in words) for reason in reasons), reasons)

    def test_by_its_own_exit(self):
        self.dies("import os\nos._exit(7)", "7")

    def test_by_a_signal(self):
        self.dies("import os\nos.kill(os.getpid(), 9)", "9")

    def test_by_a_fault_whose_words_are_kept(self):
        self.dies("import os\nos.write(2, b'the last words\\n')\nos.abort()", "last words")


class Exit(SharedSidecarTest):
    def leaves(self, code):
        """A cell that waits until another one is queued, then prints and runs `code`; and that other one."""
        leaving = self.cellgate.execute("import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\n"
                                        f"os.remove('go')\nprint('leaves')\n{code}")
        queued = self.cellgate.execute("open('ran', 'w')").wait_queued()
        self.place.write("go", "")
        return leaving, queued

    def test_the_code_that_quits_ends_well_and_what_waits_for_its_kernel_is_told(self):
        for code in ("quit()", "exit()", "get_ipython().ask_exit()"):
            with self.subTest(code):
                leaving, queued = self.leaves(code)
                result = leaving.result()
                self.assertEqual((result["status"], leaving.text()), ("ok", "leaves\n"))
                self.assertIn("ended its kernel", result["reason"])
                self.assertEqual(queued.result()["status"], "cancelled")
                self.assertIn("ended its kernel", queued.result()["reason"])
                self.assertFalse((self.place.root / "ran").exists())
                self.assertEqual(self.run_ok("print('again')").result()["executionCount"], 1)
        # What the code does at its exit it does to the end.
        leaving, queued = self.leaves("import atexit\natexit.register(lambda: (time.sleep(1.5), open('left', 'w')))\nquit()")
        self.assertEqual(leaving.result()["status"], "ok")
        self.assertEqual(queued.result()["status"], "cancelled")
        self.assertTrue((self.place.root / "left").exists())
        # The control: a kernel that is to stay does.
        leaving, queued = self.leaves("quit(keep_kernel=True)")
        self.assertNotIn("reason", leaving.result())
        self.assertEqual(queued.result()["status"], "ok")


class NothingRuns(PlaceTest):
    def test_a_kernel_that_dies_between_cells_is_noticed(self):
        cellgate = self.sidecar()
        cellgate.session("s", sandbox=False)
        pid = int(cellgate.run("import os\nprint(os.getpid())", sessionId="s").text())
        os.kill(pid, signal.SIGKILL)
        changed = cellgate.wait_for("session/changed", lambda c: c["sessionId"] == "s" and "9" in c.get("reason", ""))
        self.assertIn(changed["status"], ("dead", "restarting"))
        self.assertEqual(cellgate.run("print(1)", sessionId="s").text(), "1\n")


if __name__ == "__main__":
    unittest.main()
