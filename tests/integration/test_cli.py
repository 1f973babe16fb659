"""The command line, at a terminal and without one. Loose about wording, exact about effects."""

import fcntl
import json
import os
import pty
import re
import signal
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

    def cli(self, *arguments, rooted=True, **options):
        """Without a terminal."""
        return subprocess.run(self.arguments(*arguments, rooted=rooted), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE * 2, cwd=self.place.root, env=self.place.environment(),
                              start_new_session=True, **options)

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
        self.assertIn("EOFError", ended.stdout + ended.stderr)

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

    def test_help_names_every_command_and_each_has_its_own(self):
        ended = self.cli("--help", rooted=False)
        self.assertEqual(ended.returncode, 0)
        for command in ("run", "generate", "call", "kernels", "doctor", "serve"):
            self.assertIn(command, ended.stdout)
            one = self.cli(command, "--help", rooted=False)
            self.assertEqual(one.returncode, 0)
            self.assertTrue(one.stdout)
        for wrong in (("nonsense",), ("run",), ("run", "no-such-file.py"), ("run", "--nonsense", "notes.txt")):
            with self.subTest(wrong):
                ended = self.cli(*wrong, rooted=False)
                self.assertNotEqual(ended.returncode, 0)
                self.assertTrue(ended.stderr.strip())


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
