"""Rules: what a user's rules cover, which of them wins, and what is stored of them."""

import unittest

from cellgate_client import Sidecar, WorkspaceTest, arguments_of
from executions import RpcError
from tools_testing import ECHO, ToolsTest, fixture_server
from workspaces import TestWorkspace


class Rules(ToolsTest):
    def add(self, scope="session", **rule):
        params = {"rule": {"kind": "tool", "server": "fix", **rule}, "scope": scope}
        if scope == "session":
            params["sessionId"] = "default"
        return self.cellgate.request("policy/add", params)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cellgate.run("1")  # the default session is there

    def test_an_allow_rule_asks_nobody(self):
        asked = self.cellgate.asked()
        rule = self.add(effect="allow", tool="tool-1", arguments={"/s": {"glob": "data/*"}})
        self.assertEqual(self.rules()[rule["id"]], rule)
        self.run_ok(ECHO + "tool_1.run(s='data/a')")
        self.assertEqual(self.cellgate.asked(), asked)
        for outside in ("data/a/b", "other"):
            execution = self.cellgate.execute(ECHO + f"tool_1.run(s={outside!r})")
            self.cellgate.deny(self.cellgate.approval())
            execution.result()

    def test_under_resolves_the_path_before_it_compares(self):
        (self.workspace.path / "data/x").mkdir(parents=True)
        (self.workspace.path / "data/out").symlink_to("..")
        self.add(effect="allow", tool="tool-1", arguments={"/s": {"under": "data"}})
        asked = self.cellgate.asked()
        self.run_ok(ECHO + "tool_1.run(s='data/x/../a')")
        self.assertEqual(self.cellgate.asked(), asked)
        for outside in ("data/../secret", "database/x", "/etc/passwd", "data/../../data/x", "data/out/secret"):
            execution = self.cellgate.execute(ECHO + f"tool_1.run(s={outside!r})")
            self.cellgate.deny(self.cellgate.approval())
            self.assert_denied(execution, "")

    def test_a_deny_rule_beats_every_yes(self):
        asked = self.cellgate.asked()
        self.add(effect="allow", tool="tool-1")
        self.add(effect="deny", tool="tool-1", arguments={"/s": {"equals": "forbidden"}})
        self.assert_denied(self.cellgate.run(ECHO + "tool_1.run(s='forbidden')"), "")
        self.assert_denied(self.cellgate.run(ECHO + "tool_1.run(s='forbidden')", approvals="allow"), "")
        self.run_ok(ECHO + "tool_1.run(s='other')")
        self.assertEqual(self.cellgate.asked(), asked)

    def test_an_ask_rule_beats_an_allow_rule_and_a_grant_beats_it(self):
        self.add(effect="allow", tool="tool-1", scope="workspace")
        self.add(effect="ask", tool="tool-1", scope="workspace")
        execution = self.cellgate.execute(ECHO + "for _ in range(2): tool_1.run(s='x')")
        self.cellgate.allow(self.cellgate.approval(), scope="execution")
        self.assertEqual(execution.result()["status"], "ok")

    def test_a_rule_that_is_removed_holds_no_longer(self):
        rule = self.add(effect="deny", tool="tool-1")
        self.assert_denied(self.cellgate.run(ECHO + "tool_1.run(s='x')"), "")
        self.cellgate.request("policy/remove", {"ruleId": rule["id"]})
        execution = self.cellgate.execute(ECHO + "tool_1.run(s='x')")
        self.cellgate.allow(self.cellgate.approval())
        self.assertEqual(execution.result()["status"], "ok")
        self.assert_error(1015, self.cellgate.request, "policy/remove", {"ruleId": rule["id"]})

    def test_explaining_decides_nothing_and_names_the_rule(self):
        action = {"kind": "tool", "server": "fix", "tool": "tool-1", "argumentsText": '{"s": "x"}'}
        asked = self.cellgate.asked()
        explained = self.cellgate.request("policy/explain", {"action": action})
        self.assertEqual(explained["effect"], "ask")
        rule = self.add(effect="deny", tool="tool-1", scope="workspace")
        explained = self.cellgate.request("policy/explain", {"action": action})
        self.assertEqual((explained["effect"], explained["rule"]["id"]), ("deny", rule["id"]))
        self.assertEqual(self.cellgate.asked(), asked)

    def test_what_a_rule_let_through_is_listed_with_that_rule_and_its_line(self):
        rule = self.add(effect="allow", tool="tool-1")
        asked = self.cellgate.asked()
        execution = self.run_ok(ECHO + "tool_1.run(s='unseen')")
        self.assertEqual(self.cellgate.asked(), asked)
        self.cellgate.request("policy/remove", {"ruleId": rule["id"]})
        past = self.cellgate.request("policy/decisions")["decisions"][0]
        self.assertEqual((past["decision"], past["by"], past["rule"]), ("allow", "rule", rule))
        self.assertEqual(arguments_of(past), {"s": "unseen"})
        self.assertEqual((past["sessionId"], past["executionId"]), ("default", execution.id))
        self.assertIn("tool_1.run", past["origin"]["text"])
        self.assertEqual(past["outcome"]["status"], "succeeded")
        self.assertGreaterEqual(past["outcome"]["endedAt"], past["decidedAt"])

    def test_a_loop_of_calls_does_not_push_out_what_a_user_answered(self):
        execution = self.cellgate.execute(ECHO + "tool_1.run(s='answered')")
        approval = self.cellgate.approval()
        self.cellgate.deny(approval)
        self.assert_denied(execution, "")
        self.add(effect="allow", tool="tool-1")
        self.run_ok(ECHO + "for i in range(250): tool_1.run(s=str(i))")
        result = self.cellgate.request("policy/decisions")
        self.assertIn(approval["approvalId"], [past.get("approvalId") for past in result["decisions"]])
        unasked = [past for past in result["decisions"] if "approvalId" not in past]
        self.assertEqual(len(unasked), 200)  # the control: these were pushed out
        self.assertGreaterEqual(result["forgotten"], 50)

    def test_a_rule_for_a_session_holds_there_alone(self):
        self.add(effect="allow", tool="tool-1")
        self.cellgate.session("elsewhere")
        execution = self.cellgate.execute(ECHO + "tool_1.run(s='x')", sessionId="elsewhere")
        self.cellgate.deny(self.cellgate.approval())
        self.assert_denied(execution, "")
        self.cellgate.request("session/close", {"sessionId": "elsewhere"})

    def test_a_rule_for_a_session_that_is_not_there_is_refused(self):
        rule = {"effect": "allow", "kind": "tool", "server": "fix"}
        self.assert_error(1001, self.cellgate.request, "policy/add",
                          {"rule": rule, "scope": "session", "sessionId": "nowhere"})
        self.assertEqual(self.rules(), self.rules_before)

    def test_a_rule_for_everything_is_refused(self):
        for rule in ({"effect": "allow"}, {"effect": "allow", "kind": "tool", "tol": "x"}):
            with self.subTest(rule), self.assertRaises(RpcError):
                self.cellgate.request("policy/add", {"rule": rule, "scope": "workspace"})

    def test_a_condition_that_no_call_can_meet_is_refused(self):
        for arguments, told in (({"/pth": {"under": "data"}}, "found arguments.pth"),
                                ({"/path": {"equals": 5}}, "arguments.path: expected a string, found 5")):
            rule = {"effect": "deny", "kind": "host", "tool": "write_file", "arguments": arguments}
            with self.subTest(arguments), self.assertRaises(RpcError) as refused:
                self.cellgate.request("policy/add", {"rule": rule, "scope": "workspace"})
            self.assertIn(told, str(refused.exception))
        self.assertEqual(self.rules(), self.rules_before)
        self.add(scope="workspace", effect="deny", kind="host", server="host", tool="write_file",
                 arguments={"/path": {"under": "data"}})  # the control

    def test_an_execution_that_asks_nobody_is_denied_what_no_rule_allows(self):
        asked = self.cellgate.asked()
        self.assert_denied(self.cellgate.run(ECHO + "tool_1.run(s='x')", approvals="deny"), "")
        self.add(effect="allow", tool="tool-1")
        self.run_ok(ECHO + "tool_1.run(s='x')", approvals="deny")
        self.assertEqual(self.cellgate.asked(), asked)

    def test_an_execution_that_a_user_allowed_everything_asks_nobody_while_it_runs(self):
        asked = self.cellgate.asked()
        self.run_ok("from mcptools.fix import tool_1, tool_2\ntool_1.run(s='x')\ntool_2.run(s='y')", approvals="allow")
        self.assertEqual(self.cellgate.asked(), asked)
        execution = self.cellgate.execute(ECHO + "tool_1.run(s='x')")
        self.cellgate.deny(self.cellgate.approval())
        self.assert_denied(execution, "")

    def test_code_cannot_answer_for_the_user(self):
        """All that the code can reach is the channel, and that takes no answers."""
        execution = self.cellgate.execute(
            "import os, socket, json\n"
            "path = os.environ.get('CELLGATE_TOOLS') or next(v for v in os.environ.values() if v.endswith('.sock'))\n"
            "s = socket.socket(socket.AF_UNIX)\ns.connect(path)\nf = s.makefile('rw')\n"
            "for i, method in enumerate(('approval/respond', 'policy/add', 'policy/list', 'execute',\n"
            "                            'session/create', 'initialize')):\n"
            "    print(json.dumps({'jsonrpc': '2.0', 'id': i, 'method': method, 'params': {}}), file=f, flush=True)\n"
            "    print(method, json.loads(f.readline())['error']['code'])")
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertEqual({line.split()[1] for line in execution.text().splitlines()}, {"-32601"})


class Stored(WorkspaceTest):
    """Answers that outlive the sidecar."""

    def tool_sidecar(self, server=None):
        sidecar = self.sidecar(options={"mcpServers": {"fix": server or fixture_server()}})
        sidecar.request("wrappers/generate", {"server": "fix"})
        return sidecar

    def test_a_grant_for_the_workspace_outlives_the_sidecar_and_not_a_changed_server(self):
        code = ECHO + "print(tool_1.run(s='stored'))"
        first = self.tool_sidecar()
        execution = first.execute(code)
        first.allow(first.approval(), scope="workspace")
        self.assertEqual(execution.result()["status"], "ok")
        first.close()
        self.assertEqual(self.workspace.files(), [])  # nothing of it is in the workspace, where code could write it

        second = self.tool_sidecar()
        self.assertEqual(second.run(code).result()["status"], "ok")
        self.assertEqual(second.asked(), 0)
        [rule] = [r for r in second.request("policy/list")["rules"] if r["source"] == "workspaceStore"]
        self.assertRegex(rule["payloadHash"], "^[0-9a-f]{64}$")
        second.close()

        third = self.tool_sidecar(fixture_server(env={"ANOTHER": "one"}))
        execution = third.execute(code)
        third.deny(third.approval())
        self.assertEqual(execution.result()["error"]["ename"], "ApprovalDenied")

    def test_a_workspace_is_one_workspace_and_always_is_everywhere(self):
        first = self.tool_sidecar()
        for scope, argument in (("workspace", "here"), ("always", "everywhere")):
            execution = first.execute(ECHO + f"tool_1.run(s={argument!r})")
            first.allow(first.approval(), scope=scope)
            execution.result()
        first.close()
        other = TestWorkspace()
        self.addCleanup(other.remove)
        other.home = self.workspace.home
        with Sidecar(other, options={"mcpServers": {"fix": fixture_server(cwd=str(self.workspace.path))}}) as second:
            sources = {r["source"] for r in second.request("policy/list")["rules"]}
            self.assertIn("userStore", sources)
            self.assertNotIn("workspaceStore", sources)

    def test_a_policy_that_cannot_be_read_allows_nothing(self):
        first = self.tool_sidecar()
        first.request("policy/add", {"rule": {"effect": "allow", "kind": "tool", "server": "fix"}, "scope": "always"})
        first.close()
        stored = [path for path in self.workspace.home.rglob("*.json") if b'"allow"' in path.read_bytes()]
        self.assertEqual(len(stored), 1, stored)
        stored[0].write_text(stored[0].read_text()[:-5])
        second = self.sidecar(options={"mcpServers": {"fix": fixture_server()}})
        with self.assertRaises(RpcError) as caught:
            second.request("policy/list")
        self.assertEqual(caught.exception.code, 1016)
        self.assertIn(str(stored[0]), caught.exception.message)
        with self.assertRaises(RpcError) as caught:
            second.request("tools/call", {"server": "fix", "tool": "tool-1", "arguments": {"s": "x"}})
        self.assertIn(caught.exception.code, (1014, 1016))


if __name__ == "__main__":
    unittest.main()
