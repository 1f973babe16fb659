"""`cellgate lsp`: cells, and answers to what waits, in any editor with a language client."""

import os
import signal
import subprocess
import unittest
from pathlib import Path

from cellgate_client import CELLGATE, WorkspaceSidecarTest
from language_client import LanguageClient
from processes import TIMEOUT

ERROR, WARNING, INFORMATION = 1, 2, 3
CALL = "from mcptools.host import write_file\nwrite_file.run(path='made.txt', content='{}')\n"


class LspTest(WorkspaceSidecarTest):
    def client(self, *arguments, **initialize):
        client = LanguageClient(self.workspace, *arguments, **initialize)
        self.addCleanup(client.end)
        return client.start()

    def open(self, text, name="cells.py", **more):
        return self.editor_.open(self.workspace.path / name, text, **more)

    def setUp(self):
        super().setUp()
        with self.editor() as editor:
            editor.request("wrappers/generate", {"server": "host"})
        self.editor_ = self.client()


class Cells(LspTest):
    def test_each_has_a_lens_and_its_output_is_shown_behind_it(self):
        uri = self.open("# %%\nx = 6 * 7\nprint('so:', x)\n\n# %% [markdown]\n# words\n# %%\nx\n")
        self.assertEqual(self.editor_.lenses(uri), {1: "Run Cell", 7: "Run Cell"})
        self.editor_.do(uri, 0, "Run Cell")  # on the separator, as on each line of the cell
        self.editor_.wait_shown(uri, 3, INFORMATION, "so: 42\nok after ")
        self.editor_.do(uri, 7, "Run Cell")
        self.editor_.wait_shown(uri, 7, INFORMATION, "42\nok after ")
        self.assertEqual(len(self.editor_.shown(uri)), 2)
        self.editor_.do(uri, 7, "Run Cell")  # in place of the last
        self.editor_.wait_shown(uri, 7, INFORMATION, "ok")
        self.assertEqual(len(self.editor_.shown(uri)), 2)

    def test_of_two_runs_of_a_cell_that_both_wait_the_last_is_shown(self):
        uri = self.open("n = globals().get('n', 0) + 1\nprint('run', n)\n")
        command = self.editor_.actions(uri, 0)["Run Cell"]
        run = {"command": command["command"], "arguments": command["arguments"]}
        for _ in range(2):
            self.editor_.request("workspace/executeCommand", run)
        self.editor_.wait_shown(uri, 1, INFORMATION, "run 2\nok")
        self.assertEqual(len(self.editor_.shown(uri)), 1)

    def test_an_error_is_one_at_its_line_and_moves_with_it(self):
        uri = self.open("a = 1\n# %%\nx = 0\n1 / x\ny = 2\n")
        self.editor_.do(uri, 3, "Run Cell")
        self.editor_.wait_shown(uri, 3, ERROR, "ZeroDivisionError: division by zero")
        self.editor_.change(uri, "# new\n# lines\na = 1\n# %%\nx = 0\n1 / x\ny = 2\n", 2)
        self.editor_.wait_shown(uri, 5, ERROR, "ZeroDivisionError")

    def test_output_is_shown_while_it_comes_and_the_cell_can_be_interrupted(self):
        uri = self.open("print('begun')\nimport time\ntime.sleep(600)\n")
        self.editor_.do(uri, 0, "Run Cell")
        self.editor_.wait_shown(uri, 2, INFORMATION, "begun\nrunning")
        self.assertEqual(self.editor_.lenses(uri), {0: "Interrupt"})
        self.editor_.do(uri, 1, "Interrupt")
        self.editor_.wait_shown(uri, 2, ERROR, "KeyboardInterrupt")
        self.assertEqual(self.editor_.lenses(uri), {0: "Run Cell"})
        self.editor_.wait(lambda: self.editor_.asked["workspace/codeLens/refresh"] >= 2, "a wish to ask for lenses again")

    def test_a_cell_runs_in_the_session_of_its_language(self):
        uri = self.open("# %% [bash]\necho \"in $BASH\"\n", name="cells.py")
        self.editor_.do(uri, 1, "Run Cell")
        self.editor_.wait_shown(uri, 1, INFORMATION, "/bash\nok")
        editor = self.editor()
        self.assertIn("bash", [each["sessionId"] for each in editor.request("session/list")["sessions"]])

    def test_long_output_is_cut(self):
        uri = self.open("for i in range(5000): print('line', i)\n")
        self.editor_.do(uri, 0, "Run Cell")
        self.editor_.wait_shown(uri, 0, INFORMATION, "…\nok after ")
        text = self.editor_.shown(uri)[0][2]
        self.assertTrue(text.startswith("line 0\nline 1\n"))
        self.assertLess(len(text), 5000)

    def test_a_file_without_a_language_has_none(self):
        uri = self.open("# %%\nx\n", name="notes.txt", language="plaintext")
        self.assertEqual((self.editor_.lenses(uri), self.editor_.actions(uri, 1)), ({}, {}))


class Answers(LspTest):
    def test_a_call_waits_at_its_line_and_a_yes_covers_what_it_says(self):
        uri = self.open("# %%\n" + CALL.format("hello"))
        self.editor_.do(uri, 1, "Run Cell")
        self.editor_.wait_shown(uri, 2, WARNING, "write_file on this machine, outside the sandbox")
        text = next(each[2] for each in self.editor_.shown(uri) if each[1] == WARNING)
        self.assertIn("hello", text)
        self.assertIn("made.txt", text)
        self.assertNotIn("Allow this call", self.editor_.actions(uri, 1))
        offered = self.editor_.actions(uri, 2)
        self.assertLessEqual({"Allow this call", "Deny"}, set(offered))
        self.editor_.do(uri, 2, "Allow this call")
        self.editor_.wait_shown(uri, 2, INFORMATION, "ok after ")
        self.assertEqual((self.workspace.path / "made.txt").read_text(), "hello")
        self.assertFalse([each for each in self.editor_.shown(uri) if each[1] == WARNING])

    def test_a_no_is_an_error_of_the_cell(self):
        uri = self.open(CALL.format("hello"))
        self.editor_.do(uri, 1, "Run Cell")
        self.editor_.wait_shown(uri, 1, WARNING, "write_file")
        self.editor_.do(uri, 1, "Deny")
        self.editor_.wait_shown(uri, 1, ERROR, "Denied")
        self.assertFalse((self.workspace.path / "made.txt").exists())

    def test_it_moves_with_the_line_and_another_client_s_answer_takes_it_away(self):
        uri = self.open(CALL.format("hello"))
        self.editor_.do(uri, 1, "Run Cell")
        self.editor_.wait_shown(uri, 1, WARNING, "write_file")
        self.editor_.change(uri, "# new\n" + CALL.format("hello"), 2)
        self.editor_.wait_shown(uri, 2, WARNING, "write_file")
        other = self.editor()
        other.deny(other.approval())
        self.editor_.wait_shown(uri, 2, ERROR, "Denied")

    def test_what_is_too_long_to_be_shown_cannot_be_allowed_here(self):
        uri = self.open(CALL.format("x" * 20_000))
        self.editor_.do(uri, 1, "Run Cell")
        self.editor_.wait_shown(uri, 1, WARNING, "too long to be shown here; `cellgate approvals allow ")
        offered = self.editor_.actions(uri, 1)
        self.assertEqual(set(offered), {"Deny", "Run Cell", "Interrupt"})
        approval = offered["Deny"]["arguments"][0]
        for choice in (0, 5, -2):
            with self.subTest(choice), self.assertRaisesRegex(RuntimeError, "one of the answers that were offered"):
                self.editor_.request("workspace/executeCommand", {"command": "cellgate.answer", "arguments": [approval, choice]})
        with self.assertRaisesRegex(RuntimeError, "does not wait any more"):
            self.editor_.request("workspace/executeCommand", {"command": "cellgate.answer", "arguments": ["other", 0]})
        self.editor_.do(uri, 1, "Deny")
        self.editor_.wait_shown(uri, 1, ERROR, "Denied")

    def test_in_helix_which_cuts_it_a_shorter_one_is_too_long(self):
        for name, is_offered in (("a test", True), ("helix", False)):
            with self.subTest(name):
                self.editor_ = self.client(clientInfo={"name": name})
                uri = self.open(CALL.format("\\n".join(f"line {i}" for i in range(20))), f"{name[0]}.py")
                self.editor_.do(uri, 1, "Run Cell")
                self.editor_.wait_shown(uri, 1, WARNING, "write_file")
                self.assertEqual("Allow this call" in self.editor_.actions(uri, 1), is_offered)
                self.editor_.do(uri, 1, "Deny")
                self.editor_.wait_shown(uri, 1, ERROR, "Denied")

    def test_a_question_without_an_open_file_is_one_of_the_editor_s(self):
        other = self.editor()
        for title, made in (("Allow this call", True), ("Deny", False)):
            with self.subTest(title):
                (self.workspace.path / "made.txt").unlink(missing_ok=True)
                execution = other.execute(CALL.format("hello"))
                self.editor_.wait(lambda: self.editor_.questions, "a question")
                number, question = self.editor_.questions.pop()
                self.assertIn("write_file on this machine", question["message"])
                titles = [each["title"] for each in question["actions"]]
                self.assertEqual((*titles[:2], titles[-1]), ("Decide later", "Allow this call", "Deny"))
                self.editor_.send({"id": number, "result": {"title": title}})
                execution.result()
                self.assertEqual((self.workspace.path / "made.txt").exists(), made)

    def test_a_question_that_is_not_answered_still_waits_and_the_editor_says_so(self):
        other = self.editor()
        unknown = {"error": {"code": -32601, "message": "Method not found: window/showMessageRequest"}}  # as Helix 25.01
        for reply in ({"result": None}, {"result": {"title": "Decide later"}}, unknown):
            with self.subTest(reply):
                self.editor_.messages.clear()
                execution = other.execute(CALL.format("hello"))
                self.editor_.wait(lambda: self.editor_.questions, "a question")
                self.editor_.send({"id": self.editor_.questions.pop()[0], **reply})
                self.editor_.wait(lambda: any("write_file" in each and "still waits for an answer: cellgate approvals allow "
                                              in each for each in self.editor_.messages), "a word that it waits")
                other.deny(other.waiting()[0])
                execution.result()

    def test_a_long_question_can_only_be_denied_in_the_editor_s_window(self):
        other = self.editor()
        execution = other.execute(CALL.format("\\n".join(f"line {i}" for i in range(20))))
        self.editor_.wait(lambda: self.editor_.questions, "a question")
        number, question = self.editor_.questions.pop()
        self.assertEqual([each["title"] for each in question["actions"]], ["Decide later", "Deny"])
        self.assertLess(question["message"].count("\n"), 3)
        self.assertIn("too long to be shown here; `cellgate approvals allow ", question["message"])
        self.editor_.send({"id": number, "result": {"title": "Deny"}})
        execution.result()

    def test_a_question_that_another_client_answers_is_withdrawn(self):
        other = self.editor()
        execution = other.execute(CALL.format("hello"))
        self.editor_.wait(lambda: self.editor_.questions, "a question")
        other.deny(other.approval())
        execution.result()
        self.editor_.wait(lambda: not self.editor_.questions, "its withdrawal")

    def test_what_waits_already_is_shown_to_who_comes_and_asked_when_its_file_is_closed(self):
        uri = self.open(CALL.format("hello"))
        self.editor_.do(uri, 1, "Run Cell")
        self.editor_.wait_shown(uri, 1, WARNING, "write_file")
        self.editor_.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        self.editor_.wait(lambda: self.editor_.questions, "a question")
        second = self.client()
        second.wait(lambda: second.questions, "a question")
        second.open(self.workspace.path / "cells.py", CALL.format("hello"))
        second.wait_shown(uri, 1, WARNING, "write_file")
        second.wait(lambda: not second.questions, "the withdrawal of the question")
        second.do(uri, 1, "Allow this call")
        self.editor_.wait(lambda: not self.editor_.questions, "the withdrawal of the question")


class Editors(WorkspaceSidecarTest):
    def test_emacs(self):
        with self.editor() as editor:
            editor.request("wrappers/generate", {"server": "host"})
        file = self.workspace.path / "cells.py"
        file.write_text("# %%\n" + CALL.format("from Emacs") + "print('written')\n")
        done = subprocess.run(["emacs", "--batch", "-l", Path(__file__).with_name("eglot_test.el"), CELLGATE, file],
                              cwd=self.workspace.path, env=self.workspace.environment(), capture_output=True, text=True,
                              timeout=4 * TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertIn("waits at line 3\n", done.stdout)
        self.assertIn("written", done.stdout)
        self.assertEqual((self.workspace.path / "made.txt").read_text(), "from Emacs")


class Lifetime(LspTest):
    def test_it_ends_as_the_editor_says(self):
        self.assertEqual(self.editor_.close(), 0)
        self.assertEqual(self.client().end(), 1)  # without a word

    def test_the_folder_is_the_one_that_the_editor_names(self):
        nested = self.workspace.path / "nested"
        nested.mkdir()
        for given in ({"rootUri": nested.as_uri()}, {"workspaceFolders": [{"uri": nested.as_uri(), "name": "n"}]}):
            with self.subTest(given):
                client = self.client(**given)
                uri = client.open(nested / "a.py", "import os; print(os.getcwd())\n")
                client.do(uri, 0, "Run Cell")
                client.wait_shown(uri, 0, INFORMATION, f"{nested}\nok")
                client.close()

    def test_before_initialize_nothing_is_done_and_a_folder_that_is_not_there_is_an_error(self):
        client = LanguageClient(self.workspace, rootUri=(self.workspace.path / "gone").as_uri())
        self.addCleanup(client.end)
        with self.assertRaisesRegex(RuntimeError, "initialize"):
            client.request("workspace/executeCommand", {"command": "cellgate.interrupt", "arguments": ["default"]})
        with self.assertRaisesRegex(RuntimeError, "gone"):
            client.start()

    def test_it_says_that_its_sidecar_has_ended(self):
        os.kill(self.sidecar_pid(), signal.SIGKILL)
        self.editor_.wait(lambda: self.editor_.ended, "its end")
        self.assertIn("Restart the language server", self.editor_.messages[-1])


if __name__ == "__main__":
    unittest.main()
