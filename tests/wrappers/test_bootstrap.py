"""The bootstrap on a real kernel: as the stock one, with frames, executions told apart, and clean tracebacks."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from fake_channel import Denied, FakeChannel, text_result
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from packages import generate

BOOTSTRAP = pathlib.Path(__file__).resolve().parents[2] / "sidecar" / "kernel" / "bootstrap.py"
TOOLS = [{"name": "read", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}}]
TIMEOUT = 60


class Kernel:
    """A kernel started by `arguments` to the interpreter, in `folder`. `more`: of its environment; None leaves out."""

    def __init__(self, arguments, folder, channel_path, **more):
        self.manager = KernelManager()
        argv = [sys.executable, *arguments, "-f", "{connection_file}"]
        self.manager._kernel_spec = KernelSpec(argv=argv, display_name="test", language="python")
        env = dict(os.environ, CELLGATE_CHANNEL=channel_path, PYTHONDONTWRITEBYTECODE="1", IPYTHONDIR=folder + "/.i",
                   ALL_PROXY="http://127.0.0.1:3128", CELLGATE_RELAYED_PORTS="3130 3131")  # as in a sandbox
        env = {name: value for name, value in {**env, **more}.items() if value is not None}
        self.manager.start_kernel(cwd=folder, env=env, stderr=subprocess.DEVNULL)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=TIMEOUT)

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def run(self, code, execution=None, answer_input=None):
        """The reply's content and those of the iopub messages, as (type, content)."""
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}}
        # With stop_on_error a request that comes right after the reply of a failed one may be aborted, too.
        content.update(allow_stdin=answer_input is not None, stop_on_error=False)
        message = self.client.session.msg("execute_request", content)
        if execution is not None:
            message["msg_id"] = message["header"]["msg_id"] = execution
        self.client.shell_channel.send(message)
        if answer_input is not None:
            self.client.get_stdin_msg(timeout=TIMEOUT)
            self.client.input(answer_input)
        outputs = []
        while outputs[-1:] != [("status", {"execution_state": "idle"})]:
            output = self.client.get_iopub_msg(timeout=TIMEOUT)
            if output["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                outputs.append((output["msg_type"], output["content"]))
        while True:
            reply = self.client.get_shell_msg(timeout=TIMEOUT)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return reply["content"], outputs

    def text(self, code, **more):
        """What the cell printed, and its value."""
        _, outputs = self.run(code, **more)
        parts = [each["text"] for kind, each in outputs if kind == "stream"]
        parts += [each["data"]["text/plain"] for kind, each in outputs if kind == "execute_result"]
        return "".join(parts)

    def error(self, code, execution=None, **more):
        """ename, evalue, traceback without colours, frames; the same in reply and message."""
        reply, outputs = self.run(code, execution, **more)
        (message,) = [each for kind, each in outputs if kind == "error"]
        for name in ("ename", "evalue", "traceback", "cellgate"):
            if message[name] != reply[name]:
                raise AssertionError("message and reply differ in " + name)
        shown = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(message["traceback"]))
        return message["ename"], message["evalue"], shown, message["cellgate"]["frames"]


class History(unittest.TestCase):
    """In memory where the home directory is the sandbox's own, and new; else in IPython's file, as ever."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="cellgate-test-")
        self.addCleanup(temporary.cleanup)
        self.home = pathlib.Path(temporary.name)

    def kernel(self, **environment):
        environment = {"HOME": str(self.home), "CELLGATE_HOME": str(self.home), "IPYTHONDIR": None, **environment}
        kernel = Kernel([str(BOOTSTRAP)], str(self.home), "/nowhere", **environment)
        self.addCleanup(kernel.close)
        return kernel

    def files(self):
        return [path.name for path in self.home.rglob("history.sqlite")]

    def test_nothing_is_written_that_goes_with_the_sandbox(self):
        kernel = self.kernel()
        kernel.run("6 * 7")
        self.assertIn("6 * 7", kernel.text("%history"))
        self.assertIn("6 * 7", kernel.text("%history -g 6 *"))
        self.assertEqual(self.files(), [])

    def test_what_stays_is_kept(self):
        for name, environment in {"no sandbox": {"CELLGATE_HOME": None}, "a home of the session's": {
                "CELLGATE_HOME": "/root"}, "a folder of the session's": {"IPYTHONDIR": str(self.home / "kept")}}.items():
            with self.subTest(name):
                self.kernel(**environment)
                self.assertEqual(self.files(), ["history.sqlite"])
                shutil.rmtree(self.home / ".ipython", ignore_errors=True)
                shutil.rmtree(self.home / "kept", ignore_errors=True)

    def test_without_the_speedups_the_start_is_the_stock_one(self):
        stock = "import sys\nprint(get_ipython().kernel._execute_sleep > 0, 'jedi' in sys.modules)"
        self.assertEqual(self.kernel(CELLGATE_KERNEL_SPEEDUPS="0").text(stock), "True True\n")
        self.assertEqual(self.files(), ["history.sqlite"])
        self.assertEqual(self.kernel().text(stock), "False False\n")

    def test_a_folder_that_a_user_shows_is_used(self):
        (self.home / ".ipython").mkdir()
        self.kernel()
        self.assertEqual(self.files(), ["history.sqlite"])


class Bootstrap(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.channel = FakeChannel(cls.answer)
        cls.addClassCleanup(cls.channel.close)
        temporary = tempfile.TemporaryDirectory(prefix="cellgate-test-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = temporary.name
        generate("files", TOOLS, cls.folder)
        cls.stock = Kernel(["-m", "ipykernel_launcher"], cls.folder, cls.channel.path)
        cls.addClassCleanup(cls.stock.close)
        cls.ours = Kernel([str(BOOTSTRAP)], cls.folder, cls.channel.path)
        cls.addClassCleanup(cls.ours.close)
        fresh = "print(__name__, sorted(dir()), __import__('__main__').__dict__ is globals())"
        cls.fresh = [kernel.text(fresh) for kernel in (cls.stock, cls.ours)]

    @staticmethod
    def answer(params):
        if params["arguments"].get("path") == "secret":
            raise Denied("not today")
        return text_result("text of " + params["arguments"]["path"])

    def same(self, code, **more):
        theirs = self.stock.text(code, **more)
        self.assertTrue(theirs)
        self.assertEqual(self.ours.text(code, **more), theirs, code)

    def origin(self):
        return self.channel.requests[-1]["execution"], self.channel.requests[-1]["line"]

    def test_a_fresh_namespace_is_the_stock_one(self):
        stock, ours = self.fresh
        self.assertIn("get_ipython", stock)
        self.assertEqual(ours, stock)
        self.same("import sys; print(sys.path, [a for a in sys.argv if not a.endswith('.json')])")
        # A debugger that is loaded sets variables of its own.
        self.same("import os; print(sorted(n for n in os.environ if not n.startswith('PYDEVD_')), os.getcwd())")
        self.same("print(type(get_ipython()), type(get_ipython().kernel), list(get_ipython().config['IPKernelApp']))")

    def test_history_magics_shell_and_input_work(self):
        self.assertEqual(self.ours.text("print(input('? '))", answer_input="typed"), "typed\n")
        self.assertEqual(self.ours.text("!echo shell").split(), ["shell"])
        self.ours.run("6 * 7")
        self.assertEqual(self.ours.text("_, In[-2], Out[max(Out)]"), "(42, '6 * 7', 42)")
        self.assertIn("6 * 7", self.ours.text("%history -l 4"))
        # As it is outside, where a plain Debian has no pip.
        pip = subprocess.run([sys.executable, "-m", "pip", "--version"], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, check=False).stdout.strip()
        self.assertIn(pip, self.ours.text("%pip --version"))

    def test_the_pause_before_the_reply_is_off(self):
        self.assertEqual(self.ours.text("get_ipython().kernel._execute_sleep"), "0.0")
        self.assertNotEqual(self.stock.text("get_ipython().kernel._execute_sleep"), "0.0")

    def test_output_that_is_not_taken_yet_is_not_dropped(self):
        limit = (
            "import zmq\nsocket = get_ipython().kernel.iopub_socket\n"
            "print(getattr(socket, 'io_thread', socket).socket.getsockopt(zmq.SNDHWM))"
        )
        self.assertEqual(self.stock.text(limit).strip(), "1000")
        self.assertEqual(self.ours.text(limit).strip(), "0")

    def test_a_native_crash_leaves_last_words(self):
        enabled = "import faulthandler; print(faulthandler.is_enabled())"
        self.assertEqual(self.ours.text(enabled).strip(), "True")

    def test_a_denied_call_shows_the_users_frames_and_the_reason_only(self):
        code = "from mcptools.files import read\n\ndef load(path):\n    return read.run(path=path)\n\nload('secret')"
        name, value, shown, frames = self.ours.error(code, "denied-1")
        self.assertEqual((name, value), ("ApprovalDenied", "not today"))
        self.assertTrue(shown.endswith("ApprovalDenied: not today"), shown)
        self.assertIn("return read.run(path=path)", shown)
        self.assertEqual(shown.count("In ["), 2)
        for ours in ("mcptools/", "_runtime", "bootstrap", "_tool", "skipping hidden"):
            self.assertNotIn(ours, shown)
        self.assertEqual(
            frames,
            [
                {"execution": "denied-1", "path": None, "line": 5, "function": "<module>"},
                {"execution": "denied-1", "path": None, "line": 3, "function": "load"},
            ],
        )
        stock_shown = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(self.stock.run(code)[0]["traceback"]))
        self.assertIn("_runtime", stock_shown)

    def test_a_prompt_that_nobody_answers_shows_the_users_frames_only(self):
        code = "def ask():\n    return input('Name: ')\nask()"
        name, text, shown, _ = self.ours.error(code, answer_input="\x04")
        self.assertEqual((name, text), ("EOFError", "the prompt got no answer"))
        self.assertNotIn("kernelbase", shown)
        self.assertIn("input('Name: ')", shown)
        reply, _ = self.stock.run(code, answer_input="\x04")
        self.assertIn("kernelbase", "".join(reply["traceback"]))  # without our hook
        self.assertEqual(self.ours.text("try:\n    input()\nexcept EOFError:\n    print('end')", answer_input="\x04"),
                         "end\n")

    def test_that_holds_for_await_for_chains_for_groups_and_for_threads(self):
        for code in (
            "from mcptools.files import read\nawait read.run_async(path='secret')",
            "import asyncio\nawait asyncio.gather(read.run_async(path='secret'))",
            "try:\n    read.run(path='secret')\nexcept Exception as error:\n    raise ValueError('on top') from error",
            "try:\n    read.run(path='secret')\nfinally:\n    1 / 0",
            "from concurrent.futures import ThreadPoolExecutor as Pool\n"
            "list(Pool(1).map(lambda path: read.run(path=path), ['secret']))",
            "read.run(pth='misspelt')",
        ):
            _, _, shown, frames = self.ours.error(code)
            self.assertNotIn("_runtime", shown)
            self.assertNotIn("mcptools/", shown)
            self.assertNotIn("mcptools", json.dumps(frames))
        threads = "import threading\nthread = threading.Thread(target=lambda: read.run(path='secret'))\n"
        printed = self.ours.text(threads + "thread.start(); thread.join()")
        self.assertIn("mcptools.ApprovalDenied: not today", printed)
        self.assertNotIn("_runtime", printed)

    def test_a_caught_error_shows_clean_later_too(self):
        self.ours.error("from mcptools.files import read\nread.run(path='secret')")
        _, outputs = self.ours.run("%tb")
        (message,) = [each for kind, each in outputs if kind == "error"]
        self.assertNotIn("_runtime", "".join(message["traceback"]))

    def test_the_same_code_twice_is_two_executions(self):
        code = "from mcptools.files import read\ndef twice():\n    return read.run(path='x')\ntwice()"
        self.ours.run(code, "first")
        self.assertEqual(self.origin(), ("first", 2))
        self.ours.run("kept = twice", "keep")
        self.ours.run(code, "second")
        self.assertEqual(self.origin(), ("second", 2))
        self.ours.run("kept()", "later")
        self.assertEqual(self.origin(), ("first", 2))

    def test_lines_count_in_the_cell_as_it_was_sent(self):
        self.ours.run("from mcptools.files import read")
        self.ours.run("\n\n  \nx = 1\nread.run(path='x')", "blank")
        self.assertEqual(self.origin(), ("blank", 4))
        self.ours.run("%%capture\n\nx = 1\nread.run(path='x')", "magic")
        self.assertEqual(self.origin(), ("magic", 3))
        self.ours.run("x = 1\nget_ipython().run_cell('1\\n2\\nread.run(path=\"x\")')", "nested")
        self.assertEqual(self.origin(), ("nested", 1))
        self.ours.run("import asyncio\nasync def go():\n    return await read.run_async(path='x')\nawait go()", "async")
        self.assertEqual(self.origin(), ("async", 2))

    CONNECT = "import socket\nfor _ in range(%d):\n    with socket.socket() as s: s.connect_ex(('127.0.0.1', 3128))\n"

    def told(self, code, execution):
        """What a cell tells of its connections and programs, and what it printed."""
        before = len(self.channel.requests)
        text = self.ours.text(code, execution=execution)
        self.ours.text(self.CONNECT % 1, execution=execution + "-end")
        self.channel.wait_for(lambda: self.channel.requests[-1]["execution"] == execution + "-end")
        return self.channel.requests[before:-1], text

    def test_the_line_of_a_connection_is_told_before_it_is_made(self):
        code = (
            "import os, socket, threading\n"
            "def connect(family=socket.AF_INET, to=('127.0.0.1', 3128)):\n"
            "    with socket.socket(family) as s:\n"
            "        print(os.fstat(s.fileno()).st_ino)\n"
            "        s.connect_ex(to)\n"
            "connect()\n"
            "thread = threading.Thread(target=connect); thread.start(); thread.join()\n"
            "connect(to=('127.0.0.1', 3131))\n"
            "connect(socket.AF_INET6, ('::1', 3130, 0, 0))\n"
            "with socket.socket() as s: s.connect_ex(('127.0.0.1', 3129))\n"
        )
        told, text = self.told(code, "connects-1")
        self.assertEqual(
            told, [{"socket": int(socket), "execution": "connects-1", "line": 4} for socket in text.split()]
        )
        self.assertEqual(len(told), 4)

    def test_the_line_of_a_program_is_told_with_those_that_run_already(self):
        code = (
            "import os, subprocess, threading\n"
            "first = subprocess.Popen(['cat'], stdin=subprocess.PIPE)\n"
            "print(threading.get_native_id(), first.pid)\n"
            "os.system('true')\n"
            "if os.fork() == 0: os._exit(0)\n"
            "os.wait(); _ = first.communicate()\n"
        )
        told, text = self.told(code, "starts-1")
        thread, first = map(int, text.split())
        own = [dict(each, children=[pid for pid in each["children"] if pid == first]) for each in told]
        self.assertEqual(
            own,
            [
                {"thread": thread, "children": children, "execution": "starts-1", "line": line}
                for line, children in ((1, []), (3, [first]), (4, [first]))
            ],
        )

    def test_what_cannot_be_told_is_not_waited_for_and_the_next_word_is_told(self):
        self.assertEqual(len(self.told(self.CONNECT % 1, "gone-1")[0]), 1)
        self.channel.drop_connections()
        self.channel.wait_for(lambda: self.channel.open_connections == 0)
        told, _ = self.told(self.CONNECT % 2, "gone-2")
        self.assertEqual([(each["execution"], each["line"]) for each in told], [("gone-2", 2)])

    def test_frames_name_cells_and_files(self):
        _, _, _, frames = self.ours.error("import json\njson.loads('{')", "json")
        self.assertEqual(frames[0], {"execution": "json", "path": None, "line": 1, "function": "<module>"})
        self.assertTrue(frames[1]["path"].endswith("json/__init__.py"), frames)
        self.assertIsNone(frames[1]["execution"])
        _, _, _, frames = self.ours.error("\nx = 1\nx = = 2\n", "syntax")
        self.assertEqual(frames, [{"execution": "syntax", "path": None, "line": 2, "function": "<module>"}])
        _, _, _, frames = self.ours.error("def down(n):\n    return down(n + 1)\ndown(0)", "deep")
        self.assertEqual(len(frames), 100)
        self.assertEqual((frames[0]["line"], frames[-1]["function"]), (2, "down"))
        _, _, _, frames = self.ours.error("exec('1 / 0')", "exec")
        self.assertEqual([frame["path"] for frame in frames], [None, None])
        self.assertEqual(frames[1]["execution"], None)

    def test_frames_of_one_error_are_not_told_of_the_next(self):
        self.ours.error("1 / 0", "zero")
        reply, _ = self.ours.run("1")
        self.assertNotIn("cellgate", reply)
        reply, _ = self.ours.run("%not_a_magic")
        self.assertEqual(reply["status"], "error")
        self.assertEqual(reply["cellgate"]["frames"], [])

    def test_without_ipykernel_it_says_so_and_ends(self):
        with tempfile.TemporaryDirectory(prefix="cellgate-test-") as folder:
            pathlib.Path(folder, "ipykernel.py").write_text("raise ImportError('no such module here')\n")
            command = [sys.executable, str(BOOTSTRAP), "-f", folder + "/none.json"]
            env = dict(os.environ, PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1")
            done = subprocess.run(command, stderr=subprocess.PIPE, env=env, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 1)
        expected = "cellgate: %s has no usable ipykernel: no such module here\n" % sys.executable
        self.assertEqual(done.stderr.decode(), expected)


if __name__ == "__main__":
    unittest.main()
