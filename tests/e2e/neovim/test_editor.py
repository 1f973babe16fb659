"""What the scenarios of all editors do not name: the kernel's words while typing, lists, a great deal of output, text
objects and keys, a plugin without settings."""

import base64
import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
import threading
import unittest
from pathlib import Path

from neovim_testing import (CELLGATE, NEOVIM, TIMEOUT, PLUGIN, REPOSITORY, NeovimTest, Remote, start_process,
                            tiny_png, wait_until)

sys.path.insert(0, str(REPOSITORY / "tests" / "integration"))
from mcp_testing import McpClient  # noqa: E402
from processes import wait_process  # noqa: E402

CALL = "# %%\nfrom mcptools.host import read_file\nprint(read_file.run(path='notes.txt').content)\n"


class Kernel(NeovimTest):
    def ran(self, code):
        neovim = self.neovim(self.workspace.write("a.py", code))
        neovim.command("Cellgate run")
        neovim.wait_finished(1)
        neovim.wait_lua("return vim.tbl_contains(vim.tbl_values(select(2, next(require('cellgate.session').all)).kernels),"
                        " 'idle')", "an idle kernel")
        return neovim

    def test_completion_knows_what_the_kernel_has(self):
        neovim = self.ran("# %%\nfrobnicate_one = 1\nfrobnicate_two = 2\n")
        neovim.keys("Gofrobn<C-x><C-o>")
        neovim.wait_screen("frobnicate_two", "[kernel]")
        neovim.keys("<C-e><Esc>")

    def test_inspect_and_variables(self):
        neovim = self.ran("# %%\ndef twice(x):\n    'Gives the double.'\n    return 2 * x\nanswer = twice(21)\n")
        neovim.keys("/answer<CR>w")
        neovim.keys("wb")
        neovim.keys("/twice(21<CR>")
        neovim.command("Cellgate inspect")
        neovim.wait_screen("Gives the double.", "Signature")
        neovim.command("Cellgate variables")
        neovim.wait_screen("answer", "42", "cellgate://variables")

    def test_twenty_thousand_lines_are_counted_and_all_to_be_read(self):
        neovim = self.neovim(self.workspace.write("a.py", "# %%\nfor i in range(20000): print(i)\n"))
        neovim.command("Cellgate run")
        neovim.wait_finished(1)
        output = neovim.wait_output("19999")
        self.assertEqual(output[0], "… 19980 more: :Cellgate output")
        neovim.command("Cellgate output")
        neovim.wait_screen("cellgate://output")
        lines = neovim.wait_lua("vim.cmd.normal({ 'G', bang = true }) local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false) "
                                "return lines[#lines] == '19999' and lines", "the last line")
        self.assertEqual(lines, [str(i) for i in range(20000)])


class Control(NeovimTest):
    def test_restart_forgets_variables_and_clear_takes_output_away(self):
        neovim = self.neovim(self.workspace.write("a.py", "# %%\nx = 1\nprint('set')\n# %%\nprint('x' in globals())\n"))
        neovim.command("Cellgate run")
        neovim.wait_output("set")
        neovim.command("Cellgate restart")
        neovim.wait_message("the kernel was restarted")
        neovim.keys("G")
        neovim.command("Cellgate run")
        neovim.wait_output("False")
        neovim.command("Cellgate clear")
        neovim.wait(lambda: neovim.output() == ["set"], lambda: f"one output, not {neovim.output()}")
        neovim.command("Cellgate! clear")
        neovim.wait(lambda: neovim.output() == [], lambda: f"no output, not {neovim.output()}")

    def test_a_queued_cell_is_cancelled_alone_and_the_running_one_by_its_own(self):
        neovim = self.neovim(self.workspace.write(
            "a.py", "# %%\nprint('begun', flush=True)\nwhile True: pass\n# %%\nprint('second')\n# %%\nprint('third')\n"))
        neovim.command("Cellgate all")
        neovim.wait_output("begun")
        neovim.keys("5G")
        neovim.command("Cellgate cancel")
        neovim.wait_screen("cancelled")
        neovim.keys("gg")
        neovim.command("Cellgate cancel")
        neovim.wait(lambda: {each["state"] for each in neovim.executions()} == {"finished"},
                    lambda: f"the end of all: {neovim.executions()}")
        self.assertEqual([each["status"] for each in neovim.executions()], ["cancelled", "cancelled", "ok"])

    def test_the_remedy_of_a_note_shows_a_file_to_the_kernel(self):
        data = self.workspace.home / "data.csv"
        data.write_text("first,second")
        neovim = self.neovim(self.workspace.write("a.py", f"# %%\nprint(open({str(data)!r}).read())\n"))
        neovim.command("Cellgate run")
        neovim.wait_screen("is not shown in the sandbox", ":Cellgate remedy does it")
        neovim.command("Cellgate remedy")
        neovim.wait_message(f"done for session default: allow reading {data}")
        neovim.command("Cellgate run")
        neovim.wait_output("first,second")

    def test_the_remedy_of_a_missing_module_asks_before_it_installs(self):
        neovim = self.neovim(self.workspace.write("a.py", "# %%\nimport no_such_module_9\n"))
        neovim.command("Cellgate run")
        neovim.wait_screen("there is no module no_such_module_9", ":Cellgate remedy does it")
        neovim.command("Cellgate remedy")
        neovim.wait_screen("install packages")
        neovim.command("Cellgate! install")
        neovim.wait_message("cancelled")

    def test_a_settings_file_says_what_new_kernels_see(self):
        data = self.workspace.home / "data.csv"
        data.write_text("first,second")
        shown = self.workspace.home / "sandbox.json"
        shown.write_text(json.dumps({
            "filesystem": {"denyRead": [], "allowRead": ["~/data.csv"], "allowWrite": ["."], "denyWrite": []},
            "network": {"allowedDomains": [], "deniedDomains": []}}))
        file = self.workspace.write("a.py", f"# %%\nprint(open({str(data)!r}).read())\n")
        neovim = self.neovim(file, settings={"sandbox_config": "~/sandbox.json"})
        neovim.command("Cellgate run")
        neovim.wait_output("first,second")

    @unittest.skipIf(shutil.which("runsc") is None, "gVisor is not installed (apt install runsc)")
    def test_a_setting_chooses_the_launcher_of_new_sessions(self):
        file = self.workspace.write("a.py", "# %%\nimport os\nprint('in', os.uname().version)\n")
        neovim = self.neovim(file, settings={"sandbox_launcher": "gvisor"})
        neovim.command("Cellgate run")
        neovim.wait_output("in #1 SMP Sun Jan 10 15:06:54 PST 2016")

    def test_stop_ends_the_sidecar_and_the_next_cell_starts_another(self):
        neovim = self.neovim(self.workspace.write("a.py", "# %%\nprint(6 * 7)\n"))
        neovim.command("Cellgate run")
        neovim.wait_output("42")
        neovim.command("Cellgate stop")
        neovim.wait_message("stopped")
        self.wait_for_the_end_of_the_sidecar()
        neovim.command("Cellgate run")
        neovim.wait_finished(2)

    def test_what_a_cell_prints_does_nothing_to_the_terminal(self):
        neovim = self.neovim(self.workspace.write(
            "a.py", "# %%\nprint('\\x1b]0;owned\\x07\\x1b[2J\\x1b[Hshown \\u202etxt.exe')\n"))
        neovim.command("Cellgate run")
        neovim.wait_output("shown <U+202E>txt.exe")
        neovim.wait_screen("# %%", "shown <U+202E>txt.exe")


class Agents(NeovimTest):
    def test_an_agent_whose_sidecar_starts_later_is_answered_here(self):
        self.workspace.write("notes.txt", "Five days in May.")
        neovim = self.neovim(self.workspace.write("a.py", "# %%\n1\n"))
        neovim.wait_lua("return require('cellgate.open_files').is_watching()", "the end of the first look")
        self.assertEqual(neovim.lua("return vim.tbl_count((package.loaded['cellgate.session'] or { all = {} }).all)"), 0)
        agent = McpClient(self.workspace, "helper")
        self.addCleanup(agent.close)
        agent.initialize()
        code = "from mcptools.host import read_file\nprint(read_file.run(path='notes.txt').content)"
        subprocess.run([CELLGATE, "generate", "host", "--root", str(self.workspace.path)], check=True,
                       env=self.workspace.environment(), capture_output=True, timeout=TIMEOUT)
        call = agent.start_call("execute", code=code)
        neovim.wait_screen("an agent that calls itself helper asks", "notes.txt")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("1")
        self.assertIn("Five days in May.", str(agent.finish_call(call, "execute", code=code)))


class Lists(NeovimTest):
    def setUp(self):
        super().setUp()
        self.workspace.write("notes.txt", "Five days in May.")

    def test_an_answer_for_the_session_is_a_rule_that_can_be_revoked(self):
        neovim = self.neovim(self.workspace.write("a.py", CALL))
        neovim.command("Cellgate generate host")
        neovim.wait_message("mcptools.host has")
        neovim.command("Cellgate run")
        neovim.wait_screen("cellgate asks")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("4")
        neovim.wait_finished(1)
        neovim.command("Cellgate run")
        neovim.wait_finished(2)
        neovim.command("Cellgate rules")
        neovim.wait_screen("allow host/read_file", "in session default")
        neovim.keys("/allow host.read_file<CR>")
        neovim.keys("X")
        neovim.wait_screen("cellgate://rules", gone=("allow host/read_file",))
        neovim.keys("q")
        neovim.command("Cellgate run")
        neovim.wait_screen("cellgate asks")
        neovim.command("Cellgate interrupt")
        neovim.wait_finished(3, "error")

    def test_what_was_decided_is_listed_with_why_also_what_no_user_was_asked_about(self):
        neovim = self.neovim(self.workspace.write("a.py", CALL))
        neovim.command("Cellgate generate host")
        neovim.wait_message("mcptools.host has")
        neovim.command("Cellgate run")
        neovim.wait_screen("cellgate asks")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("4")
        neovim.wait_finished(1)
        neovim.command("Cellgate decisions")
        neovim.wait_screen("outside the sandbox  allowed by a user, with a rule", gone=("allowed by a rule",))
        # The list is read again when a cell ends, whose call no user was asked about.
        neovim.command("wincmd t | Cellgate run")
        neovim.wait_finished(2)
        neovim.wait_screen("outside the sandbox  allowed by a rule")
        neovim.command("wincmd b")
        neovim.keys("/allowed by a rule<CR><CR>")
        neovim.wait_screen("cellgate://decision", 'path: "notes.txt"', "it succeeded", "rule: allow host/read_file",
                           "line 3, reported by the code: print(read_file.run(path='notes.txt').content)")

    def test_what_happened_is_listed_searched_and_verified(self):
        neovim = self.neovim(self.workspace.write("a.py", CALL))
        neovim.command("Cellgate generate host")
        neovim.wait_message("mcptools.host has")
        neovim.command("Cellgate run")
        neovim.wait_screen("cellgate asks")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("1")
        neovim.wait_finished(1)
        neovim.command("Cellgate record notes.txt")
        neovim.wait_screen("cellgate://record", "allowed: read_file of host", "ran: from mcptools.host")
        neovim.keys("v")
        neovim.wait_message("as they were written")

    def test_a_server_of_the_workspaces_file_asks_for_agreement(self):
        self.workspace.write(".mcp.json", '{"mcpServers": {"theirs": {"command": "true"}}}')
        neovim = self.neovim(self.workspace.write("a.py", "# %%\n1\n"))
        neovim.command("Cellgate servers")
        neovim.wait_screen("theirs  pending", "host  running")
        neovim.keys("/theirs<CR>")
        neovim.keys("R")
        neovim.wait_screen("cellgate asks", "start")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("d")
        neovim.wait_screen("cellgate://servers", gone=("cellgate asks",))

    def test_the_log_of_a_server_that_cannot_start(self):
        words = r"echo 'no key \033[31mfound' >&2; exit 1"
        neovim = self.neovim(self.workspace.write("a.py", "# %%\n1\n"),
                             settings={"mcp_servers": {"mute": {"command": "/bin/sh", "args": ["-c", words]}}})
        neovim.command("Cellgate servers")
        neovim.wait_screen("mute", "L its log")
        neovim.keys("/mute<CR>")
        neovim.keys("R")
        neovim.wait_message("mute")
        neovim.keys("L")
        neovim.wait_screen("cellgate://log/mute")
        neovim.keys("<C-w>o")  # the list says the same
        neovim.wait_screen("no key", "[31mfound", gone=("L its log",))

    def test_kernels(self):
        neovim = self.neovim(self.workspace.write("a.py", "# %%\n1\n"))
        neovim.command("Cellgate kernels")
        neovim.wait_screen("python3", "python")


class Editing(NeovimTest):
    def test_operator_selection_lines_and_text_object(self):
        neovim = self.neovim(self.workspace.write("a.py", "# %%\nprint('a')\nprint('b')\n# %%\nprint('c')\n"),
                             settings={"keys": True})
        neovim.keys("2G,l")
        neovim.wait_output("a")
        neovim.keys("3GV,r")
        neovim.wait_output("b")
        neovim.keys("5G,eic")
        neovim.wait_output("c")
        self.assertEqual([each["code"] for each in neovim.executions()], ["print('a')\n", "print('b')\n", "print('c')\n"])

    def test_fences_of_markdown_are_cells(self):
        neovim = self.neovim(self.workspace.write(
            "a.md", "Some words.\n\n```python\nprint(6 * 7)\n```\n\n```\nnot this\n```\n"))
        neovim.command("Cellgate all")
        neovim.wait_output("42")
        self.assertEqual([each["code"] for each in neovim.executions()], ["print(6 * 7)\n"])

    def test_output_stays_with_its_cell_when_lines_are_put_before_it(self):
        neovim = self.neovim(self.workspace.write("a.py", "# %%\nprint('a')\n# %%\nprint('b')\n"))
        neovim.command("Cellgate all")
        neovim.wait_finished(2)
        neovim.wait_output("b")
        neovim.keys("ggOx = 1<Esc>")
        screen = neovim.wait_screen("x = 1").split("\n")
        rows = [row.strip() for row in screen]
        self.assertEqual(rows[rows.index("print('b')") + 1], "b")


class Pictures(NeovimTest):
    """Through a terminal of our own, which shows nothing, keeps all that it receives, and answers what it is when asked."""

    def run_in_terminal(self, says, **environment):
        file = self.workspace.write("a.py", "# %%\nfrom IPython.display import Image, display\nimport base64\n"
                                f"display(Image(data=base64.b64decode('{base64.b64encode(tiny_png()).decode()}')))\n")
        socket = self.workspace.base / "nvim.sock"
        terminal, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 110, 0, 0))
        process = start_process(
            [NEOVIM, "-n", "-u", "NONE", "--listen", str(socket), "--cmd", f"set rtp^={PLUGIN}", str(file)],
            env=self.workspace.environment(TERM="xterm-kitty", **environment), cwd=self.workspace.path, stdin=theirs,
            stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        told = bytearray()

        def listen():
            answered = 0
            with contextlib.suppress(OSError):
                while True:
                    told.extend(os.read(terminal, 1 << 16))
                    for _ in range(told.count(b"\x1b[>0q") - answered):
                        answered += 1
                        os.write(terminal, b"\x1bP>|" + says + b"\x1b\\")

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()

        def end():
            process.kill()
            wait_process(process)
            listener.join(TIMEOUT)
            os.close(terminal)

        self.addCleanup(end)

        def connect():
            with contextlib.suppress(OSError):
                return Remote(socket)

        remote = wait_until(connect, "Neovim's socket")
        self.addCleanup(remote.close)
        wait_until(lambda: remote.call("nvim_exec_lua", "return vim.v.vim_did_enter == 1", []), "the end of the start")
        remote.call("nvim_exec_lua", "require('cellgate').setup({ program = ... }) "
                    "vim.cmd.runtime('plugin/cellgate.lua') vim.cmd('Cellgate run')", [CELLGATE])
        return told

    @staticmethod
    def commands(told):
        return [each.split(b"\x1b\\", 1)[0] for each in bytes(told).split(b"\x1b_G")[1:]]

    def assert_drawn(self, told):
        wait_until(lambda: "\U0010eeee\u0305\u0305\u0305".encode() in told, "the place of the picture")
        sent = self.commands(told)[0]
        self.assertTrue(sent.startswith(b"a=T,U=1,q=2,f=100,i=1,"), sent)
        self.assertIn(b",t=f;", sent)
        path = base64.b64decode(sent.split(b";")[1]).decode()
        self.assertEqual(Path(path).read_bytes(), tiny_png())

    def test_a_kitty_that_draws_is_given_the_file_and_the_places(self):
        told = self.run_in_terminal(b"kitty(0.28.0)")
        self.assert_drawn(told)

    def test_a_ghostty_is_given_the_file_and_the_places(self):
        told = self.run_in_terminal(b"ghostty 1.1.3")
        self.assert_drawn(told)

    def test_a_terminal_on_another_machine_is_given_all_that_is_in_the_file(self):
        told = self.run_in_terminal(b"kitty(0.41.1)", SSH_CONNECTION="192.0.2.1 50000 192.0.2.2 22")
        wait_until(lambda: "\U0010eeee\u0305\u0305\u0305".encode() in told, "the place of the picture")
        sent = self.commands(told)
        self.assertIn(b",t=d,m=0;", sent[0])
        self.assertEqual(base64.b64decode(sent[0].split(b";")[1]), tiny_png())

    def test_a_terminal_that_would_draw_boxes_is_given_the_path_of_the_file(self):
        told = self.run_in_terminal(b"kitty(0.26.5)")
        wait_until(lambda: b"picture: " in told, "the path")
        self.assertEqual(self.commands(told), [])


class Languages(NeovimTest):
    """With a kernel of another language than Python, which prints what it receives."""

    def install(self, language):
        folder = self.workspace.home / ".local/share/jupyter/kernels/obedient"
        folder.mkdir(parents=True)
        shutil.copy(REPOSITORY / "tests/fixtures/fake_kernel.py", folder)  # the sandbox shows a kernel's own folder
        (folder / "kernel.json").write_text(json.dumps({
            "argv": ["/usr/bin/python3", "-I", "{resource_dir}/fake_kernel.py", "{connection_file}"],
            "display_name": "Obedient", "language": language, "interrupt_mode": "message"}))

    def test_a_filetype_runs_in_a_session_of_its_own_with_the_kernel_that_speaks_it(self):
        neovim = self.neovim(self.workspace.write("a.rb", "# %%\nprint said by another kernel\n"))
        neovim.command("Cellgate run")
        neovim.wait_message("expected a kernel whose language is ruby")
        self.install("ruby")
        neovim.command("Cellgate run")
        neovim.wait_screen("[1] ok")
        neovim.wait_output("said by another kernel")
        neovim.command("Cellgate kernels")
        neovim.wait_screen("session ruby: idle", "obedient  Obedient, ruby")

    def test_a_script_runs_in_the_kernel_for_bash(self):
        neovim = self.neovim(self.workspace.write("a.sh", "# %%\nx=said; echo $x by bash\n# %% [python]\nprint(6 * 7)\n"))
        neovim.command("Cellgate all")
        neovim.wait_finished(2)
        neovim.wait(lambda: sorted(neovim.output()) == ["42", "said by bash"], lambda: f"both outputs, not {neovim.output()}")

    def test_fences_of_one_document_run_in_the_kernels_of_their_languages(self):
        self.install("bash")
        neovim = self.neovim(self.workspace.write(
            "a.md", "```python\nprint(6 * 7)\n```\n\n```bash\nprint 6 * 7\n```\n"))
        neovim.command("Cellgate all")
        neovim.wait_finished(2)
        neovim.wait(lambda: sorted(neovim.output()) == ["42", "6 * 7"], lambda: f"both outputs, not {neovim.output()}")


class Buffers(NeovimTest):
    def test_output_comes_back_with_a_buffer_that_is_read_again(self):
        file = self.workspace.write("a.py", "# %%\nprint('a')\n# %%\nprint('b')\n")
        neovim = self.neovim(file)
        neovim.command("Cellgate all")
        neovim.wait_finished(2)
        neovim.wait_output("b")
        file.write_text("# new first line\n" + file.read_text())
        neovim.command("edit")
        neovim.wait_screen("new first line")
        neovim.wait(lambda: neovim.output() == ["a", "b"], lambda: f"both outputs, not {neovim.output()}")
        neovim.command("bdelete")
        neovim.command(f"edit {file}")
        neovim.wait(lambda: neovim.output() == ["a", "b"], lambda: f"both outputs, not {neovim.output()}")


class NewUser(NeovimTest):
    def test_a_plain_package_without_setup_runs_a_cell_and_is_healthy(self):
        start = self.workspace.home / ".local/share/nvim/site/pack/cellgate/start"
        start.mkdir(parents=True)
        (start / "cellgate").symlink_to(PLUGIN)
        file = self.workspace.write("a.py", "# %%\nprint(6 * 7)\n")
        done = self.workspace.base / "done"
        # The program is found in the repository that contains the plugin.
        script = (f"edit {file}", "Cellgate run",
                  "lua vim.wait(60000, function() for _, s in pairs(require('cellgate.session').all) do for _, e in "
                  "pairs(s.executions) do if e.state == 'finished' then return true end end end end)",
                  "Cellgate output", "lua vim.wait(60000, function() return vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] "
                  "~= '' end)", f"silent write! {done}", "checkhealth cellgate", f"silent write! {done}.health", "qa!")
        commands = [word for each in script for word in ("-c", each)]
        finished = subprocess.run([NEOVIM, "-n", "--headless", *commands], env=self.workspace.environment(),
                                  cwd=self.workspace.path,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180)
        self.assertEqual(done.read_text(), "42\n", finished.stderr)
        health = (self.workspace.base / "done.health").read_text()
        self.assertIn(os.path.join("build", "cellgate"), health)
        self.assertNotIn("ERROR", health)

    def test_the_documented_lines_for_vim_pack_install_it(self):
        (words,) = [block for block in re.findall("```lua\n(.*?)```", (REPOSITORY / "docs/neovim.md").read_text(), re.DOTALL)
                    if "vim.pack" in block]
        source = self.workspace.base / "source"
        shutil.copytree(PLUGIN, source / "editors/neovim")
        environment = self.workspace.environment(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")
        for command in (["init", "--quiet"], ["add", "."], ["-c", "user.name=Ada", "-c", "user.email=ada@example.org",
                                                           "commit", "--quiet", "--message", "the plugin"]):
            subprocess.run(["git", *command], cwd=source, env=environment, check=True)
        start = self.workspace.home / ".config/nvim/init.lua"
        start.parent.mkdir(parents=True)
        # What is asked before anything is installed cannot be answered here.
        start.write_text("if not vim.pack then print('older') vim.cmd.quit() end local add = vim.pack.add\n"
                         "vim.pack.add = function(what, how) how.confirm = false return add(what, how) end\n"
                         + words.replace("file:///home/ada/src/cellgate", source.as_uri()))
        finished = subprocess.run([NEOVIM, "-n", "--headless", "-c", "lua print('exists', vim.fn.exists(':Cellgate'))", "-c",
                                   "helptags ALL", "-c", "help cellgate-install", "-c", "qa!"], env=environment,
                                  cwd=self.workspace.path, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=180)
        if finished.stderr.strip() == "older":
            self.skipTest("vim.pack came with Neovim 0.12")
        self.assertIn("exists 2", finished.stderr)
        self.assertNotIn("E149", finished.stderr)



if __name__ == "__main__":
    unittest.main()
