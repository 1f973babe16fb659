"""`cellgate session`, `queue` and `servers`, beside an editor in the same workspace."""

import unittest

from cli_testing import CommandsBesideEditor
from tools_testing import fixture_server

FIX = {"mcpServers": {"fix": fixture_server()}}


class Sessions(CommandsBesideEditor):
    def setUp(self):
        super().setUp()
        self.user = self.editor()

    def sessions(self):
        return {each["sessionId"]: each for each in self.json("session", "list")["sessions"]}

    def test_one_is_created_shown_used_and_closed(self):
        self.workspace.write("below/file.txt", "")
        made = self.json("session", "create", "mine", "--cwd", "below", "--env", "COLOUR=a=b", "--sandbox", "landlock")
        self.assertEqual((made["sessionId"], made["status"], made["cwd"]),
                         ("mine", "idle", str(self.workspace.path / "below")))
        self.assertEqual(made["sandbox"], "landlock")
        shown = self.user.run("import os\nprint(os.environ['COLOUR'], os.getcwd())\nnumber = 5", sessionId="mine")
        self.assertEqual(shown.text(), f"a=b {self.workspace.path / 'below'}\n")
        text = self.command("session", "show", "mine")
        self.assertRegex(text, r"(?m)^session: mine, idle, since ")
        self.assertRegex(text, r"(?m)^sandbox: landlock$")
        self.assertRegex(text, r"(?m)^  number +int +- +5$")
        whole = self.json("session", "show", "mine")
        self.assertEqual(whole["session"]["executionCount"], 1)
        self.assertEqual([each["name"] for each in whole["variables"]["variables"]], ["number"])
        self.assertEqual(set(whole["permissions"]), {"rules", "servers", "secrets"})
        self.assertRegex(self.command("session"), r"(?m)^mine +idle +\S.* +landlock +1 +0 +the user$")
        self.command("session", "close", "mine")
        self.assertEqual(self.sessions(), {})

    def test_a_restart_forgets_the_variables_and_an_interrupt_ends_what_runs(self):
        self.command("session", "create", "mine")
        self.user.run("number = 5", sessionId="mine")
        restarted = self.json("session", "restart", "mine")
        self.assertEqual((restarted["sessionId"], restarted["executionCount"]), ("mine", 0))
        running = self.user.execute("import time\nprint('here', flush=True)\ntime.sleep(600)", sessionId="mine")
        running.wait_for_text("here")
        self.assertIn("variables: ", self.command("session", "show", "mine"))  # it is busy, and says so
        self.command("session", "interrupt", "mine")
        self.assertEqual(running.result()["error"]["ename"], "KeyboardInterrupt")

    def test_what_its_code_may_do_is_shown_and_nothing_of_other_sessions(self):
        for session in ("mine", "other"):
            self.command("session", "create", session)
            self.user.request("policy/add", {"rule": {"effect": "deny", "kind": "network", "host": f"{session}.example.org:443"},
                                             "scope": "session", "sessionId": session})
            self.user.request("secret/set", {"name": f"OF_{session.upper()}", "scope": "session", "sessionId": session,
                                             "value": "hidden-value"})
        text = self.command("session", "show", "mine")
        self.assertRegex(text, r"(?m)^  .*deny +network mine\.example\.org:443")
        self.assertRegex(text, r"(?m)^  host \(\w+")
        self.assertRegex(text, r"(?m)^  OF_MINE, from \w+$")
        for absent in ("other.example.org", "OF_OTHER", "hidden-value"):
            self.assertNotIn(absent, text)

    def test_a_beginning_of_an_id_that_no_other_has_is_enough(self):
        for name in ("planning", "plan-b", "other"):
            self.command("session", "create", name)
        self.command("session", "close", "plan", code=1)  # which begins two
        self.command("session", "close", "oth", code=1)  # and this is too short
        self.command("session", "close", "plann")
        self.assertEqual(set(self.sessions()), {"plan-b", "other"})

    def test_what_is_not_there_is_named(self):
        for part in ("show", "restart", "interrupt", "close"):
            self.assertIn("nothere", self.command("session", part, "nothere", code=1))
        self.assertEqual(self.sessions(), {})
        self.assertIn("no session runs", self.command("session"))
        self.command("session", "create", "--env", "NOVALUE", code=2)

    def test_without_a_sidecar(self):
        self.user.close()
        self.wait_for_the_end_of_the_sidecar()
        for command in ("session", "queue", "servers", "approvals"):
            self.command(command, code=1)


class Queue(CommandsBesideEditor):
    def test_what_runs_and_waits_is_listed_and_cancelled(self):
        user = self.editor()
        self.assertEqual(self.command("queue"), "nothing runs\n")
        running = user.execute("import time\nprint('here', flush=True)\ntime.sleep(600)")
        running.wait_for_text("here")
        waiting = [user.execute(f"print({number})") for number in (1, 2)]
        waiting[1].wait_queued()
        self.assertEqual([(each["executionId"], each["sessionId"], each["state"], each.get("position"))
                          for each in self.json_lines("queue")],
                         [(running.id, "default", "running", None), (waiting[0].id, "default", "queued", 1),
                          (waiting[1].id, "default", "queued", 2)])
        self.assertEqual([0 <= each["durationSeconds"] < 600 for each in self.json_lines("queue")
                          if "durationSeconds" in each], [True])
        table = self.command("queue", "list")
        self.assertRegex(table, rf"(?m)^{running.id} +default +running +[0-9]+ s +the user +import time$")
        self.assertRegex(table, rf"(?m)^{waiting[1].id} +default +behind 2 +- +the user +print\(2\)$")
        for few in ("", waiting[0].id[:3]):
            self.command("queue", "cancel", few, code=1)
        self.command("queue", "cancel", waiting[0].id[:12])
        self.assertEqual(waiting[0].result()["status"], "cancelled")
        self.command("queue", "cancel", running.id)
        running.result()
        self.assertEqual((waiting[1].result()["status"], waiting[1].text()), ("ok", "2\n"))
        self.command("queue", "cancel", "nothere", code=1)


class Servers(CommandsBesideEditor):
    def test_they_are_listed_restarted_and_removed(self):
        user = self.editor(options=FIX)
        self.assertRegex(self.command("servers"), r"(?m)^fix +stopped +stdio +- +none +user$")
        self.assertIn("has not run", self.command("servers", "tools", "fix", code=1))
        self.assertEqual(self.json("servers", "restart", "fix")["state"], "running")
        self.assertRegex(self.command("servers", "list"), r"(?m)^fix +running +stdio +\d+ +none +user$")
        self.assertRegex(self.command("servers", "tools", "fix"), r"(?m)^tool-1 ")
        self.assertIn("tool-1", [each["name"] for each in self.json_lines("servers", "tools", "fix")])
        self.command("servers", "log", "fix")
        self.command("servers", "remove", "fix")
        self.assertNotIn("fix", {each["name"] for each in user.request("toolServers/list")["servers"]})
        self.assertIn("fix", self.command("servers", "tools", "fix", code=1))

    def test_a_rule_is_compared_with_the_tools_of_a_server_that_runs(self):
        self.editor(options=FIX)
        rule = self.command("policy", "add", "deny fix/tool_1").split()[-1]  # they are not known yet
        self.command("policy", "remove", rule)
        self.command("servers", "restart", "fix")
        self.assertIn("Did you mean tool-1?", self.command("policy", "add", "deny fix/tool_1", code=2))
        self.command("policy", "add", "deny fix/tool-1")  # the control

    def test_a_tool_that_is_not_there_is_named_and_so_is_one_that_is_not_known(self):
        self.editor(options=FIX)

        def remark(*words):
            self.command("policy", *words)
            return self.remarks

        for words in (("add", "deny fix/tol-1"), ("test", "fix/tol-1 s=x")):
            said = remark(*words)
            self.assertIn("whether there is a tool fix/tol-1 was not checked, as the server has not run", said)
            self.assertIn("`cellgate servers restart fix` starts it", said)
        self.command("servers", "restart", "fix")
        for words in (("add", "deny fix/tol-1"), ("test", "fix/tol-1 s=x")):
            self.assertRegex(remark(*words), r"there is no tool fix/tol-1 now\n  Did you mean tool-1\?")
        self.assertIn("there is no tool server fx now\n  Did you mean fix?", remark("add", "deny fx/*"))
        self.assertIn("there is no tool saved/total now", remark("add", "deny saved/total"))
        for words in (("add", "deny fix/tool-1"), ("add", "ask fix/*"), ("test", "fix/tool-1 s=x"), ("test", "host/read_file path=x"),
                      ("add", "deny network example.org"), ("add", "deny request example.org GET")):
            self.assertEqual(remark(*words), "", words)


if __name__ == "__main__":
    unittest.main()
