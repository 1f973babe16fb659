"""The sandbox without namespaces: a real kernel at work in it, how it describes itself, and who may choose it."""

import socket
import unittest

from cellgate_client import WorkspaceSidecarTest
from executions import RpcError
from tools_testing import ToolsTest

AT_WORK = """
import asyncio, os, subprocess, sys, threading
import numpy
results = []
threads = [threading.Thread(target=lambda: results.append(int(numpy.ones((200, 200)).dot(numpy.ones(200)).sum())))
           for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
async def ask():
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(6 * 7)", stdout=asyncio.subprocess.PIPE)
    return int((await process.communicate())[0])
with open("made.txt", "w") as file: file.write("by the cell")
shell = subprocess.run("cat made.txt | tr a-z A-Z", shell=True, capture_output=True, text=True).stdout
print(results, await ask(), shell)
"""


class WithoutNamespaces(ToolsTest):
    options = None
    generated = ("host",)

    @classmethod
    def prepare(cls):
        secrets = cls.workspace.home / ".ssh"
        secrets.mkdir()
        (secrets / "id_ed25519").write_text("PRIVATE KEY")
        cls.workspace.write(".env", "TOKEN=hidden")
        cls.workspace.write("inside.txt", "inside")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.created = cls.cellgate.session("weaker", sandbox={"launcher": "landlock"})
        cls.cellgate.session("open", sandbox=False)

    def both(self, code):
        """What the code prints in this sandbox, and without one."""
        texts = []
        for session in ("weaker", "open"):
            execution = self.cellgate.run("try:\n" + "".join(f"    {line}\n" for line in code.splitlines()) +
                                          "except Exception as problem:\n    print(type(problem).__name__)\n",
                                          sessionId=session)
            self.assertEqual(execution.result()["status"], "ok", execution.outputs())
            texts.append(execution.text().strip())
        return tuple(texts)

    def test_it_says_what_it_is_and_what_it_lacks(self):
        info = next(s for s in self.cellgate.request("session/list")["sessions"] if s["sessionId"] == "weaker")
        self.assertEqual(info["sandbox"], "landlock")
        self.assertTrue(any("no network" in notice for notice in info["sandboxNotices"]), info)
        result = self.cellgate.run("1", sessionId="weaker").result()
        self.assertLessEqual({"landlock", "seccomp", "no-new-privileges", "protected-files"}, set(result["layers"]))
        self.assertFalse({"bwrap", "network-namespace", "user-namespace"} & set(result["layers"]))

    def test_honest_code_works(self):
        execution = self.cellgate.run(AT_WORK, sessionId="weaker")
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertEqual(execution.text(), "[40000, 40000, 40000, 40000] 42 BY THE CELL\n")

    def test_secrets_are_not_read(self):
        inside, outside = self.both(f"print(open({str(self.workspace.home / '.ssh/id_ed25519')!r}).read())")
        self.assertEqual((inside, outside), ("PermissionError", "PRIVATE KEY"))
        inside, outside = self.both("print(open('.env').read())")
        self.assertEqual((inside, outside), ("PermissionError", "TOKEN=hidden"))

    def test_no_socket_of_the_user_is_reached(self):
        """A desktop's bus, an agent with keys, the sidecar itself, where a cell would answer for the user."""
        with socket.socket(socket.AF_UNIX) as bus:
            path = str(self.workspace.base / "bus")
            bus.bind(path)
            bus.listen()
            inside, outside = self.both(f"import socket\nsocket.socket(socket.AF_UNIX).connect({path!r})\nprint('reached')")
        self.assertEqual((inside, outside), ("PermissionError", "reached"))

    def test_there_is_no_network(self):
        inside, outside = self.both("import socket\nsocket.socket().close()\nprint('made')")
        self.assertEqual((inside, outside), ("OSError", "made"))

    def test_a_package_is_installed_outside(self):
        notes = {}
        for session in ("weaker", "open"):
            result = self.cellgate.run("!pip install --no-index requests", sessionId=session).result()
            notes[session] = [note["remedy"] for note in result.get("notes", [])]
        self.assertEqual(notes["open"], [])  # there it is installed
        self.assertRegex(notes["weaker"][0], "^to have a package, in a terminal: /\\S*python3 -m pip install, with names and "
                         "versions of packages; not taken over from the cell: the option --no-index$")

    def test_an_interrupt_reaches_the_cell(self):
        execution = self.cellgate.execute("print('go', flush=True)\nwhile True: pass",
                                          sessionId="weaker").wait_for_text("go")
        self.cellgate.request("session/interrupt", {"sessionId": "weaker"})
        result = execution.result()
        self.assertEqual((result["status"], result["error"]["ename"]), ("error", "KeyboardInterrupt"))

    def test_a_tool_is_called_by_the_tool_channel_after_a_yes(self):
        execution = self.cellgate.execute("from mcptools.host import read_file\n"
                                          "print(read_file.run(path='inside.txt'))", sessionId="weaker")
        approval = self.cellgate.approval()
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertIn("inside", execution.text())


class ChosenByUsers(WorkspaceSidecarTest):
    def test_an_agent_can_neither_choose_it_nor_run_code_in_it(self):
        user, agent = self.editor(), self.agent()
        user.session("weaker", sandbox={"launcher": "landlock"})
        user.session("usual")
        with self.assertRaises(RpcError) as refused:
            agent.request("session/create", {"sessionId": "agent-1", "sandbox": {"launcher": "landlock"}})
        self.assertEqual(refused.exception.code, 1013)
        with self.assertRaises(RpcError) as refused:
            agent.run("print(1)", sessionId="weaker")
        self.assertEqual(refused.exception.code, 1013)
        self.assertEqual(agent.run("print(1)", sessionId="usual").text(), "1\n")
        self.assertEqual(user.run("print(1)", sessionId="weaker").text(), "1\n")


if __name__ == "__main__":
    unittest.main()
