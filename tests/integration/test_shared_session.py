"""An agent that runs code in a user's session: it shares the variables, and nothing that was allowed in there."""

import unittest

from cellgate_client import WorkspaceSidecarTest
from executions import RpcError
from tools_testing import fixture_server

NAME = "integration-test"
FIX = {"mcpServers": {"fix": fixture_server()}}
CALL = "from mcptools.fix import tool_2\nprint(tool_2.run(s={!r}))"
# Code that stays in the kernel, and calls while something else runs.
LEFT_BEHIND = """
import threading
from mcptools.fix import tool_2
go = threading.Event()
made = []
def later():
    go.wait()
    made.append(tool_2.run(s="of the agent"))
threading.Thread(target=later, daemon=True).start()
"""
LET_IT_CALL = "import time\ngo.set()\nwhile not made:\n    time.sleep(0.01)"


class SharedSession(WorkspaceSidecarTest):
    def setUp(self):
        super().setUp()
        self.user = self.editor(options=FIX)
        self.user.request("wrappers/generate", {"server": "fix"})

    def refused(self, code, call, *arguments, **named):
        with self.assertRaises(RpcError) as caught:
            call(*arguments, **named)
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def allow_in_this_session(self, cell):
        asked = self.user.approval()
        self.user.allow(asked, scope="session", rule={"effect": "allow", "kind": "tool", "server": "fix"})
        self.assertEqual(cell.result()["status"], "ok")
        return asked

    def test_what_a_user_was_allowed_in_a_session_an_agent_in_it_is_asked_about(self):
        self.allow_in_this_session(self.user.execute(CALL.format("one")))
        self.assertEqual(self.user.run(CALL.format("two")).result()["status"], "ok")  # the control: not asked
        self.assertEqual(self.user.asked(), 1)
        agent = self.agent()
        cell = agent.execute("x = 1\n" + CALL.format("three"))
        asked = self.user.approval()
        self.assertEqual(asked["agent"], NAME)
        self.user.deny(asked)
        self.assertEqual(cell.result()["status"], "error")
        call = agent.start("tools/call", {"server": "fix", "tool": "tool_2", "arguments": {"s": "four"},
                                          "sessionId": "default"})
        asked = self.user.approval()
        self.assertEqual(asked["agent"], NAME)
        self.user.deny(asked)
        self.refused(1014, call.result)
        self.assertEqual(self.user.run("x").data()["text/plain"], "1")

    def test_what_an_agent_left_behind_is_the_agents_until_the_kernel_is_another(self):
        agent = self.agent()
        self.assertEqual(agent.run(LEFT_BEHIND).result()["status"], "ok")
        cell = self.user.execute(LET_IT_CALL, approvals="allow")
        asked = self.user.approval()
        self.assertEqual(asked["agent"], NAME)
        self.user.allow(asked)
        self.assertEqual(cell.result()["status"], "ok")
        self.user.request("session/restart", {"sessionId": "default"})
        self.assertEqual(self.user.run(LEFT_BEHIND).result()["status"], "ok")  # the control: the same by the user
        self.assertEqual(self.user.run(LET_IT_CALL, approvals="allow").result()["status"], "ok")
        self.assertEqual(self.user.asked(), 1)

    def test_two_agents_do_not_meet_in_one_kernel(self):
        one, two = self.agent(), self.agent()
        one.run("1")
        self.refused(1009, two.run, "1")
        one.session("agent-one")
        self.refused(1013, two.run, "1", sessionId="agent-one")
        self.user.request("session/restart", {"sessionId": "default"})
        self.assertEqual(two.run("1").result()["status"], "ok")

    def test_an_agents_session_has_a_name_that_no_user_finds_by_accident(self):
        agent = self.agent()
        for name in ("default", "cell", "Agent-1", "agent"):
            self.refused(1013, agent.session, name)
        agent.session("agent-mine")
        self.assertTrue(agent.request("session/create", {})["sessionId"].startswith("agent-"))
        self.user.session("cell")  # the control

    def test_an_agent_has_so_many_sessions_and_no_more(self):
        agent, other = self.agent(), self.agent()
        for number in range(8):
            agent.session(f"agent-{number}")
        self.assertIn("at most 8", str(self.refused(1024, agent.session, "agent-more")))
        other.session("agent-more")

    def test_an_agent_reads_its_own_executions_and_no_others(self):
        agent, other = self.agent(), self.agent()
        secret = self.user.run("print('secret')", executionId="cell-1")
        agent.session("agent-own")
        own = agent.run("print('own')", sessionId="agent-own")
        for client, execution in ((agent, secret), (other, own)):
            self.refused(1013, client.request, "execution/get", {"executionId": execution.id})
            self.refused(1013, client.request, "output/read", {"executionId": execution.id})
        self.refused(1013, agent.request, "execution/get", {"executionId": "never"})
        for client, execution in ((agent, own), (self.user, own), (self.user, secret)):
            self.assertEqual(client.request("execution/get", {"executionId": execution.id})["result"]["status"], "ok")
            self.assertEqual(len(client.request("output/read", {"executionId": execution.id})["records"]), 1)


class Bounds(WorkspaceSidecarTest):
    hostile = True

    def test_code_is_bounded_and_so_is_what_waits_and_what_is_remembered(self):
        user = self.editor()
        with self.assertRaises(RpcError) as caught:
            user.run("#" * (4 << 20) + "\n")
        self.assertEqual(caught.exception.code, -32602)
        big = "#" * ((4 << 20) - 8)
        first = user.execute("import time\nwhile True: time.sleep(0.01)").wait_running()
        waiting = [user.execute(big) for _ in range(9)]
        with self.assertRaises(RpcError) as caught:  # there is room for eight
            waiting[8].result()
        self.assertEqual(caught.exception.code, 1009)
        user.request("session/interrupt", {"sessionId": "default"})
        self.assertEqual(first.result()["status"], "error")
        self.assertEqual([cell.result()["status"] for cell in waiting[:8]], ["cancelled"] * 8)  # stopOnError
        many = [user.run(f"{number}\n{big[:-8]}") for number in range(9)]
        with self.assertRaises(RpcError) as caught:
            user.request("execution/get", {"executionId": many[0].id})
        self.assertEqual(caught.exception.code, 1006)
        self.assertEqual(user.request("execution/get", {"executionId": many[8].id})["result"]["status"], "ok")


if __name__ == "__main__":
    unittest.main()
