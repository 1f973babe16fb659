"""The command line without a terminal. Loose about wording, exact about effects."""

import json
import os
import re
import shlex
import signal
import subprocess
import tomllib
import unittest

from cellgate_client import CELLGATE, CONTRACT, REPOSITORY
from cli_testing import CliTest
from processes import OWN, TIMEOUT, start_process, wait_until
from tools_testing import fixture_server


class WithoutATerminal(CliTest):
    def test_cells_run_one_after_the_other_with_their_output(self):
        ended = self.cli("run",
                         self.script("x = 1\nprint('first')\n# %% second\nimport sys\nprint('second', x)\nx + 1\n"
                                            "# %% [markdown]\n# not code\n# %%\nprint('third', file=sys.stderr)\n"))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(ended.stdout, r"(?s)first.*second 1.*2")
        self.assertIn("third", ended.stderr + ended.stdout)
        self.assertNotIn("not code", ended.stdout + ended.stderr)

    def test_an_error_ends_it_with_the_files_own_line(self):
        ended = self.cli("run",
                         self.script("print('before')\n# %%\n\ndef f():\n    raise ValueError('broken')\nf()\n# %%\n"
                                     "print('after')\n"))
        self.assertNotEqual(ended.returncode, 0)
        shown = ended.stdout + ended.stderr
        self.assertIn("ValueError", shown)
        self.assertIn("broken", shown)
        self.assertIn("before", shown)
        self.assertNotIn("after", ended.stdout)

    def test_what_no_rule_covers_is_denied(self):
        self.cli("generate", "host")
        ended = self.cli("run",
                         self.script("from mcptools.host import write_file\n"
                                     "write_file.run(path='made.txt', content='x')\n"))
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("ApprovalDenied", ended.stdout + ended.stderr)
        self.assertFalse((self.workspace.path / "made.txt").exists())

    def advised(self, ended):
        """The options that it says would have allowed what was denied, as a shell reads them."""
        lines = ended.stderr.partition("would be allowed by\n")[2].splitlines()
        return [word for line in lines if line.startswith("    ") for word in shlex.split(line)]

    def test_what_was_denied_is_allowed_by_what_it_then_advises(self):
        self.cli("generate", "host")
        script = self.script("from mcptools.host import read_file, write_file, list_directory\n"
                             "try:\n    print(read_file.run(path='notes.txt').content)\nexcept Exception: pass\n"
                             "try:\n    print(list_directory.run(path='.'))\nexcept Exception: pass\n"
                             "print(write_file.run(path='a \\'b\\' \"c\", d.txt',\n"
                             "                      content='line\\n\\u202etwo\\x1b lines\\n'))\n")
        ended = self.cli("run", script)
        self.assertEqual(ended.returncode, 1)
        advised = self.advised(ended)
        self.assertEqual(len(advised), 6, ended.stderr)
        self.assertIn("host/read_file path=notes.txt", advised)
        allowed = self.cli("run", *advised, script)
        self.assertEqual(allowed.returncode, 0, allowed.stderr)
        self.assertIn("the notes", allowed.stdout)
        self.assertEqual((self.workspace.path / "a 'b' \"c\", d.txt").read_text(), "line\n\u202etwo\x1b lines\n")
        self.assertEqual(self.advised(allowed), [])
        # No more than that: another content of the same file is denied.
        other = self.script("from mcptools.host import write_file\nwrite_file.run(path='a.txt', content='x')\n", "o.py")
        self.assertEqual(self.cli("run", *advised, other).returncode, 1)
        self.assertFalse((self.workspace.path / "a.txt").exists())

    def test_advice_without_end_and_of_any_length_stays_readable(self):
        server = fixture_server()
        self.cli("generate", "fix", "--", server["command"], *server["args"])
        script = self.script("from mcptools.fix import tool_1\n"
                             "for text in [str(i) for i in range(100)] + ['x' * 5000]:\n"
                             "    try:\n        tool_1.run(s=text)\n    except Exception:\n        pass\n")
        ended = self.cli("run", script, "--server", "fix", "--", server["command"], *server["args"])
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertLess(len(ended.stderr), 4000)
        self.assertIn('fix/tool-1 s="0"', self.advised(ended))
        self.assertIn("and more", ended.stderr)
        long = self.cli("call", "fix", "tool-1", json.dumps({"s": "x" * 5000}), "--", server["command"],
                        *server["args"])
        self.assertIn("--allow fix/tool-1 ", long.stderr)
        self.assertLess(len(long.stderr), 1000)

    def test_a_server_that_the_command_line_names(self):
        server = fixture_server()
        command = ["--", server["command"], *server["args"], "--odd=[a,b]", ""]
        generated = self.cli("generate", "fix", *command)
        self.assertEqual(generated.returncode, 0, generated.stderr)
        script = self.script("from mcptools.fix import environment, tool_1\nprint(environment.run())\n")
        words = shlex.split(generated.stderr.rpartition(": ")[2])
        self.assertEqual(words[0], os.path.realpath(CELLGATE))
        words = [script if word == "FILE" else word for word in words[1:]]
        self.assertIn("--root", words)
        ended = self.cli(words[0], "--allow", "fix/environment", *words[1:], rooted=False)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn('"--odd=[a,b]", ""', ended.stdout)
        ended = self.cli("run", script)
        self.assertIn("there is no tool server", ended.stderr)
        self.assertIn("--server NAME -- COMMAND", ended.stderr)
        self.assertNotIn("toolServers/", ended.stderr)
        for wrong in (["--server", "fix"], ["--", "true"], ["--server", "fix", "--"],
                      ["--server", "host", "--", "true"]):
            with self.subTest(wrong):
                ended = self.cli("run", script, *wrong)
                self.assertNotEqual(ended.returncode, 0)
                self.assertTrue(ended.stderr.strip())
        self.assertEqual(self.cli("kernels", "--", "true").returncode, 2)
        self.assertEqual(self.workspace.files(), ["notes.txt", "tour.py"])

    def test_variables_of_a_server_are_given_by_name_and_their_values_are_shown_nowhere(self):
        server = fixture_server()
        command = ["--", server["command"], *server["args"]]
        options = ["--env", "TOKEN", "--env", "MODE=fast=er", "--env", "EMPTY="]
        secret = {"TOKEN": "from the environment"}
        called = self.cli("call", "fix", "environment", "--allow", "fix/environment", *options, *command,
                          variables=secret)
        self.assertEqual(called.returncode, 0, called.stderr)
        seen = json.loads(json.loads(called.stdout)["content"][0]["text"])
        self.assertEqual([seen["env"].get(name) for name in ("TOKEN", "MODE", "EMPTY")],
                         ["from the environment", "fast=er", ""])
        self.assertNotIn("from the environment", str(seen["argv"]))
        generated = self.cli("generate", "fix", *options, *command, variables=secret)
        self.assertEqual(generated.returncode, 0, generated.stderr)
        self.assertIn("--env TOKEN --env MODE --env EMPTY -- ", generated.stderr)
        for value in ("from the environment", "fast=er"):
            self.assertNotIn(value, generated.stdout + generated.stderr)
        unset = self.cli("call", "fix", "environment", *options, *command)
        self.assertIn("it needs the variable TOKEN, which is not set", unset.stderr)
        for wrong in (["--env", "=x"], ["--env", "a-b"], ["--env", ""]):
            self.assertEqual(self.cli("call", "fix", "environment", *wrong, *command).returncode, 2)
        self.assertEqual(self.cli("call", "fix", "environment", "--env", "TOKEN").returncode, 2)

    def test_the_code_s_variables_and_language(self):
        script = self.workspace.write("code.txt", "echo \"$STAGE in $0\"")
        ended = self.cli("run", "--language", "bash", "--kernel-env", "STAGE=a test", script)
        self.assertIn("a test in bash", ended.stdout, ended.stderr)
        self.assertEqual(self.cli("run", "--language", "bash", "--kernel", "bash", script).returncode, 2)
        self.assertEqual(self.cli("run", "--kernel-env", "=x", script).returncode, 2)

    def test_wrappers_that_are_missing_are_generated_and_not_installed(self):
        ended = self.cli("run", self.workspace.write("code.py", "import mcptools.host"))
        self.assertIn("cellgate generate NAME", ended.stderr)
        self.workspace.write("mcptools/__init__.py", "")
        ended = self.cli("run", self.workspace.write("code.py", "from mcptools.host import read_file"))
        self.assertIn("cellgate generate host", ended.stderr)
        self.assertNotIn("install", ended.stderr)

    def test_a_wrong_value_is_told_what_was_expected(self):
        for words, said in ((("events", "--from", "abc"), "--from: expected a whole number from 0 on, found abc"),
                            (("queue", "cancel", "x", "--grace", "abc"), "--grace: expected a number of seconds from 0, found abc"),
                            (("queue", "cancel", "x", "--grace", "-1"), "--grace: expected a number of seconds from 0, found -1"),
                            (("generate", "x", "--language", "perl"), "--language: expected one of python, typescript, found perl"),
                            (("mcp", "--log-level", "foo"), "--log-level: expected one of error, warning, info, debug, found foo")):
            with self.subTest(words):
                ended = self.cli(*words)
                self.assertEqual(ended.returncode, 2)
                self.assertTrue(ended.stderr.startswith(said), ended.stderr)

    def test_a_file_that_is_not_there_and_a_rule_that_is_none_are_wrong_arguments(self):
        script = self.script("def total():\n    return 1\n")
        for words in (("run", "nope.py"), ("check", "nope.py"), ("save", "nope.py", "f"), ("run", "--mcp-config", "nope.json", script),
                      ("save", script, "total", "--rule", "nonsense")):
            with self.subTest(words):
                ended = self.cli(*words)
                self.assertEqual(ended.returncode, 2, ended.stderr)

    def test_a_refused_parameter_is_named_without_the_protocol_s_prefix(self):
        self.assertTrue(self.cli("install", "a b").stderr.startswith("cellgate: packages[0]: expected a package"))

    def test_a_url_in_the_place_of_a_command_is_told_where_it_belongs(self):
        ended = self.cli("generate", "x", "--", "http://localhost:3001/mcp")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("--url URL", ended.stderr)

    def test_a_server_of_the_workspace_is_started_by_what_it_advises(self):
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": {"repo": fixture_server()}}))
        ended = self.cli("generate", "repo")
        self.assertEqual(ended.returncode, 1)
        advised = self.advised(ended)[:2]
        self.assertEqual(advised, ["--mcp-config", ".mcp.json"])
        self.assertEqual(self.cli("generate", "repo", *advised).returncode, 0)

    def test_a_broken_entry_of_a_file_leaves_the_others_to_be_used(self):
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": {"repo": fixture_server(), "broken": {"args": []}}}))
        ended = self.cli("generate", "repo", "--mcp-config", ".mcp.json")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stderr.count('the tool server "broken" cannot be used'), 1, ended.stderr)
        alone = self.workspace.write("alone.json", json.dumps({"mcpServers": {"broken": {"args": []}}}))
        ended = self.cli("generate", "host", "--mcp-config", alone)
        self.assertEqual(ended.returncode, 1, ended.stderr)

    def test_a_rule_of_the_command_line_allows_what_it_names(self):
        config = self.config()
        self.assertEqual(self.cli("generate", "fix", "--mcp-config", config).returncode, 0)
        script = self.script("from mcptools.fix import tool_1, tool_2\nprint(tool_1.run(s='named'))\n"
                             "print(tool_2.run(s='not named'))\n")
        ended = self.cli("run", "--mcp-config", config, "--allow", "fix/tool-1", script)
        self.assertIn("You passed to tool 1: named", ended.stdout)
        self.assertIn("ApprovalDenied", ended.stdout + ended.stderr)
        self.assertNotEqual(ended.returncode, 0)
        ended = self.cli("run", "--mcp-config", config, "--allow", "fix/tool-1 s=other", script)
        self.assertNotIn("You passed", ended.stdout)
        ended = self.cli("run", "--mcp-config", config, "--allow", "fix/tool-1 s=named", "--allow", "fix/*", script)
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_a_rule_of_the_command_line_that_covers_nothing_is_named_by_what_it_says(self):
        call = ("call", "--mcp-config", self.config(), "fix", "tool-1", '{"s": "x"}')
        ended = self.cli(*call, "--allow", "fix/tol-1")
        self.assertIn("--allow: there is no tool fix/tol-1 now\n  Did you mean tool-1?", ended.stderr)
        ended = self.cli(*call, "--allow", "fix/tool-1 t=x")
        self.assertIn('the rule "allow tool tool-1 of fix', ended.stderr)
        ended = self.cli(*call, "--allow", "fix/tool-1 s=x")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))  # the control

    def test_a_rule_for_everything_is_refused_before_anything_runs(self):
        script = self.script("open('ran', 'w')")
        for rule in ("*", "*/*", "**", "", "/", "fix", "*/tool", "/x", "fix/"):
            with self.subTest(rule):
                ended = self.cli("run", "--allow", rule, script)
                self.assertEqual(ended.returncode, 2)
                self.assertTrue(ended.stderr.strip())
                self.assertFalse((self.workspace.path / "ran").exists())

    def test_a_rule_with_a_mistyped_argument_is_refused_before_anything_runs(self):
        script = self.script("open('ran', 'w')")
        ended = self.cli("run", "--allow", "host/read_file pth=under:.", script)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("Did you mean path?", ended.stderr)
        self.assertFalse((self.workspace.path / "ran").exists())
        ended = self.cli("run", "--allow", "host/read_file path=under:.", script)
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_a_problem_of_the_workspaces_servers_is_said_once(self):
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": {
            "a": {"command": "cat", "envFile": "x"}, "fix": {"command": "cat"}}}))
        ended = self.cli("generate", "fix")
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(ended.stderr.count("envFile is not supported"), 1, ended.stderr)

    def test_the_line_of_an_error_is_the_files(self):
        script = self.script("def half(n):\n    return 1 / n\n\n# %%\n\nhalf(1)\nhalf(0)\n")
        ended = self.cli("run", script)
        self.assertEqual(ended.returncode, 1)
        self.assertIn(f"cell 2 ended in an error at {script} line 2\n", ended.stderr)
        script = self.script("1\n# %%\n\n1 / 0\n")
        self.assertIn(f"cell 2 ended in an error at {script} line 4\n", self.cli("run", script).stderr)

    def test_a_misspelt_language_of_a_cell_is_remarked(self):
        script = self.script("x = 1\n# %% [basch]\nprint('python')\n# %% [todo]\n")
        ended = self.cli("run", script)
        self.assertEqual((ended.returncode, ended.stdout), (0, "python\n"))
        self.assertIn(f"{script} line 2: [basch] names no language", ended.stderr)
        self.assertIn("did you mean [bash]?", ended.stderr)
        self.assertNotIn("todo", ended.stderr)

    def test_input_is_at_its_end(self):
        ended = self.cli("run", self.script("input('anyone? ')"))
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("EOFError: the prompt got no answer", ended.stderr)
        self.assertIn("input('anyone? ')", ended.stderr)
        self.assertNotIn("ipykernel", ended.stderr)

    def test_files_are_read_as_python_reads_them(self):
        marked = self.workspace.write("marked.py", "\ufeffprint('é')\n")
        ended = self.cli("run", str(marked))
        self.assertEqual((ended.returncode, ended.stdout), (0, "é\n"), ended.stderr)
        latin = self.workspace.path / "latin.py"
        latin.write_bytes("# coding: latin-1\nopen('ran', 'w')\nprint('é')\n".encode("latin-1"))
        ended = self.cli("run", str(latin))
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("iconv", ended.stderr)
        self.assertFalse((self.workspace.path / "ran").exists())

    def test_the_code_cells_of_a_notebook_run_and_it_stays_as_it_is(self):
        cells = [{"cell_type": "markdown", "source": "# words"}, {"cell_type": "code", "source": ["x = 1\n", "print(x)"]},
                 {"cell_type": "code", "source": "print(x + 1)"}, {"cell_type": "code", "source": "1 / 0"}]
        notebook = self.workspace.write("tour.ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 5, "cells": cells}))
        before = notebook.read_bytes()
        ended = self.cli("run", str(notebook))
        self.assertEqual((ended.returncode, ended.stdout), (1, "1\n2\n"))
        self.assertIn("cell 3 ended in an error", ended.stderr)
        self.assertEqual(notebook.read_bytes(), before)
        broken = self.workspace.write("broken.ipynb", "print(1)")
        self.assertIn("expected a Jupyter notebook", self.cli("run", str(broken)).stderr)

    def test_a_script_that_exits_well_ended_well(self):
        script = "import sys\nprint('first')\n# %%\nprint('second')\nsys.exit({})\n# %%\nprint('third')\n"
        for value in ("", "0", "None"):
            ended = self.cli("run", self.script(script.format(value)))
            self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "first\nsecond\n", ""), value)
        for value in ("3", "'no such file'"):
            ended = self.cli("run", self.script(script.format(value)))
            self.assertEqual((ended.returncode, ended.stdout), (1, "first\nsecond\n"), value)
            self.assertEqual(ended.stderr, f"cellgate: cell 2 ended with sys.exit({value.strip(chr(39))})\n")

    def test_a_cell_that_quits_is_the_last(self):
        ended = self.cli("run", self.script("x = 1\nprint('one')\nquit()\n# %%\nprint('two')\n"))
        self.assertEqual((ended.returncode, ended.stdout), (0, "one\n"))
        self.assertIn("what follows was not run", ended.stderr)

    def test_output_that_cannot_be_written_is_no_success(self):
        script = self.script("print('words')")
        for arguments in (["run", script], ["kernels"]):
            with self.subTest(arguments[0]), open("/dev/full", "w") as full:
                ended = subprocess.run(self.arguments(*arguments), stdin=subprocess.DEVNULL, stdout=full,
                                       stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, cwd=self.workspace.path,
                                       start_new_session=True, check=False, env=self.workspace.environment())
                self.assertEqual(ended.returncode, 1)
                self.assertIn("No space left on device", ended.stderr)

    def test_a_time_limit_holds(self):
        ended = self.cli("run", "--timeout", "0.5", self.script("while True: pass"))
        self.assertNotEqual(ended.returncode, 0)

    def test_output_is_what_the_cell_printed_and_no_control_of_the_terminal(self):
        ended = self.cli("run", self.script(r"print('\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J end')"))
        self.assertIn("end", ended.stdout)
        self.assertNotIn("\x1b]0;", ended.stdout)
        self.assertNotIn("\x1b[2J", ended.stdout)

    def test_a_reader_that_goes_away_leaves_nothing_behind(self):
        process = start_process(self.arguments("run",
                                               self.script("i = 0\nwhile True:\n    print('line', i); i += 1\n")),
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                cwd=self.workspace.path, env=self.workspace.environment(),
                                        start_new_session=True)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        process.stdout.read(100)
        process.stdout.close()
        wait_until(lambda: process.poll() is not None, "the end of a run without a reader")
        OWN.discard(process.pid)

    def test_sigterm_and_sigint_end_it(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                process = start_process(self.arguments("run", self.script("print('go', flush=True)\nwhile True: pass")),
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                        cwd=self.workspace.path, env=self.workspace.environment(),
                                        start_new_session=True)
                self.addCleanup(lambda process=process: process.poll() is None and process.kill())
                self.assertIn(b"go", process.stdout.readline())
                process.send_signal(number)
                self.assertNotEqual(process.wait(TIMEOUT), 0)
                process.stdout.close()
                OWN.discard(process.pid)

    def test_its_conversation_keeps_the_contract(self):
        trace = self.workspace.base / "cli.jsonl"
        self.cli("run", "--trace", str(trace), self.script("print(1)\n1 / 0"))
        lines = trace.read_text().splitlines(keepends=True)
        self.assertTrue(any('"execute/output"' in line for line in lines))
        self.assertEqual(CONTRACT.follow(lines).violations, [])


class OtherCommands(CliTest):
    def test_generate_writes_the_package_and_names_its_modules(self):
        server = fixture_server()
        ended = self.cli("generate", "fix", "--", server["command"], *server["args"])
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("mcptools.fix.tool_1", ended.stdout.splitlines())
        self.assertTrue((self.workspace.path / "mcptools/fix/tool_1.py").is_file())

    def test_generate_tells_why_a_server_did_not_start(self):
        ended = self.cli("generate", "broken", "--", "/bin/sh", "-c", "echo the fuse is gone >&2; exit 3")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("the fuse is gone", ended.stderr)

    def test_call_prints_the_result_as_json(self):
        config = self.config()
        ended = self.cli("call", "--mcp-config", config, "--allow", "fix/tool-1", "fix", "tool-1", '{"s": "x"}')
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("You passed to tool 1: x", json.loads(ended.stdout)["content"][0]["text"])
        ended = self.cli("call", "--mcp-config", config, "fix", "tool-1", '{"s": "x"}')
        self.assertNotEqual(ended.returncode, 0)
        self.assertEqual(ended.stdout, "")
        self.assertIn("--allow 'fix/tool-1 s=x'", ended.stderr)
        near = self.cli("call", "--mcp-config", config, "fix", "tool_1", '{"s": "x"}')
        self.assertIn("Did you mean tool-1?", near.stderr)
        for wrong in ("{", "[]", '{"s": 1}', '{"s": "a", "s": "b"}'):
            with self.subTest(wrong):
                ended = self.cli("call", "--mcp-config", config, "--allow", "fix/tool-1", "fix", "tool-1", wrong)
                self.assertNotEqual(ended.returncode, 0)
                self.assertEqual(ended.stdout, "")

    def test_call_calls_each_tool_of_host(self):
        def called(tool, **arguments):
            text = json.dumps(arguments)
            ended = self.cli("call", "--allow", f"host/{tool} ={text}", "host", tool, text)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            return json.loads(ended.stdout)["structuredContent"]
        self.assertEqual(called("run_command", argv=["printf", "%s", "$HOME"])["stdout"], "$HOME")
        content = called("read_file", path="notes.txt")["content"]
        called("write_file", path="copy.txt", content=content)
        self.assertEqual((self.workspace.path / "copy.txt").read_text(), "the notes")
        self.assertLessEqual({"notes.txt", "copy.txt"}, {each["name"] for each in called("list_directory", path=".")["entries"]})

    def test_a_command_is_allowed_whole_and_not_by_a_pattern(self):
        for wide in ("allow host/run_command", 'allow host/run_command argv=["printf","x"]'):
            refused = self.cli("policy", "add", wide, rooted=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("names exactly what it allows", refused.stderr)
        added = self.cli("policy", "add", 'allow host/run_command ={"argv":["printf","x"]}', rooted=False)
        self.assertEqual(added.returncode, 0, added.stderr)
        for argv, code in ((["printf", "x"], 0), (["printf", "x", "y"], 1)):
            self.assertEqual(self.cli("call", "host", "run_command", json.dumps({"argv": argv})).returncode, code, argv)

    def test_cells_copy_bytes_from_and_to_a_folder_that_they_are_shown(self):
        folder = self.workspace.base / "beyond"
        folder.mkdir()
        (folder / "a.bin").write_bytes(b"\0\xff")
        inside, made = self.workspace.path / "in.bin", folder / "out.bin"
        script = self.script(f"import shutil\nshutil.copy({str(folder / 'a.bin')!r}, 'in.bin')\n"
                             f"shutil.copy('in.bin', {str(made)!r})")
        for option, copied in ((None, (False, False)), ("--allow-read", (True, False)), ("--allow-write", (True, True))):
            ended = self.cli("run", *([option, str(folder)] if option else []), script)
            self.assertEqual((inside.exists(), made.exists()), copied, ended.stderr)
        self.assertEqual(made.read_bytes(), b"\0\xff")

    def test_the_plugin_of_claude_code_names_what_there_is(self):
        market = json.loads((REPOSITORY / ".claude-plugin/marketplace.json").read_text())
        [named] = market["plugins"]
        folder = REPOSITORY / named["source"]
        plugin = json.loads((folder / ".claude-plugin/plugin.json").read_text())
        self.assertEqual((market["name"], named["name"], plugin["name"]), ("cellgate",) * 3)
        self.assertEqual(named["description"], plugin["description"])
        self.assertIn(f" {plugin['version']}\n", self.cli("--version", rooted=False).stdout)
        [server] = json.loads((folder / ".mcp.json").read_text())["mcpServers"].values()
        self.assertEqual(server["command"], "cellgate")
        ended = self.cli(*server["args"])  # its client is gone at once
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_kernels_lists_one_that_can_be_started(self):
        ended = self.cli("kernels")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("python", ended.stdout.lower())

    def test_run_refuses_a_file_of_which_no_kernel_is_known(self):
        self.workspace.write("x.jl", "open('made.txt', 'w') # Python, too\n")
        self.workspace.write("x.ts", "open('made.txt', 'w') # Python, too\n")
        self.workspace.write("notes", "open('made.txt', 'w')\n")
        for file, code, words in (
            ("x.jl", 1, ["expected a kernel whose language is julia, found none", "There are kernels for: ", "bash, python"]),
            ("x.ts", 1, ["expected a kernel whose language is typescript, found none", "npm install deno"]),
            ("notes", 2, ["found notes", "cellgate run --kernel NAME notes"]),
        ):
            with self.subTest(file):
                ended = self.cli("run", file)
                self.assertEqual((ended.returncode, ended.stdout), (code, ""), ended.stderr)
                for word in words:
                    self.assertIn(word, ended.stderr)
                self.assertFalse((self.workspace.path / "made.txt").exists())

    def test_run_takes_any_file_for_a_kernel_that_was_chosen(self):
        ended = self.cli("run", "--kernel", "python3", self.script("print('it ran')\n", "notes"))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("it ran", ended.stdout)

    def test_doctor_examines_sandbox_and_kernel(self):
        ended = self.cli("doctor")
        self.assertIn(ended.returncode, (0, 1))
        self.assertRegex(ended.stdout.lower(), "bubblewrap|bwrap")
        self.assertIn("kernel", ended.stdout.lower())

    def test_mcp_prints_the_settings_of_each_client(self):
        for client, key in {"vscode": "servers", "claude": "mcpServers", "cursor": "mcpServers",
                            "neovim": "mcpServers"}.items():
            printed = self.cli("mcp", "--print-config", client)
            self.assertEqual(printed.returncode, 0, printed.stderr)
            server = json.loads(printed.stdout)[key]["cellgate"]
            self.assertTrue(os.access(server["command"], os.X_OK), server)
            self.assertEqual(server["args"][:2], ["mcp", "--root"])
            self.assertIn("this goes into", printed.stderr)
            printed = self.cli("mcp", "--as", "ipybox", "--print-config", client)
            self.assertEqual(json.loads(printed.stdout)[key]["cellgate"]["args"][3:], ["--as", "ipybox"])
        codex = tomllib.loads(self.cli("mcp", "--print-config", "codex").stdout)["mcp_servers"]["cellgate"]
        self.assertEqual((codex["command"], codex["args"][:2]), (server["command"], ["mcp", "--root"]))

    def test_the_demo_holds_and_ends_with_commands_that_can_be_copied(self):
        ended = self.cli("demo", "--answer-itself", rooted=False, variables={"TMPDIR": str(self.workspace.base)})
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertNotIn("FAILED", ended.stdout)
        self.assertIn(f"run them: {os.path.realpath(CELLGATE)} run FILE", ended.stdout)
        left = re.search(r"What the tour left is in (\S+)\.", ended.stdout).group(1)
        self.assertTrue(left.startswith(str(self.workspace.base)), left)


if __name__ == "__main__":
    unittest.main()
