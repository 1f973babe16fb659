"""Limits of a session, with real kernels: what an execution that goes beyond one ends in, that the sidecar answers
meanwhile, and that the next cell finds a kernel. What only a control group limits is skipped, with the reason, where
none is available."""

import json
import os
import subprocess
import unittest
from pathlib import Path

from cellgate_client import CELLGATE, WorkspaceSidecarTest, WorkspaceTest
from executions import RpcError
from processes import processes_with, wait_until

SHARED = """
import mmap
memory = mmap.mmap(-1, 900 << 20)
for i in range(0, len(memory), 4096): memory[i] = 1
"""
MEMORY_FILES = """
import os
block = b"x" * (1 << 20)
for i in range(18):
    fd = os.memfd_create("x")
    for j in range(50): os.write(fd, block)
"""
SHARED_FILE = """
with open("/dev/shm/fill", "wb") as file:
    for i in range(500): file.write(b"x" * (1 << 20))
memory = []
for i in range(400): memory.append(b"x" * (1 << 20))
"""
FORKS = """
import os, sys, time
while True:
    try: os.fork()
    except OSError: time.sleep(60)
"""
DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", "MARK"])
    os._exit(0)
os.wait()
"""


class Limits(WorkspaceTest):
    def setUp(self):
        super().setUp()
        self.cellgate = self.sidecar()

    def refused(self, limits, **more):
        with self.assertRaises(RpcError) as caught:
            self.cellgate.session("refused", limits=limits, **more)
        return caught.exception

    def with_group(self, session, limits):
        """A session whose kernel is in a control group."""
        info = self.cellgate.session(session, limits=limits)
        if not {"memory-cgroup", "process-cgroup"} <= set(info["layers"]):
            ended = subprocess.run([CELLGATE, "doctor", "--root", str(self.workspace.path)], capture_output=True,
                                   text=True,
                                   env=self.workspace.environment())
            self.skipTest(next(line for line in ended.stdout.splitlines() if " limits: " in line))
        return info

    def with_counted_processes(self, session, limits):
        return self.with_group(session, limits) if os.geteuid() == 0 else self.cellgate.session(session, limits=limits)

    def assert_goes_on(self, session):
        """The sidecar answers, and the session has a kernel."""
        self.cellgate.request("session/list")
        self.assertEqual(self.cellgate.run("1", sessionId=session).result()["status"], "ok")

    def groups_of_kernel(self):
        """The folders of kernels' control groups, as they are called from outside."""
        inside = {pid for pid in processes_with("bootstrap.py")}
        folders = set()
        for pid in inside:
            for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
                _, controllers, path = line.split(":", 2)
                if "cellgate-" in path:
                    top = f"/sys/fs/cgroup/{controllers}" if controllers else "/sys/fs/cgroup"
                    folders.add(Path(top + path))
        return folders

    # --- memory

    def test_too_much_memory_is_an_error_of_the_cell_and_its_variables_stay(self):
        info = self.cellgate.session("small", limits={"memoryBytes": 512 << 20})
        self.assertIn("memory-limit", info["layers"])
        self.cellgate.run("x = 1", sessionId="small")
        for code in ("b = bytearray(1 << 30)", "b = []\nwhile True: b.append(b'x' * (1 << 20))"):
            result = self.cellgate.run(code, sessionId="small").result()
            self.assertEqual(result["error"]["ename"], "MemoryError")
            self.assertIn("memory-limit", result["layers"])
            self.cellgate.run("b = None", sessionId="small")
        self.assertEqual(self.cellgate.run("x", sessionId="small").data()["text/plain"], "1")
        self.assertEqual(self.cellgate.run("b = bytearray(1 << 30)").result()["status"], "ok")  # the control

    def test_memory_that_is_no_single_process_s_ends_the_kernel_as_oom_with_the_figure(self):
        self.with_group("small", {"memoryBytes": 512 << 20})
        for code in (SHARED, MEMORY_FILES, SHARED_FILE):
            with self.subTest(code):
                result = self.cellgate.run(code, sessionId="small").result()
                self.assertEqual(result["status"], "oom", result)
                self.assertIn("the limit of memory, 512 MiB", result["reason"])
                self.assert_goes_on("small")
        self.assertEqual(self.cellgate.run(SHARED).result()["status"], "ok")  # the control

    def test_a_kill_that_has_nothing_to_do_with_memory_is_not_told_as_one(self):
        self.cellgate.session("small", limits={"memoryBytes": 512 << 20})
        result = self.cellgate.run("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", sessionId="small").result()
        self.assertEqual(result["status"], "killed", result)

    def test_a_child_that_takes_the_memory_ends_and_the_kernel_goes_on(self):
        self.with_group("small", {"memoryBytes": 512 << 20})
        execution = self.cellgate.run("import subprocess, sys\n"
                                      f"print(subprocess.run([sys.executable, '-c', {SHARED!r}]).returncode)",
                                      sessionId="small")
        self.assertEqual((execution.result()["status"], execution.text()), ("ok", "-9\n"))
        # And what happens to the kernel afterwards is not blamed on that.
        self.cellgate.run("import threading; threading.Event()", sessionId="small")

    def test_a_kernel_that_runs_out_of_memory_between_cells_says_so(self):
        self.with_group("small", {"memoryBytes": 512 << 20})
        self.cellgate.run(f"import threading, time\ncode = {SHARED!r}\ndef hog():\n    go.wait()\n    exec(code)\n"
                          "go = threading.Event()\nthreading.Thread(target=hog).start()", sessionId="small")
        self.cellgate.run("threading.Timer(0.2, go.set).start()", sessionId="small")
        changed = self.cellgate.wait_for("session/changed",
                                         lambda c: c["sessionId"] == "small" and c["status"] == "restarting")
        self.assertIn("512 MiB", changed["reason"])

    # --- processes

    def test_a_fork_bomb_stays_within_its_limit_and_the_sidecar_answers(self):
        self.with_counted_processes("few", {"processCount": 80})
        mark = f"bomb-{os.getpid()}"
        execution = self.cellgate.execute("import subprocess, sys\n"
                                          f"subprocess.Popen([sys.executable, '-c', {FORKS!r}, {mark!r}])\n"
                                          "try:\n    while True: subprocess.Popen(['sleep', '60'])\n"
                                          "except OSError as error: print(type(error).__name__)", sessionId="few")
        self.assertEqual(self.cellgate.run("1").result()["status"], "ok")  # in another session, meanwhile
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(execution.text(), "BlockingIOError\n")
        self.assertLessEqual(len(processes_with(mark)), 80)
        self.cellgate.request("session/restart", {"sessionId": "few"})
        self.assertEqual(processes_with(mark), set())
        self.assert_goes_on("few")

    def test_threads_beyond_the_limit_are_an_error_of_the_cell(self):
        self.with_counted_processes("few", {"processCount": 60})
        code = ("import threading\nend = threading.Event()\n"
                "for i in range(200): threading.Thread(target=end.wait, daemon=True).start()")
        result = self.cellgate.run(code, sessionId="few").result()
        self.assertEqual(result["error"]["ename"], "RuntimeError")
        self.cellgate.run("end.set()", sessionId="few")
        self.assert_goes_on("few")
        self.assertEqual(self.cellgate.run(code + "\nend.set()").result()["status"], "ok")  # the control

    def test_a_daemon_that_left_and_ignores_signals_ends_with_its_session(self):
        mark = f"daemon-{os.getpid()}"
        self.cellgate.session("haunted")
        self.assertEqual(self.cellgate.run(DAEMON.replace("MARK", mark), sessionId="haunted").result()["status"], "ok")
        wait_until(lambda: processes_with(mark), "the daemon")
        self.cellgate.request("session/close", {"sessionId": "haunted"})
        self.assertEqual(processes_with(mark), set())

    # --- time

    def test_processes_that_may_keep_a_fifth_of_a_processor_busy_wait_for_their_turn(self):
        self.with_group("plain", {})
        try:
            info = self.cellgate.session("slow", limits={"cpuCores": 0.2})
        except RpcError as error:
            self.skipTest(error.message)
        self.assertIn("processor-cgroup", info["layers"])
        running = self.cellgate.execute("while True: pass", sessionId="slow")
        plain = self.cellgate.execute("while True: pass", sessionId="plain")  # the control: nothing holds it up
        statistics = [folder / "cpu.stat" for folder in self.groups_of_kernel() if (folder / "cpu.stat").exists()]

        def throttled():
            counts = [line.split()[1] for path in statistics for line in path.read_text().splitlines()
                      if line.startswith("nr_throttled")]
            return sum(int(count) > 3 for count in counts)

        wait_until(lambda: throttled() == 1, "the group to have been held up")
        for execution in (running, plain):
            self.cellgate.request("execute/cancel", {"executionId": execution.id, "graceSeconds": 20})
            self.assertEqual(execution.result()["status"], "cancelled")
        self.assert_goes_on("slow")

    def test_too_much_processor_time_ends_the_kernel_and_says_why(self):
        self.cellgate.session("short", limits={"cpuSeconds": 3})
        catches = "import signal\nsignal.signal(signal.SIGXCPU, lambda *_: None)\nwhile True: pass"
        for code in ("while True: pass", catches):
            with self.subTest(code):
                result = self.cellgate.run(code, sessionId="short").result()
                self.assertEqual(result["status"], "killed")
                self.assertIn("the limit of processor time, 3 s", result["reason"])
                self.assert_goes_on("short")  # a new kernel

    def test_with_a_limit_of_processor_time_a_cell_can_still_be_interrupted(self):
        self.cellgate.session("long", limits={"cpuSeconds": 600})
        execution = self.cellgate.execute("x = 1\nprint('on')\nwhile True: pass", sessionId="long")
        execution.wait_for_text("on")
        self.cellgate.request("session/interrupt", {"sessionId": "long"})
        self.assertEqual(execution.result()["error"]["ename"], "KeyboardInterrupt")
        self.assertEqual(self.cellgate.run("x", sessionId="long").data()["text/plain"], "1")

    def test_a_loop_that_swallows_every_exception_ends_with_its_kernel_when_its_time_is_over(self):
        # Without something before the inner loop, Python 3.11 raises the interrupt outside of the `try`.
        swallows = "while True:\n    try:\n        x = 1\n        while True: pass\n    except BaseException: pass"
        self.cellgate.session("walled", limits={"wallSeconds": 1.5})
        execution = self.cellgate.execute(swallows, sessionId="walled")
        execution.wait_running()
        self.assertEqual(self.cellgate.run("1").result()["status"], "ok")  # in another session, meanwhile
        result = execution.result()
        self.assertEqual(result["status"], "killed")
        self.assertIn("after 1.50s it was interrupted and did not stop", result["reason"])
        self.assert_goes_on("walled")

    def test_a_timeout_is_at_most_the_session_s(self):
        self.cellgate.session("walled", limits={"wallSeconds": 1.5})
        for params, seconds in (({}, 1.5), ({"timeoutSeconds": 1000}, 1.5), ({"timeoutSeconds": 0.5}, 0.5)):
            with self.subTest(params):
                result = self.cellgate.run("while True: pass", sessionId="walled", **params).result()
                self.assertEqual(result["status"], "timeout")
                self.assertIn(f"interrupted after {seconds:.2f}s", result["reason"])

    # --- files

    def test_files_beyond_a_limit_are_an_error_of_the_cell(self):
        info = self.cellgate.session("neat", limits={"openFiles": 200, "fileSizeBytes": 64 << 20, "diskBytes": 32 << 20})
        self.assertLessEqual({"open-files-limit", "file-size-limit", "disk-limit"}, set(info["layers"]))
        fill = "with open({!r}, 'wb') as file:\n    for i in range({}): file.write(b'x' * (1 << 20))"
        many = "files = [open('/dev/null') for i in range(400)]"
        attempts = {many: "Too many open files", fill.format("big", 80): "File too large",
                    fill.format("/tmp/fill", 40): "No space left", fill.format("/dev/shm/fill", 40): "No space left",
                    "import os\nos.chdir(os.path.expanduser('~'))\n" + fill.format("fill", 40): "No space left"}
        for code, message in attempts.items():
            with self.subTest(code):
                result = self.cellgate.run(code, sessionId="neat").result()
                self.assertEqual(result["status"], "error")
                self.assertIn(message, result["error"]["evalue"])
                self.assertEqual(self.cellgate.run(code).result()["status"], "ok")  # the control
        self.assert_goes_on("neat")

    # --- groups

    def test_a_kernel_s_group_is_gone_after_it_and_after_a_crash_of_the_sidecar(self):
        self.with_group("first", {"memoryBytes": 512 << 20})
        first = self.groups_of_kernel()
        self.assertTrue(first)
        self.cellgate.request("session/close", {"sessionId": "first"})
        self.assertFalse([folder for folder in first if folder.exists()])

        self.cellgate.session("second")
        second = self.groups_of_kernel()
        self.assertTrue(second and all(folder.exists() for folder in second), second)
        self.cellgate.kill()
        wait_until(lambda: not any(folder.exists() for folder in second), f"the end of {second}")

    # --- what is refused

    def test_what_would_not_hold_is_refused(self):
        for limits in ({"memory": 1}, {"memoryBytes": 0}, {"cpuSeconds": 0}, {"processCount": -1}, {"memoryBytes": "1"},
                       {"openFiles": 10}, {"fileSizeBytes": 1000}, {"diskBytes": 0}, {"wallSeconds": 0}):
            with self.subTest(limits):
                self.assertEqual(self.refused(limits).code, -32602)
        self.assertEqual(self.refused({"memoryBytes": 1 << 30}, sandbox=False).code, 1005)
        self.assertEqual(self.cellgate.request("session/list")["sessions"], [])
        self.cellgate.session("open", sandbox=False, limits={"wallSeconds": 100})  # which cellgate itself holds

    def test_processes_of_root_are_counted_in_a_group_or_the_limit_is_refused(self):
        if os.geteuid() != 0:
            self.skipTest("an ordinary user's processes are always counted")
        try:
            info = self.cellgate.session("few", limits={"processCount": 100})
        except RpcError as error:
            self.assertEqual(error.code, 1005)
            self.assertIn("control group", error.message)
        else:
            self.assertIn("process-cgroup", info["layers"])


class LimitsOfAgents(WorkspaceSidecarTest):
    def assert_too_much(self, call, *arguments, **more):
        with self.assertRaises(RpcError) as caught:
            call(*arguments, **more)
        self.assertEqual(caught.exception.code, 1024)
        self.assertIn("at most", caught.exception.message)
        return caught.exception

    def held(self, client, session):
        """Memory and processor time of a process there, as the system says it; -1 is none."""
        code = "import resource as r\nprint(*(r.getrlimit(l)[0] for l in (r.RLIMIT_DATA, r.RLIMIT_CPU)))"
        return [int(number) for number in client.run(code, sessionId=session).text().split()]

    def test_an_agent_cannot_ask_for_more_than_it_gets_anyway(self):
        user, agent = self.editor(), self.agent()
        for limits in ({"memoryBytes": (8 << 30) + 1}, {"processCount": 5000}, {"cpuSeconds": 3601}, {"wallSeconds": 301}):
            with self.subTest(limits):
                error = self.assert_too_much(agent.request, "session/create", {"limits": limits})
                self.assertIn(next(iter(limits)), error.message)
                self.assertIn("agents.json", error.hint)
        info = agent.request("session/create", {"limits": {"memoryBytes": 1 << 30, "wallSeconds": 60}})
        self.assertIn("memory-limit", info["layers"])
        user.session("wide", limits={"memoryBytes": 1 << 60, "cpuSeconds": 1e6, "wallSeconds": 1e6})  # the control

    def test_an_agent_that_asks_for_nothing_has_its_limits_too_and_a_user_has_not(self):
        user, agent = self.editor(), self.agent()
        own = agent.request("session/create", {})
        self.assertLessEqual({"memory-limit", "cpu-limit"}, set(own["layers"]))
        memory, seconds = self.held(agent, own["sessionId"])
        self.assertEqual((0 < memory <= 8 << 30, seconds), (True, 3600))
        user.session("wide")
        memory, seconds = self.held(user, "wide")
        self.assertEqual((memory == -1 or memory > 0, seconds), (True, -1))

    def test_an_execution_of_an_agent_ends_unless_the_session_s_user_gave_it_longer(self):
        user, agent = self.editor(), self.agent()
        user.session("plain")
        user.session("long", limits={"wallSeconds": 900})
        self.assert_too_much(agent.run, "1", sessionId="plain", timeoutSeconds=301)
        self.assertEqual(agent.run("1", sessionId="long", timeoutSeconds=900).result()["status"], "ok")
        self.assert_too_much(agent.run, "1", sessionId="long", timeoutSeconds=901)
        user.run("1", sessionId="plain", timeoutSeconds=9000)  # the control


class LimitsThatAUserGivesAgents(WorkspaceSidecarTest):
    def setUp(self):
        super().setUp()
        folder = self.workspace.home / ".config/cellgate"
        folder.mkdir(parents=True, mode=0o700)
        (folder / "agents.json").write_text(json.dumps(
            {"timeoutSeconds": 1.5, "memoryBytes": 20 << 30, "cpuSeconds": 7200}))

    def test_hold_for_what_an_agent_asks_for_and_for_what_it_leaves_out(self):
        self.editor()
        agent = self.agent()
        with self.assertRaises(RpcError) as caught:
            agent.run("1", timeoutSeconds=2)
        self.assertEqual(caught.exception.code, 1024)
        self.assertEqual(agent.run("1").result()["status"], "ok")  # in the session of users, which it starts
        (default,) = agent.request("session/list")["sessions"]
        self.assertEqual((default["sessionId"], default["limits"]["cpuSeconds"]), ("default", 7200))
        info = agent.request("session/create", {"limits": {"memoryBytes": 16 << 30, "cpuSeconds": 7000}})
        ended = agent.run("while True: pass", sessionId=info["sessionId"]).result()
        self.assertEqual(ended["status"], "timeout")


class LimitsOfAnAgentByItsName(WorkspaceSidecarTest):
    def setUp(self):
        super().setUp()
        folder = self.workspace.home / ".config/cellgate"
        folder.mkdir(parents=True, mode=0o700)
        (self.workspace.home / "patient.json").write_text(json.dumps(
            {"filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []},
             "network": {"allowedDomains": [], "deniedDomains": []}}))
        (folder / "agents.json").write_text(json.dumps(
            {"timeoutSeconds": 5, "cpuSeconds": 60,
             "agents": {"patient": {"timeoutSeconds": 50, "sandboxConfig": "~/patient.json"}}}))

    def agent_of_name(self, name):
        agent = self.agent(initialize=False)
        agent.request("initialize", {"clientInfo": {"name": name}, "processId": None,
                                     "rootUri": self.workspace.path.as_uri(), "capabilities": {}})
        agent.notify("initialized", {})
        return agent

    def test_one_that_has_its_own_gets_them_and_the_rest_from_those_of_all(self):
        self.editor()
        patient, other = self.agent_of_name("patient"), self.agent_of_name("other")
        own = patient.request("session/create", {})
        self.assertEqual(own["sandboxConfig"], str(self.workspace.home / "patient.json"))
        self.assertEqual((own["limits"]["wallSeconds"], own["limits"]["cpuSeconds"]), (50, 60))
        self.assertEqual(patient.run("1", sessionId=own["sessionId"], timeoutSeconds=50).result()["status"], "ok")
        of_all = other.request("session/create", {})
        self.assertEqual((of_all["limits"]["wallSeconds"], "sandboxConfig" in of_all), (5, False))
        with self.assertRaises(RpcError) as caught:
            other.run("1", sessionId=of_all["sessionId"], timeoutSeconds=50)
        self.assertEqual(caught.exception.code, 1024)


class SandboxSettingsThatAUserGivesAgents(WorkspaceSidecarTest):
    def test_hold_in_agents_sessions_and_in_no_other(self):
        folder = self.workspace.home / ".config/cellgate"
        folder.mkdir(parents=True, mode=0o700)
        settings = self.workspace.home / "agents-sandbox.json"
        settings.write_text(json.dumps({"filesystem": {"denyRead": ["plans.txt"], "allowWrite": ["."], "denyWrite": []},
                                        "network": {"allowedDomains": [], "deniedDomains": []}}))
        (folder / "agents.json").write_text('{"sandboxConfig": "~/agents-sandbox.json"}')
        (self.workspace.path / "plans.txt").write_text("May")
        user, agent = self.editor(), self.agent()
        read = "print(open('plans.txt').read())"
        own = agent.request("session/create", {})
        self.assertEqual(own["sandboxConfig"], str(settings))
        ended = agent.run(read, sessionId=own["sessionId"])
        self.assertEqual((ended.result()["status"], ended.result()["error"]["ename"]), ("error", "PermissionError"))
        user.session("mine")
        self.assertEqual(user.run(read, sessionId="mine").text(), "May\n")  # the control


class LimitsThatCannotBeRead(WorkspaceTest):
    def test_start_nothing_and_say_what_they_may_hold(self):
        folder = self.workspace.home / ".config/cellgate"
        folder.mkdir(parents=True, mode=0o700)
        for text in ("[]", '{"timeout": 5}', '{"timeoutSeconds": 0}', '{"memoryBytes": -1}', "{", '{"sandboxConfig": "x.json"}',
                     '{"agents": {"a": {"executions": 1}}}', '{"agents": {"a": {"memoryBytes": 0}}}'):
            with self.subTest(text):
                (folder / "agents.json").write_text(text)
                ended = subprocess.run([CELLGATE, "serve", "--stdio", "--root", self.workspace.path], text=True,
                                       env=self.workspace.environment(), stdin=subprocess.DEVNULL, capture_output=True)
                self.assertNotEqual(ended.returncode, 0)
                self.assertIn("agents.json", ended.stderr)
                self.assertIn("timeoutSeconds", ended.stderr)
        (folder / "agents.json").write_text('{"sandboxConfig": "/nowhere.json"}')
        ended = subprocess.run([CELLGATE, "serve", "--stdio", "--root", self.workspace.path], text=True,
                               env=self.workspace.environment(), stdin=subprocess.DEVNULL, capture_output=True)
        self.assertNotEqual(ended.returncode, 0)
        self.assertRegex(ended.stderr, r"agents\.json: .*/nowhere\.json")


if __name__ == "__main__":
    unittest.main()
