"""Cells of bash in cellgate's own kernel: one bash, which keeps its state and outlives an interrupt."""

import json
import time
import unittest

from cli_testing import CliTest
from language_testing import LanguageTest


class BashTest(LanguageTest):
    language = "bash"

    def tearDown(self):
        self.cellgate.handlers.pop("input/request", None)


class Cells(BashTest):
    def test_the_kernel_is_listed(self):
        [listed] = [k for k in self.cellgate.request("kernel/list")["kernels"] if k["language"] == "bash"]
        self.assertEqual((listed["displayName"], listed["name"]), ("Bash (cellgate)", "bash"))
        self.assertTrue(listed["interpreter"].endswith("/bash"))
        self.cellgate.request("session/close", {"sessionId": self.cellgate.session(
            "by-path", kernel={"interpreter": listed["interpreter"]})["sessionId"]})

    def test_variables_functions_and_the_folder_stay(self):
        self.run_ok("count=40; add() { echo $((count + $1)); }; mkdir -p sub; cd sub")
        self.assertEqual(self.run_ok("add 2; basename \"$PWD\"").text(), "42\nsub\n")
        self.run_ok("cd ..")

    def test_both_streams_come_while_it_runs(self):
        execution = self.execute("echo out; echo err >&2; while [ ! -e go ]; do sleep 0.05; done; echo end; rm go")
        execution.wait_for_text("out\n")
        self.workspace.write("go", "")
        execution.result()
        self.assertEqual((execution.text(), execution.text("stderr")), ("out\nend\n", "err\n"))

    def test_the_status_of_the_last_command_is_the_cells(self):
        self.run_ok("false; true")
        _, error = self.fails("echo first\n\nls /nothing-here\n", cell={"uri": self.workspace.path.as_uri() + "/x.sh",
                                                                         "line": 10})
        self.assertEqual((error["ename"], error["evalue"]), ("ExitStatus", "exit status 2"))
        self.assertEqual([(f["line"], f["uri"].rpartition("/")[2]) for f in error["frames"]], [(12, "x.sh")])
        _, error = self.fails("(exit 7)")
        self.assertEqual(error["evalue"], "exit status 7")

    def test_code_that_is_no_bash_fails_and_the_next_cell_runs(self):
        execution, error = self.fails("if then (")
        self.assertEqual(error["evalue"], "exit status 2")
        self.assertIn("syntax error", execution.text("stderr"))
        self.assertEqual(self.run_ok("echo it\\'s \"$((1 + 1))\" 'é \\' && echo \\\\").text(), "it's 2 é \\\n\\\n")

    def test_read_asks_the_user_and_other_programs_find_nothing(self):
        asked = []
        self.cellgate.handlers["input/request"] = lambda params: asked.append(params) or {"value": "Ada L"}
        self.assertEqual(self.run_ok("read -p 'name? ' name; echo \"hello $name\"").text(), "hello Ada L\n")
        self.assertEqual(self.run_ok("read first last; echo $last; read -s -r secret; echo ${#secret}").text(), "L\n5\n")
        self.assertEqual([(a["prompt"], a["password"]) for a in asked], [("name? ", False), ("", False), ("", True)])
        self.assertEqual(self.run_ok("printf 'a\\nb\\n' | while read line; do echo \"<$line>\"; done; read x <<<y; echo $x;"
                                     "cat; wc -c").text(), "<a>\n<b>\ny\n0\n")
        self.assertEqual(len(asked), 3)

    def test_a_prompt_without_an_answer_is_the_end_of_the_input(self):
        self.assertEqual(self.run_ok("read x || echo 'no answer'; while read y; do echo $y; done").text(), "no answer\n")

    def test_what_runs_in_the_background_prints_later(self):
        self.run_ok("(while [ ! -e late ]; do sleep 0.05; done; echo so late) &")
        execution = self.execute("touch late; wait; echo waited")
        execution.result()
        self.assertIn("so late\n", execution.text())
        self.assertIn("waited\n", execution.text())

    def test_bytes_that_are_no_text_and_long_outputs_pass(self):
        self.assertEqual(self.run_ok("printf '\\xff\\n'; printf 'é'").text(), "\ufffd\né")
        self.assertEqual(len(self.run_ok("head -c 2000000 /dev/zero | tr '\\0' x").text()), 2000000)

    def test_a_path_outside_is_explained(self):
        (self.workspace.home / "secret.txt").write_text("x")
        execution, _ = self.fails(f"cat {self.workspace.home}/secret.txt")
        self.assertIn("secret.txt", execution.result()["notes"][0]["text"])

    def test_completion_and_documentation(self):
        self.run_ok("plan_of_tests=1; plan_it() { echo x; }; touch plan-file")

        def complete(code):
            return self.cellgate.request("kernel/complete", {"sessionId": "s", "code": code, "cursorPos": len(code)})
        self.assertIn("plan_it", complete("plan_")["matches"])
        found = complete("echo $plan_")
        self.assertEqual((found["matches"], found["cursorStart"], found["cursorEnd"]), (["plan_of_tests"], 6, 11))
        self.assertEqual(complete("cat plan-")["matches"], ["plan-file"])

        def inspect(code):
            return self.cellgate.request("kernel/inspect", {"sessionId": "s", "code": code, "cursorPos": 1})
        self.assertIn("plan_it ()", inspect("plan_it")["text"])
        self.assertIn("builtin", inspect("cd")["text"])
        self.assertEqual(inspect("no_such_thing"), {"found": False})

    def test_it_goes_back_to_its_folder_where_the_session_says_so(self):
        self.cellgate.session("back", language="bash", restoreCwd=True)
        self.run_ok("cd /; x=1", sessionId="back")
        self.assertEqual(self.run_ok("pwd; echo $x", sessionId="back").text(), f"{self.workspace.path}\n1\n")
        self.cellgate.request("session/close", {"sessionId": "back"})


class Tools(BashTest):
    def test_a_call_is_asked_about_at_its_line_and_prints_its_structure(self):
        self.workspace.write("notes.txt", "é\n")
        execution = self.execute("x=1\n\nmcptools host read_file path=notes.txt | python3 -m json.tool")
        approval = self.cellgate.approval()
        self.assertEqual((approval["action"]["tool"], approval["action"]["argumentsText"]),
                         ("read_file", '{"path": "notes.txt"}'))
        self.assertEqual((approval["origin"]["line"], approval["origin"]["text"]),
                         (2, "mcptools host read_file path=notes.txt | python3 -m json.tool"))
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(json.loads(execution.text())["content"], "é\n")

    def test_its_exit_status_tells_what_happened(self):
        execution = self.execute("mcptools host read_file '{\"path\": \"a\"}' || echo $?")
        self.cellgate.deny(self.cellgate.approval(), reason="not that one")
        execution.result()
        self.assertEqual(execution.text(), "3\n")
        self.assertIn("not that one", execution.text("stderr"))
        self.assertEqual(self.run_ok("mcptools host read_file path=missing; echo $?", approvals="allow").text(), "1\n")
        self.assertEqual(self.run_ok("mcptools host; echo $?; mcptools host read_file path; echo $?").text(), "2\n2\n")
        self.assertEqual(self.run_ok("mcptools host no_tool; echo $?").text(), "4\n")
        # Functions and scripts that bash starts have it, too; their lines are not those of the cell.
        execution = self.execute("f() { mcptools host read_file path=a; }\nf; bash -c 'mcptools host read_file path=b'")
        for _ in range(2):
            approval = self.cellgate.approval()
            self.assertNotIn("origin", approval)
            self.cellgate.deny(approval)
        self.assertEqual(execution.result()["status"], "error")

    def test_an_interrupt_withdraws_its_question(self):
        execution = self.execute("mcptools host read_file path=notes.txt")
        approval = self.cellgate.approval()
        self.interrupt()
        self.assertEqual(self.cellgate.resolved(approval)["by"], "cancelled")
        execution.result()


class Ends(BashTest):
    def test_an_interrupt_ends_what_runs_and_bash_goes_on(self):
        for code in ("while :; do :; done", "sleep 1000; echo not this", "for i in 1 2; do sleep 1000; echo $i; done",
                     "python3 -c 'import time; time.sleep(1000)'", "sleep 1000 | cat"):
            with self.subTest(code):
                self.run_ok("kept=yes")
                execution = self.execute(f"echo in; {code}").wait_for_text("in")
                self.interrupt()
                self.assertEqual(execution.result()["status"], "error")
                self.assertEqual(execution.text(), "in\n")
                self.assertEqual(self.run_ok("echo $kept").text(), "yes\n")

    def test_an_interrupt_reaches_a_program_that_bash_is_about_to_start(self):
        for _ in range(30):  # a lost one shows in about one of ten
            execution = self.execute("echo in; sleep 1000").wait_for_text("in")
            self.interrupt()
            self.assertEqual(execution.result()["status"], "error")

    def test_the_trap_of_an_interrupted_cell_may_start_programs(self):
        execution = self.execute("trap 'sleep 0.5 && echo cleaned; trap - INT' INT; echo in; sleep 1000").wait_for_text("in")
        self.interrupt()
        execution.result()
        self.assertEqual(execution.text(), "in\ncleaned\n")
        self.assertEqual(self.run_ok("echo once").text(), "once\n")

    def test_a_timeout_ends_what_runs_and_bash_goes_on(self):
        self.run_ok("kept=yes")
        self.assertEqual(self.execute("sleep 1000", timeoutSeconds=1).result()["status"], "timeout")
        self.assertEqual(self.run_ok("echo $kept").text(), "yes\n")

    def test_exit_ends_the_kernel_and_a_new_one_starts(self):
        self.run_ok("gone=1")
        execution, error = self.fails("echo last; exit 3")
        self.assertEqual((execution.text(), execution.text("stderr"), error["evalue"]), ("last\n", "", "exit status 3"))
        self.assertIn("ended its kernel", execution.result()["reason"])
        self.assertEqual(self.run_ok("echo \"<$gone>\"").text(), "<>\n")
        execution, error = self.fails("set -e\necho before\nfalse\necho after")
        self.assertEqual((execution.text(), error["evalue"]), ("before\n", "exit status 1"))
        self.run_ok("false; true")

    def test_exit_is_that_of_bash_in_traps_functions_and_subshells(self):
        execution, error = self.fails("trap 's=$?; read x; echo bye $s \"<$x>\" >&2' EXIT; f() { exit; }; (exit 7) || f")
        self.assertEqual((execution.text("stderr"), error["evalue"]), ("bye 7 <>\n", "exit status 7"))
        execution, error = self.fails("exit x")
        self.assertRegex(execution.text("stderr"), "exit: x: numeric argument required\n$")
        self.assertEqual(error["evalue"], "exit status 2")


class Run(CliTest):
    def test_a_script_runs_in_bash(self):
        ended = self.cli("run", self.script("x=1\necho $x\n# %%\necho $((x + 1))\n", "x.sh"))
        self.assertEqual((ended.returncode, ended.stdout), (0, "1\n2\n"), ended.stderr)
        ended = self.cli("run", "--no-sandbox", self.script("read x <<<1; echo $x; cat\n", "x.sh"))
        self.assertEqual((ended.returncode, ended.stdout), (0, "1\n"), ended.stderr)
        ended = self.cli("run", self.script("echo a\nfalse\n# %%\necho b\n", "x.sh"))
        self.assertEqual((ended.returncode, ended.stdout), (1, "a\n"))
        self.assertIn("exit status 1", ended.stderr)

    def test_each_cell_runs_in_the_session_of_its_language(self):
        ended = self.cli("run", self.script("x = 'of Python'\n# %% [bash]\nx='of bash'; echo $x\n# %%\nprint(x)\n"
                                            "# %% again [sh]\necho $x\n"))
        self.assertEqual((ended.returncode, ended.stdout), (0, "of bash\nof Python\nof bash\n"), ended.stderr)

    def test_a_kernel_that_does_nothing_is_given_up_before_its_time(self):
        folder = self.workspace.home / ".local/share/jupyter/kernels/idle"
        folder.mkdir(parents=True)
        (folder / "kernel.json").write_text('{"argv": ["/bin/sh", "-c", "echo what it says >&2; exec sleep 1000"], '
                                            '"display_name": "Idle", "language": "none"}')
        begun = time.monotonic()
        ended = self.cli("run", "--kernel", "idle", self.script("x\n", "x.sh"))
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("for 10 s it has neither printed nor computed anything", ended.stderr)
        self.assertIn("what it says", ended.stderr)
        self.assertLess(time.monotonic() - begun, 40)  # a start may take 60 s

    def test_a_kernelspec_for_bash_wins(self):
        folder = self.workspace.home / ".local/share/jupyter/kernels/mine"
        folder.mkdir(parents=True)
        (folder / "kernel.json").write_text('{"argv": ["/bin/false", "{connection_file}"], "display_name": "Mine", '
                                            '"language": "bash"}')
        ended = self.cli("run", self.script("echo a\n", "x.sh"))
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("the kernel ended before it was ready", ended.stderr)


if __name__ == "__main__":
    unittest.main()
