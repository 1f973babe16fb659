"""Limits of a session that runs: which change at once, which after a restart, and who may change them."""

import json
import subprocess
import unittest

from cellgate_client import CELLGATE, WorkspaceSidecarTest, WorkspaceTest
from executions import RpcError

USE = "memory = b'x' * (700 << 20)"


class ChangedLimits(WorkspaceTest):
    def setUp(self):
        super().setUp()
        self.cellgate = self.sidecar()

    def set(self, session, **limits):
        return self.cellgate.request("limits/set", {"sessionId": session, "limits": limits})

    def status(self, code, session):
        return self.cellgate.run(code, sessionId=session).result()["status"]

    def test_the_time_of_an_execution_changes_at_once(self):
        self.cellgate.session("s", limits={"openFiles": 200})
        self.assertEqual(self.set("s", wallSeconds=1), {"limits": {"openFiles": 200, "wallSeconds": 1}, "afterRestart": []})
        self.assertEqual(self.status("while True: pass", "s"), "timeout")
        self.set("s", wallSeconds=60)
        self.assertEqual(self.status("import time\ntime.sleep(1.5)", "s"), "ok")
        self.assertEqual(self.cellgate.request("session/list")["sessions"][0]["limits"],
                         {"openFiles": 200, "wallSeconds": 60})

    def test_what_each_process_got_at_its_start_changes_with_the_next_kernel(self):
        self.cellgate.session("s")
        read = "import resource\nprint(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
        before = self.cellgate.run(read, sessionId="s").text()
        self.assertEqual(self.set("s", openFiles=123)["afterRestart"], ["openFiles"])
        self.assertEqual(self.cellgate.run(read, sessionId="s").text(), before)
        self.cellgate.request("session/restart", {"sessionId": "s"})
        self.assertEqual(self.cellgate.run(read, sessionId="s").text(), "123\n")

    def test_less_memory_for_all_processes_holds_at_once_and_more_than_each_has_later(self):
        info = self.cellgate.session("s", limits={"memoryBytes": 2 << 30})
        if "memory-cgroup" not in info["layers"]:
            self.skipTest("no control group is available")
        self.assertEqual(self.status(USE, "s"), "ok")  # the control
        self.assertEqual(self.status("del memory", "s"), "ok")
        self.assertEqual(self.set("s", memoryBytes=256 << 20)["afterRestart"], [])
        self.assertEqual(self.status(USE, "s"), "oom")
        self.assertEqual(self.status("1", "s"), "ok")
        self.assertEqual(self.set("s", memoryBytes=4 << 30)["afterRestart"], ["memoryBytes"])
        self.cellgate.request("session/restart", {"sessionId": "s"})
        self.assertEqual(self.status(USE, "s"), "ok")

    def test_what_the_system_cannot_enforce_is_refused_and_changes_nothing(self):
        self.cellgate.session("open", sandbox=False)
        with self.assertRaises(RpcError) as caught:
            self.set("open", memoryBytes=1 << 30, wallSeconds=1)
        self.assertEqual(caught.exception.code, 1005)
        self.assertNotIn("limits", self.cellgate.request("session/list")["sessions"][0])
        self.assertEqual(self.set("open", wallSeconds=1)["afterRestart"], [])
        with self.assertRaises(RpcError) as caught:
            self.set("none", wallSeconds=1)
        self.assertEqual(caught.exception.code, 1001)

    def test_a_change_is_an_entry_of_the_record(self):
        self.cellgate.session("s")
        self.set("s", wallSeconds=60)
        entry, = self.cellgate.request("record/query", {"types": ["limits.changed"]})["entries"]
        self.assertEqual((entry["actor"], entry["sessionId"], entry["data"]), ("user", "s", {"limits": {"wallSeconds": 60}}))


class LimitsOfAgentsThatRun(WorkspaceSidecarTest):
    def test_an_agent_can_lower_those_of_its_own_session_and_no_others(self):
        user, agent, other = self.editor(), self.agent(), self.agent()
        own = agent.request("session/create", {})["sessionId"]
        user.session("shared")
        set_limits = {"sessionId": own, "limits": {"wallSeconds": 10, "cpuSeconds": 100}}
        self.assertEqual(agent.request("limits/set", set_limits)["limits"]["wallSeconds"], 10)
        for client, session, limits, code in (
                (agent, own, {"wallSeconds": 11}, 1024), (agent, own, {"memoryBytes": 1 << 60}, 1024),
                (agent, own, {"processCount": 5000}, 1024), (agent, "shared", {"wallSeconds": 1}, 1013),
                (other, own, {"wallSeconds": 1}, 1013)):
            with self.subTest(session=session, limits=limits), self.assertRaises(RpcError) as caught:
                client.request("limits/set", {"sessionId": session, "limits": limits})
            self.assertEqual(caught.exception.code, code)
        set_limits["limits"] = {"wallSeconds": 900}
        self.assertEqual(user.request("limits/set", set_limits)["limits"]["wallSeconds"], 900)  # a user may raise them

    def cli(self, *arguments):
        return subprocess.run([CELLGATE, "limits", *arguments], cwd=self.workspace.path, text=True, capture_output=True,
                              env=self.workspace.environment())

    def test_the_command_line_shows_and_changes_them(self):
        ended = self.cli()
        self.assertEqual(ended.returncode, 1)
        self.assertIn("no sidecar runs", ended.stderr)
        user = self.editor()
        user.session("s")
        self.assertRegex(self.cli("s").stdout, r"\AmemoryBytes \d+ \(default\)\nprocessCount 4096 \(default\)\ndiskBytes 1024M in ")
        for words, said in ((("--memory", "4"), "expected at least 64M, such as 512M or 4G, found 4, which is so many bytes"),
                            (("--disk", "1k"), "expected at least 1M"), (("--open-files", "3"), "from 64 on")):
            refused = self.cli("s", *words)
            self.assertEqual(refused.returncode, 2, refused.stderr)
            self.assertIn(said, refused.stderr)
        ended = self.cli("s", "--file-size", "2G", "--timeout", "90")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stdout, "fileSizeBytes 2147483648\nwallSeconds 90\n"
                                       "once its kernel has started again: fileSizeBytes\n")
        self.assertEqual(json.loads(self.cli("s", "--json").stdout), {"fileSizeBytes": 2 << 30, "wallSeconds": 90})
        self.assertRegex(self.cli("s").stdout, r"wallSeconds 90\nmemoryBytes \d+ \(default\)\n")
        ended = self.cli("other", "--timeout", "1")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("other", ended.stderr)


class Turns(WorkspaceSidecarTest):
    """So many executions of agents run at a time; here one."""

    def setUp(self):
        super().setUp()
        folder = self.workspace.home / ".config/cellgate"
        folder.mkdir(parents=True, mode=0o700)
        (folder / "agents.json").write_text(json.dumps({"executions": 1}))

    def runs_until(self, agent, name, **params):
        code = f"import os, time\nprint('runs', flush=True)\nwhile not os.path.exists({name!r}): time.sleep(0.05)"
        execution = agent.execute(code, sessionId=agent.request("session/create", {})["sessionId"], **params)
        return execution

    def test_another_agent_waits_and_a_user_does_not(self):
        user, first, second = self.editor(), self.agent(), self.agent()
        one = self.runs_until(first, "one")
        one.wait_for_text("runs")
        two = self.runs_until(second, "two")
        waits = second.wait_for("execute/changed", lambda changed: "waitsBehind" in changed)
        self.assertEqual((waits["executionId"], waits["state"], waits["waitsBehind"]), (two.id, "queued", 1))
        self.assertEqual(second.request("execution/get", {"executionId": two.id})["waitsBehind"], 1)
        self.assertEqual(user.run("1").result()["status"], "ok")  # the control
        self.workspace.write("one", "")
        two.wait_for_text("runs")
        self.assertNotIn("waitsBehind", second.request("execution/get", {"executionId": two.id}))
        self.workspace.write("two", "")
        self.assertEqual((one.result()["status"], two.result()["status"]), ("ok", "ok"))

    def test_one_that_waits_for_a_user_lets_another_one_run(self):
        user, first, second = self.editor(), self.agent(), self.agent()
        asks = first.execute("import urllib.request\nurllib.request.urlopen('http://example.invalid/')")
        asked = user.approval()
        self.assertEqual(second.run("1", sessionId=second.request("session/create", {})["sessionId"]).result()["status"],
                         "ok")
        user.deny(asked)
        self.assertEqual(asks.result()["status"], "error")

    def test_one_that_waits_can_be_cancelled(self):
        self.editor()
        first, second = self.agent(), self.agent()
        one = self.runs_until(first, "one")
        one.wait_for_text("runs")
        two = self.runs_until(second, "two")
        second.wait_for("execute/changed", lambda changed: "waitsBehind" in changed)
        second.request("execute/cancel", {"executionId": two.id})
        self.assertEqual(two.result()["status"], "cancelled")
        self.workspace.write("one", "")
        self.assertEqual(one.result()["status"], "ok")


if __name__ == "__main__":
    unittest.main()
