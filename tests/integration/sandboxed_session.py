"""What a session has in each sandbox that mounts. A test's module names them by this one, so that they run as its own."""

import subprocess

from network_testing import FETCH, NetworkTest
from tools_testing import ToolsTest


class SandboxedSession(ToolsTest):
    """One session `sandboxed` for all tests; `sandbox` is that of session/create, `info` its answer."""

    options = None
    generated = ("host",)
    sandbox = None

    @classmethod
    def prepare(cls):
        (cls.workspace.home / ".ssh").mkdir()
        (cls.workspace.home / ".ssh/id_ed25519").write_text("PRIVATE KEY")
        cls.workspace.write(".env", "TOKEN=hidden")
        cls.workspace.write("inside.txt", "inside")
        cls.workspace.write("../outside.txt", "outside")
        subprocess.run(["git", "init", "--quiet", cls.workspace.path], check=True)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.info = cls.cellgate.session("sandboxed", sandbox=cls.sandbox)

    def run_code(self, code):
        return self.run_ok(code, sessionId="sandboxed").text()

    def error_of(self, code):
        return self.cellgate.run(code, sessionId="sandboxed").result()["error"]["ename"]

    def test_state_stays_and_files_are_seen_on_both_sides(self):
        self.run_code("kept = 20")
        self.assertEqual(self.run_code("kept += 1; print(kept * 2)"), "42\n")
        self.run_code("open('made.txt', 'w').write('by the cell')")
        self.assertEqual((self.workspace.path / "made.txt").read_text(), "by the cell")
        (self.workspace.path / "made.txt").write_text("changed outside")  # gVisor must not answer from what it knew
        self.assertEqual(self.run_code("print(open('made.txt').read())"), "changed outside\n")
        self.assertEqual(self.run_code("open('/tmp/a', 'w').write('a'); open('/var/tmp/b', 'w').write('b'); print(1)"),
                         "1\n")

    def test_output_comes_while_the_cell_runs_and_an_interrupt_ends_it(self):
        execution = self.cellgate.execute("print('go', flush=True)\nwhile True: pass",
                                          sessionId="sandboxed").wait_for_text("go")
        self.cellgate.request("session/interrupt", {"sessionId": "sandboxed"})
        result = execution.result()
        self.assertEqual((result["status"], result["error"]["ename"]), ("error", "KeyboardInterrupt"))

    def test_secrets_and_what_programs_outside_obey_are_out_of_reach(self):
        self.assertEqual(self.error_of("open('.env').read()"), "PermissionError")
        self.assertEqual(self.error_of("open('.git/hooks/pre-commit', 'w')"), "OSError")
        self.assertEqual(self.error_of("import os; os.mkdir('.vscode')"), "OSError")  # there is none yet
        self.assertEqual(self.error_of(f"open({str(self.workspace.home / '.ssh/id_ed25519')!r})"), "FileNotFoundError")
        self.assertEqual(self.error_of("open('../outside.txt')"), "FileNotFoundError")
        self.assertEqual((self.workspace.path / ".env").read_text(), "TOKEN=hidden")
        self.assertFalse((self.workspace.path / ".vscode").exists())

    def test_a_tool_is_called_after_a_yes_to_its_line(self):
        execution = self.cellgate.execute("from mcptools.host import read_file\n"
                                          "print(read_file.run(path='inside.txt'))", sessionId="sandboxed")
        approval = self.cellgate.approval()
        self.assertEqual((approval["origin"]["line"], approval["origin"]["text"]),
                         (1, "print(read_file.run(path='inside.txt'))"))
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertIn("inside", execution.text())


class SandboxedNetwork(NetworkTest):
    sandbox = None

    def test_a_host_is_asked_about_and_reached_by_the_proxy_alone(self):
        self.cellgate.session("sandboxed", sandbox=self.sandbox)
        execution = self.cellgate.execute(FETCH + f"fetch({self.url!r})", sessionId="sandboxed")
        approval = self.cellgate.approval()
        self.assertEqual((approval["action"]["kind"], approval["action"]["host"]), ("network", "allowed.example"))
        self.cellgate.allow(approval)
        execution.result()
        self.assertIn("hello from allowed.example", execution.text())
        code = f"import socket\nsocket.create_connection(('127.0.0.1', {self.plain.port}), 5)"
        self.assertEqual(self.cellgate.run(code, sessionId="sandboxed").result()["error"]["ename"],
                         "ConnectionRefusedError")
