"""The command line's completions in real shells, its manual page, and the table of its commands in the docs."""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

from cellgate_client import CELLGATE
from cli_testing import CliTest
from processes import TIMEOUT

DOCS = Path(__file__).resolve().parents[2] / "docs"
BASH = """
PATH={folder}:$PATH
source <(cellgate completion bash)
COMP_WORDS=(cellgate "$@")
COMP_CWORD=$#
compopt() {{ :; }}  # there is no line that is edited
_cellgate cellgate "${{!#}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


class Completion(CliTest):
    def setUp(self):
        super().setUp()
        self.workspace.write("plan.py", "")
        self.workspace.write("folder/inside.txt", "")
        self.folder = Path(CELLGATE).parent

    def words(self, *line):
        """What the program proposes for the last of the words."""
        lines = self.cli("complete", "--", *line, rooted=False).stdout.splitlines()
        return [word.split("\t")[0] for word in lines]

    def shell(self, *command):
        result = subprocess.run(command, cwd=self.workspace.path, env=self.workspace.environment(), text=True,
                                capture_output=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.split()

    def in_bash(self, *line):
        return self.shell("bash", "--norc", "-c", BASH.format(folder=self.folder), "bash", *line)

    def test_in_bash_subcommands_options_values_and_files_are_completed(self):
        self.assertEqual(self.in_bash("rec"), ["record"])
        self.assertEqual(self.in_bash("session", "c"), ["create", "close"])
        self.assertEqual(self.in_bash("session", "create", "--lang"), ["--language"])
        self.assertEqual(self.in_bash("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.in_bash("run", "--sandbox", "l"), ["landlock"])
        self.assertEqual(sorted(self.in_bash("run", "")), ["folder", "notes.txt", "plan.py"])
        self.assertEqual(self.in_bash("check", "--json", "pl"), ["plan.py"])  # a flag takes no value
        self.assertEqual(self.in_bash("status", "--root", ""), ["folder"])
        self.assertEqual(self.in_bash("help", "appr"), ["approvals"])
        self.assertEqual(self.in_bash("nothing-of-ours", ""), self.in_bash(""))

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_in_fish(self):
        def in_fish(line):
            script = f"set -x PATH {self.folder} $PATH; cellgate completion fish | source; complete -C {line!r}"
            return self.shell("fish", "--no-config", "-c", script)
        self.assertIn("record", in_fish("cellgate rec"))
        self.assertIn("--language", in_fish("cellgate session create --lang"))
        self.assertEqual(in_fish("cellgate run pl"), ["plan.py"])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_the_script_of_zsh_is_one(self):
        self.workspace.write("_cellgate", self.cli("completion", "zsh", rooted=False).stdout)
        self.shell("zsh", "-f", "-n", "_cellgate")
        setup = "autoload -U compinit; compinit -u -D; "
        in_folder, sourced = f"fpath=({self.workspace.path} $fpath); {setup}", f"{setup}source <(cat _cellgate); "
        for way in (in_folder, sourced):
            self.assertEqual(self.shell("zsh", "-f", "-c", way + "print $_comps[cellgate]"), ["_cellgate"])

    def test_what_is_internal_is_not_proposed(self):
        top = self.words("")
        self.assertIn("approvals", top)
        self.assertTrue({"complete", "workspace-sidecar"}.isdisjoint(top))

    def commands(self, *before):
        """All that can be called, with their parts."""
        found = set()
        for word in self.words(*before, ""):
            if not word.startswith(":") and not (before and before[0] in ("completion",)):
                parts = self.commands(*before, word)
                found |= parts | {" ".join((*before, word))}
        return found

    def test_the_docs_name_each_command_and_no_other(self):
        table = re.findall(r"(?m)^\| `cellgate ([a-z -]+?)(?: [A-Z\[].*?)?`", (DOCS / "command-line.md").read_text())
        self.assertEqual(sorted(table), sorted(self.commands()))

    def test_each_command_has_json_but_those_that_docs_name(self):
        [without] = re.findall(r"\n(Commands that another program talks to .*?)\n\n", (DOCS / "command-line.md").read_text(), re.S)
        commands = self.commands()
        leaves = {each for each in commands if not any(other.startswith(each + " ") for other in commands)}
        found = {each for each in leaves if "--json" not in self.words(*each.split(), "--js")}
        self.assertEqual({each.split()[0] for each in found}, set(re.findall(r"`([a-z]+)`", without)))

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_the_manual_page_is_one_without_warnings(self):
        for arguments in ([], ["session"], ["policy"]):
            page = self.cli("man", *arguments, rooted=False).stdout
            shown = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-rHY=0"], input=page, text=True,
                                   capture_output=True, timeout=TIMEOUT, check=False)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))
            text = re.sub(r"\x1b\[\d*m|.\x08", "", shown.stdout)
            self.assertIn("EXIT STATUS", text)
        page = self.cli("man", rooted=False).stdout.replace("\\-", "-")
        self.assertEqual(re.findall(r"(?m)^.*\\fI\\fR.*", page), [])
        for command in self.commands():
            self.assertIn(f"\n.SS cellgate {command}\n", page)
        self.assertEqual(self.cli("man", "nothere", rooted=False).returncode, 2)


if __name__ == "__main__":
    unittest.main()
