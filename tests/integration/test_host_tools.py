"""The built-in server `host`: what it does in the workspace after a yes, and what it refuses whatever anybody says."""

import json
import os
import stat
import unittest

from cellgate_client import arguments_of
from executions import RpcError
from processes import processes_with, wait_until
from tools_testing import ToolsTest, text_of


class Host(ToolsTest):
    options = None
    generated = ("host",)

    @classmethod
    def prepare(cls):
        cls.workspace.write("data/notes.txt", "first\nsecond é\n")
        cls.workspace.write(".env", "TOKEN=hidden")
        cls.workspace.write("key.pem", "-----BEGIN PRIVATE KEY-----")
        cls.workspace.write(".git/config", "[core]\n")
        (cls.workspace.path / ".git/hooks").mkdir()
        (cls.workspace.base / "outside.txt").write_text("outside")
        (cls.workspace.path / "link").symlink_to(cls.workspace.base / "outside.txt")
        (cls.workspace.path / "linkdir").symlink_to(cls.workspace.base)
        (cls.workspace.path / "envlink").symlink_to(".env")

    def assert_refused(self, outcome, *secrets):
        if isinstance(outcome, RpcError):
            self.assertIn(outcome.code, (1014, 1020), outcome)
            text = str(outcome)
        else:
            self.assertTrue(outcome.get("isError"), outcome)
            text = json.dumps(outcome)
        for secret in secrets:
            self.assertNotIn(secret, text)

    # --- reading

    def test_a_file_of_the_workspace_is_read(self):
        self.assertIn("first\nsecond é\n", text_of(self.call("host", "read_file", {"path": "data/notes.txt"})))
        listing = text_of(self.call("host", "list_directory", {"path": "data"}))
        self.assertIn("notes.txt", listing)

    def test_from_a_cell_too(self):
        execution = self.cellgate.execute("from mcptools.host import read_file\n"
                                          "print(read_file.run(path='data/notes.txt'))")
        approval = self.cellgate.approval()
        self.assertEqual(approval["action"]["kind"], "host")
        self.cellgate.allow(approval)
        execution.result()
        self.assertIn("second é", execution.text(), execution.outputs())

    def test_nothing_outside_the_workspace_is_read(self):
        for path in ("../outside.txt", str(self.workspace.base / "outside.txt"), "data/../../outside.txt", "link",
                     "linkdir/outside.txt",
                     "/etc/passwd", "/proc/self/environ"):
            with self.subTest(path):
                self.assert_refused(self.call("host", "read_file", {"path": path}), "outside\"", "root:")

    def test_secrets_are_not_read_by_whatever_name(self):
        for path in (".env", "./.env", "data/../.env", "envlink", "key.pem"):
            with self.subTest(path):
                self.assert_refused(self.call("host", "read_file", {"path": path}), "hidden", "PRIVATE")

    def test_what_is_no_file_is_an_error_and_no_hang(self):
        os.mkfifo(self.workspace.path / "pipe")
        self.addCleanup(os.remove, self.workspace.path / "pipe")
        for path in ("pipe", "data", "missing.txt", ""):
            with self.subTest(path):
                self.assert_refused(self.call("host", "read_file", {"path": path}))

    # --- writing

    def write(self, path, content, decision="allow", **answer):
        outcome = self.call("host", "write_file", {"path": path, "content": content}, decision, **answer)
        target = self.workspace.path / path
        return outcome, target.read_bytes() if target.is_file() else None

    def test_a_write_shows_the_exact_bytes_and_writes_them(self):
        content = "line one\n\tline two \u202e\x1b[2J é\r\n\u200bend"
        _, written = self.write("new.txt", content)
        self.assertEqual(written, content.encode())
        self.assertEqual(arguments_of(self.approval), {"path": "new.txt", "content": content})
        shown = "\n".join(self.approval["display"])
        for part in ("new.txt", "line one", "line two", "202e", "1b", "200b", "end"):
            self.assertIn(part, shown)

    def test_a_denied_write_leaves_no_file(self):
        error, written = self.write("denied.txt", "x", "deny", reason="no")
        self.assertEqual((error.code, written), (1014, None))
        self.workspace.write("old.txt", "old")
        _, written = self.write("old.txt", "new", "deny")
        self.assertEqual(written, b"old")

    def test_an_edited_write_writes_the_edited_bytes(self):
        _, written = self.write("edited.txt", "mine", arguments={"path": "edited.txt", "content": "yours"})
        self.assertEqual(written, b"yours")

    def test_an_edit_cannot_lead_out(self):
        pending = self.cellgate.start("tools/call", {"server": "host", "tool": "write_file",
                                                     "arguments": {"path": "a.txt", "content": "x"}})
        approval = self.cellgate.approval()
        for path in ("../escaped.txt", ".git/hooks/pre-commit"):
            try:
                self.cellgate.allow(approval, arguments={"path": path, "content": "x"})
            except RpcError as error:
                self.assertIn(error.code, (1012, 1014), error)
            else:
                break
        else:
            self.cellgate.deny(approval)
        try:
            self.assert_refused(pending.result())
        except RpcError as error:
            self.assert_refused(error)
        self.assertFalse((self.workspace.base / "escaped.txt").exists())
        self.assertFalse((self.workspace.path / ".git/hooks/pre-commit").exists())

    def test_every_write_asks_whatever_was_allowed_before(self):
        for i in range(2):
            self.write("again.txt", f"{i}")
            self.assertIsNotNone(self.approval)
            self.assertTrue(all("rule" not in choice for choice in self.approval["choices"]), self.approval["choices"])
        error = self.call("host", "write_file", {"path": "again.txt", "content": "x"}, "deny")
        self.assertEqual(error.code, 1014)

    def test_a_rule_that_would_allow_every_write_does_not(self):
        try:
            self.cellgate.request("policy/add", {"rule": {"effect": "allow", "kind": "host", "tool": "write_file"},
                                                 "scope": "workspace"})
        except RpcError as error:
            self.assertEqual(error.code, 1015)
        self.write("ruled.txt", "x")
        self.assertIsNotNone(self.approval, "a write that no user was asked about")

    def test_what_a_program_would_run_or_obey_later_is_not_written(self):
        for path in (".git/hooks/pre-commit", ".git/config", ".vscode/tasks.json", ".envrc", ".mcp.json", ".env",
                     "data/.git/hooks/x", "linkdir/outside.txt", "link", "../x.txt", "/tmp/x.txt",
                     "mcptools/host/read_file.py"):
            with self.subTest(path):
                before = self.workspace.path.joinpath(path)
                before = before.read_bytes() if before.is_file() else None
                outcome, written = self.write(path, "evil")
                self.assert_refused(outcome)
                self.assertEqual(written, before)
        self.assertEqual((self.workspace.base / "outside.txt").read_text(), "outside")

    def test_folders_are_made_as_needed_and_modes_kept(self):
        script = self.workspace.write("script.sh", "old")
        script.chmod(0o750)
        self.write("script.sh", "new")
        self.assertEqual(stat.S_IMODE(script.stat().st_mode), 0o750)
        self.assertEqual(script.read_text(), "new")

    # --- commands

    def run_command(self, argv, decision="allow", **answer):
        return self.call("host", "run_command", {self.argv_name(): argv}, decision, **answer)

    def argv_name(self):
        [host] = [s for s in self.cellgate.request("toolServers/list")["servers"] if s["name"] == "host"]
        [tool] = [t for t in host["tools"] if t["name"] == "run_command"]
        [name] = [n for n, schema in tool["inputSchema"]["properties"].items() if schema.get("type") == "array"]
        return name

    def test_a_command_is_shown_whole_and_runs_without_a_shell(self):
        result = self.run_command(["printf", "%s|", "a b", "$HOME", "`id`", ";", "*"])
        self.assertIn("a b|$HOME|`id`|;|*|", json.dumps(result, ensure_ascii=False))
        shown = "\n".join(self.approval["display"])
        for part in ("printf", "$HOME", "`id`"):
            self.assertIn(part, shown)

    def test_it_runs_in_the_workspace_and_its_failure_is_told(self):
        self.assertIn(str(self.workspace.path), json.dumps(self.run_command(["pwd"])))
        result = self.run_command(["sh", "-c", "echo spoken; echo failed >&2; exit 3"])
        text = json.dumps(result)
        for part in ("spoken", "failed", "3"):
            self.assertIn(part, text)

    def test_a_denied_command_does_not_run(self):
        error = self.run_command(["touch", "ran"], "deny", reason="no commands")
        self.assertEqual(error.code, 1014)
        self.assertFalse((self.workspace.path / "ran").exists())

    def test_every_command_asks(self):
        for _ in range(2):
            self.run_command(["true"])
            self.assertIsNotNone(self.approval)
            self.assertTrue(all("rule" not in choice for choice in self.approval["choices"]), self.approval["choices"])

    def test_a_command_that_does_not_end_ends_with_its_call(self):
        pending = self.cellgate.start("tools/call", {"server": "host", "tool": "run_command",
                                                     "arguments": {self.argv_name(): ["sleep", "4242"]}})
        self.cellgate.allow(self.cellgate.approval())
        wait_until(lambda: processes_with("sleep 4242"), "the command to run")
        self.cellgate.notify("$/cancelRequest", {"id": pending.id})
        with self.assertRaises(RpcError):
            pending.result()
        wait_until(lambda: not processes_with("sleep 4242"), "the command to end")


if __name__ == "__main__":
    unittest.main()
