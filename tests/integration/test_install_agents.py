"""Installs for agents over MCP: who is asked, and what the model hears of it."""

import unittest

from install_testing import WHEELS, InstallTest
from mcp_testing import McpTest, accept, text_of


class Agents(InstallTest, McpTest):
    def test_the_user_sees_who_wants_it_and_the_model_hears_what_came_of_it(self):
        editor = self.editor(environment=self.environment())
        agent = self.mcp("claude-code")
        call = agent.start_call("install_package", package_name="tiny")
        asked = editor.approval()
        self.assertEqual(asked["agent"], "claude-code")
        self.assertEqual(asked["display"][-1], "by agent claude-code")
        self.assertEqual(asked["action"]["command"][-len(WHEELS) - 1:], [*WHEELS, "tiny"])
        editor.deny(asked, reason="use the standard library")
        self.assert_failed(agent.answer(call), "a user said no: use the standard library")
        self.assertEqual(self.index.asked, [])
        call = agent.start_call("install_package", progress="p1", package_name="tiny")
        editor.allow(editor.approval())
        self.assertIn("tiny 1.0", text_of(self.assert_ok(agent.answer(call))))
        self.assertEqual(text_of(agent.call("execute", code="import tiny\ntiny.SIZE")), "'tiny'\n")
        told = [m["params"] for m in agent.heard if m.get("method") == "notifications/progress"]
        self.assertEqual({each["progressToken"] for each in told}, {"p1"})
        self.assertTrue(any(each["message"].startswith("Collecting tiny") for each in told), told)
        self.assert_ok(agent.call("reset"))
        self.assertEqual(text_of(agent.call("execute", code="import tiny\ntiny.SIZE")), "'tiny'\n")

    def test_a_package_without_a_wheel_is_explained_and_its_code_does_not_run(self):
        editor = self.editor(environment=self.environment())
        agent = self.mcp()
        call = agent.start_call("install_package", package_name="evil")
        editor.allow(editor.approval())
        result = self.assert_failed(agent.answer(call), "only wheels are installed")
        self.assertIn("No matching distribution found for evil", text_of(result))
        self.assertEqual(self.index.ran(), 0)
        self.assert_failed(agent.call("install_package", package_name="evil; id"), "expected a package as pip names it")
        self.assert_failed(agent.call("install_package", package_name="evil", allow_source_builds=True), "arguments")
        self.assertEqual(editor.asked(), 1)

    def test_an_index_that_is_not_reached_is_no_fault_of_the_package(self):
        nowhere = self.environment(PIP_INDEX_URL="http://127.0.0.1:1/simple", PIP_RETRIES="1")
        editor = self.editor(environment=nowhere)
        agent = self.mcp()
        call = agent.start_call("install_package", package_name="tiny")
        editor.allow(editor.approval())
        told = text_of(self.assert_failed(agent.answer(call), "pip did not reach the package index"))
        self.assertIn("Connection refused", told)
        self.assertNotIn("wheels", told)

    def test_an_agent_cannot_allow_source_builds(self):
        editor = self.editor(environment=self.environment())
        agent = self.agent()
        self.failed(self.start(agent, "evil", allowSourceBuilds=True), 1013)
        self.assertEqual(editor.asked(), 0)
        self.assertEqual(self.index.ran(), 0)

    def test_where_no_user_is_its_user_is_asked_or_nothing_happens(self):
        agent = self.mcp("alone", elicit=accept, environment=self.environment())
        self.assertIn("tiny 1.0", text_of(self.assert_ok(agent.call("install_package", package_name="tiny"))))
        self.assertIn('argument: "tiny"', agent.questions[0])
        self.assertIn("by agent alone", agent.questions[0])
        mute = self.mcp("mute", environment=self.environment())
        self.assert_failed(mute.call("install_package", package_name="other"), "no user is connected")
        self.assertFalse(any("other" in path for path in self.index.asked))


if __name__ == "__main__":
    unittest.main()
