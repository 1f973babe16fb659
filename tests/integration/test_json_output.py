"""What commands print with --json: JSON and nothing else on stdout. Logins are in test_logins.py, images in test_image.py,
what asks the sidecar of an editor in the tests of those commands."""

import json
import sqlite3
import unittest
from pathlib import Path

from cli_testing import CliTest
from test_record import database_of


class JsonOutput(CliTest):
    def lines(self, *words, code=0):
        ended = self.cli(*words, "--json", rooted=False)
        self.assertEqual(ended.returncode, code, (words, ended.stdout, ended.stderr))
        return [json.loads(line) for line in ended.stdout.splitlines()]

    def one(self, *words, code=0):
        lines = self.lines(*words, code=code)
        self.assertEqual(len(lines), 1, lines)
        return lines[0]

    def run_and_change(self):
        script = self.script("print('made')\nopen('made.txt', 'w').write('x');\n# %%\n1 / 0\n")
        return self.lines("run", script, "--changes", code=1)

    def test_run_prints_outputs_and_the_ends_of_cells(self):
        first, ended, error, failed = self.run_and_change()
        self.assertEqual((first["output"]["text"], first["seq"]), ("made\n", 0))
        self.assertEqual((ended["status"], ended["executionId"]), ("ok", first["executionId"]))
        self.assertEqual((error["output"]["ename"], failed["status"]), ("ZeroDivisionError", "error"))

    def test_changes_undo_and_verify(self):
        self.run_and_change()
        made = self.workspace.path / "made.txt"
        [entry] = self.lines("changes")
        execution = entry["executionId"]
        self.assertEqual(self.one("changes", execution)["files"][0]["path"], "made.txt")
        match = self.one("verify", str(made))
        self.assertEqual((match["path"], match["executionId"], match["seq"]), ("made.txt", execution, entry["seq"]))
        self.assertNotIn("agent", match)
        self.assertEqual(self.lines("verify", str(self.workspace.path / "notes.txt"), code=1), [])
        self.lines("undo", execution, code=2)  # its question would need the terminal
        self.assertTrue(made.exists())
        self.assertEqual(self.one("undo", execution, "--yes")["restored"], ["made.txt"])
        self.assertFalse(made.exists())

    def test_the_record(self):
        self.run_and_change()
        entries = self.lines("record", "list", "--type", "execution.started")
        self.assertEqual(len(entries), 2)
        self.assertEqual(self.one("record", "show", str(entries[1]["seq"])), entries[1])
        verified = self.one("record", "verify")
        self.assertEqual((verified["ok"], verified["signed"]), (True, verified["entries"]))
        with sqlite3.connect(database_of(self.workspace)) as database:
            database.execute("UPDATE entries SET json = replace(json, '1 / 0', '1 / 1')")
        verified = self.one("record", "verify", code=1)
        self.assertEqual((verified["ok"], "changed" in verified["problem"]), (False, True), verified)

    def test_rules_and_secrets(self):
        rule = self.one("policy", "add", "deny fix/echo")
        self.assertEqual((rule["effect"], rule["server"], rule["tool"]), ("deny", "fix", "echo"))
        self.assertEqual(self.lines("policy", "list"), [rule])
        self.assertEqual(self.one("policy", "test", "fix/echo")["effect"], "deny")
        self.assertEqual(self.one("policy", "remove", rule["id"]), {})
        self.assertEqual(self.lines("policy", "list"), [])
        values = self.workspace.write("values.env", "TOKEN=value\n")
        kept = self.one("secret", "add", "TOKEN", "--file", str(values))
        self.assertEqual((kept["name"], kept["source"]), ("TOKEN", "file"))
        self.assertEqual(self.lines("secret", "list"), [kept])
        self.assertEqual(self.one("secret", "remove", "TOKEN"), {})

    def test_tool_servers_packages_and_code(self):
        made = self.one("generate", "fix", "--mcp-config", self.config())
        self.assertEqual(made["package"], "mcptools.fix")
        self.assertIn("mcptools.fix.tool_1", [module["module"] for module in made["modules"]])
        called = self.one("call", "host", "read_file", '{"path": "notes.txt"}', "--allow", "host/read_file")
        self.assertEqual(called["content"][0]["text"], "the notes")
        self.assertEqual(self.lines("install", "nothing-of-this-name", code=1), [])  # no user can allow it
        [finding] = self.lines("check", self.script("x = (\n"), code=1)
        self.assertEqual(finding["severity"], "error")

    def test_this_machine(self):
        self.assertTrue(all(finding["good"] for finding in self.lines("doctor") if finding["subject"] == "kernel"))
        self.assertIn("python", [kernel["language"] for kernel in self.one("kernels")["kernels"]])
        self.assertIn("python", [each["language"] for each in self.one("runtimes")["runtimes"]])
        self.assertIn("values", self.one("config", "show"))
        explained = self.one("sandbox", "explain", "notes.txt")
        self.assertEqual((explained["visibility"], Path(explained["path"]).name), ("readWrite", "notes.txt"))
        self.assertEqual(self.one("sandbox", "explain", ".env", code=1)["visibility"], "absent")
        self.assertEqual(self.one("sandbox", "explain", "example.org", code=1)["effect"], "ask")
        self.assertEqual(self.one("sandbox", "explain", "127.1", code=1)["effect"], "deny")

    def test_where_no_sidecar_runs(self):
        none = {"running": False, "workspace": str(self.workspace.path)}
        self.assertEqual((self.one("status", code=1), self.one("stop")), (none, none))


if __name__ == "__main__":
    unittest.main()
