"""The scenarios of tests/e2e/scenarios.md that each language has, in Neovim with the language's real kernel, and the
settings of a session."""

import unittest
from dataclasses import dataclass

from neovim_testing import REPOSITORY, NeovimTest

DENO = REPOSITORY / "tests/node_modules/deno/deno"


@dataclass(frozen=True)
class Language:
    """What the scenarios type in a language. `name` is the one of its kernels and wrappers."""

    name: str
    file: str
    marker: str
    prints: str
    raises: str
    error: str
    #: Writes the file `begun`, and ends only when it is interrupted.
    loops: str
    keeps: str
    #: Prints what was kept, or "gone".
    asks: str
    #: Typed, and what the kernel completes it to.
    typed: str
    completed: str
    #: Two lines, the second of which calls the tool `read_file`.
    calls: str


LANGUAGES = [
    Language(
        name="python", file="a.py", marker="# %%", prints="print('said', 6 * 7)",
        raises="x = 1\nraise ValueError('wrong')", error="ValueError: wrong",
        loops="open('begun', 'w').close()\nwhile True: pass",
        keeps="kept_here = 'kept'", asks="print(globals().get('kept_here', 'gone'))",
        typed="kept_h", completed="kept_here",
        calls="from mcptools.host import read_file\nprint(read_file.run(path='notes.txt').content)"),
    Language(
        name="typescript", file="a.ts", marker="// %%", prints="console.log('said', 6 * 7)",
        raises="const x: number = 1\nthrow new TypeError('wrong')", error="TypeError: wrong",
        loops="Deno.writeTextFileSync('begun', '')\nwhile (true) {}",
        keeps="var kept_here = 'kept'", asks="console.log(typeof kept_here === 'undefined' ? 'gone' : kept_here)",
        typed="kept_h", completed="kept_here",
        calls="import { readFile } from './mcptools/host/index.ts'\n"
              "console.log((await readFile({ path: 'notes.txt' })).content)"),
]


class Languages(NeovimTest):
    def setUp(self):
        super().setUp()
        if not DENO.exists():
            self.skipTest("npm's packages are not installed")

    def start(self, language, *cells):
        """A Neovim with these cells of the language, with the cursor in the first."""
        text = "".join(f"{language.marker}\n{getattr(language, cell)}\n" for cell in cells)
        return self.neovim(self.workspace.write(language.file, text),
                           environment={"PATH": f"{DENO.parent}:{self.workspace.environment()['PATH']}"})

    def end(self, neovim):
        """With its sidecar."""
        neovim.command("Cellgate stop")
        neovim.wait_message("stopped")
        neovim.quit()

    def run_cell(self, neovim, number):
        """Counted from 1."""
        neovim.keys("gg")
        for _ in range(number - 1):
            neovim.command("Cellgate next")
        neovim.command("Cellgate run")

    def test_language_runs(self):
        for language in LANGUAGES:
            with self.subTest(language.name):
                neovim = self.start(language, "prints", "raises")
                neovim.command("Cellgate all")
                neovim.wait_screen("[1] ok", "[2] error")
                output = neovim.wait_output(language.error)
                self.assertIn("said 42", output)
                self.end(neovim)

    def test_language_stops(self):
        for language in LANGUAGES:
            with self.subTest(language.name):
                neovim = self.start(language, "keeps", "loops", "asks")
                (self.workspace.path / "begun").unlink(missing_ok=True)
                self.run_cell(neovim, 1)
                neovim.wait_finished(1)
                self.run_cell(neovim, 2)
                neovim.wait((self.workspace.path / "begun").exists, "the loop")
                neovim.command("Cellgate interrupt")
                neovim.wait_finished(2, "error")
                self.run_cell(neovim, 3)
                neovim.wait_output("kept")
                neovim.command("Cellgate restart")
                neovim.wait_message("the kernel was restarted")
                self.run_cell(neovim, 3)
                neovim.wait_output("gone")
                self.end(neovim)

    def test_language_completes(self):
        for language in LANGUAGES:
            with self.subTest(language.name):
                neovim = self.start(language, "keeps", "prints")
                self.run_cell(neovim, 1)
                neovim.wait_finished(1)
                neovim.keys(f"Go{language.typed}<C-x><C-o>")
                neovim.wait_lua(f"return vim.api.nvim_get_current_line() == '{language.completed}'")
                neovim.keys("<Esc>")
                neovim.command("set nomodified")
                self.end(neovim)

    def test_language_call_waits(self):
        self.workspace.write("notes.txt", "Five days in May.")
        for language in LANGUAGES:
            with self.subTest(language.name):
                neovim = self.start(language, "calls")
                neovim.command("Cellgate generate host")  # in the buffer's language
                neovim.wait_message("mcptools.host has")
                neovim.command("Cellgate run")
                neovim.wait_screen("asks #", 'path: "notes.txt"', f"{language.file} line 3")
                neovim.command("Cellgate approvals")
                neovim.wait_answerable()
                neovim.keys("1")
                neovim.wait_screen("[1] ok", gone=("cellgate asks",))
                neovim.wait_output("Five days in May.")
                self.end(neovim)


class Checks(NeovimTest):
    def test_code_is_checked_by_command_and_on_write_and_a_fix_writes_the_missing_import(self):
        neovim = self.neovim(self.workspace.write(
            "plan.py", "# %%\nprint(1)\n# %%\nrows = json.loads('[1]')\nimport nowhere_at_all\n# %% [bash]\nrm -rf /\n"))
        neovim.command("Cellgate check")
        found = ("return table.concat(vim.tbl_map(function(each) return each.lnum .. each.code end, "
                 "vim.tbl_filter(function(each) return not each.code:find('^SC') end, vim.diagnostic.get(0))), ' ') == '{}'")
        neovim.wait_lua(found.format("3name.not_imported 4import.not_found 6rm.everything"))
        neovim.command("4")
        neovim.command("Cellgate fix")
        neovim.wait_lua("return vim.api.nvim_buf_get_lines(0, 3, 4, false)[1] == 'import json'")
        neovim.command("write")
        neovim.wait_lua(found.format("5import.not_found 7rm.everything"))


class SessionSettings(NeovimTest):
    def test_a_session_is_created_with_the_settings_and_changed_by_the_command(self):
        (self.workspace.path / "data").mkdir()
        neovim = self.neovim(
            self.workspace.write("a.py", "# %%\nimport os, resource\n"
                                         "print(os.environ.get('A'), os.path.basename(os.getcwd()), "
                                         "resource.getrlimit(resource.RLIMIT_NOFILE)[0])\n"
                                         "# %% timeout=1\nwhile True: pass\n"),
            settings={"session": {"limits": {"open-files": 200}, "env": {"A": "first"}, "cwd": "data"}})
        neovim.command("Cellgate run")
        neovim.wait_output("first data 200")
        neovim.keys("G")
        neovim.command("Cellgate run")
        neovim.wait_finished(2, "timeout")
        neovim.keys("gg")
        neovim.command("Cellgate session timeout=30")
        neovim.wait_message("timeout 30")
        neovim.command_with_menu("Cellgate session env.A=second", "lose its variables", "1: end the kernel")
        neovim.keys("1<CR>")
        neovim.wait_message("the kernel was ended")
        neovim.command("Cellgate run")
        neovim.wait_output("second data 200")


if __name__ == "__main__":
    unittest.main()
