"""Kernels that already run, started by the tests: cells, tools through the gate, and what is left when a session ends."""

import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from cellgate_client import SharedSidecarTest
from cli_testing import CliTest
from executions import RpcError
from processes import TIMEOUT, wait_until
from tools_testing import ToolsTest

import jupyter_client
from jupyter_client.connect import write_connection_file


class ExistingKernel:
    """An ipykernel that a user has started, in a folder of its own."""

    def __init__(self, transport="tcp", name="kernel-existing.json"):
        self.folder = tempfile.TemporaryDirectory(prefix="k")
        self.file = os.path.join(self.folder.name, name)
        # ZeroMQ names the sockets PREFIX-1 to PREFIX-5.
        ip = {"ip": os.path.join(self.folder.name, "s")} if transport == "ipc" else {}
        write_connection_file(self.file, transport=transport, key=os.urandom(16).hex().encode(), **ip)
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.folder.name, "LANG": "C.UTF-8"}
        self.process = subprocess.Popen(["/usr/bin/python3", "-m", "ipykernel_launcher", "-f", self.file],
                                        cwd=self.folder.name, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client = jupyter_client.BlockingKernelClient(connection_file=self.file)
        self.client.load_connection_file()
        self.client.start_channels(hb=False)
        self.client.wait_for_ready(timeout=TIMEOUT)

    def value(self, expression):
        """What another client of the kernel sees."""
        reply = self.client.execute("", user_expressions={"value": expression}, reply=True, timeout=TIMEOUT)
        return reply["content"]["user_expressions"]["value"]["data"]["text/plain"]

    def run(self, code):
        return self.client.execute(code, reply=True, timeout=TIMEOUT)

    def end(self):
        self.client.stop_channels()
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


class ExistingTest(SharedSidecarTest):
    transport = "tcp"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kernel = ExistingKernel(cls.transport)
        cls.addClassCleanup(cls.kernel.end)
        cls.kernel.run("kept = 41")
        cls.session = cls.cellgate.session("s", kernel={"connectionFile": cls.kernel.file})

    def execute(self, code, **params):
        return self.cellgate.execute(code, **{"sessionId": "s", **params})

    def run_ok(self, code, **params):
        return super().run_ok(code, **{"sessionId": "s", **params})


class Cells(ExistingTest):
    def tearDown(self):
        self.cellgate.handlers.pop("input/request", None)

    def test_the_session_says_what_it_is(self):
        self.assertEqual((self.session["sandbox"], self.session["layers"]), ("none", ["existing"]))
        self.assertEqual(self.session["kernel"]["connectionFile"], self.kernel.file)
        self.assertEqual(self.session["kernel"]["language"], "python")
        self.assertIn("does not isolate it", " ".join(self.session["sandboxNotices"]))

    def test_cells_share_the_variables_of_other_clients(self):
        self.assertEqual(self.run_ok("print(kept + 1)").text(), "42\n")
        self.run_ok("mine = 'of cellgate'")
        self.assertEqual(self.kernel.value("mine"), "'of cellgate'")

    def test_values_streams_and_errors(self):
        execution = self.run_ok("import sys; print('err', file=sys.stderr); 6 * 7")
        self.assertEqual((execution.data()["text/plain"], execution.text("stderr")), ("42", "err\n"))
        execution = self.execute("1 / 0")
        self.assertEqual(execution.result()["error"]["ename"], "ZeroDivisionError")

    def test_input_is_asked_of_the_client_whose_cell_it_is(self):
        self.cellgate.handlers["input/request"] = lambda params: {"value": "Ada"}
        self.assertIn("hello Ada", self.run_ok("print('hello', input('name? '))").text())

    def test_output_of_other_clients_is_not_shown(self):
        mine = self.run_ok("print('mine')")
        self.kernel.run("print('of another client')")
        self.run_ok("print('after')")  # iopub keeps its order
        self.assertEqual(mine.text(), "mine\n")

    def test_an_interrupt_stops_the_cell_and_keeps_the_kernel(self):
        execution = self.execute("import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.05)")
        execution.wait_for_text("begun")
        self.cellgate.request("session/interrupt", {"sessionId": "s"})
        self.assertEqual(execution.result()["error"]["ename"], "KeyboardInterrupt")
        self.assertEqual(self.run_ok("print(kept)").text(), "41\n")

    def test_a_restart_is_refused(self):
        with self.assertRaises(RpcError) as refused:
            self.cellgate.request("session/restart", {"sessionId": "s"})
        self.assertEqual(refused.exception.data["kind"], "unsupported")
        self.assertEqual(self.run_ok("print(kept)").text(), "41\n")

    def test_what_a_running_kernel_cannot_be_given_is_refused(self):
        for more in ({"env": {"A": "b"}}, {"restoreCwd": True}, {"sandbox": True}, {"limits": {"memoryBytes": 1 << 30}}):
            with self.subTest(more), self.assertRaises(RpcError):
                self.cellgate.session("other", kernel={"connectionFile": self.kernel.file}, **more)

    def test_an_end_leaves_the_kernel_and_nothing_of_the_session(self):
        self.cellgate.session("second", kernel={"connectionFile": self.kernel.file})
        folder = "__import__('sys').modules['_cellgate_tools'].tools._folder"
        sockets = f"len([n for n in __import__('os').listdir({folder}) if n.endswith('.sock')])"
        self.assertEqual(self.kernel.value(sockets), "2")
        self.cellgate.request("session/close", {"sessionId": "second"})
        self.assertIsNone(self.kernel.process.poll())
        wait_until(lambda: self.kernel.value(sockets) == "1", "the socket of the session that has ended is removed")
        self.assertEqual(self.run_ok("print(kept)").text(), "41\n")


class CellsOverUnixSockets(Cells):
    transport = "ipc"


class Tools(ToolsTest):
    """Calls of code in a kernel that has no socket to cellgate."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kernel = ExistingKernel()
        cls.addClassCleanup(cls.kernel.end)
        cls.session = cls.cellgate.session("s", kernel={"connectionFile": cls.kernel.file})

    def execute(self, code, **params):
        return self.cellgate.execute(code, **{"sessionId": "s", **params})

    WRITE = "from mcptools.host import write_file\nprint(write_file.run(path='made.txt', content='from the cell'))\n"

    def setUp(self):
        super().setUp()
        self.made = self.workspace.path / "made.txt"
        self.addCleanup(self.made.unlink, missing_ok=True)

    def asked(self, **params):
        execution = self.execute(self.WRITE, cell=self.CELL, **params)
        return execution, self.cellgate.approval()

    def test_a_call_is_asked_about_with_its_line_and_made_once(self):
        execution, approval = self.asked()
        self.assertEqual(approval["origin"]["line"], 11)
        self.assertIn("write_file.run(path='made.txt'", approval["origin"]["text"])
        self.assertFalse(self.made.exists())
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertEqual(self.made.read_text(), "from the cell")

    def test_a_denied_call_makes_nothing(self):
        execution, approval = self.asked()
        self.cellgate.deny(approval, reason="not in here")
        result = execution.result()
        self.assertEqual(result["error"]["ename"], "ApprovalDenied")
        self.assertIn("not in here", result["error"]["evalue"])
        self.assertFalse(self.made.exists())

    def test_an_edited_call(self):
        execution, approval = self.asked()
        self.cellgate.respond(approval, "allow", arguments={"path": "made.txt", "content": "edited"})
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertEqual(self.made.read_text(), "edited")

    def test_a_grant_of_the_cell_ends_with_it(self):
        loop = "from mcptools.host import write_file\nfor _ in range(5): write_file.run(path='made.txt', content='x')\n"
        execution = self.execute(loop)
        approval = self.cellgate.approval()
        self.cellgate.allow(approval, scope="execution")
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        again = self.execute(loop)
        self.cellgate.deny(self.cellgate.approval())
        self.assertEqual(again.result()["status"], "error")

    def test_an_interrupt_cancels_the_call(self):
        execution, approval = self.asked()
        self.cellgate.request("session/interrupt", {"sessionId": "s"})
        self.assertEqual(execution.result()["error"]["ename"], "KeyboardInterrupt")
        self.cellgate.resolved(approval)
        self.assertFalse(self.made.exists())

    def test_many_calls_at_a_time(self):
        self.cellgate.request("policy/add", {"rule": {"effect": "allow", "kind": "host", "tool": "read_file"},
                                             "scope": "workspace"})
        self.workspace.write("big.txt", "é" * 700_000)
        execution = self.execute(
            "import asyncio\nfrom mcptools.host import read_file\n"
            "async def one(): return str(await read_file.run_async(path='big.txt'))\n"
            "texts = await asyncio.gather(*[one() for _ in range(8)])\n"
            "print(len(texts), {t.count('é') for t in texts})")
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertEqual(execution.text(), "8 {700000}\n")

    def test_wrappers_that_are_made_later_are_sent(self):
        execution = self.execute("import mcptools.host, os; print(os.path.dirname(mcptools.host.__file__))")
        execution.result()
        folder = Path(execution.text().strip())
        self.assertFalse(folder.is_relative_to(self.workspace.path))
        self.workspace.write("mcptools/later.py", "value = 7\n")
        execution = self.execute("from mcptools.later import value; print(value)")
        self.assertEqual((execution.result()["status"], execution.text()), ("ok", "7\n"), execution.outputs())

    def test_nothing_of_the_configuration_reaches_the_kernel(self):
        execution = self.execute("import os; print([n for n in os.environ if 'CELLGATE' in n])")
        execution.result()
        self.assertEqual(execution.text(), "['CELLGATE_CHANNEL']\n")


class Ends(SharedSidecarTest):
    def test_a_kernel_that_dies_is_noticed_and_said(self):
        kernel = ExistingKernel()
        self.addCleanup(kernel.end)
        self.cellgate.session("dying", kernel={"connectionFile": kernel.file})
        execution = self.cellgate.execute("import time\nprint('begun', flush=True)\ntime.sleep(1000)",
                                          sessionId="dying")
        execution.wait_for_text("begun")
        kernel.process.send_signal(signal.SIGKILL)
        result = execution.result()
        self.assertEqual(result["status"], "killed")
        self.assertIn("the connection to the kernel ended", result["reason"])
        dead = self.cellgate.wait_for("session/changed", lambda p: p["sessionId"] == "dying" and p["status"] == "dead")
        self.assertIn("no kernel answers", dead["reason"])

    def test_a_file_of_a_kernel_that_has_ended(self):
        kernel = ExistingKernel()
        kernel.process.kill()
        self.addCleanup(kernel.end)
        with self.assertRaises(RpcError) as refused:
            self.cellgate.session("gone", kernel={"connectionFile": kernel.file})
        self.assertIn("no kernel answers", refused.exception.message)

    def test_files_that_are_no_connection_files(self):
        for text in ("", "{}", "[]", '{"transport": "tcp"}'):
            with self.subTest(text), self.assertRaises(RpcError) as refused:
                path = self.workspace.write("not.json", text)
                self.cellgate.session("no", kernel={"connectionFile": str(path)})
            self.assertEqual(refused.exception.data["kind"], "kernelNotFound")


class AtATerminal(CliTest):
    def setUp(self):
        super().setUp()
        self.kernel = ExistingKernel()
        self.addCleanup(self.kernel.end)
        self.kernel.run("kept = 41")

    def test_run_existing_uses_the_kernel_and_leaves_it(self):
        ended = self.cli("run", "--existing", self.kernel.file, self.script("kept += 1\nprint(kept)\n"))
        self.assertEqual((ended.returncode, ended.stdout), (0, "42\n"), ended.stderr)
        self.assertIn("does not isolate it", ended.stderr)
        self.assertEqual(self.kernel.value("kept"), "42")

    def test_a_call_is_asked_about_at_the_terminal(self):
        self.assertEqual(self.cli("generate", "host").returncode, 0)
        terminal = self.terminal("run", "--existing", self.kernel.file, self.script(
            "from mcptools.host import write_file\nwrite_file.run(path='made.txt', content='x')\n"))
        terminal.expect(r"your answer: $|answer.*[:?] ?$")
        terminal.type("1")
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertEqual((self.workspace.path / "made.txt").read_text(), "x")

    def test_a_name_is_looked_up_in_the_runtime_directory(self):
        runtime = self.workspace.home / ".local/share/jupyter/runtime"
        runtime.mkdir(parents=True)
        (runtime / "kernel-4711.json").write_bytes(Path(self.kernel.file).read_bytes())
        for name in ("kernel-4711.json", "4711", "kernel-*", ""):
            with self.subTest(name):
                ended = self.cli("run", "--existing", name, self.script("print(kept)\n"))
                self.assertEqual((ended.returncode, ended.stdout), (0, "41\n"), ended.stderr)
        ended = self.cli("run", "--existing", "other", self.script("print(kept)\n"))
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("%connect_info", ended.stderr)


if __name__ == "__main__":
    unittest.main()
