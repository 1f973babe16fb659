"""An editor goes in the middle of its work and comes back: nothing is missing, nothing comes twice."""

import os
import random
import signal
import time
import unittest

from attaching import Attaching, read_output, text_of
from cellgate_client import WorkspaceSidecarTest
from executions import RpcError
from processes import command_of, descendants, living, wait_until, workspace_sidecars

CALL = "from mcptools.host import write_file\nwrite_file.run(path='note.txt', content='x')\n"


def counting(count, pause):
    return f"import time\nfor i in range({count}):\n    print(i, flush=True)\n    time.sleep({pause})\n"


def counted(count):
    return "".join(f"{i}\n" for i in range(count))


class Reload(WorkspaceSidecarTest):
    def test_the_kernel_its_variables_and_the_result_are_there(self):
        one = self.editor()
        one.run("import os, time; x = 'kept'; pid = os.getpid()")
        before = one.run("pid").data()["text/plain"]
        cell = one.execute("print('begun', flush=True); time.sleep(1); print('ended'); 6 * 7").wait_for_text("begun")
        one.vanish()
        two = self.editor()
        attached = Attaching(two)
        self.assertEqual(attached.answer["session"]["status"], "busy")
        self.assertEqual(attached.executions[cell.id]["state"], "running")
        result = attached.wait_finished(cell.id)
        self.assertEqual(result["status"], "ok")
        self.assertEqual(attached.whole_text(cell.id), "begun\nended\n")
        self.assertEqual(two.run("x, os.getpid() == pid").data()["text/plain"], "('kept', True)")
        self.assertEqual(two.run("pid").data()["text/plain"], before)

    def test_in_the_middle_of_output_no_record_is_missing_or_comes_twice(self):
        one = self.editor()
        cell = one.execute(counting(300, 0.01)).wait_for_text("20\n")
        one.vanish()
        attached = Attaching(self.editor())
        self.assertEqual(attached.whole_text(cell.id), counted(300))

    def test_what_ended_while_nobody_was_there_is_told(self):
        one = self.editor()
        first = one.execute("print('a')\n1 / 0")
        first.result()
        second = one.execute("import time; time.sleep(0.3); print('b')").wait_running()
        third = one.execute("print('c')")
        one.wait_for("execute/changed", lambda c: c["executionId"] == third.id)
        one.vanish()
        two = self.editor()
        wait_until(lambda: two.request("execution/get", {"executionId": third.id})["state"] == "finished", "the end")
        attached = Attaching(two)
        self.assertEqual(list(attached.executions), [first.id, second.id, third.id])
        self.assertEqual({each["state"] for each in attached.answer["executions"]}, {"finished"})
        self.assertEqual(text_of(read_output(two, second.id).values()), "b\n")
        self.assertEqual(two.request("execution/get", {"executionId": first.id})["result"]["error"]["ename"],
                         "ZeroDivisionError")

    def test_what_waits_in_the_queue_runs_and_its_output_comes_to_who_attached(self):
        one = self.editor()
        running = one.execute("import time; time.sleep(1)").wait_running()
        waiting = one.execute("print('later')")
        one.wait_for("execute/changed", lambda c: c["executionId"] == waiting.id)
        one.vanish()
        attached = Attaching(self.editor())
        self.assertEqual(attached.executions[running.id]["state"], "running")
        self.assertEqual(attached.executions[waiting.id], {
            "executionId": waiting.id, "state": "queued", "position": 1, "nextSeq": 0})
        self.assertEqual(attached.whole_text(waiting.id), "later\n")

    def test_attaching_again_and_to_what_one_runs_oneself_doubles_nothing(self):
        one = self.editor()
        cell = one.execute(counting(100, 0.01)).wait_for_text("5\n")
        attached = Attaching(one)
        Attaching(one)
        attached.wait_finished(cell.id)
        cell.result()
        self.assertEqual(cell.text(), counted(100))
        self.assertGreaterEqual(attached.executions[cell.id]["nextSeq"], 6)

    def test_a_session_that_is_not_there_cannot_be_attached(self):
        with self.assertRaises(RpcError) as caught:
            self.editor().request("session/attach", {"sessionId": "none"})
        self.assertEqual(caught.exception.code, 1001)


class Approvals(WorkspaceSidecarTest):
    def ask(self, editor):
        editor.request("wrappers/generate", {"server": "host"})
        cell = editor.execute(CALL)
        return cell, editor.approval()

    def test_what_waits_is_announced_again_and_answered_by_who_came_back(self):
        one = self.editor()
        cell, approval = self.ask(one)
        one.vanish()
        two = self.editor()
        again = two.approval()
        self.assertEqual(again, approval)
        attached = Attaching(two)
        two.allow(again)
        self.assertEqual(attached.wait_finished(cell.id)["status"], "ok")
        self.assertEqual((self.workspace.path / "note.txt").read_text(), "x")

    def test_a_question_that_comes_while_the_editor_reloads_waits_for_it(self):
        one = self.editor()
        one.request("wrappers/generate", {"server": "host"})
        cell = one.execute("import time; time.sleep(1)\nprint('calling', flush=True)\n" + CALL).wait_running()
        one.vanish()
        onlooker = self.editor(capabilities={}, linger=0)  # who cannot answer
        Attaching(onlooker)
        onlooker.wait_for("execute/output", lambda o: "calling" in o["output"].get("text", ""))
        two = self.editor()
        two.allow(two.approval())
        self.assertEqual(Attaching(two).wait_finished(cell.id)["status"], "ok")

    def test_when_nobody_comes_back_it_is_denied_and_says_why(self):
        one = self.editor(linger=0.5)
        one.request("wrappers/generate", {"server": "host"})
        one.execute("import mcptools\n" + CALL.replace("write_file.run", "try:\n    write_file.run").rstrip()
                    + "\nexcept mcptools.ApprovalDenied as denied:\n    open('why', 'w').write(str(denied))")
        one.approval()
        one.vanish()
        self.wait_for_the_end_of_the_sidecar()
        self.assertIn("no user is connected", (self.workspace.path / "why").read_text())

    def test_of_two_editors_the_first_answer_wins_and_the_other_is_told(self):
        one, two = self.editor(), self.editor()
        cell, approval = self.ask(one)
        self.assertEqual(two.approval(), approval)
        two.deny(approval, reason="not now")
        for editor in (one, two):
            self.assertEqual(editor.resolved(approval)["decision"], "deny")
        with self.assertRaises(RpcError) as caught:
            one.allow(approval)
        self.assertEqual(caught.exception.code, 1010)
        self.assertEqual(cell.result()["status"], "error")


class Crash(WorkspaceSidecarTest):
    """The sidecar itself is killed: the next one says what was lost, and still has what was written."""

    def test_the_next_sidecar_says_what_was_lost_and_has_its_output(self):
        one = self.editor()
        ended = one.execute("print('kept')\n6 * 7")
        ended.result()
        running = one.execute(counting(100_000, 0.001), cell={"uri": "file:///plan/a.py", "line": 12})
        running.wait_for_text("50\n")
        waiting = one.execute("print('never')")
        one.wait_for("execute/changed", lambda c: c["executionId"] == waiting.id)
        told = running.text()
        os.kill(self.sidecar_pid(), signal.SIGKILL)
        self.assertEqual(one.wait_end(), 1)

        two = self.editor()
        (lost,) = two.info["lost"]
        self.assertEqual(lost["sessions"], ["default"])
        self.assertEqual(lost["executions"], [
            {"executionId": running.id, "sessionId": "default", "state": "running",
             "cell": {"uri": "file:///plan/a.py", "line": 12}},
            {"executionId": waiting.id, "sessionId": "default", "state": "queued"}])
        result = two.request("execution/get", {"executionId": running.id})["result"]
        self.assertEqual(result["status"], "killed")
        self.assertIn("ended unexpectedly", result["reason"])
        text = text_of(read_output(two, running.id).values())
        self.assertEqual(text[: len(told)], told)
        self.assertEqual(text, counted(text.count("\n")))
        self.assertEqual(two.request("execution/get", {"executionId": waiting.id})["result"]["status"], "cancelled")
        self.assertEqual(read_output(two, waiting.id), {})

        before = two.request("execution/get", {"executionId": ended.id})
        self.assertEqual(before["result"], ended.result())
        outputs = list(read_output(two, ended.id).values())
        self.assertEqual(text_of(outputs), "kept\n")
        self.assertEqual(outputs[-1]["data"]["text/plain"], "42")
        with self.assertRaises(RpcError) as unknown:
            two.request("output/read", {"executionId": "never"})
        self.assertEqual(unknown.exception.code, 1006)

        # Everybody who comes to this sidecar hears of it, and an agent does not.
        self.assertEqual(self.editor().info["lost"], [lost])
        self.assertNotIn("lost", self.agent().info)
        two.vanish()
        os.kill(self.sidecar_pid(), signal.SIGKILL)
        self.wait_for_the_end_of_the_sidecar()
        three = self.editor()
        self.assertNotIn("lost", three.info)
        self.assertEqual(text_of(read_output(three, running.id).values()), text)

    def test_a_sidecar_that_was_told_to_end_has_lost_nothing(self):
        one = self.editor()
        one.run("x = 1")
        os.kill(self.sidecar_pid(), signal.SIGTERM)
        one.wait_end()
        self.wait_for_the_end_of_the_sidecar()
        self.assertNotIn("lost", self.editor().info)


class Kills(WorkspaceSidecarTest):
    """At random moments, seeded; CELLGATE_KILLS says how many."""

    def test_whatever_is_killed_nothing_is_lost_in_silence(self):
        random.seed(7)
        kills = int(os.environ.get("CELLGATE_KILLS", "12"))
        self.editor_now = self.editor()
        self.mark = 0
        for kill in range(kills):
            victim = random.choice(("editor", "editor", "editor", "sidecar", "kernel"))
            with self.subTest(kill=kill, victim=victim):
                self.round(victim, f"kill{kill}", random.random() * 0.4)

    def round(self, victim, execution_id, moment):
        editor = self.ready_editor()
        sidecar = self.sidecar_pid()
        children = descendants(sidecar)
        cell = editor.execute(counting(60, 0.003), executionId=execution_id)
        time.sleep(moment)  # a random one: nothing to wait for
        if victim == "editor":
            editor.vanish()
            self.editor_now = self.editor()
            attached = Attaching(self.editor_now) if self.knows(execution_id) else None
            if attached and execution_id in attached.executions:
                self.assertEqual(attached.whole_text(execution_id), counted(60))
                self.assertEqual(self.sidecar_pid(), sidecar)
            # or the relay was killed before it had carried the request
        elif victim == "kernel":
            kernel = self.kernel_of(sidecar)
            if kernel:
                os.kill(kernel, signal.SIGKILL)
            status = cell.result()["status"]
            self.assertIn(status, ("ok", "killed"))
            told = cell.text()
            self.assertEqual(told, counted(60)[: len(told)])
            self.assertEqual(text_of(read_output(editor, execution_id).values()), told)
        else:
            os.kill(sidecar, signal.SIGKILL)
            self.assertEqual(editor.wait_end(), 1)
            wait_until(lambda: not living(children), "the end of its kernels")
            told = cell.text()
            self.editor_now = self.editor()
            self.assertEqual(self.editor_now.request("session/list"), {"sessions": []})
            (lost,) = self.editor_now.info["lost"]
            self.assertEqual(lost["sessions"], ["default"])
            if self.knows(execution_id):
                kept = text_of(read_output(self.editor_now, execution_id).values())
                self.assertEqual(kept, counted(60)[: len(kept)])
                self.assertEqual(told, kept[: len(told)])
            else:
                self.assertEqual(told, "")  # it was killed before it had read the request

    def ready_editor(self):
        """With a kernel that runs: of the round before, one may be starting, or have been killed while it did."""
        if not workspace_sidecars(self.workspace):
            self.editor_now = self.editor()
        while True:
            try:
                if self.editor_now.run("pass").result()["status"] == "ok":
                    return self.editor_now
            except RpcError as error:
                self.assertEqual(error.code, 1003)
                self.editor_now.request("session/restart", {"sessionId": "default"})

    def knows(self, execution_id):
        try:
            self.editor_now.request("execution/get", {"executionId": execution_id})
        except RpcError as error:
            self.assertEqual(error.code, 1006)
            return False
        return True

    @staticmethod
    def kernel_of(sidecar):
        found = [p for p in descendants(sidecar) if "bootstrap.py" in command_of(p) and "bwrap" not in command_of(p)
                 and "supervise" not in command_of(p)]
        return found[-1] if found else None


if __name__ == "__main__":
    unittest.main()
