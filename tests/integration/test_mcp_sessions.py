"""`cellgate mcp`: languages, sessions, checks and copies of an agent."""

import os
import signal
import unittest

from language_testing import DENO
from mcp_testing import McpTest, details_of, text_of
from workspaces import SYSTEM_PATH


class SessionsTest(McpTest):
    def agent(self, name="an-agent"):
        return self.mcp(name, environment=self.workspace.environment(PATH=f"{DENO.parent}:{SYSTEM_PATH}"))

    def printed(self, result):
        return text_of(self.assert_ok(result)).strip()


class Languages(SessionsTest):
    def test_each_language_has_a_kernel_of_its_own_and_variables_are_copied(self):
        agent = self.agent()
        self.assertEqual(self.printed(agent.call("execute", code="rows = [1, 2]; print(len(rows))")), "2")
        self.assertEqual(self.printed(agent.call("execute", code="x=3; echo $x", language="bash")), "3")
        self.assertEqual(self.printed(agent.call("execute", code="echo $x", language="Bash")), "3")
        self.assertIn("copied: list, 5 bytes", self.printed(agent.call("transfer", name="rows", **{"from": "python"}, to="bash")))
        self.assertEqual(self.printed(agent.call("execute", code="echo ${rows[1]}", language="bash")), "2")
        details = details_of(agent.call("execute", code="true", language="bash", details=True))
        self.assertEqual(self.printed(agent.call("execute", code="echo $x", session=details["session"])), "3")
        self.assert_failed(agent.call("execute", code="1", language="cobol"), "cobol")

    @unittest.skipUnless(DENO.exists(), "npm's packages are not installed")
    def test_typescript(self):
        agent = self.agent()
        self.assertEqual(self.printed(agent.call("execute", code="const n: number = 41; console.log(n + 1)", language="typescript")), "42")
        agent.call("transfer", name="n", **{"from": "typescript"}, to="python", **{"as": "m"})
        self.assertEqual(self.printed(agent.call("execute", code="print(m)")), "41")

    def test_a_kernel_that_was_lost_is_told_of_in_its_own_language(self):
        agent = self.agent()
        agent.call("execute", code="x=1", language="bash")
        agent.call("execute", code="x = 1")
        os.kill(self.sidecar_pid(), signal.SIGKILL)
        self.wait_for_the_end_of_the_sidecar()
        code = "[ -z \"$x\" ]"
        again = agent.call("execute", code=code, language="bash")
        if "the connection ended before the answer came" in text_of(again):
            again = agent.call("execute", code=code, language="bash")
        self.assertIn("A new kernel was started", text_of(self.assert_ok(again)))
        self.assertIn("A new kernel was started", text_of(agent.call("execute", code="2")))
        self.assertNotIn("A new kernel was started", text_of(agent.call("execute", code="echo", language="bash")))


class Sessions(SessionsTest):
    def test_one_is_created_used_reset_and_closed(self):
        agent = self.agent()
        made = self.printed(agent.call("create_session", cwd="."))
        session = made.split()[1]
        self.assertTrue(session.startswith("agent-"), made)
        self.assertIn("isolation: ", made)
        agent.call("execute", code="x = 1", session=session)
        self.assert_failed(agent.call("execute", code="x"), "NameError")  # its own has other variables
        self.assert_ok(agent.call("reset", session=session))
        self.assert_failed(agent.call("execute", code="x", session=session), "NameError")
        self.assert_ok(agent.call("close_session", session=session))
        gone = text_of(self.assert_failed(agent.call("execute", code="1", session=session), session))
        self.assertIn("create it first, or name a session that there is", gone)

    def test_its_own_is_new_after_it_was_closed(self):
        agent = self.agent()
        own = details_of(agent.call("execute", code="x = 1", details=True))["session"]
        self.assert_ok(agent.call("close_session", session=own))
        self.assert_failed(agent.call("execute", code="x"), "NameError")

    def test_sessions_of_others_are_not_closed(self):
        editor = self.editor()
        editor.session("default")
        agent, other = self.agent(), self.agent("other")
        theirs = details_of(other.call("execute", code="x = 1", details=True))["session"]
        for session in ("default", theirs):
            self.assert_failed(agent.call("close_session", session=session), "created")
            self.assert_failed(agent.call("reset", session=session), "created")
        self.assertEqual(self.printed(other.call("execute", code="x")), "1")

    def test_a_profile_is_chosen(self):
        agent = self.agent()
        made = self.printed(agent.call("create_session", profile="minimal"))
        self.assertIn("profile: minimal", made)
        self.assert_failed(agent.call("execute", code="import socket", session=made.split()[1]), "socket")
        self.assert_failed(agent.call("create_session", profile="none-such"), "none-such")


class Checks(SessionsTest):
    def test_code_is_looked_at_and_not_run(self):
        agent = self.agent()
        found = agent.call("validate", code="open('made', 'w')\nprint(json.dumps(1))\nimport no_such_module\n")
        self.assertIn("line 3: ", text_of(found))
        self.assertIn("import.not_found", text_of(found))
        self.assertTrue(any(each.get("edits") for each in found["structuredContent"]["diagnostics"]))
        self.assertFalse((self.workspace.path / "made").exists())
        self.assertEqual(text_of(agent.call("validate", code="x = 1\n")), "nothing was found")
        self.assertIn("line 1: error", text_of(agent.call("validate", code="if then fi", language="bash")))

    def test_code_that_nothing_can_look_at_is_said_to_be_unchecked(self):
        agent = self.mcp(environment=self.workspace.environment(PATH=SYSTEM_PATH))
        self.assertEqual(text_of(agent.call("validate", code="let x = ;", language="javascript")),
                         "not checked: needs deno: npm install deno")

    def test_runtimes_lists_languages_and_profiles(self):
        found = self.agent().call("runtimes")
        self.assertIn("bash", [each["language"] for each in found["structuredContent"]["runtimes"]])
        self.assertIn("profile minimal: ", text_of(found))


if __name__ == "__main__":
    unittest.main()
