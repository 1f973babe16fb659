"""Calls of an agent that become tasks, in both eras: `execute` goes on after its request was answered."""

import json
import unittest

from mcp_testing import McpTest, accept, text_of
from processes import wait_until
from test_mcp_agent import CALL, FIX

WAIT = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.02)\n"


class Tasks(McpTest):
    def agent(self, **options):
        """Of a user who sits at the agent's own program."""
        self.workspace.write(".mcp.json", json.dumps(FIX))
        agent = self.mcp(**options)
        self.assert_ok(agent.call("generate_wrappers", server="fix"))
        return agent

    def go(self):
        self.workspace.write("go", "")

    def test_of_the_modern_era_ends_with_the_output_and_asks_on_the_way(self):
        agent = self.agent(modern=True, tasks=True, elicit=accept)
        asked = len(agent.questions)
        task = agent.request("tools/call", {"name": "execute", "arguments": {"code": WAIT + CALL}})
        self.assertEqual((task["resultType"], task["status"]), ("task", "working"))
        self.go()
        ended = agent.finish_task(task)
        self.assertEqual(ended["status"], "completed")
        self.assertIn("hello", text_of(self.assert_ok(ended["result"])))
        self.assertEqual(len(agent.questions), asked + 1)

    def test_of_2025_11_25_does_so_too(self):
        agent = self.agent(elicit=accept)
        asked = len(agent.questions)
        task = agent.request("tools/call", {"name": "execute", "arguments": {"code": WAIT + CALL}, "task": {}})["task"]
        self.assertEqual(task["status"], "working")
        self.assertEqual([each["taskId"] for each in agent.request("tasks/list")["tasks"]], [task["taskId"]])
        result = agent.start("tasks/result", {"taskId": task["taskId"]})
        self.go()
        self.assertIn("hello", text_of(self.assert_ok(agent.answer(result))))
        self.assertEqual(agent.request("tasks/get", {"taskId": task["taskId"]})["status"], "completed")
        self.assertEqual(len(agent.questions), asked + 1)

    def test_that_is_cancelled_interrupts_its_code(self):
        agent = self.mcp()
        task = agent.request("tools/call", {"name": "execute", "task": {},
                                            "arguments": {"code": "x = 1\nopen('began', 'w')\nwhile True: pass"}})["task"]
        wait_until((self.workspace.path / "began").exists, "the code to run")
        self.assertEqual(agent.request("tasks/cancel", {"taskId": task["taskId"]})["status"], "cancelled")
        self.assertEqual(text_of(agent.call("execute", code="x")), "1\n")

    def test_goes_on_without_progress_and_tells_its_state_in_words(self):
        agent = self.mcp(modern=True, tasks=True)
        call = agent.start_call("execute", progress="p1", code="print('reads', flush=True)\n" + WAIT)
        task = agent.answer(call)
        told = len(agent.heard)
        wait_until(lambda: "statusMessage" in agent.request("tasks/get", {"taskId": task["taskId"]}), "its state")
        self.go()
        self.assert_ok(agent.finish_task(task)["result"])
        self.assertEqual(len(agent.heard), told)


if __name__ == "__main__":
    unittest.main()
