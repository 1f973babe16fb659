"""Cells: in which order they run, how they end, and what is left of them."""

import json
import os
import shutil
import signal
import subprocess
import unittest
from importlib.util import find_spec

from jupyter_client.manager import start_new_kernel

from cellgate_client import FIXTURES, SharedSidecarTest, WorkspaceTest
from executions import RpcError
from processes import TIMEOUT


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
        self.workspace.write("queue1", "")
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
        self.workspace.write("queue2", "")
        self.assertEqual(third.result()["status"], "ok")
        self.assertFalse((self.workspace.path / "ran").exists())

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
        self.workspace.write("queue3", "")
        self.assertEqual(first.result()["status"], "ok")
        self.assertEqual(broken.result()["status"], "error")
        self.assertEqual(behind.result()["status"], "cancelled")
        self.assertFalse((self.workspace.path / "behind").exists())

    def test_an_error_cancels_nothing_when_that_was_wanted(self):
        first = self.blocked("queue4")
        broken = self.cellgate.execute("1 / 0", stopOnError=False)
        behind = self.cellgate.execute("print('still')")
        self.workspace.write("queue4", "")
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


class KernelsThatWantASignal(WorkspaceTest):
    def test_an_interrupt_reaches_a_kernel_in_its_sandbox_by_signal_and_nothing_else(self):
        folder = self.workspace.home / "jupyter/kernels/fake"
        folder.mkdir(parents=True)
        shutil.copy(FIXTURES / "fake_kernel.py", folder)
        (folder / "kernel.json").write_text(json.dumps({
            "argv": ["/usr/bin/python3", "{resource_dir}/fake_kernel.py", "{connection_file}", "--signal"],
            "display_name": "Fake", "language": "fake"}))
        cellgate = self.sidecar(
            environment=self.workspace.environment(JUPYTER_PATH=str(self.workspace.home / "jupyter")))
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
            client.execute_interactive(names, timeout=TIMEOUT,
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
        (self.workspace.path / "sub").mkdir()
        info = self.cellgate.session("placed", cwd="sub", restoreCwd=True, env={"COLOUR": "blue"})
        self.assertEqual(info["cwd"], str(self.workspace.path / "sub"))
        code = "import os\nprint(os.getcwd(), os.environ['COLOUR'])\nos.chdir('/')"
        for _ in range(2):
            self.assertEqual(self.cellgate.run(code, sessionId="placed").text(), f"{self.workspace.path}/sub blue\n")
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
        self.workspace.write("fake/python3", "#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n").chmod(0o755)
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
            self.assertFalse((self.workspace.path / "ran").exists())
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
        self.workspace.write("go", "")
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
                self.assertFalse((self.workspace.path / "ran").exists())
                self.assertEqual(self.run_ok("print('again')").result()["executionCount"], 1)
        # What the code does at its exit it does to the end.
        leaving, queued = self.leaves("import atexit\natexit.register(lambda: (time.sleep(1.5), open('left', 'w')))\nquit()")
        self.assertEqual(leaving.result()["status"], "ok")
        self.assertEqual(queued.result()["status"], "cancelled")
        self.assertTrue((self.workspace.path / "left").exists())
        # The control: a kernel that is to stay does.
        leaving, queued = self.leaves("quit(keep_kernel=True)")
        self.assertNotIn("reason", leaving.result())
        self.assertEqual(queued.result()["status"], "ok")


class NothingRuns(WorkspaceTest):
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
