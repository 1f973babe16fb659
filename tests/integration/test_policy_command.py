"""`cellgate policy`: rules that a user writes at the terminal, and what they would have covered."""

import json
import re
import unittest

from cellgate_client import Sidecar
from cli_testing import CliTest
from executions import RpcError
from tools_testing import fixture_server


class PolicyCommand(CliTest):
    def policy(self, *arguments):
        return self.cli("policy", arguments[0], "--root", str(self.workspace.path), *arguments[1:], rooted=False)

    def call(self, arguments, answer, tool="tool-1"):
        """Calls a tool of the fixture; `answer`: the user's, or None where a rule decides."""
        with Sidecar(self.workspace, options={"mcpServers": {"fix": fixture_server()}}) as cellgate:
            call = cellgate.start("tools/call", {"server": "fix", "tool": tool, "arguments": arguments})
            if answer is not None:
                cellgate.respond(cellgate.approval(), answer)
            try:
                call.result()
                return "allowed"
            except RpcError as error:
                return error.message

    def decisions(self):
        lines = self.cli("record", "export", "--root", str(self.workspace.path), "--type", "action.decided", rooted=False)
        return [entry["seq"] for entry in map(json.loads, lines.stdout.splitlines())
                if entry["data"]["action"].get("tool") == "tool-1"]

    def test_a_deny_rule_is_added_tried_listed_and_removed(self):
        added = self.policy("add", "deny fix/tool-1 s=in:[\"secret\",\"key\"]")
        self.assertEqual(added.returncode, 0, added.stderr)
        self.assertIn("deny tool tool-1 of fix", added.stdout)
        rule = added.stdout.split()[-1]
        self.assertIn(f'{rule}  deny  fix/tool-1 s=in:["secret","key"]  (workspaceStore)', self.policy("list").stdout)
        self.assertIn("deny: ", self.policy("test", "fix/tool-1 s=key").stdout)
        self.assertNotIn("deny: ", self.policy("explain", "fix/tool-1 s=other").stdout)
        self.assertIn("rule", self.call({"s": "secret"}, None))
        self.assertEqual(self.policy("add", "deny network [2606:4700::1111]:444").returncode, 0)
        self.assertIn("deny: ", self.policy("test", "network [2606:4700::1111]:444").stdout)
        self.assertNotIn("deny: ", self.policy("test", "network [2606:4700::1111]").stdout)
        self.assertEqual(self.call({"s": "other"}, "allow"), "allowed")
        self.assertEqual(self.policy("remove", rule).returncode, 0)
        self.assertNotIn(rule, self.policy("list").stdout)
        self.assertIn("the list of rules has their ids", self.policy("remove", rule).stderr)

    def test_what_is_listed_can_be_typed_again(self):
        for rule in ('deny claude/Bash command=glob:"git push**"', 'deny fix/tool-1 s=under:"a b"', 'deny fix/tool-1 s=glob:*.md',
                     'deny "my server"/"a tool" "two words"="x y"', 'deny fix/tool-1 "a/b"=glob:x',
                     'deny request example.org POST /a "/b c" q=glob:"x y*"'):
            with self.subTest(rule):
                added = self.policy("add", rule).stdout.split()[-1]
                listed = re.search(rf"(?m)^{added}  (.*)  \(workspaceStore\)$", self.policy("list").stdout)[1]
                self.assertEqual(re.sub(" +", " ", listed), rule)
                again = self.policy("add", listed)
                self.assertEqual(again.returncode, 0, again.stderr)
                for each in (added, again.stdout.split()[-1]):
                    self.policy("remove", each)

    def test_without_a_subcommand_it_lists(self):
        rule = self.policy("add", "deny fix/tool-1").stdout.split()[-1]
        self.cli("secret", "add", "--root", str(self.workspace.path), "MINE", "--command", "echo x", rooted=False)
        for words, said in (("policy", rule), ("record", "deny"), ("secret", "MINE")):
            with self.subTest(words):
                listed, alone = self.cli(words, "list", "--root", str(self.workspace.path), rooted=False), self.cli(words)
                self.assertEqual((alone.returncode, alone.stdout), (0, listed.stdout), alone.stderr)
                self.assertIn(said, alone.stdout)
                self.assertIn("{", self.cli(words, "--json").stdout)

    def test_a_rule_is_removed_by_a_beginning_of_its_id_that_no_other_has(self):
        rules = [self.policy("add", f"deny fix/tool-{number}").stdout.split()[-1] for number in range(17)]
        same = next(rule[0] for rule in rules if sum(other[0] == rule[0] for other in rules) > 1)  # of 16 digits
        fitting = [rule for rule in rules if rule[0] == same]
        refused = self.policy("remove", same)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f'{len(fitting)} rules begin with "{same}": ', refused.stderr)
        for rule in fitting:
            self.assertIn(rule, refused.stderr)
        self.assertEqual(self.policy("remove", rules[0][:12]).returncode, 0)
        self.assertEqual(set(re.findall(r"(?m)^(\w+)  deny", self.policy("list").stdout)), set(rules[1:]))
        for rule in rules[2:]:
            self.policy("remove", rule)
        for short in ("", rules[1][:3]):  # as of an unset variable of a script
            self.assertNotEqual(self.policy("remove", short).returncode, 0, short)
        self.assertIn(rules[1], self.policy("list").stdout)

    def test_no_rules_are_said_to_be_none(self):
        self.assertIn("there are no rules", self.policy("list").stdout)
        self.assertEqual(self.policy("list", "--json").stdout, "")

    def test_a_rule_that_is_wrong_is_a_wrong_argument(self):
        for words, said in ((("add", "nonsense"), "expected a rule that begins with allow"),
                            (("add", "allow network"), 'expected a rule like network example.org:443, found "network": it names no host'),
                            (("add", "allow install x"), "a rule about installs names no package"),
                            (("add", "allow request"), "it names no host"),
                            (("add", "allow request example.org GTE"), "GTE is no method of HTTP; did you mean GET?"),
                            (("add", "allow request example.org GET,DELTE"), "DELTE is no method of HTTP; did you mean DELETE?"),
                            (("add", "allow nonsense"), "there is no SERVER/"),
                            (("add", "allow host/nope"), 'expected a tool of host, found "nope"'),
                            (("add", "deny host/raed_file"), "Did you mean read_file?"),
                            (("add", "allow fix/tool-1", "--expires", "soon"), "--expires takes how long"),
                            (("test", "nonsense"), "there is no SERVER/"),
                            (("suggest", "abc"), "expected a whole number from 0 on, found abc")):
            with self.subTest(words):
                refused = self.policy(*words)
                self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                self.assertIn(said, refused.stderr)
        # What could be, and is not, is no wrong argument.
        self.assertEqual(self.policy("remove", "nope").returncode, 1)
        self.assertEqual(self.policy("suggest", "99").returncode, 1)

    def test_without_a_terminal_the_rule_that_asks_is_named(self):
        arguments = ("host", "read_file", '{"path": "notes.txt"}', "--allow", "host/read_file path=notes.txt")
        self.assertEqual(self.cli("call", *arguments).returncode, 0)  # the control
        rule = self.policy("add", "ask host/*").stdout.split()[-1]
        denied = self.cli("call", *arguments)
        self.assertEqual((denied.returncode, denied.stdout), (1, ""))
        self.assertIn(f"a rule asks about it: {rule}  ask  host/*", denied.stderr)
        self.assertIn("Run it at a terminal, or remove the rule:\n", denied.stderr)
        self.assertNotIn("would be allowed", denied.stderr)

    def test_a_rule_with_the_name_of_a_tools_wrapper_is_no_rule_of_the_tool_and_protects_it(self):
        rule = self.policy("add", "deny fix/tool_1").stdout.split()[-1]  # the server does not run
        told = self.call({"s": "x"}, None)
        self.assertIn(f'the deny rule "{rule}" can match no call', told)
        self.policy("remove", rule)
        self.assertEqual(self.call({"s": "x"}, "allow"), "allowed")  # the control

    def test_without_a_sidecar_it_says_that_a_tool_was_not_checked(self):
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": {"fix": fixture_server()}}))
        said = self.policy("add", "deny fix/tol-1").stderr
        self.assertIn("whether there is a tool fix/tol-1 was not checked", said)
        self.assertIn("`cellgate generate fix` starts it", said)
        said = self.policy("add", "deny fux/tool-1").stderr
        self.assertIn("no file of the workspace names a tool server fux, and no sidecar runs", said)
        self.assertIn("Did you mean fix?", said)

    def test_the_agents_of_hooks_are_no_unknown_servers(self):
        for server in ("claude", "codex"):
            self.assertEqual(self.policy("add", f"allow {server}/Read").stderr, "")
        self.assertIn("no file of the workspace names", self.policy("add", "allow claud/Read").stderr)  # the control

    def test_the_hint_for_a_wide_rule_is_about_its_tool(self):
        for tool in ("write_file", "run_command"):
            refused = self.policy("add", f"allow host/{tool}")
            self.assertIn(f"name its arguments whole: host/{tool} ={{", refused.stderr)

    def test_an_allow_rule_says_what_it_would_have_allowed_and_asks(self):
        self.call({"s": "data/a.txt"}, "allow")
        self.call({"s": "data/b.txt"}, "deny")
        self.call({"s": "other"}, "deny")
        refused = self.policy("add", "allow fix/tool-1 s=glob:data/*")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("covers 1 action that was allowed and 1 action that was denied", refused.stdout)
        self.assertIn("It would have allowed what was denied: ", refused.stdout)
        self.assertIn("--yes", refused.stderr)
        self.assertNotIn("glob:data", self.policy("list").stdout)
        for answer, count in (("n", 0), ("y", 1)):
            terminal = self.terminal("policy", "add", "--root", str(self.workspace.path), "allow fix/tool-1 s=glob:data/*",
                                     rooted=False)
            terminal.expect(r"Add it\? \[y/N\] ")
            terminal.type(answer)
            terminal.wait_end()
            self.assertEqual(self.policy("list").stdout.count("glob:data"), count)
        self.policy("remove", re.search(r"(?m)^(\w+)  allow  fix/tool-1 s=glob", self.policy("list").stdout)[1])
        self.assertEqual(self.policy("add", "--yes", "--expires", "1h", "allow fix/tool-1 s=glob:data/*").returncode, 0)
        self.assertRegex(self.policy("list").stdout, r"allow  fix/tool-1 s=glob:data/\*, until \S+Z  \(workspaceStore\)")
        self.assertEqual(self.call({"s": "data/c.txt"}, None), "allowed")

    def test_what_no_user_was_there_to_decide_is_no_users_denial(self):
        self.cli("generate", "host")
        script = self.script("from mcptools.host import read_file\nread_file.run(path='notes.txt')\n")
        self.assertEqual(self.cli("run", script).returncode, 1)
        lines = self.cli("record", "export", "--root", str(self.workspace.path), "--type", "action.decided", rooted=False)
        entry = json.loads(lines.stdout.splitlines()[-1])
        self.assertEqual((entry["actor"], entry["data"]["by"], entry["data"]["decision"]), ("cellgate", "noClient", "deny"))
        added = self.policy("add", "allow host/read_file path=notes.txt")  # as the run's advice has it: no --yes
        self.assertEqual(added.returncode, 0, added.stderr)
        self.policy("remove", added.stdout.split()[-1])

    def test_a_rule_in_words_says_its_values(self):
        for rule, words in (("deny fix/tool-1 s=key", 'deny tool tool-1 of fix with /s equal to "key"'),
                            ("deny fix/tool-1 s=in:[1,2]", "with /s one of 1, 2"),
                            ("deny fix/tool-1 s=in:[1,2,3,4,5,6]", "with /s one of 6 values"),
                            ('deny host/run_command ={"argv":["rm"]}', 'with arguments equal to {"argv":["rm"]}')):
            added = self.policy("add", rule)
            self.assertIn(words + "\n", added.stdout)
            self.policy("remove", added.stdout.split()[-1])

    def test_a_rule_with_uses_ends_after_so_many_calls(self):
        added = self.policy("add", "--uses", "2", "allow fix/tool-1")
        self.assertEqual(added.returncode, 0, added.stderr)
        self.assertIn("allow tool tool-1 of fix, for 2 more calls", added.stdout)
        rule = added.stdout.split()[-1]
        for left in ("for 2 more", "for 1 more"):
            self.assertIn(left, self.policy("list").stdout)
            self.assertEqual(self.call({"s": "a"}, None), "allowed")
        self.assertNotIn(rule, self.policy("list").stdout)
        self.assertNotEqual(self.call({"s": "a"}, "deny"), "allowed")
        lines = self.cli("record", "export", "--root", str(self.workspace.path), "--type", "policy.removed", rooted=False)
        self.assertEqual([json.loads(line)["data"] for line in lines.stdout.splitlines()],
                         [{"ruleId": rule, "reason": "its last use was taken"}])

    def test_a_rule_with_a_test_that_fails_is_refused_and_of_a_file_left_out(self):
        rule = {"effect": "allow", "kind": "tool", "server": "fix", "tool": "tool-1",
                "arguments": {"/s": {"under": "data"}}, "tests": {"match": [{"s": "data/a"}], "noMatch": [{"s": "other/a"}]}}
        data = self.workspace.path / "data"
        data.mkdir()
        with Sidecar(self.workspace, options={"mcpServers": {"fix": fixture_server()}}) as cellgate:
            wrong = {**rule, "tests": {"match": [{"s": "other/a"}]}}
            with self.assertRaisesRegex(RpcError, "match\\[0\\]"):
                cellgate.request("policy/add", {"rule": wrong, "scope": "workspace"})
            added = cellgate.request("policy/add", {"rule": rule, "scope": "workspace"})
            self.assertEqual(added["tests"], rule["tests"])
        self.assertEqual(self.call({"s": "data/a"}, None), "allowed")
        data.rmdir()
        data.symlink_to(".")
        said = self.policy("test", "fix/tool-1 s=data/a").stdout
        self.assertIn("noMatch[0]", said)
        self.assertNotEqual(self.call({"s": "data/a"}, "deny"), "allowed")

    def test_rules_about_requests_are_added_tried_and_listed(self):
        inspecting = self.policy("add", "inspect request api.example.org", "--header", "X-Key: ${secret:TOKEN}",
                                 "--variable", "API_TOKEN")
        self.assertEqual(inspecting.returncode, 0, inspecting.stderr)
        self.assertIn("inspect request to api.example.org", inspecting.stdout)
        self.assertIn("it decides nothing", inspecting.stdout)
        signing = self.policy("add", "inspect request *.amazonaws.com", "--aws", "${secret:ID}:${secret:KEY}")
        self.assertIn('signed for AWS with "${secret:ID}:${secret:KEY}"', signing.stdout)
        self.assertEqual(self.policy("add", "allow request api.example.org read-only /repos/**").returncode, 0)
        self.assertEqual(self.policy("add", "deny request api.example.org POST /graphql query=glob:**mutation**").returncode, 0)
        listed = self.policy("list").stdout
        for line in ("inspect  request *.amazonaws.com --aws ${secret:ID}:${secret:KEY}  (workspaceStore)",
                     'inspect  request api.example.org --header "X-Key: ${secret:TOKEN}" --variable API_TOKEN  (workspaceStore)',
                     "allow  request api.example.org GET,HEAD /repos/**  (workspaceStore)",
                     "deny  request api.example.org POST /graphql query=glob:**mutation**  (workspaceStore)"):
            self.assertIn(line, listed)
        for action, effect in (("GET /repos/x?page=2", "allow"), ("GET /repos/../x", "ask"), ("DELETE /repos/x", "ask"),
                               ('POST /graphql query="mutation { a/b }"', "deny"), ("POST /graphql query=x", "ask")):
            self.assertTrue(self.policy("test", f"request api.example.org {action}").stdout.startswith(f"{effect}: "), action)
        for rule, problem in (("allow request api.example.org get", "in capitals"),
                              ("allow request api.example.org --bearer ${secret:T}", "only a rule that inspects"),
                              ("inspect request a.org --aws ${secret:ID}", "ACCESSKEYID:SECRETKEY"),
                              ("inspect request a.org --aws ${secret:ID}:${secret:KEY} --variable X", "expected no variable"),
                              ("inspect network api.example.org", "inspect request")):
            refused = self.policy("add", rule)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(problem, refused.stderr)

    def test_arguments_whose_names_have_slashes_are_tried(self):
        self.assertEqual(self.policy("add", 'deny odd/tool a/b~c=1').returncode, 0)
        self.assertIn('odd/tool "a/b~c"=1', self.policy("list").stdout)
        self.assertIn("deny: ", self.policy("test", "odd/tool a/b~c=1").stdout)
        self.assertNotIn("deny: ", self.policy("test", "odd/tool a/b~c=2").stdout)
        deep = self.policy("test", "odd/tool /a/b=1")
        self.assertEqual(deep.returncode, 2)
        self.assertIn("a place within an argument", deep.stderr)

    def test_the_narrowest_rule_for_past_calls_is_suggested(self):
        self.call({"s": "data/a.txt", "b": True}, "allow")
        self.call({"s": "data/deep/b.txt", "b": True}, "allow")
        suggested = self.policy("suggest", *map(str, self.decisions()))
        self.assertEqual(suggested.returncode, 0, suggested.stderr)
        self.assertEqual(suggested.stdout.splitlines(), [
            "allow  fix/tool-1 b=true s=under:data",
            "of the last 30 days it covers 2 actions that were allowed and 0 actions that were denied"])
        rule = json.loads(self.policy("suggest", "--json", *map(str, self.decisions())).stdout.splitlines()[0])
        self.assertEqual(rule["arguments"], {"/b": {"equals": True}, "/s": {"under": "data"}})
        none = self.policy("suggest", "9999")
        self.assertEqual(none.returncode, 1)
        self.assertIn("entry 9999 of the record is no decision", none.stderr)

    def test_what_is_no_rule_is_refused(self):
        for text in ("forbid fix/tool-1", "allow fix", "deny fix/tool-1 n=less:x", "allow network not a host"):
            refused = self.policy("add", text)
            self.assertEqual(refused.returncode, 2, text)
            self.assertIn("cellgate: expected", refused.stderr)


if __name__ == "__main__":
    unittest.main()
