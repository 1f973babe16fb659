"""The sandbox by gVisor: a real kernel at work in it, and that what holds elsewhere holds there."""

import os
import shutil
import signal
import subprocess
import unittest

import own_network
from cellgate_client import CELLGATE, WorkspaceSidecarTest, WorkspaceTest
from language_testing import DENO
from network_testing import FETCH, NetworkTest
from processes import command_of, descendants, living, wait_until
from tools_testing import ToolsTest
from workspaces import SYSTEM_PATH

TO_HAVE = "gVisor is not installed (apt install runsc)"
WITHOUT = shutil.which("runsc") is None


@unittest.skipIf(WITHOUT, TO_HAVE)
class InGvisor(ToolsTest):
    options = None
    generated = ("host",)

    @classmethod
    def prepare(cls):
        (cls.workspace.home / ".ssh").mkdir()
        (cls.workspace.home / ".ssh/id_ed25519").write_text("PRIVATE KEY")
        cls.workspace.write(".env", "TOKEN=hidden")
        cls.workspace.write("inside.txt", "inside")
        subprocess.run(["git", "init", "--quiet", cls.workspace.path], check=True)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.info = cls.cellgate.session("gvisor", sandbox={"launcher": "gvisor"})

    def run_code(self, code):
        execution = self.cellgate.run(code, sessionId="gvisor")
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        return execution.text()

    def error_of(self, code):
        return self.cellgate.run(code, sessionId="gvisor").result()["error"]["ename"]

    def test_it_says_what_it_is(self):
        info = next(s for s in self.cellgate.request("session/list")["sessions"] if s["sessionId"] == "gvisor")
        self.assertEqual(info["sandbox"], "gvisor")
        layers = set(self.cellgate.run("1", sessionId="gvisor").result()["layers"])
        self.assertLessEqual({"gvisor", "bwrap", "network-namespace", "protected-files", "protected-names",
                              "network-proxy", "private-home"}, layers)
        self.assertFalse({"seccomp", "landlock"} & layers)

    def test_the_kernel_of_the_machine_is_another_one(self):
        self.assertNotEqual(self.run_code("import os; print(os.uname().release)").strip(), os.uname().release)

    def test_state_stays_and_files_are_seen_on_both_sides(self):
        self.run_code("kept = 20")
        self.assertEqual(self.run_code("kept += 1; print(kept * 2)"), "42\n")
        self.run_code("open('made.txt', 'w').write('by the cell')")
        self.assertEqual((self.workspace.path / "made.txt").read_text(), "by the cell")
        (self.workspace.path / "made.txt").write_text("changed outside")  # gVisor must not answer from what it knew
        self.assertEqual(self.run_code("print(open('made.txt').read())"), "changed outside\n")

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

    def test_output_comes_while_the_cell_runs_and_an_interrupt_ends_it(self):
        execution = self.cellgate.execute("print('go', flush=True)\nwhile True: pass",
                                          sessionId="gvisor").wait_for_text("go")
        self.cellgate.request("session/interrupt", {"sessionId": "gvisor"})
        result = execution.result()
        self.assertEqual((result["status"], result["error"]["ename"]), ("error", "KeyboardInterrupt"))

    def test_secrets_and_what_programs_outside_obey_are_out_of_reach(self):
        self.assertEqual(self.error_of("open('.env').read()"), "PermissionError")
        self.assertEqual(self.error_of("open('.git/hooks/pre-commit', 'w')"), "OSError")
        self.assertEqual(self.error_of("import os; os.mkdir('.vscode')"), "OSError")  # there is none yet
        self.assertEqual(self.error_of(f"open({str(self.workspace.home / '.ssh/id_ed25519')!r})"), "FileNotFoundError")
        self.assertEqual((self.workspace.path / ".env").read_text(), "TOKEN=hidden")
        self.assertFalse((self.workspace.path / ".vscode").exists())

    def test_a_tool_is_called_after_a_yes_to_its_line(self):
        execution = self.cellgate.execute("from mcptools.host import read_file\n"
                                          "print(read_file.run(path='inside.txt'))", sessionId="gvisor")
        approval = self.cellgate.approval()
        self.assertEqual((approval["origin"]["line"], approval["origin"]["text"]),
                         (1, "print(read_file.run(path='inside.txt'))"))
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertIn("inside", execution.text())


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
class NetworkOfGvisor(NetworkTest):
    def test_a_host_is_asked_about_and_reached_by_the_proxy_alone(self):
        self.cellgate.session("gvisor", sandbox={"launcher": "gvisor"})
        execution = self.cellgate.execute(FETCH + f"fetch({self.url!r})", sessionId="gvisor")
        approval = self.cellgate.approval()
        self.assertEqual((approval["action"]["kind"], approval["action"]["host"]), ("network", "allowed.example"))
        self.cellgate.allow(approval)
        execution.result()
        self.assertIn("hello from allowed.example", execution.text())
        code = f"import socket\nsocket.create_connection(('127.0.0.1', {self.plain.port}), 5)"
        self.assertEqual(self.cellgate.run(code, sessionId="gvisor").result()["error"]["ename"],
                         "ConnectionRefusedError")


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
