"""The profile ask-programs: before code starts a program in the sandbox, the user is asked, at the line that starts it."""

import shutil
import unittest

from cellgate_client import arguments_of
from cli_testing import CliTest
from tools_testing import ToolsTest

IN_THREADS = """import subprocess, threading
thread = threading.Thread(target=lambda: print(subprocess.run(["echo", "threaded"], capture_output=True, text=True).stdout))
thread.start(); thread.join()"""
ASYNC = """import asyncio
started = await asyncio.create_subprocess_exec("echo", "later", stdout=asyncio.subprocess.PIPE)
print((await started.communicate())[0].decode())"""


class Programs(ToolsTest):
    @classmethod
    def prepare(cls):
        cls.workspace.write("notes.txt", "of the workspace\n")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cellgate.session("asking", profile="ask-programs")
        cls.cellgate.session("shell", profile="ask-programs", language="bash")

    def asked(self, code, session="asking", **params):
        """The execution, and the approval that it waits for."""
        execution = self.cellgate.execute(code, sessionId=session, **params)
        approval = self.cellgate.approval()
        self.assertEqual((approval["action"]["server"], approval["action"]["tool"]), ("kernel", "run_program"))
        return execution, approval

    def allowed(self, code, session="asking"):
        """What was asked about, and the text that the code printed once that was allowed."""
        execution, approval = self.asked(code, session)
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        return arguments_of(approval), execution.text().strip()

    def test_each_way_to_start_a_program_asks_with_all_of_its_command(self):
        for code, argv, printed in (
            ("!echo one", ["echo", "one"], "one"),
            ("said = !echo two\nprint(said)", ["echo", "two"], "['two']"),
            ("name = 'three'\n!echo {name}", ["echo", "three"], "three"),
            ("!echo four | tr f F", ["/bin/sh", "-c", "echo four | tr f F"], "Four"),
            ("import subprocess; print(subprocess.run(['echo', 'a b'], capture_output=True, text=True).stdout)",
             ["echo", "a b"], "a b"),
            ("import subprocess; print(subprocess.getoutput('echo six; echo seven'))",
             ["/bin/sh", "-c", "echo six; echo seven"], "six\nseven"),
            ("import os; print(os.system('true && exit 3') >> 8)", ["/bin/sh", "-c", "true && exit 3"], "3"),
            ("import os; print(os.waitstatus_to_exitcode(os.waitpid(os.spawnv(os.P_NOWAIT, '/bin/true', ['true']), 0)[1]))",
             ["/bin/true"], "0"),
            ("import os; print(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawnp('false', ['false'], {}), 0)[1]))",
             ["false"], "1"),
            ("import subprocess; print(subprocess.run(['/bin/true'], close_fds=False).returncode)", ["/bin/true"], "0"),
            ("import socket; socket.setdefaulttimeout(1e-9)\n!echo patient", ["echo", "patient"], "patient"),
            (IN_THREADS, ["echo", "threaded"], "threaded"),
            (ASYNC, ["echo", "later"], "later"),
        ):
            with self.subTest(code):
                asked, text = self.allowed(code)
                self.assertEqual((asked["argv"][-len(argv):][1:], text), (argv[1:], printed))
                self.assertEqual(asked["argv"][0].rpartition("/")[2], argv[0].rpartition("/")[2])

    def test_the_question_is_at_the_line_that_starts_it(self):
        execution, approval = self.asked("x = 1\n\n!echo here", cell=self.CELL)
        self.assertEqual((approval["origin"]["line"], approval["origin"]["text"]), (12, "!echo here"))
        self.cellgate.allow(approval)
        execution.result()

    def test_the_script_of_a_shell_cell_is_shown(self):
        execution, approval = self.asked("%%bash\necho $((1 + 1))\n")
        self.assertEqual(arguments_of(approval)["stdin"], "echo $((1 + 1))\n")
        self.cellgate.allow(approval)
        self.assertEqual((execution.result()["status"], execution.text()), ("ok", "2\n"))

    def test_what_is_denied_does_not_start(self):
        for code in ("import subprocess; subprocess.run(['touch', 'made'])", "!touch made", "import os; os.system('touch made')",
                     "%%bash\ntouch made"):
            with self.subTest(code):
                execution, approval = self.asked(code)
                self.cellgate.deny(approval, reason="not today")
                result = execution.result()
                self.assertEqual(result["status"], "error", execution.outputs())
                self.assertIn("not today", result["error"]["evalue"])
                self.assertFalse((self.workspace.path / "made").exists())
        # The control: without the profile nothing is asked, and it starts.
        self.run_ok("!touch made")
        self.assertTrue((self.workspace.path / "made").exists())

    def test_a_file_that_is_called_otherwise_is_shown_with_both_names(self):
        shown, text = self.allowed("import subprocess\n"
                                   "print(subprocess.run(['git', '1 ', '=', '1'], executable='/usr/bin/expr', text=True,"
                                   " capture_output=True).stdout)")
        self.assertEqual((shown["argv"], shown["argv0"], text), (["/usr/bin/expr", "1 ", "=", "1"], "git", "0"))

    def test_a_shell_of_the_workspace_is_no_shell(self):
        self.workspace.write("sh", "#!/bin/sh\necho other\n").chmod(0o755)
        shown, text = self.allowed("import subprocess; print(subprocess.run(['./sh', '-c', 'git status'],"
                                   " capture_output=True, text=True).stdout)")
        self.assertEqual((shown["argv"], text), (["./sh", "-c", "git status"], "other"))

    def test_an_interrupt_takes_the_question_back(self):
        execution, approval = self.asked("!echo never")
        self.cellgate.request("session/interrupt", {"sessionId": "asking"})
        self.assertEqual(execution.result()["status"], "error")
        self.assertIn(execution.result()["error"]["ename"], ("KeyboardInterrupt", "PermissionError"), execution.outputs())
        self.cellgate.resolved(approval)
        self.assertEqual(execution.text(), "")

    def test_a_rule_about_the_words_of_a_command(self):
        rule = {"effect": "allow", "kind": "tool", "server": "kernel", "tool": "run_program",
                "arguments": {"/argv/0": {"equals": "cat"}, "/argv/1": {"equals": "notes.txt"}}}
        self.cellgate.request("policy/add", {"rule": rule, "scope": "workspace"})
        execution = self.cellgate.execute("!cat notes.txt", sessionId="asking")
        self.assertEqual((execution.result()["status"], execution.text().strip()), ("ok", "of the workspace"))
        for code in ("!cat notes.txt; echo more", "!cat other.txt"):
            execution, approval = self.asked(code)
            self.cellgate.deny(approval)
            execution.result()

    def test_a_rule_for_a_tool_that_kernels_do_not_have_is_refused(self):
        rule = {"effect": "deny", "kind": "tool", "server": "kernel", "tool": "run_programm"}
        error = self.assert_error(1015, self.cellgate.request, "policy/add", {"rule": rule, "scope": "workspace"})
        self.assertIn("run_program", str(error))

    def test_the_arguments_cannot_be_edited(self):
        execution, approval = self.asked("!echo as written")
        self.assert_error(1012, self.cellgate.respond, approval, "allow", {"argv": ["echo", "otherwise"]})
        self.cellgate.deny(approval)
        execution.result()

    def test_a_cell_of_bash_asks_as_a_whole(self):
        asked, text = self.allowed("for each in a b; do echo $each; done", "shell")
        self.assertEqual((asked["argv"], text), (["/bin/bash", "-c", "for each in a b; do echo $each; done"], "a\nb"))
        execution, approval = self.asked("touch of_bash", "shell")
        self.assertEqual(arguments_of(approval)["argv"], ["touch", "of_bash"])
        self.cellgate.deny(approval, reason="not today")
        self.assertIn("not today", execution.result()["error"]["evalue"])
        self.assertFalse((self.workspace.path / "of_bash").exists())

    def test_a_session_that_names_its_tool_servers_asks_all_the_same(self):
        self.cellgate.session("few", profile="ask-programs", toolServers=["fix"])
        self.assertEqual(self.allowed("!echo asked", "few")[1], "asked")

    def test_a_saved_tool_that_is_called_there_asks_too(self):
        code = "import subprocess\ndef said() -> str:\n    return subprocess.run(['echo', 'kept'], capture_output=True, text=True).stdout"
        self.call("host", "save_tool", {"name": "said", "code": code})
        self.addCleanup(self.call, "host", "remove_tool", {"name": "said"})
        self.cellgate.request("wrappers/generate", {"server": "saved"})
        execution = self.cellgate.execute("from mcptools.saved import said\nprint(said.run())", sessionId="asking")
        self.cellgate.allow(self.cellgate.approval())
        approval = self.cellgate.approval()
        self.assertEqual(arguments_of(approval)["argv"], ["echo", "kept"])
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertIn("kept", execution.text())

    def test_the_server_is_for_kernels_that_ask_alone(self):
        servers = [each["name"] for each in self.cellgate.request("toolServers/list")["servers"]]
        self.assertNotIn("kernel", servers)
        call = {"server": "kernel", "tool": "run_program", "arguments": {"argv": ["true"]}}
        self.assert_error(1017, self.cellgate.request, "tools/call", call)
        asks = ("import json, os, socket\ns = socket.socket(socket.AF_UNIX); s.connect(os.environ['CELLGATE_CHANNEL'])\n"
                f"s.sendall(json.dumps({{'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': {call!r}}}).encode()"
                " + b'\\n'); print(s.recv(9999).decode())")
        self.assertIn("only kernels call", self.run_ok(asks).text())

    @unittest.skipUnless(shutil.which("R"), "R is not installed")
    def test_a_language_that_cannot_ask_is_refused(self):
        error = self.assert_error(1021, self.cellgate.session, "of-r", profile="ask-programs", language="R")
        self.assertIn("Python and bash", str(error))


class Run(CliTest):
    def test_without_a_terminal_a_program_is_denied_unless_an_option_allows_it(self):
        script = self.script("print(1)\n!echo two\n")
        ended = self.cli("run", "--profile", "ask-programs", script)
        self.assertEqual((ended.returncode, ended.stdout), (1, "1\n"), ended.stderr)
        self.assertIn("kernel/run_program", ended.stderr)
        ended = self.cli("run", "--profile", "ask-programs", script, "--allow", 'kernel/run_program /argv/0=echo')
        self.assertEqual((ended.returncode, ended.stdout.split()), (0, ["1", "two"]), ended.stderr)


if __name__ == "__main__":
    unittest.main()
