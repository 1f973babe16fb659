"""The command line, at a terminal and without one. Loose about wording, exact about effects."""

import fcntl
import json
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import termios
import threading
import unittest

from cellgate_client import (CELLGATE, CONTRACT, OWN, PATIENCE, Place, assert_no_strays, start_process, wait_until)
from tools_testing import fixture_server


class Terminal:
    """A command at a terminal of its own."""

    def __init__(self, arguments, **options):
        self.master, slave = pty.openpty()
        self.process = start_process(arguments, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                     preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0),
                                     **options)
        os.close(slave)
        self.text = ""
        self.seen = 0
        self.changed = threading.Condition()
        self.ended = False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while True:
            try:
                piece = os.read(self.master, 65536)
            except OSError:  # how a terminal ends
                piece = b""
            with self.changed:
                self.text += piece.decode(errors="replace")
                self.ended = not piece
                self.changed.notify_all()
            if not piece:
                return

    def expect(self, pattern):
        """What was written since the last match, up to this one."""
        def find():
            return re.search(pattern, self.text[self.seen:]) or self.ended
        with self.changed:
            if not self.changed.wait_for(find, PATIENCE):
                raise AssertionError(f"the terminal does not show {pattern!r}: {self.text[self.seen:]!r}")
            found = re.search(pattern, self.text[self.seen:])
            if not found:
                raise AssertionError(f"it ended without {pattern!r}: {self.text!r}")
            shown = self.text[self.seen : self.seen + found.end()]
            self.seen += found.end()
            return shown

    def type(self, line):
        os.write(self.master, line.encode() + b"\r")

    def resize(self, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def wait_end(self):
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"it still runs: {self.text!r}") from None
        OWN.discard(self.process.pid)
        self.reader.join(PATIENCE)
        return code


class CliTest(unittest.TestCase):
    def setUp(self):
        self.place = Place()
        self.addCleanup(self.place.remove)
        self.addCleanup(assert_no_strays)
        self.place.write("notes.txt", "the notes")

    def arguments(self, *arguments, rooted=True):
        options = ["--root", str(self.place.root)] if rooted else []
        return [CELLGATE, arguments[0], *options, *arguments[1:]]

    def cli(self, *arguments, rooted=True, variables=None):
        """Without a terminal."""
        return subprocess.run(self.arguments(*arguments, rooted=rooted), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE * 2, cwd=self.place.root, start_new_session=True, check=False,
                              env=self.place.environment(**(variables or {})))

    def terminal(self, *arguments):
        terminal = Terminal(self.arguments(*arguments), cwd=self.place.root, env=self.place.environment(TERM="xterm"))
        self.addCleanup(lambda: terminal.process.poll() is None and terminal.process.kill())
        return terminal

    def config(self):
        return str(self.place.write("servers.json", json.dumps({"mcpServers": {"fix": fixture_server()}})))

    def script(self, text, name="tour.py"):
        return str(self.place.write(name, text))


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
        self.assertFalse((self.place.root / "made.txt").exists())

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
        self.assertEqual((self.place.root / "a 'b' \"c\", d.txt").read_text(), "line\n\u202etwo\x1b lines\n")
        self.assertEqual(self.advised(allowed), [])
        # No more than that: another content of the same file is denied.
        other = self.script("from mcptools.host import write_file\nwrite_file.run(path='a.txt', content='x')\n", "o.py")
        self.assertEqual(self.cli("run", *advised, other).returncode, 1)
        self.assertFalse((self.place.root / "a.txt").exists())

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
        self.assertEqual(self.place.files(), ["notes.txt", "tour.py"])

    def test_a_server_of_the_workspace_is_started_by_what_it_advises(self):
        self.place.write(".mcp.json", json.dumps({"mcpServers": {"repo": fixture_server()}}))
        ended = self.cli("generate", "repo")
        self.assertEqual(ended.returncode, 1)
        advised = self.advised(ended)[:2]
        self.assertEqual(advised, ["--mcp-config", ".mcp.json"])
        self.assertEqual(self.cli("generate", "repo", *advised).returncode, 0)

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

    def test_a_rule_for_everything_is_refused_before_anything_runs(self):
        script = self.script("open('ran', 'w')")
        for rule in ("*", "*/*", "**", "", "/", "fix", "*/tool", "/x", "fix/"):
            with self.subTest(rule):
                ended = self.cli("run", "--allow", rule, script)
                self.assertNotEqual(ended.returncode, 0)
                self.assertTrue(ended.stderr.strip())
                self.assertFalse((self.place.root / "ran").exists())

    def test_input_is_at_its_end(self):
        ended = self.cli("run", self.script("input('anyone? ')"))
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("EOFError: nobody answered the prompt", ended.stderr)
        self.assertIn("input('anyone? ')", ended.stderr)
        self.assertNotIn("ipykernel", ended.stderr)

    def test_files_are_read_as_python_reads_them(self):
        marked = self.place.write("marked.py", "\ufeffprint('é')\n")
        ended = self.cli("run", str(marked))
        self.assertEqual((ended.returncode, ended.stdout), (0, "é\n"), ended.stderr)
        latin = self.place.root / "latin.py"
        latin.write_bytes("# coding: latin-1\nopen('ran', 'w')\nprint('é')\n".encode("latin-1"))
        ended = self.cli("run", str(latin))
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("iconv", ended.stderr)
        self.assertFalse((self.place.root / "ran").exists())

    def test_the_code_cells_of_a_notebook_run_and_it_stays_as_it_is(self):
        cells = [{"cell_type": "markdown", "source": "# words"}, {"cell_type": "code", "source": ["x = 1\n", "print(x)"]},
                 {"cell_type": "code", "source": "print(x + 1)"}, {"cell_type": "code", "source": "1 / 0"}]
        notebook = self.place.write("tour.ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 5, "cells": cells}))
        before = notebook.read_bytes()
        ended = self.cli("run", str(notebook))
        self.assertEqual((ended.returncode, ended.stdout), (1, "1\n2\n"))
        self.assertIn("cell 3 ended in an error", ended.stderr)
        self.assertEqual(notebook.read_bytes(), before)
        broken = self.place.write("broken.ipynb", "print(1)")
        self.assertIn("expected a Jupyter notebook", self.cli("run", str(broken)).stderr)

    def test_a_cell_that_quits_is_the_last(self):
        ended = self.cli("run", self.script("x = 1\nprint('one')\nquit()\n# %%\nprint('two')\n"))
        self.assertEqual((ended.returncode, ended.stdout), (0, "one\n"))
        self.assertIn("what follows was not run", ended.stderr)

    def test_output_that_cannot_be_written_is_no_success(self):
        script = self.script("print('words')")
        for arguments in (["run", script], ["kernels"]):
            with self.subTest(arguments[0]), open("/dev/full", "w") as full:
                ended = subprocess.run(self.arguments(*arguments), stdin=subprocess.DEVNULL, stdout=full,
                                       stderr=subprocess.PIPE, text=True, timeout=PATIENCE, cwd=self.place.root,
                                       start_new_session=True, check=False, env=self.place.environment())
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
                                cwd=self.place.root, env=self.place.environment(), start_new_session=True)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        process.stdout.read(100)
        process.stdout.close()
        wait_until(lambda: process.poll() is not None, "the end of a run that nobody reads")
        OWN.discard(process.pid)

    def test_sigterm_and_sigint_end_it(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                process = start_process(self.arguments("run", self.script("print('go', flush=True)\nwhile True: pass")),
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                        cwd=self.place.root, env=self.place.environment(), start_new_session=True)
                self.addCleanup(lambda process=process: process.poll() is None and process.kill())
                self.assertIn(b"go", process.stdout.readline())
                process.send_signal(number)
                self.assertNotEqual(process.wait(PATIENCE), 0)
                process.stdout.close()
                OWN.discard(process.pid)

    def test_its_conversation_keeps_the_contract(self):
        trace = self.place.base / "cli.jsonl"
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
        self.assertTrue((self.place.root / "mcptools/fix/tool_1.py").is_file())

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

    def test_kernels_lists_one_that_can_be_started(self):
        ended = self.cli("kernels")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("python", ended.stdout.lower())

    def test_doctor_examines_sandbox_and_kernel(self):
        ended = self.cli("doctor")
        self.assertIn(ended.returncode, (0, 1))
        self.assertRegex(ended.stdout.lower(), "bubblewrap|bwrap")
        self.assertIn("kernel", ended.stdout.lower())

    def test_help_about_what_is_not_there_says_so(self):
        for words in (["help", "nope"], ["nope", "--help"], ["nope"]):
            ended = self.cli(*words, rooted=False)
            self.assertEqual((ended.returncode, ended.stdout), (2, ""))
            self.assertIn("there is no subcommand nope", ended.stderr)

    def test_help_names_every_command_and_each_has_its_own(self):
        ended = self.cli("--help", rooted=False)
        self.assertEqual(ended.returncode, 0)
        self.assertEqual(self.cli("help", rooted=False).stdout, ended.stdout)
        for command in ("run", "generate", "call", "kernels", "doctor", "demo", "serve"):
            self.assertIn(command, ended.stdout)
            one = self.cli(command, "--help", rooted=False)
            self.assertEqual(one.returncode, 0)
            self.assertTrue(one.stdout)
            self.assertEqual(self.cli("help", command, rooted=False).stdout, one.stdout)
        for wrong in (("nonsense",), ("run",), ("run", "no-such-file.py"), ("run", "--nonsense", "notes.txt")):
            with self.subTest(wrong):
                ended = self.cli(*wrong, rooted=False)
                self.assertEqual(ended.returncode, 2)
                self.assertTrue(ended.stderr.strip())
        self.assertIn("no subcommand nonsense", self.cli("nonsense", rooted=False).stderr)
        self.assertIn("greater than 0, found 0", self.cli("run", "--timeout", "0", "notes.txt").stderr)
        alone = subprocess.run([CELLGATE], capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual((alone.returncode, alone.stderr), (2, self.cli("help", rooted=False).stdout))

    def test_the_demo_holds_and_ends_with_commands_that_can_be_copied(self):
        ended = self.cli("demo", "--answer-itself", rooted=False, variables={"TMPDIR": str(self.place.base)})
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertNotIn("FAILED", ended.stdout)
        self.assertIn(f"run them: {os.path.realpath(CELLGATE)} run FILE", ended.stdout)
        left = re.search(r"What the tour left is in (\S+)\.", ended.stdout).group(1)
        self.assertTrue(left.startswith(str(self.place.base)), left)


class AtATerminal(CliTest):
    WRITE = "from mcptools.host import write_file\nprint(write_file.run(path='made.txt', content='from the cell'))\n"

    def setUp(self):
        super().setUp()
        self.assertEqual(self.cli("generate", "host").returncode, 0)
        self.made = self.place.root / "made.txt"

    def question(self, terminal):
        shown = terminal.expect(r"your answer: $|answer.*[:?] ?$")
        return shown

    def test_the_first_choice_allows_what_was_shown(self):
        terminal = self.terminal("run", self.script(self.WRITE))
        shown = self.question(terminal)
        for part in ("write_file", "made.txt", "from the cell"):
            self.assertIn(part, shown)
        self.assertFalse(self.made.exists())
        terminal.type("1")
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertEqual(self.made.read_text(), "from the cell")

    def test_a_no_with_its_reason(self):
        terminal = self.terminal("run", self.script(self.WRITE))
        self.question(terminal)
        terminal.type("d")
        terminal.expect("why")
        terminal.type("not in here")
        self.assertNotEqual(terminal.wait_end(), 0)
        self.assertRegex(terminal.text, r"ApprovalDenied.*not in here")
        self.assertFalse(self.made.exists())

    def test_an_edit(self):
        terminal = self.terminal("run", self.script(self.WRITE))
        self.question(terminal)
        terminal.type("e")
        terminal.expect("JSON[^\n]*: ?$")
        terminal.type('{"path": "made.txt", "content": "from the person"}')
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertEqual(self.made.read_text(), "from the person")

    def test_an_edit_that_the_terminal_cuts_is_refused_and_asked_for_again(self):
        terminal = self.terminal("run", self.script(self.WRITE))
        self.question(terminal)
        terminal.type("e")
        terminal.expect("JSON[^\n]*: ?$")
        terminal.type(json.dumps({"path": "made.txt", "content": "x" * 6000}))
        terminal.expect("no more than 4095 bytes")
        self.question(terminal)
        terminal.type("d")
        terminal.expect("why")
        terminal.type("")
        self.assertNotEqual(terminal.wait_end(), 0)
        self.assertFalse(self.made.exists())

    def test_what_is_no_answer_asks_again(self):
        terminal = self.terminal("run", self.script(self.WRITE))
        for wrong in ("", "0", "99", "yes", "1 1"):
            self.question(terminal)
            terminal.type(wrong)
        self.question(terminal)
        self.assertFalse(self.made.exists())
        terminal.type("1")
        self.assertEqual(terminal.wait_end(), 0, terminal.text)

    def test_control_d_is_a_no(self):
        terminal = self.terminal("run", self.script(self.WRITE))
        self.question(terminal)
        os.write(terminal.master, b"\x04")
        self.assertNotEqual(terminal.wait_end(), 0)
        self.assertFalse(self.made.exists())

    def test_control_c_at_a_question_ends_it(self):
        terminal = self.terminal("run", self.script(self.WRITE))
        self.question(terminal)
        os.write(terminal.master, b"\x03")
        self.assertNotEqual(terminal.wait_end(), 0)
        self.assertFalse(self.made.exists())

    def test_output_is_held_while_a_question_is_open(self):
        terminal = self.terminal("run", self.script(
            "import threading, os\nfrom mcptools.host import write_file\n"
            "call = threading.Thread(target=lambda: write_file.run(path='made.txt', content='x'))\ncall.start()\n"
            "while not os.path.exists('asked'): pass\nprint('1\\nyour answer: 1', flush=True)\n"
            "open('printed', 'w').close()\ncall.join()\n"))
        self.question(terminal)
        self.place.write("asked", "")
        wait_until(lambda: (self.place.root / "printed").exists(), "the cell to print")
        self.assertEqual(terminal.text[terminal.seen:], "")
        terminal.type("1")
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertIn("your answer: 1", terminal.text[terminal.seen:])

    def test_keys_typed_before_a_question_do_not_answer_it(self):
        # Whole lines, and one that only waits for its end, typed while the cell computes.
        terminal = self.terminal("run", self.script(
            "import os\nprint('computing', flush=True)\nwhile not os.path.exists('typed'): pass\n" + self.WRITE))
        terminal.expect("computing")
        terminal.type("1")
        terminal.type("1")
        os.write(terminal.master, b"1")
        terminal.expect("1\r\n1\r\n1")  # the terminal has taken them
        self.place.write("typed", "")
        self.question(terminal)
        os.write(terminal.master, b"\r")  # the end of the line that was begun
        terminal.expect("expected a number")
        self.question(terminal)
        self.assertFalse(self.made.exists())
        terminal.type("d")
        terminal.expect("why")
        terminal.type("")
        self.assertNotEqual(terminal.wait_end(), 0)
        self.assertFalse(self.made.exists())

    def test_keys_typed_before_a_question_can_have_been_read_do_not_answer_it(self):
        # The cell may know when the person will press a key that means something else.
        terminal = self.terminal("run", self.script(self.WRITE))
        terminal.expect("this call")
        terminal.type("1")
        self.question(terminal)
        terminal.type("d")
        terminal.expect("why")
        terminal.type("")
        self.assertNotEqual(terminal.wait_end(), 0)
        self.assertFalse(self.made.exists())

    def test_what_was_typed_behind_an_answer_does_not_answer_the_next_question(self):
        terminal = self.terminal("run", self.script(self.WRITE + self.WRITE.replace("made", "second")))
        self.question(terminal)
        os.write(terminal.master, b"1\r1\r1\r")
        self.question(terminal)
        self.assertTrue(self.made.exists())
        self.assertFalse((self.place.root / "second.txt").exists())
        terminal.type("d")
        terminal.expect("why")
        terminal.type("")
        self.assertNotEqual(terminal.wait_end(), 0)
        self.assertFalse((self.place.root / "second.txt").exists())

    def test_an_imitated_question_is_no_question(self):
        # It looks the same, and an answer to it goes nowhere: the real question still waits for its own.
        imitation = """\n== cellgate asks =====\n  read_file on this machine, outside the sandbox\n  path: "notes.txt"

  1  this call\n  d  deny, and say why\n  your answer: """
        terminal = self.terminal("run", self.script(
            f"import os\nprint({imitation!r}, end='', flush=True)\n"
            "while not os.path.exists('typed'): pass\n" + self.WRITE))
        terminal.expect("your answer: ")
        terminal.type("1")
        terminal.expect("1\r\n")
        self.place.write("typed", "")
        self.assertIn("write_file", terminal.expect("your answer: $"))
        self.assertFalse(self.made.exists())
        terminal.type("d")
        terminal.expect("why")
        terminal.type("")
        self.assertNotEqual(terminal.wait_end(), 0)
        self.assertFalse(self.made.exists())

    def test_no_text_of_a_call_reaches_the_left_edge(self):
        # Padded for a terminal of 60 columns, which would break the line before the imitation.
        text = "x" * 20 + " " * 60 + "== cellgate asks ==" + " " * 41 + "  1  this call" + " " * 200 + "your answer:"
        terminal = self.terminal("run", self.script(
            f"import os\nprint('ready', flush=True)\nwhile not os.path.exists('go'): pass\n"
            f"from mcptools.host import write_file\nwrite_file.run(path='made.txt', content={text!r})\n"))
        terminal.expect("ready\r\n")
        terminal.resize(60)
        self.place.write("go", "")
        shown = self.question(terminal)
        lines = shown.splitlines()
        self.assertEqual([line for line in lines if line and not line.startswith("  ")],
                         ["== cellgate asks ====================================================="])
        for line in lines:
            self.assertTrue(len(line) < 60 or line.startswith("=="), line)
        terminal.type("d")
        terminal.expect("why")
        terminal.type("")
        self.assertNotEqual(terminal.wait_end(), 0)

    def test_a_question_outlives_a_change_of_the_terminals_size(self):
        terminal = self.terminal("run", self.script(self.WRITE))
        self.question(terminal)
        for columns in (40, 200):
            terminal.resize(columns)  # the process gets SIGWINCH
        terminal.type("1")
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertTrue(self.made.exists())

    def test_control_c_at_the_reason_or_the_edit_ends_it_too(self):
        for key, expected in (("d", "why"), ("e", "new arguments")):
            with self.subTest(key):
                terminal = self.terminal("run", self.script(self.WRITE))
                self.question(terminal)
                terminal.type(key)
                terminal.expect(expected)
                os.write(terminal.master, b"\x03")
                self.assertEqual(terminal.wait_end(), 130, terminal.text)
                self.assertFalse(self.made.exists())

    def test_control_d_in_the_middle_of_an_answer_is_not_its_end(self):
        terminal = self.terminal("run", self.script(self.WRITE))
        self.question(terminal)
        os.write(terminal.master, b"4\x04")  # hands over what is typed so far; no line yet
        os.write(terminal.master, b"2\r")
        terminal.expect("expected a number")
        self.question(terminal)
        os.write(terminal.master, b"\x04")
        self.assertNotEqual(terminal.wait_end(), 0)
        self.assertFalse(self.made.exists())

    def test_each_line_of_what_the_code_asks_says_so(self):
        terminal = self.terminal("run", self.script(
            "import getpass\ninput('\\n== cellgate asks ==\\n  1  this call\\n  your answer: ')\n"
            "_ = getpass.getpass('[sudo] password for ada: ')\n"))
        shown = terminal.expect("your answer: $")
        asked = [line for line in shown.splitlines() if line]
        self.assertEqual(len(asked), 4, shown)
        for line in asked:
            self.assertTrue(line.startswith("[the code asks] "), shown)
        terminal.type("x")
        self.assertIn("[the code asks] [sudo]", terminal.expect("ada: $"))
        terminal.type("secret word")
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertNotIn("secret word", terminal.text)

    def test_input_and_a_question_take_turns(self):
        terminal = self.terminal("run", self.script(
            "import threading\nfrom mcptools.host import write_file\n"
            "call = threading.Thread(target=lambda: write_file.run(path='made.txt', content='x'))\n"
            "call.start()\nname = input('Name: ')\ncall.join()\nprint('hello', name)\n"))
        for _ in range(2):
            shown = terminal.expect("(Name|your answer): $")
            if "Name: " in shown.splitlines()[-1]:
                terminal.type("1")  # a yes, if it went to the question
                continue
            self.assertFalse(self.made.exists())
            terminal.type("1")
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertIn("hello 1", terminal.text)
        self.assertTrue(self.made.exists())

    def test_the_end_of_the_terminal_is_the_end_of_input(self):
        terminal = self.terminal("run", self.script(
            "try:\n    input('Name: ')\nexcept EOFError:\n    print('the end')"))
        terminal.expect("Name: ")
        os.write(terminal.master, b"\x04")
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertIn("the end", terminal.text)

    def test_a_server_that_cannot_be_started_is_refused_without_a_question(self):
        server = fixture_server(env={"KEY": "${input:key}"})
        self.place.write(".vscode/mcp.json", json.dumps({"servers": {"repo": server}, "inputs": []}))
        terminal = self.terminal("generate", "repo")
        self.assertEqual(terminal.wait_end(), 1)
        self.assertIn("${input:key} is not supported", terminal.text)
        self.assertNotIn("cellgate asks", terminal.text)

    def test_input_is_read_at_the_terminal(self):
        terminal = self.terminal("run", self.script("name = input('Name: ')\nprint('hello', name)"))
        terminal.expect("Name: ")
        terminal.type("Ada")
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertIn("hello Ada", terminal.text)

    def test_a_terminal_that_goes_away_leaves_nothing(self):
        terminal = self.terminal("run", self.script(self.WRITE))
        self.question(terminal)
        terminal.process.send_signal(signal.SIGHUP)  # what a terminal sends that is closed
        terminal.wait_end()
        self.assertFalse(self.made.exists())

    def test_generate_and_call_ask_too(self):
        terminal = self.terminal("call", "host", "write_file", '{"path": "made.txt", "content": "by call"}')
        self.question(terminal)
        terminal.type("1")
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertEqual(self.made.read_text(), "by call")
        self.place.write(".mcp.json", json.dumps({"mcpServers": {"repo": fixture_server()}}))
        terminal = self.terminal("generate", "repo")
        self.assertIn("python3", self.question(terminal))
        terminal.type("1")
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertTrue((self.place.root / "mcptools/repo/tool_1.py").exists())


if __name__ == "__main__":
    unittest.main()
