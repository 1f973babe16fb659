"""The help of the command line, and what it answers to arguments that are wrong."""

import subprocess
import unittest

from cellgate_client import CELLGATE
from cli_testing import CliTest
from processes import TIMEOUT


class Help(CliTest):
    def test_help_about_what_is_not_there_says_so(self):
        for words in (["help", "nope"], ["nope", "--help"], ["nope"]):
            ended = self.cli(*words, rooted=False)
            self.assertEqual((ended.returncode, ended.stdout), (2, ""))
            self.assertIn("there is no subcommand nope", ended.stderr)

    def test_rules_are_explained_wherever_an_option_takes_them(self):
        for command in ("run", "save", "call", "generate", "login"):
            text = self.cli(command, "--help", rooted=False).stdout
            self.assertIn("see below", text, command)
            self.assertIn("any call of that tool; SERVER/* is every tool", text, command)

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
        alone = subprocess.run([CELLGATE], capture_output=True, text=True, timeout=TIMEOUT, check=False,
                               env=self.workspace.environment())
        self.assertEqual((alone.returncode, alone.stderr), (2, self.cli("help", rooted=False).stdout))


if __name__ == "__main__":
    unittest.main()
