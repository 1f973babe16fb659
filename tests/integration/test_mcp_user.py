"""What the user sees of an agent at `cellgate mcp`: who is asked, at which program, and
what an agent cannot get around."""

import json
import threading
import unittest

import attaching
from cellgate_client import arguments_of
from executions import RpcError
from mcp_testing import (McpTest, accept, accept_until_the_end, accept_without_the_tick, cancel, decline, details_of,
                         text_of)
from processes import TIMEOUT, wait_until
from test_mcp_agent import CALL, FIX


class TheUser(McpTest):
    def prepare(self, **options):
        editor = self.editor(options=FIX)
        agent = self.mcp(**options)
        self.assert_ok(agent.call("generate_wrappers", server="fix"))
        return editor, agent

    def test_answers_a_call_with_the_agents_name_and_the_line_in_view(self):
        editor, agent = self.prepare(name="claude-code")
        call = agent.start_call("execute", code=CALL)
        asked = editor.approval()
        self.assertEqual(asked["agent"], "claude-code")
        self.assertEqual(asked["display"][-1], "by agent claude-code")
        self.assertEqual(asked["origin"]["text"], "print(tool_2.run(s='hello'))")
        self.assertEqual(arguments_of(asked), {"s": "hello"})
        editor.allow(asked)
        self.assertIn("hello", text_of(self.assert_ok(agent.answer(call))))
        call = agent.start_call("execute", code=CALL)
        editor.deny(editor.approval(), reason="not now")
        self.assert_failed(agent.answer(call), "not now")

    def test_a_name_is_made_visible_and_short(self):
        editor = self.editor(options=FIX)
        for name, shown in (("evil\n\u202eagent\x1b[2J", r"evil\n\u{202e}agent\x1b[2J"), ("x" * 500, "x" * 40 + "…"),
                            ("", "an MCP client"), ("   ", "without a name")):
            with self.subTest(name):
                agent = self.mcp(name=name)
                agent.call("generate_wrappers", server="fix")
                call = agent.start_call("execute", code=CALL)
                asked = editor.approval()
                self.assertEqual(asked["agent"], shown)
                editor.allow(asked)
                agent.answer(call)

    def test_a_call_waits_for_the_user_beyond_its_timeout(self):
        editor, agent = self.prepare()
        call = agent.start_call("execute", code=CALL, timeout=0.5, details=True)
        asked = editor.approval()
        done = threading.Event()
        threading.Timer(1, done.set).start()
        done.wait(TIMEOUT)
        editor.allow(asked)
        self.assertGreater(details_of(self.assert_ok(agent.answer(call)))["waited_seconds"], 0.5)

    def test_nobody_attached_is_a_no_that_tells_the_user_what_to_do(self):
        self.workspace.write(".mcp.json", json.dumps(FIX))
        agent = self.mcp()
        denied = self.assert_failed(agent.call("generate_wrappers", server="fix"), "no user is connected")
        self.assertIn("Tell your user: open this workspace in an editor", text_of(denied))


class TwoEditorsAndOneAgent(McpTest):
    def test_see_what_it_runs_answer_it_once_and_miss_nothing_after_a_crash(self):
        one, two = self.editor(options=FIX), self.editor()
        agent, stranger = self.mcp(name="claude-code"), self.agent()
        self.assert_ok(agent.call("generate_wrappers", server="fix"))
        code = "print('before', flush=True)\n" + CALL + "\nprint('after')"
        call = agent.start_call("execute", code=code)
        asked = one.approval()
        self.assertEqual(two.approval(), asked)
        self.assertEqual((asked["agent"], asked["origin"]["text"]), ("claude-code", "print(tool_2.run(s='hello'))"))
        execution = asked["executionId"]
        for editor in (one, two):  # neither attached to the agent's session
            running = editor.wait_for("execute/changed",
                                      lambda c: c["executionId"] == execution and c["state"] == "running")
            self.assertEqual((running["agent"], running["sessionId"]), ("claude-code", asked["sessionId"]))
            info = editor.request("execution/get", {"executionId": execution})
            self.assertEqual((info["code"], info["agent"]), (code, "claude-code"))
        two.allow(asked)
        self.assertEqual(one.resolved(asked)["decision"], "allow")
        with self.assertRaises(RpcError) as late:
            one.allow(asked)
        self.assertEqual(late.exception.code, 1010)
        self.assertIn("hello", text_of(self.assert_ok(agent.answer(call))))
        for editor in (one, two):
            editor.wait_for("execute/changed", lambda c: c["executionId"] == execution and c["state"] == "finished")
            told = attaching.text_of([output for _, _, output in attaching.notified(editor, execution)])
            self.assertTrue(told.startswith("before\n") and "hello" in told and told.endswith("after\n"), told)
        self.assertEqual(stranger.received("execute/output"), [])
        self.assertEqual(stranger.received("execute/changed"), [])

        one.vanish()
        again = attaching.Attaching(self.editor(), asked["sessionId"])
        self.assertEqual(again.executions[execution]["agent"], "claude-code")
        self.assertEqual(again.whole_text(execution), told)


class AtTheAgentsProgram(McpTest):
    """Elicitation: no user is attached, and the MCP client can ask its user."""

    def prepare(self, elicit, modern=False):
        self.workspace.write(".mcp.json", json.dumps(FIX))
        return self.mcp(name="alone", elicit=elicit, modern=modern)

    def test_a_yes_counts_for_exactly_what_was_shown_once(self):
        for modern in (False, True):
            with self.subTest(modern=modern):
                agent = self.prepare(accept, modern)
                self.assert_ok(agent.call("generate_wrappers", server="fix"))
                self.assertIn("/usr/bin/python3", agent.questions[0])
                self.assertIn("by agent alone", agent.questions[0])
                for count in (2, 3):  # the same payload is asked about again
                    self.assert_ok(agent.call("execute", code=CALL))
                    self.assertEqual(len(agent.questions), count)
                    self.assertIn('"hello"', agent.questions[-1])
                agent.close()
                self.finish()

    def test_a_yes_until_the_cell_ends_asks_once_for_a_loop_and_again_for_the_next_cell(self):
        for modern in (False, True):
            with self.subTest(modern=modern):
                agent = self.prepare(accept_until_the_end, modern)
                self.assert_ok(agent.call("generate_wrappers", server="fix"))
                code = "from mcptools.fix import tool_1\nfor _ in range(3):\n    print(tool_1.run(s='hello'))"
                result = self.assert_ok(agent.call("execute", code=code))
                self.assertEqual(text_of(result).count("hello"), 3)
                self.assertEqual(len(agent.questions), 2)  # one of them for the start of the server
                self.assertRegex(agent.questions[1], r"line 3 \(reported by the code\): +print\(tool_1.run\(s='hello'\)\)")
                self.assert_ok(agent.call("execute", code=code))
                self.assertEqual(len(agent.questions), 3)
                agent.close()
                self.finish()

    def test_a_question_shows_what_changed_in_the_tool_since_it_was_allowed(self):
        agent = self.prepare(accept)
        self.assert_ok(agent.call("generate_wrappers", server="fix"))
        for tool in ("tool_1.run(s='x')", "change.run()", "tool_1.run(s='x')"):
            self.assert_ok(agent.call("execute", code=f"from mcptools.fix import tool_1, change\n{tool}"))
        first, again = agent.questions[1], agent.questions[3]
        self.assertNotIn("has changed", first)
        self.assertIn("its definition has changed since it was last allowed:\n", again)
        self.assertIn('-  "description": "Echoes its text."', again)
        self.assertIn('+  "description": "Changed 1 times."', again)

    def test_a_refusal_is_told_as_what_it_was(self):
        for answer, words in ((accept_without_the_tick, "without ticking"), (cancel, "closed the question")):
            with self.subTest(words):
                agent = self.prepare(answer)
                self.assert_failed(agent.call("generate_wrappers", server="fix"), words)
                agent.close()
                self.finish()

    def test_the_start_of_the_workspaces_own_kernel_is_asked_as_well(self):
        self.workspace.make_environment()
        for modern in (False, True):
            with self.subTest(modern=modern):
                agent = self.mcp(name="alone", elicit=accept, modern=modern)
                result = self.assert_ok(agent.call("execute", code="import sys\nprint(sys.prefix)"))
                self.assertEqual(text_of(result).strip(), str(self.workspace.path / ".venv"))
                self.assertEqual(len(agent.questions), 1)
                self.assertIn("start the workspace's own kernel", agent.questions[0])
                self.assertIn("by agent alone", agent.questions[0])
                self.assert_ok(agent.call("reset"))
                self.assertEqual(len(agent.questions), 2)
                agent.close()
                self.finish()

    def test_a_kernel_that_was_not_allowed_is_not_started_and_the_reason_says_what_to_do(self):
        self.workspace.make_environment()
        refused = self.mcp(name="refused", elicit=decline)
        self.assert_failed(refused.call("execute", code="1"), "said no")
        mute = self.mcp(name="mute")
        denied = text_of(self.assert_failed(mute.call("execute", code="1"), "no user is connected"))
        self.assertIn("Tell your user: open this workspace in an editor", denied)
        self.assertNotIn("cellgate kernels", denied)
        editor = self.editor()
        call = mute.start_call("execute", code="6 * 7")
        asked = editor.approval()
        self.assertEqual((asked["agent"], asked["display"][-1]), ("mute", "by agent mute"))
        editor.allow(asked)
        self.assertEqual(text_of(self.assert_ok(mute.answer(call))).strip(), "42")

    def test_a_no_is_a_no(self):
        for modern in (False, True):
            with self.subTest(modern=modern):
                agent = self.prepare(decline, modern)
                self.assert_failed(agent.call("generate_wrappers", server="fix"), "said no")
                agent.close()
                self.finish()

    def test_a_user_who_is_attached_is_asked_instead(self):
        agent = self.prepare(accept)
        editor = self.editor()
        call = agent.start_call("generate_wrappers", server="fix")
        editor.deny(editor.approval(), reason="I am here")
        self.assert_failed(agent.answer(call), "I am here")
        self.assertEqual(agent.questions, [])

    def test_a_user_who_comes_while_it_is_asked_can_answer_and_the_question_is_withdrawn(self):
        release = threading.Event()
        self.addCleanup(release.set)

        def slow(_question):
            release.wait(TIMEOUT)
            return {"action": "accept", "content": {"allow": True}}

        agent = self.prepare(slow)
        call = agent.start_call("generate_wrappers", server="fix")
        agent.wait(lambda: agent.questions, "a question")
        editor = self.editor()
        asked = editor.approval()
        editor.deny(asked, reason="too late for you")
        self.assert_failed(agent.answer(call), "too late for you")
        agent.wait(lambda: any(m.get("method") == "notifications/cancelled" for m in agent.heard), "its withdrawal")

    def test_a_client_that_cannot_ask_is_denied(self):
        self.workspace.write(".mcp.json", json.dumps(FIX))
        agent = self.mcp()
        self.assert_failed(agent.call("generate_wrappers", server="fix"), "no user is connected")


class Hostile(McpTest):
    hostile = True

    def test_garbage_is_answered_and_survived(self):
        agent = self.mcp()
        for line in (b"\n", b"garbage\n", b"[]\n", b"\xff\xfe\n", b'{"jsonrpc":"2.0","id":{},"method":"ping"}\n',
                     b'{"jsonrpc":"2.0","id":9,"result":{"action":"accept","content":{"allow":true}}}\n',
                     b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}\n',
                     b"{" * 1000 + b"\n", b"x" * 5_000_000 + b"\n"):
            agent.send_text(line)
        self.assertEqual(text_of(agent.call("execute", code="1")), "1\n")

    def test_the_end_of_stdin_ends_it_with_what_runs(self):
        editor = self.editor()
        agent = self.mcp()
        agent.start_call("execute", progress=1, code="print('runs', flush=True)\nwhile True: pass")
        agent.wait(lambda: agent.heard, "progress")
        self.assertEqual(agent.close(), 0)
        wait_until(lambda: not editor.request("session/list")["sessions"], "the end of its session")

    def test_a_stream_that_is_cut_off_anywhere_ends_it(self):
        talk = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}) + "\n"
        for cut in range(0, len(talk) + 1, 23):
            agent = self.mcp(initialize=False)
            agent.send_text(talk[:cut])
            self.assertIn(agent.close(), (0, 1))


class Attempts(McpTest):
    """What a client of role agent can send to answer its own approval, beside the methods that are not for it
    (test_roles.py). The control: a user's answer counts."""

    hostile = True

    def test_answers_that_nobody_asked_for_count_for_nothing(self):
        editor = self.editor(options=FIX)
        editor.request("wrappers/generate", {"server": "fix"})
        agent = self.agent(initialize=False)
        agent.initialize(capabilities={"approvals": True, "elicitation": True})
        execution = agent.execute(CALL)
        approval = editor.approval()
        for number in range(1, 20):
            for request_id in (number, str(number)):
                agent.send({"id": request_id, "result": {"decision": "allow"}})
        agent.notify("approval/respond", {"approvalIds": [approval["approvalId"]], "decision": "allow"})
        agent.notify("approval/resolved", {"approvalId": approval["approvalId"], "decision": "allow", "by": "user"})
        with self.assertRaises(RpcError):
            agent.request("approval/elicit", {"display": ["x"]})
        with self.assertRaises(RpcError):  # nor is it a user by saying so later
            agent.request("initialize", {"clientInfo": {"name": "editor"}, "processId": None, "rootUri": None,
                                         "capabilities": {"approvals": True}, "role": "user"})
        (waiting,) = editor.waiting()
        self.assertEqual(waiting["approvalId"], approval["approvalId"])
        self.assertFalse(execution.pending.done)
        self.assertEqual(agent.received("approval/requested"), [])
        self.assertEqual(agent.requests["approval/elicit"], [])  # a user is attached
        editor.allow(waiting)
        self.assertEqual(execution.result()["status"], "ok")

    def test_a_tools_arguments_hold_no_answer(self):
        editor = self.editor(options=FIX)
        agent = self.mcp(elicit=accept)
        agent.call("generate_wrappers", server="fix")
        for more in ({"approvals": "allow"}, {"decision": "allow"}, {"sandbox": False}, {"approvalIds": []}):
            self.assert_failed(agent.call("execute", code="1", **more), "arguments")
        self.assertEqual(editor.asked(), 0)

    def test_an_agent_restarts_its_own_session_and_no_other(self):
        one, two, editor = self.agent(), self.agent(), self.editor()
        one.session("agent-mine")
        one.request("session/restart", {"sessionId": "agent-mine"})
        for client, session in ((two, "agent-mine"), (one, "default")):
            editor.run("1")
            with self.assertRaises(RpcError) as refused:
                client.request("session/restart", {"sessionId": session})
            self.assertEqual(refused.exception.code, 1013)
        editor.request("session/restart", {"sessionId": "agent-mine"})


if __name__ == "__main__":
    unittest.main()
