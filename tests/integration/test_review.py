"""Results that a user wants to see before an agent does: code computes with them, the agent waits for the user."""

import contextlib
import json
import secrets
import unittest

from cellgate_client import Agent
from executions import RpcError
from mcp_testing import McpTest, accept, text_of
from tools_testing import fixture_server

REVIEW = {"effect": "review", "kind": "tool", "server": "mail"}
OUTPUT = {"effect": "allow", "kind": "output"}
DENIED, FORBIDDEN, CANCELLED = 1014, 1013, -32800
# `phrase` is what only the tool knows.
READ = ("import json\nfrom mcptools.mail import environment\n"
        "phrase = json.loads(environment.run())['env']['PHRASE']\n")

# How code could say what it read.
WAYS = {
    "printed": "print(phrase)",
    "printed to stderr": "import sys\nprint(phrase, file=sys.stderr)",
    "the value": "phrase",
    "an error": "raise ValueError(phrase)",
    "the name of a function": "exec(f'def f_{phrase}(): 1/0\\nf_{phrase}()')",
    "display data": "from IPython.display import HTML\nHTML('<p>' + phrase)",
    "its metadata": "from IPython.display import display\ndisplay({'text/plain': ''}, raw=True, metadata={'a': phrase})",
    "another one's output": "get_ipython().kernel.session.send(get_ipython().kernel.iopub_socket, 'stream', "
                            "{'name': 'stdout', 'text': phrase}, parent=earlier, ident=b'stream')\nprint('here')",
    "a path that is refused": "open('/root/' + phrase)",
}
UNTIL_GO = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\n"
# In a cell before: its output is the agent's already.
EARLIER = "earlier = get_ipython().kernel.get_parent()\nprint('earlier')"


class Listener(Agent):
    """An agent that keeps all that it receives."""

    heard = ""

    def _hear(self, message):
        self.heard += json.dumps(message) + "\n"
        super()._hear(message)


class ReviewTest(McpTest):
    reviewed = True

    def setUp(self):
        super().setUp()
        self.phrase = "amber" + secrets.token_hex(8)
        self.user = self.editor(options={"mcpServers": {"mail": fixture_server(env={"PHRASE": self.phrase})}})
        self.user.request("wrappers/generate", {"server": "mail"})
        self.add({"effect": "allow", "kind": "tool", "server": "mail", "tool": "environment"})
        if self.reviewed:
            self.add(REVIEW)

    def add(self, rule, scope="workspace", **more):
        return self.user.request("policy/add", {"rule": rule, "scope": scope, **more})

    def go(self):
        (self.workspace.path / "go").touch()

    def listener(self, **options):
        return self._client(Listener, options)

    def error_of(self, client, method, params):
        with self.assertRaises(RpcError) as caught:
            client.request(method, params)
        return caught.exception

    def deny_output(self, cell):
        self.user.deny(self.user.approval())
        return cell.result()

    def assert_withheld(self, agent, result):
        self.assertIn("bytes of output are withheld", result["reason"])
        self.assertNotIn("\n", result["reason"])
        self.assertNotIn(self.phrase, agent.heard)


class Review(ReviewTest):
    def test_code_computes_with_it_and_the_agent_gets_what_the_user_saw(self):
        agent = self.listener()
        cell = agent.execute(READ + "print('It is ' + phrase)\nprint(len(phrase))\nphrase[:5]")
        asked = self.user.approval()
        self.assertEqual(asked["action"], {"kind": "output", "results": ["mail/environment"],
                                           "outputText": f"It is {self.phrase}\n21\nOut[1]: 'amber'\n"})
        self.assertEqual(asked["agent"], "integration-test")
        self.assertEqual(asked["display"][0],
                         "show an agent this output, which may have results of mail/environment")
        self.assertEqual([choice["label"] for choice in asked["choices"]], ["this output", "any output, this session"])
        self.assertFalse(cell.pending.done)
        self.assertNotIn(self.phrase, agent.heard)
        info = agent.request("execution/get", {"executionId": cell.id})
        self.assertEqual((info["state"], info["pendingApprovals"]), ("running", 1))
        # The user sees it as it comes, and the session works meanwhile.
        self.user.wait_for("execute/output", lambda o: o["executionId"] == cell.id and
                           self.phrase in json.dumps(o["output"]))
        self.assertEqual(self.user.run("len(phrase)").data()["text/plain"], "21")
        self.user.allow(asked)
        self.assertEqual(cell.result()["status"], "ok")
        self.assertEqual(cell.text(), f"It is {self.phrase}\n21\n")
        self.assertEqual(cell.data()["text/plain"], "'amber'")
        finished = [json.loads(line) for line in agent.heard.splitlines()]
        methods = [m.get("method") for m in finished if m.get("params", {}).get("executionId") == cell.id]
        self.assertEqual(methods[-1], "execute/changed")  # after all output
        page = agent.request("output/read", {"executionId": cell.id})
        self.assertTrue(page["complete"])
        self.assertIn(self.phrase, json.dumps(page))

    def test_what_is_denied_reaches_the_agent_nowhere_until_the_kernel_is_another(self):
        agent = self.listener()
        cell = agent.execute(READ + "print(phrase)\nraise KeyError(phrase)")
        result = self.deny_output(cell)
        self.assertEqual(result["status"], "error")
        self.assertEqual((result["error"]["ename"], result["error"]["evalue"]), ("Withheld", result["reason"]))
        self.assertIn("mail/environment", result["reason"])
        self.assertIn("code can go on computing", result["reason"])
        later = agent.execute("print(phrase[::-1])")
        self.assertEqual(self.user.approval()["action"]["outputText"], self.phrase[::-1] + "\n")
        self.user.deny(self.user.waiting()[0])
        self.assert_withheld(agent, later.result())
        self.user.request("session/restart", {"sessionId": "default"})
        self.assertEqual(agent.run("print('again')").text(), "again\n")
        for method in ("output/read", "record/query"):
            self.assertEqual(self.error_of(agent, method, {"executionId": cell.id}).code, DENIED)
        self.assertNotIn(self.phrase, agent.heard)
        self.assertNotIn(self.phrase[::-1], agent.heard)

    def test_what_a_user_read_in_a_session_an_agent_in_it_waits_for(self):
        self.assertEqual(self.user.run(READ).result()["status"], "ok")
        agent = self.listener()
        cell = agent.execute("print(phrase)")
        self.assert_withheld(agent, self.deny_output(cell))

    def test_an_answer_for_the_session_covers_what_comes(self):
        agent = self.listener()
        cell = agent.execute(READ + "print(phrase)")
        asked = self.user.approval()
        self.user.allow(asked, scope="session", rule=asked["choices"][-1]["rule"])
        cell.result()
        self.assertIn(self.phrase, cell.text())
        live = agent.execute("print(phrase, flush=True)\n" + UNTIL_GO).wait_for_text(self.phrase)  # as it comes
        self.go()
        self.assertEqual(live.result()["status"], "ok")
        for method in ("output/read", "record/query"):
            agent.request(method, {"executionId": cell.id})
        self.assertEqual(self.user.asked(), 1)

    def test_only_what_comes_behind_the_call_is_withheld(self):
        agent = self.listener()
        cell = agent.execute("print('before', flush=True)\n" + UNTIL_GO + READ + "print(phrase)")
        cell.wait_for_text("before")
        self.go()
        asked = self.user.approval()
        self.assertEqual(asked["action"]["outputText"], f"before\n{self.phrase}\n")
        self.user.deny(asked)
        self.assert_withheld(agent, cell.result())
        page = agent.request("output/read", {"executionId": cell.id})
        self.assertEqual([r["output"]["text"] for r in page["records"]], ["before\n"])
        self.assertFalse(page["complete"])
        rest = {"executionId": cell.id, "fromSeq": page["nextSeq"]}
        self.assertEqual(self.error_of(agent, "output/read", rest).code, DENIED)

    def test_nothing_is_asked_about_a_cell_that_says_nothing(self):
        agent = self.listener()
        result = agent.run(READ).result()
        self.assertEqual((result["status"], result.get("reason")), ("ok", None))
        self.assertEqual(self.user.asked(), 0)

    def test_without_a_user_it_is_withheld_at_once(self):
        agent = self.listener()
        self.user.close()
        result = agent.run(READ + "print(phrase)").result()
        self.assert_withheld(agent, result)
        self.assertIn("Tell your user", result["reason"])
        self.assertEqual(agent.run("phrase[:5]").result()["status"], "ok")

    def test_the_agent_may_stop_waiting(self):
        agent = self.listener()
        cell = agent.execute(READ + "print(phrase)")
        asked = self.user.approval()
        agent.notify("$/cancelRequest", {"id": cell.pending.id})
        with self.assertRaises(RpcError) as caught:
            cell.result()
        self.assertEqual(caught.exception.code, CANCELLED)
        self.assertEqual(self.user.resolved(asked)["decision"], "deny")
        info = agent.request("execution/get", {"executionId": cell.id})
        self.assertEqual(info["state"], "finished")
        self.assert_withheld(agent, info["result"])

    def test_other_sessions_do_not_wait(self):
        agent, other = self.listener(), self.agent()
        cell = agent.execute(READ + "print(phrase)")
        asked = self.user.approval()
        other.session("agent-other")
        self.assertEqual(other.run("print('mine')", sessionId="agent-other").text(), "mine\n")
        self.user.deny(asked)
        cell.result()

    def test_a_users_cell_in_an_agents_session(self):
        agent = self.listener()
        agent.session("agent-mine")
        self.user.request("session/attach", {"sessionId": "agent-mine"})
        cell = self.user.run(READ + "print(phrase)\nraise KeyError(phrase)", sessionId="agent-mine")
        self.assertIn(self.phrase, cell.text())
        self.assertEqual(self.error_of(agent, "output/read", {"executionId": cell.id}).code, DENIED)
        self.assert_withheld(agent, agent.request("execution/get", {"executionId": cell.id})["result"])

    def test_a_call_of_the_agents_own(self):
        agent = self.listener()
        call = {"server": "mail", "tool": "environment", "arguments": {}}
        waiting = agent.start("tools/call", call)
        asked = self.user.approval()
        self.assertIn(self.phrase, asked["action"]["outputText"])
        self.user.deny(asked)
        with self.assertRaises(RpcError) as caught:
            waiting.result()
        self.assertEqual(caught.exception.code, DENIED)
        self.assertIn("bytes of the result of mail/environment are withheld", caught.exception.message)
        self.assertNotIn(self.phrase, agent.heard)
        waiting = agent.start("tools/call", call)
        self.user.allow(self.user.approval())
        self.assertIn(self.phrase, json.dumps(waiting.result()))
        self.assertIn(self.phrase, json.dumps(self.user.request("tools/call", call)))  # users are not asked

    def test_questions_are_not_put_through_the_agents_program(self):
        agent = self.mcp(elicit=accept)
        agent.call("execute", code="1")
        self.user.close()
        call = "from mcptools.mail import tool_2\ntool_2.run(s='{}')"
        agent.call("execute", code=call.format("plain"))
        self.assertEqual(len(agent.questions), 1)  # the control
        agent.call("execute", code=READ + "from mcptools.mail import tool_2\ntool_2.run(s=phrase)")
        agent.call("execute", code="tool_2.run(s=phrase)")
        self.assertEqual(len(agent.questions), 1)
        self.assertNotIn(self.phrase, json.dumps(agent.questions) + json.dumps(agent.heard)
                         + json.dumps(agent.answers))

    def test_over_mcp(self):
        agent = self.mcp()
        call = agent.start_call("execute", code=READ + "print(phrase)", details=True)
        self.user.allow(self.user.approval())
        result = self.assert_ok(agent.answer(call))
        self.assertIn(self.phrase, text_of(result))
        call = agent.start_call("execute", code="print(phrase[::-1])", details=True)
        self.user.deny(self.user.approval())
        result = self.assert_ok(agent.answer(call))
        self.assertIn("bytes of output are withheld: a user denied it", text_of(result))
        details = json.loads(result["content"][-1]["text"])
        self.assertIn("withheld", text_of(self.assert_ok(
            agent.call("read_output", execution_id=details["execution_id"]))))
        call = agent.start_call("execute", code="raise ValueError(phrase[::-1])")
        self.user.deny(self.user.approval())
        self.assert_failed(agent.answer(call), "[ended with Withheld: ")
        self.assertNotIn(self.phrase[::-1], json.dumps(agent.heard) + json.dumps(agent.answers))

    def test_a_rule_about_all_output(self):
        rule = self.add({"effect": "ask", "kind": "output"})["id"]
        agent = self.listener()
        cell = agent.execute("print('plain')")
        asked = self.user.approval()
        self.assertEqual(asked["action"], {"kind": "output", "outputText": "plain\n"})
        self.assertNotIn("plain\\n", agent.heard)
        self.user.allow(asked)
        self.assertEqual(cell.result() and cell.text(), "plain\n")
        self.add({"effect": "deny", "kind": "output"}, "session", sessionId="default")
        result = agent.run("print('more')").result()
        self.assertIn("a user's rule", result["reason"])
        self.assertNotIn("more\\n", agent.heard)
        self.user.request("policy/remove", {"ruleId": rule})
        self.assertEqual(self.user.run("print('mine')").text(), "mine\n")


class Ways(ReviewTest):
    """Each way to say it; below, the same without the rule."""

    def reach(self, agent):
        """Whether the phrase reached the agent, by each way."""
        return {name: self.phrase in self.after(agent, code) for name, code in WAYS.items()}

    def after(self, agent, code):
        agent.heard = ""
        cell = agent.execute(READ + code)
        self.answer(cell)
        cell.result()
        agent.request("session/list")  # what comes late, has come
        return agent.heard

    def answer(self, cell):
        self.deny_output(cell)

    def test_nothing_of_it_reaches_the_agent(self):
        agent = self.listener()
        self.assertEqual(agent.run(EARLIER).text(), "earlier\n")
        self.assertEqual(self.reach(agent), dict.fromkeys(WAYS, not self.reviewed))

    def test_a_prompt(self):
        agent = self.listener(initialize=False)
        agent.initialize(capabilities={"input": True})
        agent.handlers["input/request"] = lambda params: {"value": "typed"}
        self.after(agent, "input(phrase)")
        self.assertEqual(self.phrase in agent.heard, not self.reviewed)

    def test_a_number_that_is_counted(self):
        agent = self.listener()
        heard = self.after(agent, "get_ipython().execution_count = 1234567\nprint('set')")
        heard += json.dumps(agent.request("session/list")) + self.after(agent, "print('more')")
        self.assertEqual("1234567" in heard or "1234568" in heard, not self.reviewed)

    def test_a_thread_that_goes_on(self):
        agent = self.listener()
        cell = agent.execute("import threading, sys\ngo = threading.Event()\n"
                             "def later():\n    go.wait()\n    print(phrase, flush=True)\n    said.set()\n"
                             "said = threading.Event()\nthreading.Thread(target=later).start()\nprint('begun')")
        cell.result()
        heard = self.after(agent, "go.set()\nsaid.wait()\nprint('it has')")
        for seq in range(3):
            with contextlib.suppress(RpcError):
                heard += json.dumps(agent.request("output/read", {"executionId": cell.id, "fromSeq": seq}))
        self.assertEqual(self.phrase in heard, not self.reviewed)

    def test_what_is_read_later(self):
        agent = self.listener()
        cell = agent.execute(READ + "open(phrase, 'w').close()\nraise KeyError(phrase)")
        self.answer(cell)
        cell.result()
        agent.heard = ""
        info = agent.request("execution/get", {"executionId": cell.id})
        self.assertEqual(info["result"]["error"]["ename"], "Withheld" if self.reviewed else "KeyError")
        for method in ("output/read", "record/query", "changes/list"):
            with self.subTest(method):
                if self.reviewed:
                    error = self.error_of(agent, method, {"executionId": cell.id})
                    self.assertEqual((error.code, error.message), (DENIED, info["result"]["reason"]))
                else:
                    self.assertIn(self.phrase, json.dumps(agent.request(method, {"executionId": cell.id})))
        self.assertEqual(self.phrase in agent.heard, not self.reviewed)

    def test_what_agents_cannot_read_at_all(self):
        agent = self.listener()
        self.after(agent, "open('phrase.txt', 'w').write(phrase)")
        for method, params in (("kernel/variables", {}), ("kernel/inspect", {"code": "phrase", "cursorPos": 6}),
                               ("kernel/complete", {"code": "phrase.", "cursorPos": 7}),
                               ("changes/list", {"executionId": "x"}),
                               ("changes/read", {"executionId": "x", "path": "phrase.txt"}),
                               ("events/subscribe", {}), ("policy/decisions", {}),
                               ("session/attach", {"sessionId": "default"})):
            with self.subTest(method):
                self.assertEqual(self.error_of(agent, method, params).code, FORBIDDEN)


class WaysWithoutTheRule(Ways):
    """The control."""

    reviewed = False

    def answer(self, cell):
        pass


if __name__ == "__main__":
    unittest.main()
