"""The sandbox by gVisor: a real kernel at work in it, and that what holds elsewhere holds there."""

import json
import os
import shutil
import signal
import subprocess
import unittest

import own_network
import sandboxed_session
from cellgate_client import CELLGATE, WorkspaceSidecarTest, WorkspaceTest
from language_testing import DENO
from processes import command_of, descendants, living, wait_until
from spare_testing import KEPT, LOGGED, SpareTest
from workspaces import SYSTEM_PATH

TO_HAVE = "gVisor is not installed (apt install runsc)"
WITHOUT = shutil.which("runsc") is None


@unittest.skipIf(WITHOUT, TO_HAVE)
class InGvisor(sandboxed_session.SandboxedSession):
    sandbox = {"launcher": "gvisor"}

    def test_it_says_what_it_is(self):
        info = next(s for s in self.cellgate.request("session/list")["sessions"] if s["sessionId"] == "sandboxed")
        self.assertEqual(info["sandbox"], "gvisor")
        layers = set(self.cellgate.run("1", sessionId="sandboxed").result()["layers"])
        self.assertLessEqual({"gvisor", "bwrap", "network-namespace", "protected-files", "protected-names",
                              "network-proxy", "private-home"}, layers)
        self.assertFalse({"seccomp", "landlock"} & layers)

    def test_the_kernel_of_the_machine_is_another_one(self):
        self.assertNotEqual(self.run_code("import os; print(os.uname().release)").strip(), os.uname().release)

    def test_programs_and_threads_work(self):
        self.assertEqual(self.run_code("""
import subprocess, sys, threading, multiprocessing
results = []
threads = [threading.Thread(target=lambda: results.append(sum(range(1000)))) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
lock = multiprocessing.Lock()
print(results == [499500] * 4, subprocess.check_output([sys.executable, "-c", "print(6 * 7)"], text=True).strip())
"""), "True 42\n")


@unittest.skipIf(WITHOUT, TO_HAVE)
class OtherLanguages(WorkspaceTest):
    CELLS = {"bash": "echo $((6 * 7))", "typescript": "console.log(6 * 7)", "R": "cat(6 * 7, '\\n')"}

    def test_other_kernels_run_in_it(self):
        cellgate = self.sidecar(environment=self.workspace.environment(PATH=f"{DENO.parent}:{SYSTEM_PATH}"))
        for language, code in self.CELLS.items():
            with self.subTest(language):
                cellgate.session(language, language=language, sandbox={"launcher": "gvisor"})
                self.assertEqual(cellgate.run(code, sessionId=language).text().strip(), "42")


@unittest.skipIf(WITHOUT, TO_HAVE)
class NetworkOfGvisor(sandboxed_session.SandboxedNetwork):
    sandbox = {"launcher": "gvisor"}


@unittest.skipIf(WITHOUT, TO_HAVE)
class SettingsFile(WorkspaceTest):
    READS = "print(open({!r}).read())"

    def settings(self, **filesystem):
        path = self.workspace.base / "sandbox.json"
        path.write_text(json.dumps({
            "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": [], **filesystem},
            "network": {"allowedDomains": [], "deniedDomains": []}}))
        return str(path)

    def outcome(self, session, code):
        """What the cell prints, or the name of its exception."""
        run = self.cellgate.run(code, sessionId=session)
        return run.result()["error"]["ename"] if run.result()["status"] == "error" else run.text().strip()

    def setUp(self):
        super().setUp()
        self.data = self.workspace.home / "data"
        self.data.mkdir()
        (self.data / "a.csv").write_text("1,2")
        self.workspace.write("notes.txt", "notes")
        self.workspace.write("kept/x.txt", "x")
        self.cellgate = self.sidecar()

    def test_it_shows_and_hides_there_as_elsewhere(self):
        shown, kept = self.data / "a.csv", self.workspace.path / "kept/x.txt"
        reads = [self.READS.format(str(path)) for path in (shown, self.workspace.path / "notes.txt")]
        self.cellgate.session("plain", sandbox={"launcher": "gvisor"})
        self.assertEqual([self.outcome("plain", read) for read in reads], ["FileNotFoundError", "notes"])
        file = self.settings(allowRead=["~/data"], denyRead=["notes.txt"], denyWrite=["kept"])
        info = self.cellgate.session("settings", sandbox={"launcher": "gvisor", "configFile": file})
        self.assertEqual((info["sandbox"], info["sandboxConfig"]), ("gvisor", file))
        self.assertEqual([self.outcome("settings", read) for read in reads], ["1,2", "PermissionError"])
        for path, ended in ((shown, "OSError"), (kept, "OSError"), (self.workspace.path / "made.txt", "1")):
            with self.subTest(path):
                self.assertEqual(self.outcome("settings", f"print(open({str(path)!r}, 'a').write('+'))"), ended)
        self.assertEqual((shown.read_text(), kept.read_text()), ("1,2", "x"))

    def test_one_on_the_command_line(self):
        (self.workspace.path / "first.py").write_text(self.READS.format(str(self.data / "a.csv")))
        command = [CELLGATE, "run", "--sandbox", "gvisor", "first.py"]
        for more, ended in ((), 1), (("--sandbox-config", self.settings(allowRead=["~/data"])), 0):
            with self.subTest(more):
                run = subprocess.run([*command, *more], cwd=self.workspace.path, env=self.workspace.environment(),
                                     capture_output=True, text=True)
                self.assertEqual((run.returncode, "1,2" in run.stdout), (ended, ended == 0), run.stderr)


@unittest.skipIf(WITHOUT, TO_HAVE)
class LimitsAndEnds(WorkspaceSidecarTest):
    def test_memory_has_a_limit(self):
        user = self.editor()
        if "memory-cgroup" not in user.session("usual")["layers"]:
            self.skipTest("there is no control group here")
        user.session("small", sandbox={"launcher": "gvisor"}, limits={"memoryBytes": 512 << 20})
        result = user.run("b = []\nwhile True: b.append(bytearray(1 << 24))", sessionId="small").result()
        self.assertEqual(result["status"], "oom", result)
        self.assertEqual(user.run("1", sessionId="small").result()["status"], "ok")

    def test_scratch_space_has_a_limit(self):
        user = self.editor()
        user.session("little", sandbox={"launcher": "gvisor"}, limits={"diskBytes": 8 << 20})
        result = user.run("for n in range(20): open(f'/tmp/{n}', 'wb').write(b'x' * (1 << 20))",
                          sessionId="little").result()
        self.assertEqual(result["error"]["ename"], "OSError", result)

    def test_nothing_runs_after_the_sidecar_was_killed(self):
        user = self.editor()
        user.session("gvisor", sandbox={"launcher": "gvisor"})
        user.execute("print('go', flush=True)\nwhile True: pass", sessionId="gvisor").wait_for_text("go")
        sidecar = self.sidecar_pid()
        all_of_it = descendants(sidecar)
        self.assertTrue(any(command_of(pid).startswith("runsc-sandbox") for pid in all_of_it))
        os.kill(sidecar, signal.SIGKILL)
        wait_until(lambda: not living(all_of_it), "all of its processes have ended")

    def test_an_agent_runs_code_where_a_user_chose_it(self):
        user, agent = self.editor(), self.agent()
        user.session("gvisor", sandbox={"launcher": "gvisor"})
        self.assertEqual(agent.run("print(1)", sessionId="gvisor").text(), "1\n")


@unittest.skipIf(WITHOUT, TO_HAVE)
class SpareKernel(SpareTest, WorkspaceTest):
    def test_code_cannot_tell_it_from_a_new_one(self):
        self.cellgate = self.sidecar(options=KEPT, arguments=LOGGED)
        self.assert_code_cannot_tell(sandbox={"launcher": "gvisor"})


@unittest.skipIf(WITHOUT, TO_HAVE)
class ByTheCommandLine(WorkspaceTest):
    def test_a_run_names_its_launcher(self):
        (self.workspace.path / "first.py").write_text("import os\nprint(os.uname().release)")
        ended = subprocess.run([CELLGATE, "run", "--sandbox", "gvisor", "first.py"], cwd=self.workspace.path,
                               env=self.workspace.environment(), capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertNotEqual(ended.stdout.strip(), os.uname().release)


if __name__ == "__main__":
    own_network.enter()
    unittest.main()
