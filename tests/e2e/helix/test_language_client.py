"""Helix with `cellgate lsp`, in a terminal of tmux, with the settings that docs/other-editors.md gives: a cell runs by a code
action, its call waits at its line, and another code action, which names what it covers, allows it.

    HELIX   the program; default: build/helix/trixie/hx
"""

import os
import re
import sys
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(REPOSITORY / "tests" / "integration"), str(REPOSITORY / "tests" / "e2e")]
from cellgate_client import CELLGATE, WorkspaceSidecarTest  # noqa: E402
from processes import wait_process, wait_until  # noqa: E402
from terminal import Terminal  # noqa: E402
from workspaces import SYSTEM_PATH  # noqa: E402

HELIX = Path(os.environ.get("HELIX", REPOSITORY / "build/helix/trixie/hx"))
DOCS = REPOSITORY / "docs/other-editors.md"
TITLE = re.compile(r" ((?:Allow |Deny|Run Cell|Interrupt).*)")  # of a code action, in a row of the screen
CALL = """# %%
from mcptools.host import write_file
write_file.run(path='made.txt', content='from Helix')
print('written')
"""
LOOP = """# %%
import time
print('begun')
time.sleep(600)
"""


@unittest.skipUnless(HELIX.exists(), "there is no Helix here")
class LanguageClient(WorkspaceSidecarTest):
    def setUp(self):
        super().setUp()
        with self.editor() as editor:
            editor.request("wrappers/generate", {"server": "host"})
        self.workspace.write(".git/HEAD", "ref: refs/heads/main\n")
        self.log = self.workspace.base / "helix.log"
        programs = self.workspace.base / "programs"
        programs.mkdir()
        (programs / "cellgate").symlink_to(CELLGATE)
        settings = self.workspace.home / ".config/helix"
        settings.mkdir(parents=True)
        languages, config = re.findall(r"```toml\n(.*?)```", DOCS.read_text(), re.DOTALL)
        (settings / "languages.toml").write_text(languages)
        (settings / "config.toml").write_text(config)
        self.programs = programs

    def open(self, text):
        self.terminal = Terminal(
            self.workspace, [str(HELIX), "-v", "--log", str(self.log), str(self.workspace.write("cells.py", text))],
            {"PATH": f"{self.programs}:{SYSTEM_PATH}"})
        self.addCleanup(self.end)
        wait_until(lambda: self.log.exists() and "textDocument/didOpen" in self.log.read_text(), self.describe("a server"))

    def end(self):
        if self.terminal.process.poll() is None:
            self.terminal.tmux("kill-server")
        wait_process(self.terminal.process)

    def describe(self, what):
        def text():
            log = self.log.read_text()[-3000:] if self.log.exists() else ""
            return f"{what}. The screen:\n" + "\n".join(self.terminal.screen()) + f"\nThe log:\n{log}"

        return text

    def wait_screen(self, *texts):
        def look():
            rows = self.terminal.screen()
            return all(any(text in row for row in rows) for text in texts) and rows

        return wait_until(look, self.describe(f"{texts} on the screen"))

    def go_to(self, line):
        self.terminal.keys(f"{line}gg")
        self.wait_screen(f" {line}:1")

    def choose(self, title):
        """The code action at the cursor's line. The first of the menu is selected as it opens."""
        self.terminal.keys(" a")
        rows = self.wait_screen(f" {title}", " Run Cell")
        offered = [found[1] for row in rows if (found := TITLE.search(row))]
        at = next(number for number, row in enumerate(offered) if row.startswith(title))
        self.terminal.keys("<C-n>" * at + "<CR>")
        return offered

    def test_a_cell_runs_and_its_call_is_allowed_at_its_line(self):
        self.open(CALL)
        self.choose("Run Cell")
        self.go_to(3)
        self.wait_screen("waits for your answer: write_file on this machine, outside the sandbox", 'path: "made.txt"',
                         'content: "from Helix"')
        self.assertFalse((self.workspace.path / "made.txt").exists())
        offered = self.choose("Allow this call")
        self.assertTrue(any(each.startswith("Allow this exact call, until the cell ends") for each in offered), offered)
        self.assertTrue(any(each.startswith("Deny") for each in offered), offered)
        self.go_to(4)
        self.wait_screen("ok after ")
        self.assertEqual((self.workspace.path / "made.txt").read_text(), "from Helix")
        self.terminal.keys(":q!<CR>")
        wait_process(self.terminal.process)

    def test_a_call_that_is_denied_is_not_made(self):
        self.open(CALL)
        self.choose("Run Cell")
        self.go_to(3)
        self.wait_screen("waits for your answer: write_file")
        self.choose("Deny")
        self.wait_screen("Denied: ")
        self.assertFalse((self.workspace.path / "made.txt").exists())

    def test_what_another_client_s_code_asks_is_not_allowed_by_a_key_that_was_meant_for_the_text(self):
        self.open("# notes\n")
        other = self.editor()
        execution = other.execute("from mcptools.host import write_file\nwrite_file.run(path='made.txt', content='x')")
        if HELIX.parent.name != "trixie":  # 25.01 has no questions
            self.wait_screen("Decide later", "Allow this call")
            self.terminal.keys("<CR>")
        self.wait_screen("still waits for an answer: cellgate approvals")
        other.deny(other.waiting()[0])
        self.assertEqual(execution.result()["status"], "error")
        self.assertFalse((self.workspace.path / "made.txt").exists())

    def test_output_is_shown_while_the_cell_runs_and_it_can_be_interrupted(self):
        self.open(LOOP)
        self.choose("Run Cell")
        self.go_to(4)
        self.wait_screen("─begun", "running")
        self.choose("Interrupt")
        self.wait_screen("KeyboardInterrupt")


if __name__ == "__main__":
    unittest.main()
