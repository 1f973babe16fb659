"""A command line that is wrong ends with 2, and with what was expected and found."""

import json
import re
import unittest

from cellgate_client import REPOSITORY
from cli_testing import CliTest


class WrongArguments(CliTest):
    def test_a_wrong_value_is_said_in_plain_words(self):
        script = self.script("print(1)")
        for words, said in (
                (("limits", "--memory", "foo"), "--memory: expected a size such as 512M or 4G, found foo"),
                (("limits", "--memory=-4"), "expected a size such as 512M or 4G, found -4"),
                (("limits", "--memory", "0"), "expected a size such as 512M or 4G, found 0"),
                (("limits", "--memory", "1Q"), "expected a size"),
                (("limits", "--cores", "x"), "--cores: expected a number greater than 0, found x"),
                (("limits", "--processes", "1.5"), "--processes: expected a whole number from 1 on, found 1.5"),
                (("record", "show", "abc"), "NUMBER: expected a whole number from 0 on, found abc"),
                (("record", "list", "--type", "action.decide"),
                 "--type: expected the type of an entry, found action.decide. Did you mean action.decided? There are: "),
                (("events", "--type", "x"), "--type: expected the type of an entry, found x. There are: action.decided"),
                (("record", "list", "--limit", "-4"), "--limit: expected a whole number from 1 on, found -4"),
                (("secret", "add", "bad name"), "expected a name of letters, digits and _, which begins with no digit, "
                                                "found bad name"),
                (("secret", "add", "A", "--command", "a | b"), "--command: expected a program and its arguments"),
                (("call", "host", "read_file", "{"), "expected the arguments as a JSON object"),
                (("run", script, "--url", "foo", "--server", "x"), "--url: expected a URL that begins with http://"),
                (("run", script, "--jupyter-server", "foo"), "expected a URL that begins with http://"),
                (("run", script, "--sandbox", "nope"), "--sandbox: expected one of bwrap, gvisor, landlock, found nope"),
                (("run", "nofile.py"), "FILE: expected a file, found none: nofile.py"),
                (("run", str(self.workspace.path)), "FILE: expected a file, found a folder"),
                (("run", script, "--trace"), "--trace: expected a value, found nothing"),
                (("install", "a b"), "expected a package as pip names it"),
                (("help", "run", "mcp"), "expected nothing after `cellgate run`, which has no subcommands, found mcp"),
                (("man", "run", "mcp"), "expected nothing after `cellgate run`, which has no subcommands, found mcp"),
                (("help", "session", "lst"), "there is no subcommand lst, but `cellgate session list`")):
            with self.subTest(words):
                ended = self.cli(*words, rooted=False)
                self.assertEqual((ended.returncode, ended.stdout), (2, ""), ended.stderr)
                self.assertIn(said, ended.stderr)
        self.assertIn("cellgate session list [OPTIONS]", self.cli("help", "session", "list", rooted=False).stdout)

    def test_what_was_meant_is_named(self):
        for words, text in ((["run", "--timout", "3", "notes.txt"], "has no option --timout; --timeout?"),
                            (["run", "--config-file", "x", "notes.txt"], "--config-file goes before the subcommand"),
                            (["session", "kill", "nope"], "there is no subcommand kill"),
                            (["policy", "add", "deny", "network", "example.org"], "found network example.org; put RULE"),
                            (["vault"], "`cellgate secret`"), (["runn"], "`cellgate run`"),
                            (["inspect"], "`cellgate session inspect`"), (["man", "nope"], "no subcommand nope"),
                            (["mcp", "--http", "foo"], "expected HOST:PORT"),
                            (["record", "list", "--since", "foo"], "--since: expected a time")):
            with self.subTest(words):
                ended = self.cli(*words, rooted=False)
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertIn(text, ended.stderr)
        schema = json.loads((REPOSITORY / "schemas/protocol.json").read_text())["$defs"]["RecordEntry"]
        types = re.findall(r"\b[a-z]+\.[a-z]+\b", schema["properties"]["type"]["description"])
        unknown = self.cli("record", "list", "--type", "x", rooted=False).stderr
        self.assertEqual(sorted(re.findall(r"\b[a-z]+\.[a-z]+\b", unknown)), sorted(types))
        sandbox = self.cli("sandbox", rooted=False)
        self.assertEqual((sandbox.returncode, sandbox.stderr),
                         (2, "cellgate: `cellgate sandbox` expects a subcommand: test, explain\n"))
        self.assertIn("policy add", self.cli("man", "policy", "add", rooted=False).stdout)


if __name__ == "__main__":
    unittest.main()
