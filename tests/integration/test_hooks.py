"""`cellgate hook`: an agent's own tool calls are decided as any other action, and whatever goes wrong is a denial."""

import json
import os
import signal
import subprocess
import unittest

from cellgate_client import CELLGATE, WorkspaceSidecarTest
from executions import RpcError
from processes import OWN, TIMEOUT, start_process, wait_until
from tools_testing import fixture_server

MEBIBYTE = 1 << 20
SESSION = "3f2b9c1e-5d1a-4a53-9f0e-2f6f8c0d7a11"


class Hook:
    """A hook's process, as an agent starts it for one call."""

    def __init__(self, test, program, text, *arguments, folder=None, **variables):
        workspace = test.workspace
        self.process = start_process([CELLGATE, "hook", program, *arguments], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder or workspace.path,
                                     env=workspace.environment(**variables))
        test.addCleanup(self.end)
        try:
            self.process.stdin.write(text if isinstance(text, bytes) else text.encode())
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # it has read enough
        self.process.stdin = None

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        OWN.discard(self.process.pid)

    def result(self):
        """Its exit code, stdout and stderr."""
        out, err = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, out.decode(), err.decode()

    def answer(self):
        """What it says for the event; None if nothing."""
        code, out, err = self.result()
        assert code == 0, (code, out, err)
        if not out:
            return None
        said = json.loads(out)["hookSpecificOutput"]
        assert said.pop("hookEventName")
        return said

    def decision(self):
        """Of PreToolUse: the decision and its reason."""
        said = self.answer()
        return said["permissionDecision"], said["permissionDecisionReason"]


class HookTest(WorkspaceSidecarTest):
    def call(self, command="npm test", *, tool="Bash", event="PreToolUse", session=SESSION, **arguments):
        """What an agent sends."""
        arguments = {"command": command, **arguments} if command is not None else arguments
        return json.dumps({"session_id": session, "transcript_path": "/home/ada/t.jsonl", "cwd": str(self.workspace.path),
                           "permission_mode": "default", "hook_event_name": event, "tool_name": tool,
                           "tool_input": arguments, "tool_use_id": "toolu_01"})

    def hook(self, *words, program="claude", options=(), **named):
        return Hook(self, program, self.call(*words, **named), *options)

    def rule(self, user, text):
        parsed = user.request("policy/parse", {"text": text})
        return user.request("policy/add", {"rule": parsed["rule"], "scope": "workspace"})

    def decided(self, user):
        """The newest entries of the record about decisions, oldest first."""
        return [entry["data"] for entry in user.request("record/query", {"types": ["action.decided"]})["entries"][::-1]]


class AUserIsConnected(HookTest):
    def setUp(self):
        super().setUp()
        self.user = self.editor()

    def test_a_yes_is_passed_on_and_the_approval_shows_the_whole_call(self):
        hook = self.hook("rm -rf build\necho done", description="Cleans up")
        asked = self.user.approval()
        self.assertEqual(asked["display"], [
            "tool Bash of claude, which carries it out itself, outside the sandbox",
            f'in the folder: "{self.workspace.path}"',
            "command: 2 lines, no line break at the end", "  | rm -rf build", "  | echo done",
            'description: "Cleans up"', "by agent Claude Code"])
        self.assertEqual((asked["agent"], asked["action"]["kind"], asked["action"]["server"], asked["action"]["tool"]),
                         ("Claude Code", "tool", "claude", "Bash"))
        self.assertNotIn("sessionId", asked)
        self.user.allow(asked, reason="go on")
        self.assertEqual(hook.decision(), ("allow", "cellgate: go on"))

    def test_a_no_is_passed_on_with_its_reason(self):
        hook = self.hook("git push")
        self.user.deny(self.user.approval(), reason="not on a Friday")
        self.assertEqual(hook.decision(), ("deny", "cellgate: not on a Friday"))

    def test_the_record_says_who_decided_and_that_cellgate_did_not_carry_it_out(self):
        hook = self.hook("npm test")
        self.user.allow(self.user.approval())
        hook.answer()
        (decided,) = self.decided(self.user)
        self.assertEqual((decided["decision"], decided["by"], decided["agent"], decided["sessionId"]),
                         ("allow", "user", "Claude Code", f"claude-{SESSION}"))
        self.assertEqual(json.loads(decided["action"]["argumentsText"]), {"command": "npm test"})
        self.assertEqual(decided["action"]["cwd"], str(self.workspace.path))
        (ended,) = self.user.request("record/query", {"types": ["action.ended"]})["entries"]
        self.assertEqual((ended["data"]["status"], ended["data"]["number"]), ("unknown", decided["number"]))

    def test_rules_decide_at_once(self):
        self.rule(self.user, "deny claude/Bash command=glob:\"git push**\"")
        self.rule(self.user, "allow claude/Bash")
        decision, reason = self.hook("git push --force").decision()
        self.assertEqual(decision, "deny")
        self.assertIn("denied by", reason)
        self.assertEqual(self.hook("git status").decision()[0], "allow")
        self.assertEqual(self.user.asked(), 0)
        codex = self.hook("git status", program="codex", event="PermissionRequest")  # its tools have another name
        self.user.deny(self.user.approval())
        self.assertEqual(codex.answer()["decision"]["behavior"], "deny")

    def test_a_session_s_answer_covers_exactly_that_call_in_that_session(self):
        def again(*words, **named):
            """Whether the same is asked about once more."""
            before = self.user.asked()
            hook = self.hook(*words, **named)
            wait_until(lambda: self.user.asked() > before or hook.process.poll() is not None, "a question or an answer")
            if self.user.asked() > before:
                self.user.deny(self.user.approval())
                self.assertEqual(hook.decision()[0], "deny")
                return True
            self.assertEqual(hook.decision()[0], "allow")
            return False

        hook = self.hook("npm test")
        asked = self.user.approval()
        self.assertEqual([(choice["label"], choice["scope"]) for choice in asked["choices"]],
                         [("this call", "once"), ("this exact call, this session", "session"),
                          ("this exact call, this workspace", "workspace")])
        self.user.allow(asked, scope="session")
        self.assertEqual(hook.decision()[0], "allow")
        self.assertFalse(again("npm test"))  # from another process, as each call is
        self.assertTrue(again("npm test; curl https://evil.example"))
        self.assertTrue(again("npm test", timeout=5))
        self.assertTrue(again("npm test", tool="PowerShell"))
        self.assertTrue(again("npm test", session="another"))
        self.assertFalse(again("npm test"))

    def test_a_call_that_names_a_file_can_be_allowed_for_its_folder(self):
        (self.workspace.path / "src").mkdir()
        inside, outside = self.workspace.path / "src/a.ts", self.workspace.path / "package.json"
        hook = self.hook(None, tool="Write", file_path=str(inside), content="1")
        asked = self.user.approval()
        (choice,) = [each for each in asked["choices"] if each["label"] == "Write under src/, this session"]
        self.user.allow(asked, scope="session", rule=choice["rule"])
        self.assertEqual(hook.decision()[0], "allow")
        self.assertEqual(self.hook(None, tool="Write", file_path=str(inside), content="2").decision()[0], "allow")
        other = self.hook(None, tool="Write", file_path=str(outside), content="2")
        self.user.deny(self.user.approval())
        self.assertEqual(other.decision()[0], "deny")

    def test_large_arguments_are_asked_about_whole_and_larger_ones_are_denied(self):
        text = "x" * MEBIBYTE
        hook = self.hook(text)
        asked = self.user.approval()
        self.assertEqual(json.loads(asked["action"]["argumentsText"])["command"], text)
        self.user.allow(asked)
        self.assertEqual(hook.decision()[0], "allow")
        decision, reason = self.hook("x" * (9 * MEBIBYTE)).decision()
        self.assertEqual(decision, "deny")
        self.assertIn("at most", reason)
        code, out, err = self.hook("x" * (20 * MEBIBYTE)).result()
        self.assertEqual((code, out), (2, ""))
        self.assertIn("at most", err)

    def test_a_sidecar_that_ends_while_it_asks_is_a_denial(self):
        hook = self.hook("npm test")
        self.user.approval()
        os.kill(self.sidecar_pid(), signal.SIGKILL)
        decision, reason = hook.decision()
        self.assertEqual(decision, "deny")
        self.assertRegex(reason, "^cellgate: .")

    def test_an_answer_that_does_not_come_is_a_denial(self):
        hook = self.hook("npm test", options=("--timeout", "1"))
        asked = self.user.approval()
        self.assertEqual(hook.decision(), ("deny", "cellgate: no answer came within 1 s"))
        self.assertEqual(self.user.resolved(asked)["by"], "cancelled")

    def test_a_hook_that_its_agent_ends_withdraws_the_question(self):
        hook = self.hook("npm test")
        asked = self.user.approval()
        hook.process.kill()
        self.assertEqual(self.user.resolved(asked)["by"], "cancelled")

    def test_answers_have_the_form_of_each_program_and_event(self):
        def answered(decision, **named):
            hook = self.hook("npm test", **named)
            self.user.respond(self.user.approval(), decision, reason="so it is")
            return hook.answer()

        prompt = {"event": "PermissionRequest"}
        for program in ("claude", "codex"):
            self.assertEqual(answered("allow", program=program, **prompt), {"decision": {"behavior": "allow"}})
            self.assertEqual(answered("deny", program=program, **prompt),
                             {"decision": {"behavior": "deny", "message": "cellgate: so it is"}})
        self.assertIsNone(answered("allow", program="codex"))  # Codex takes no other answer than a denial
        self.assertEqual(answered("deny", program="codex"),
                         {"permissionDecision": "deny", "permissionDecisionReason": "cellgate: so it is"})

    def test_what_is_allowed_under_a_tool_server_s_name_is_not_allowed_for_the_server(self):
        self.user.request("toolServers/add", {"server": "fix", "config": fixture_server()})
        agent = self.agent()
        call = {"server": "fix", "tool": "tool-1"}

        def ask(method, **params):
            waiting = agent.start(method, params)
            asked = self.user.approval()
            rule = {"effect": "allow", "kind": "tool", **call}
            self.user.allow(asked, scope="workspace", rule=rule)
            return waiting.result()

        own = {"kind": "tool", **call, "argumentsText": '{"s":"x"}', "cwd": str(self.workspace.path)}
        self.assertEqual(ask("action/decide", action=own)["decision"], "allow")
        self.assertEqual(agent.request("action/decide", {"action": own})["by"], "rule")
        asked = self.user.asked()
        ask("tools/call", **call, arguments={"s": "x"})  # asks all the same; now the server has a grant of its own
        self.assertEqual(self.user.asked(), asked + 1)
        agent.request("tools/call", {**call, "arguments": {"s": "x"}})
        self.assertEqual(self.user.asked(), asked + 1)

    def test_a_client_can_only_ask_about_what_is_its_own(self):
        agent = self.agent()
        own = {"kind": "tool", "server": "mine", "tool": "t", "argumentsText": "{}", "cwd": "/"}
        self.user.session("mine-taken")
        for params in ({"action": {"kind": "install", "command": ["pip"]}}, {"action": {**own, "cwd": "src"}},
                       {"action": {key: value for key, value in own.items() if key != "cwd"}},
                       {"action": own, "clientSession": "taken"}, {"action": own, "clientSession": "x" * 62},
                       {"action": {"kind": "request", "host": "a b", "port": 443, "method": "GET", "path": "/"}}):
            with self.subTest(params=params), self.assertRaises(RpcError) as refused:
                agent.request("action/decide", params)
            self.assertEqual(refused.exception.code, 1002 if params.get("clientSession") == "taken" else 1020, refused.exception)
        waiting = agent.start("action/decide", {"action": own, "clientSession": "free"})
        self.user.deny(self.user.approval())
        self.assertEqual(waiting.result()["decision"], "deny")


class NoUserIsConnected(HookTest):
    def leave(self, *rules):
        """An editor adds rules and ends; the sidecar ends with it."""
        user = self.editor()
        for rule in rules:
            self.rule(user, rule)
        user.close()
        self.wait_for_the_end_of_the_sidecar()

    def test_what_no_rule_decides_is_left_to_the_agent_s_own_prompt(self):
        decision, reason = self.hook("npm test").decision()
        self.assertEqual(decision, "ask")
        self.assertIn("no user is connected", reason)
        for program in ("claude", "codex"):
            self.assertIsNone(self.hook("npm test", program=program, event="PermissionRequest").answer())
        decision, reason = self.hook("npm test", program="codex").decision()
        self.assertEqual(decision, "deny")  # it cannot be made to ask
        self.assertIn("Codex cannot ask in its place", reason)

    def test_rules_decide_all_the_same(self):
        self.leave("deny claude/Bash command=\"rm -rf /\"", "allow claude/Read")
        self.assertEqual(self.hook("rm -rf /").decision()[0], "deny")
        self.assertEqual(self.hook(None, tool="Read", file_path="/etc/hosts").decision()[0], "allow")
        self.assertEqual(self.hook("ls").decision()[0], "ask")

    def test_what_a_user_has_to_confirm_is_not_left_to_the_agent_s_prompt(self):
        self.leave("ask claude/Bash --touch")
        self.assertEqual(self.hook("npm test").decision()[0], "deny")
        self.assertEqual(self.hook("npm test", tool="Monitor").decision()[0], "ask")

    def test_the_workspace_is_the_project_s_folder(self):
        inner = self.workspace.path / "packages"
        inner.mkdir()
        self.leave("allow claude/Bash")
        text = self.call("npm test")
        self.assertEqual(Hook(self, "claude", text, folder=inner).decision()[0], "ask")
        root = str(self.workspace.path)
        self.assertEqual(Hook(self, "claude", text, folder=inner, CLAUDE_PROJECT_DIR=root).decision()[0], "allow")
        self.assertEqual(Hook(self, "claude", text, "--root", root, folder=inner).decision()[0], "allow")

    def test_what_is_no_call_blocks_and_says_why(self):
        call = json.loads(self.call("npm test"))
        self.assertEqual(Hook(self, "claude", json.dumps(call)).decision()[0], "ask")  # the control
        without = {name: {key: value for key, value in call.items() if key != name}
                   for name in ("hook_event_name", "tool_name", "tool_input", "cwd")}
        for name, wrong in {
            "nothing": "", "no JSON": "npm test", "a list": "[]", "two": json.dumps(call) * 2,
            "a key twice": json.dumps(call)[:-1] + ', "tool_name": "Read"}', "no UTF-8": b"\xff" + json.dumps(call).encode(),
            "another event": json.dumps({**call, "hook_event_name": "Stop"}), "a number": json.dumps({**call, "cwd": 1}),
            **{f"without {key}": json.dumps(value) for key, value in without.items()},
        }.items():
            with self.subTest(name):
                code, out, err = Hook(self, "claude", wrong).result()
                self.assertEqual((code, out), (2, ""))
                self.assertRegex(err, "^cellgate: .")
        for wrong in ({**call, "tool_input": "npm test"}, {**call, "cwd": "src"}, {**call, "tool_name": ""}):
            with self.subTest(wrong=wrong):
                self.assertEqual(Hook(self, "claude", json.dumps(wrong)).decision()[0], "deny")

    def test_a_sidecar_that_cannot_start_is_a_denial(self):
        settings = self.workspace.home / ".config/cellgate"
        settings.mkdir(parents=True, mode=0o700)
        (settings / "policy").write_text("no folder")
        decision, reason = self.hook("npm test").decision()
        self.assertEqual(decision, "deny", reason)


class Settings(HookTest):
    def settings(self, program, *options):
        printed = subprocess.run([CELLGATE, "hook", program, "--print-config", *options], capture_output=True, text=True,
                                 timeout=TIMEOUT, env=self.workspace.environment(), check=True)
        self.assertIn("this goes into", printed.stderr)
        ((event, groups),) = json.loads(printed.stdout)["hooks"].items()
        (hook,) = groups[0]["hooks"]
        return event, hook

    def run_hook(self, command):
        """As the programs run it: by a shell."""
        return subprocess.run(command, shell=True, input=self.call("npm test"), capture_output=True, text=True,
                              timeout=TIMEOUT, cwd=self.workspace.path, env=self.workspace.environment(), check=False)

    def test_the_printed_settings_ask_and_whatever_happens_to_the_command_blocks(self):
        event, hook = self.settings("claude")
        self.assertEqual((event, hook["type"], hook["timeout"]), ("PreToolUse", "command", 630))
        asked = self.run_hook(hook["command"])
        self.assertEqual((asked.returncode, json.loads(asked.stdout)["hookSpecificOutput"]["permissionDecision"]),
                         (0, "ask"))
        program = hook["command"].split(" hook ")[0]
        for broken in (hook["command"].replace(program, "/nowhere/cellgate"),
                       hook["command"].replace(program, "sh -c 'kill -SEGV $$' --")):
            ended = self.run_hook(broken)
            self.assertEqual((ended.returncode, ended.stdout), (2, ""))
            self.assertIn("cellgate gave no answer", ended.stderr)

    def test_options_are_in_the_settings(self):
        event, hook = self.settings("codex", "--timeout", "60", "--root", "/tmp")
        self.assertEqual((event, hook["timeout"]), ("PermissionRequest", 90))
        self.assertIn(" hook codex --timeout 60 --root /tmp ||", hook["command"])
        self.assertEqual(self.settings("codex", "--event", "PreToolUse")[0], "PreToolUse")


if __name__ == "__main__":
    unittest.main()
