"""`cellgate approvals`, beside an editor in the same workspace: nothing is allowed that was not shown at a terminal."""

import json
import os
import signal
import socket
import subprocess
import unittest

from cellgate_client import CELLGATE
from cli_testing import CommandsBesideEditor
from processes import OWN, TIMEOUT, start_process
from tools_testing import fixture_server

FIX = {"mcpServers": {"fix": fixture_server()}}
CALL = "from mcptools.fix import tool_2\nprint('got', tool_2.run(s={!r}))"


class Approvals(CommandsBesideEditor):
    def setUp(self):
        super().setUp()
        self.user = self.editor(options=FIX)
        self.user.request("wrappers/generate", {"server": "fix"})

    def ask(self, text):
        """A cell that waits for an answer, and its approval."""
        cell = self.user.execute(CALL.format(text))
        return cell, self.user.approval()

    def test_what_waits_is_listed_and_shown_whole(self):
        self.assertEqual(self.command("approvals"), "nothing waits\n")
        cell, asked = self.ask("the text")
        (listed,) = self.json_lines("approvals")
        self.assertEqual(listed["approvalId"], asked["approvalId"])
        line = self.command("approvals", "list")
        self.assertRegex(line, rf"^{asked['approvalId'][:8]}  tool  \d+ s  session default\n    .*tool_2")
        self.assertIn("    line 2 (reported by the code): print('got', tool_2.run(s='the text'))\n", line)
        whole = self.command("approvals", "show", asked["approvalId"][:8])
        for shown in (*asked["display"], *(choice["label"] for choice in asked["choices"])):
            self.assertIn(shown, whole)
        self.user.deny(asked)
        self.assertEqual(cell.result()["status"], "error")
        self.assertEqual(self.command("approvals"), "nothing waits\n")

    def test_an_answer_is_given_at_a_terminal_after_all_of_it_was_shown(self):
        cell, asked = self.ask("the text")
        terminal = self.at_terminal("approvals", "allow", asked["approvalId"][:8])
        shown = terminal.expect("your answer: $")
        for line in asked["display"]:
            self.assertIn(line, shown)
        self.assertIn(asked["choices"][0]["label"], shown)
        terminal.type("1")
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertEqual(cell.result()["status"], "ok")
        self.assertEqual(self.user.resolved(asked)["by"], "user")

    def test_a_wider_choice_covers_the_next_call_too(self):
        cell, asked = self.ask("one")
        (number,) = [n for n, choice in enumerate(asked["choices"], 1)
                     if choice["scope"] == "session" and "any tool_2" in choice["label"]]
        terminal = self.at_terminal("approvals", "allow", asked["approvalId"])
        terminal.expect("your answer: $")
        terminal.type(str(number))
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertEqual(cell.result()["status"], "ok")
        self.assertEqual(self.user.run(CALL.format("two")).result()["status"], "ok")
        self.assertEqual(self.user.asked(), 1)

    def test_without_a_terminal_nothing_is_allowed(self):
        cell, asked = self.ask("the text")
        self.assertIn("no terminal", self.command("approvals", "allow", asked["approvalId"], code=1))
        self.assertEqual([each["approvalId"] for each in self.user.waiting()], [asked["approvalId"]])
        told = self.command("approvals", "deny", asked["approvalId"][:8], "--reason", "not this one")
        self.assertTrue(told.startswith(f"denied: {asked['approvalId'][:8]}"), told)
        self.assertNotIn("allow", told)
        self.assertIn("not this one", cell.result()["error"]["evalue"])

    def test_a_question_that_is_answered_elsewhere_ends(self):
        cell, asked = self.ask("the text")
        terminal = self.at_terminal("approvals", "allow", asked["approvalId"])
        terminal.expect("your answer: $")
        self.user.deny(asked)
        self.assertEqual(terminal.wait_end(), 1, terminal.text)
        self.assertIn("withdrawn", terminal.text)
        self.assertEqual(cell.result()["status"], "error")

    def test_an_id_means_one_approval_only(self):
        first, asked = self.ask("one")
        self.user.deny(asked)
        first.result()
        second, other = self.ask("two")
        for id_ in (asked["approvalId"][:8], other["approvalId"][:7], other["approvalId"][:9], ""):
            self.assertIn("no approval", self.command("approvals", "deny", id_, code=1))
        self.assertEqual(self.user.waiting(), [other])
        self.command("approvals", "deny", other["approvalId"])
        second.result()

    def test_they_are_followed_until_interrupted(self):
        process = start_process([CELLGATE, "approvals", "follow", "--json"], cwd=self.workspace.path, text=True,
                                env=self.workspace.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL)
        self.addCleanup(OWN.discard, process.pid)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        cell, asked = self.ask("the text")
        self.assertEqual(json.loads(process.stdout.readline())["approvalId"], asked["approvalId"])
        self.user.allow(asked)
        resolved = json.loads(process.stdout.readline())
        self.assertEqual((resolved["approvalId"], resolved["decision"], resolved["by"]),
                         (asked["approvalId"], "allow", "user"))
        cell.result()
        # It goes on with the next sidecar of the workspace.
        self.user.close()
        self.command("stop")
        self.assertIn("this waits for one", process.stderr.readline())
        self.wait_for_the_end_of_the_sidecar()
        self.user = self.editor(options=FIX)
        cell, asked = self.ask("another")
        self.assertEqual(json.loads(process.stdout.readline())["approvalId"], asked["approvalId"])
        self.user.deny(asked)
        self.assertEqual(json.loads(process.stdout.readline())["decision"], "deny")
        cell.result()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(TIMEOUT), 0)

    def test_a_sidecar_that_ends_as_it_is_greeted_is_followed_by_the_next(self):
        version = self.command("--version").split()[1]
        self.user.close()
        self.command("stop")
        self.wait_for_the_end_of_the_sidecar()
        (folder,) = (self.workspace.runtime / "cellgate/roots").iterdir()
        sockets = []
        for role in ("agent", "user"):
            listener = socket.socket(socket.AF_UNIX)
            self.addCleanup(listener.close)
            listener.bind(str(folder / f"{role}.sock"))
            listener.listen()
            listener.settimeout(TIMEOUT)
            sockets.append(listener)
        process = start_process([CELLGATE, "approvals", "follow"], cwd=self.workspace.path, text=True,
                                env=self.workspace.environment(), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.addCleanup(OWN.discard, process.pid)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        for listener in sockets:
            client, _ = listener.accept()
            with client:
                client.sendall(f"cellgate {version} {os.getpid()} serving\n".encode())
                read = b""
                while listener is sockets[-1] and b"initialize" not in read:
                    read += client.recv(65536)
                if listener is sockets[-1]:
                    for role in ("agent", "user"):
                        (folder / f"{role}.sock").unlink()
        self.assertIn("this waits for one", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(TIMEOUT), 0)


if __name__ == "__main__":
    unittest.main()
