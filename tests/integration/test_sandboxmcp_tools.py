"""`cellgate mcp --as sandboxmcp`: its 23 tools, each as sandboxmcp describes it, and what only a user can do."""

import base64
import hashlib
import json
import subprocess
import unittest

from cellgate_client import CELLGATE, arguments_of
from language_testing import DENO
from mcp_testing import McpTest, text_of
from processes import wait_until
from workspaces import SYSTEM_PATH

TOOLS = set("""execute_code install_package validate_code create_session terminate_session bridge_data list_runtimes
set_resource_limits sandbox_stats inspect_state get_artifacts request_egress audit_execution web_search fetch_webpage
browser_fetch host_exec request_host_access list_host_access host_file_read host_file_write host_file_list
host_file_copy""".split())
PICTURE = b"not really a picture"
SHOW = f"from IPython.display import Image, display\ndisplay(Image(data={PICTURE!r}, format='png'))"


class SandboxmcpTest(McpTest):
    def environment(self, **variables):
        return self.workspace.environment(PATH=f"{DENO.parent}:{SYSTEM_PATH}", **variables)

    def agent(self, name="an-agent", **variables):
        return self.mcp(name, tools="sandboxmcp", environment=self.environment(**variables))

    def json_of(self, result):
        self.assert_ok(result)
        value = json.loads(text_of(result))
        self.assertEqual(result["structuredContent"], value)
        return value

    def run_code(self, agent, code, **arguments):
        return self.json_of(agent.call("execute_code", code=code, **arguments))

    def session(self, agent, **arguments):
        return self.json_of(agent.call("create_session", **arguments))["session_id"]


class Tools(SandboxmcpTest):
    def test_it_offers_exactly_its_23_tools_and_an_unknown_parameter_is_an_error(self):
        agent = self.agent()
        tools = {tool["name"] for tool in agent.request("tools/list")["tools"]}
        self.assertEqual((tools, len(tools)), (TOOLS, 23))
        self.assert_failed(agent.call("execute_code", code="1", network=True), "network")
        self.assert_failed(agent.call("get_artifacts"), "request_id")


class Code(SandboxmcpTest):
    def test_python_has_its_streams_status_and_fresh_variables(self):
        agent, editor = self.agent(), self.editor()
        result = self.run_code(agent, "import sys\nx = 1\nprint('one')\nprint('two', file=sys.stderr)\nx + 1")
        self.assertEqual({name: result[name] for name in ("status", "exit_code", "stdout", "stderr", "result", "artifacts")},
                         {"status": "ok", "exit_code": 0, "stdout": "one\n", "stderr": "two\n", "result": "2", "artifacts": []})
        self.assertNotIn("result", self.run_code(agent, "print('one')"))
        self.assertNotIn("layers", result)
        failed = self.run_code(agent, "x")
        self.assertEqual((failed["status"], failed["exit_code"]), ("error", 1))
        self.assertIn("NameError", failed["error"])
        self.assertIn("NameError", failed["stderr"])
        for code, status in (("4", 4), ("", 0), ("'a text'", 1)):
            self.assertEqual(self.run_code(agent, f"import sys\nsys.exit({code})")["exit_code"], status)
        self.assertEqual(editor.request("session/list")["sessions"], [])

    def test_shell_has_its_exit_status(self):
        agent = self.agent()
        for code, exit_code in (("echo out; echo err >&2; (exit 7)", 7), ("echo out; echo err >&2; exit 3", 3)):
            result = self.run_code(agent, code, language="shell")
            self.assertEqual({name: result[name] for name in ("status", "exit_code", "stdout", "stderr", "error")},
                             {"status": "error", "exit_code": exit_code, "stdout": "out\n", "stderr": "err\n",
                              "error": f"ExitStatus: exit status {exit_code}"})

    @unittest.skipUnless(DENO.exists(), "npm's packages are not installed")
    def test_node(self):
        self.assertEqual(self.run_code(self.agent(), "console.log(6 * 7)", language="node")["stdout"], "42\n")

    def test_a_language_that_it_has_not(self):
        self.assert_failed(self.agent().call("execute_code", code="1", language="cobol"), "python, node or shell")

    def test_limits_of_an_execution(self):
        agent = self.agent()
        late = self.run_code(agent, "print('begun')\nwhile True: pass", resource_limits={"timeout_seconds": 1})
        self.assertEqual((late["status"], late["exit_code"], late["stdout"]), ("timeout", 124, "begun\n"))
        code = "print(len(bytearray(600 * 2 ** 20)))"
        large = self.run_code(agent, code, resource_limits={"max_ram_mb": 512})
        self.assertIn("MemoryError", large["error"])
        self.assertEqual(self.run_code(agent, code)["stdout"], f"{600 * 2 ** 20}\n")  # the control
        cut = self.run_code(agent, "print('x' * 100)", resource_limits={"max_output_bytes": 10})
        self.assertEqual(cut["stdout"], "x" * 10 + "\n[Output truncated]")
        cut = self.run_code(agent, "'x' * 100", resource_limits={"max_output_bytes": 10})
        self.assertEqual(cut["result"], "'" + "x" * 9 + "\n[Output truncated]")
        self.assert_failed(agent.call("execute_code", code="1", resource_limits={"max_ram_mb": 9000}),
                           "max_ram_mb, in bytes: expected at most")
        self.assert_failed(agent.call("execute_code", code="1", resource_limits={"timeout_seconds": 301}),
                           "timeout_seconds: expected at most")

    def test_the_limits_of_the_variables(self):
        agent = self.agent(SANDBOXMCP_TIMEOUT="1", SANDBOXMCP_MAX_RAM_MB="512")
        self.assertEqual(self.run_code(agent, "while True: pass")["status"], "timeout")
        self.assertIn("MemoryError", self.run_code(agent, "bytearray(600 * 2 ** 20)")["error"])

    def test_as_many_run_at_a_time_as_may(self):
        agent, editor = self.agent(SANDBOXMCP_MAX_CONCURRENT="1"), self.editor()
        calls = [agent.start_call("execute_code", code="import time\ntime.sleep(1)\nprint(1)") for _ in range(2)]
        wait_until(lambda: editor.request("session/list")["sessions"], "the first to start")
        stats = self.json_of(agent.call("sandbox_stats"))
        self.assertEqual((stats["executions"]["running"], stats["executions"]["waiting"], stats["max_concurrent"]), (1, 1, 1))
        self.assertLessEqual(len(editor.request("session/list")["sessions"]), 1)
        for call in calls:
            self.assertEqual(self.json_of(agent.answer(call))["stdout"], "1\n")

    def test_validation_mends_what_it_can(self):
        agent = self.agent()
        result = self.json_of(agent.call("validate_code", code="print(json.dumps(1))\neval('1')"))
        self.assertTrue(result["valid"])
        self.assertEqual(result["fixed_code"], "import json\nprint(json.dumps(1))\neval('1')")
        self.assertTrue(any("eval" in line for line in result["warnings"]), result)
        broken = self.json_of(agent.call("validate_code", code="if 1\n    pass", auto_fix=False))
        self.assertEqual((broken["valid"], "fixed_code" in broken), (False, False))
        self.assertFalse(self.json_of(agent.call("validate_code", code="if true; then", language="shell"))["valid"])

    def test_code_that_nothing_looked_at_is_neither_valid_nor_invalid(self):
        agent = self.mcp("an-agent", tools="sandboxmcp", environment=self.workspace.environment(PATH=SYSTEM_PATH))
        self.assert_failed(agent.call("validate_code", code="let x = 1;", language="node"),
                           "not checked: needs deno: npm install deno")

    def test_artifacts_are_pictures_and_changed_files_with_their_hashes(self):
        agent = self.agent()
        result = self.run_code(agent, SHOW + "\nopen('made.txt', 'w').write('made')")
        picture = {"name": "output-1.png", "sha256": hashlib.sha256(PICTURE).hexdigest(), "size": len(PICTURE),
                   "mime_type": "image/png"}
        file = {"name": "made.txt", "sha256": hashlib.sha256(b"made").hexdigest(), "size": 4, "change": "created"}
        self.assertEqual((result["artifacts"], result["stdout"]), ([picture, file], ""))
        asked = {"request_id": result["request_id"]}
        self.assertEqual(self.json_of(agent.call("get_artifacts", **asked)), {**asked, "artifacts": [picture, file]})
        with_content = self.json_of(agent.call("get_artifacts", **asked, include_content=True))["artifacts"]
        self.assertEqual(base64.b64decode(with_content[0]["content"]), PICTURE)
        self.assert_failed(agent.call("get_artifacts", request_id="nothing"), "there is no request")
        self.assert_failed(self.agent("other").call("get_artifacts", **asked), "there is no request")

    def test_the_record_of_its_own_executions(self):
        agent, other = self.agent(), self.agent("other")
        first = self.run_code(agent, "print('first')", namespace="one")["request_id"]
        second = self.run_code(agent, "1 / 0", namespace="two")["request_id"]
        theirs = self.run_code(other, "1")["request_id"]
        entries = self.json_of(agent.call("audit_execution"))["entries"]
        self.assertEqual({entry["executionId"] for entry in entries}, {first, second})
        self.assertLessEqual({"execution.started", "execution.ended"}, {entry["type"] for entry in entries})
        self.assertEqual(entries[0]["executionId"], second)  # newest first
        for asked in ({"request_id": first}, {"namespace": "one"}):
            found = self.json_of(agent.call("audit_execution", **asked))["entries"]
            self.assertEqual({entry["executionId"] for entry in found}, {first})
        self.assertEqual(len(self.json_of(agent.call("audit_execution", limit=1))["entries"]), 1)
        self.assert_failed(agent.call("audit_execution", request_id=theirs), "there is no request")

    @unittest.skipUnless(DENO.exists(), "npm's packages are not installed")
    def test_a_package_that_the_user_does_not_want_is_not_installed(self):
        agent, editor = self.agent(), self.editor(environment=self.environment())
        for language, package, shown in (("python", "left-pad==1.0", "left-pad==1.0"), ("node", "left-pad", "left-pad")):
            with self.subTest(language):
                call = agent.start_call("install_package", package=package, language=language)
                asked = editor.approval()
                self.assertEqual(asked["action"]["kind"], "install")
                self.assertIn(shown, json.dumps(asked["action"]))
                editor.deny(asked, reason="not this one")
                self.assert_failed(agent.answer(call), "not this one")
        self.assert_failed(agent.call("install_package", package="x", language="shell"), "python and node")


class Sessions(SandboxmcpTest):
    def test_one_is_created_used_inspected_and_terminated(self):
        agent = self.agent(KERNEL_ENV_TOKEN="hidden")
        session = self.session(agent)
        self.run_code(agent, "rows = [1, 2]\nsecret = 'word'", session_id=session)
        self.assertEqual(self.run_code(agent, "len(rows)", session_id=session)["result"], "2")
        self.assert_failed(agent.call("execute_code", code="1", language="node", session_id=session), "one of python")
        state = self.json_of(agent.call("inspect_state", session_id=session))
        self.assertEqual((state["language"], state["variables"]), ("python", {"rows": "list", "secret": "str"}))
        self.assertEqual(state["environment"]["TOKEN"], "***")
        self.assertNotIn("hidden", json.dumps(state))
        self.assertNotIn("word", json.dumps(state))
        stats = self.json_of(agent.call("sandbox_stats"))
        self.assertEqual(([each["session_id"] for each in stats["sessions"]], stats["executions"]["finished"]), ([session], 2))
        self.assertEqual(self.json_of(agent.call("terminate_session", session_id=session)),
                         {"session_id": session, "terminated": True})
        self.assert_failed(agent.call("execute_code", code="1", session_id=session), session)

    def test_another_agent_s_is_not_seen_or_ended(self):
        agent, other = self.agent(), self.agent("other")
        session = self.session(agent)
        self.assertEqual(self.json_of(other.call("sandbox_stats"))["sessions"], [])
        for tool in ("inspect_state", "terminate_session"):
            self.assert_failed(other.call(tool, session_id=session), "")
        self.assert_failed(other.call("execute_code", code="1", session_id=session), "another agent's")
        self.run_code(agent, "1", session_id=session)

    def test_limits_can_be_lowered_and_not_raised(self):
        agent = self.agent()
        session = self.session(agent, resource_limits={"timeout_seconds": 100})
        lowered = self.json_of(agent.call("set_resource_limits", session_id=session, timeout_seconds=1))
        self.assertEqual((lowered["limits"], lowered["after_restart"]), ({"max_ram_mb": 8192, "timeout_seconds": 1}, []))
        lowered = self.json_of(agent.call("set_resource_limits", session_id=session, max_ram_mb=600, max_processes=500))
        self.assertEqual((lowered["limits"]["max_ram_mb"], lowered["limits"]["max_processes"]), (600, 500))
        self.assertLessEqual(set(lowered["after_restart"]), {"max_ram_mb", "max_processes"})
        self.assert_failed(agent.call("set_resource_limits", session_id=session, max_ram_mb=9000), "max_ram_mb, in bytes")
        self.assertIn(self.run_code(agent, "while True: pass", session_id=session)["status"], ("timeout", "killed"))
        self.assert_failed(agent.call("set_resource_limits", session_id=session, timeout_seconds=50),
                           f"cellgate limits {session}")
        self.assert_failed(agent.call("execute_code", code="1", session_id=session, resource_limits={"max_ram_mb": 100}),
                           "set_resource_limits")

    def test_data_goes_to_other_languages(self):
        agent = self.agent()
        python, shell = self.session(agent), self.session(agent, language="shell")
        self.run_code(agent, "rows = ['a', 'b']", session_id=python)
        copied = self.json_of(agent.call("bridge_data", name="rows", from_session=python, to_session=shell))
        self.assertEqual((copied["name"], copied["type"]), ("rows", "list"))
        self.assertEqual(self.run_code(agent, "echo ${rows[1]}", session_id=shell)["stdout"], "b\n")
        data = {"é": [1, None, "\U0001f600\"'"]}
        self.json_of(agent.call("bridge_data", name="data", data=data, to_session=python, **{"as": "given"}))
        shown = self.run_code(agent, "import json\nprint(json.dumps(given))", session_id=python)["stdout"]
        self.assertEqual(json.loads(shown), data)
        self.assert_failed(agent.call("bridge_data", name="x", to_session=python), "either from_session or data")

    def test_runtimes_and_sandboxes(self):
        found = self.json_of(self.agent().call("list_runtimes"))
        self.assertEqual([(each["language"], each["available"]) for each in found["runtimes"]],
                         [("python", True), ("node", DENO.exists()), ("shell", True)])
        self.assertIn({"name": "bwrap", "available": True}, found["backends"])

    def test_a_runtime_that_is_missing_says_what_it_needs(self):
        agent = self.mcp("an-agent", tools="sandboxmcp", environment=self.workspace.environment(PATH=SYSTEM_PATH))
        self.assertIn({"language": "node", "available": False, "problem": "needs deno: npm install deno"},
                      self.json_of(agent.call("list_runtimes"))["runtimes"])


class Egress(SandboxmcpTest):
    def test_the_user_decides_about_a_domain(self):
        agent, editor = self.agent(), self.editor()
        call = agent.start_call("request_egress", domain="example.org")
        asked = editor.approval()
        self.assertEqual((asked["action"]["kind"], asked["action"]["host"]), ("network", "example.org"))
        editor.deny(asked)
        result = self.json_of(agent.answer(call))
        self.assertEqual((result["approved"], result["reachable"]), (False, False))
        self.assertIn("cellgate policy add", result["hint"])
        self.assertEqual(asked["origin"]["text"], "run()  # asked for by request_egress: example.org")
        rule = editor.request("policy/parse", {"text": result["hint"].split("'")[1]})["rule"]
        self.assertEqual((rule["kind"], rule["host"]), ("network", "example.org:443"))

    def test_a_host_that_is_allowed_and_not_there_is_approved(self):
        agent, editor = self.agent(), self.editor()
        call = agent.start_call("request_egress", domain="nowhere.invalid")
        editor.allow(editor.approval())
        result = self.json_of(agent.answer(call))
        self.assertEqual((result["approved"], result["reachable"], "hint" in result), (True, False, False), result)
        self.assertIn("nowhere.invalid", result["reason"])

    def test_a_domain_may_have_a_port(self):
        agent, editor = self.agent(), self.editor()
        call = agent.start_call("request_egress", domain="example.org:8443")
        asked = editor.approval()
        self.assertEqual((asked["action"]["host"], asked["action"]["port"]), ("example.org", 8443))
        editor.deny(asked)
        self.assertIn("'allow network example.org:8443'", self.json_of(agent.answer(call))["hint"])

    def test_domains_of_an_execution_are_asked_about_before_it_runs(self):
        agent, editor = self.agent(), self.editor()
        call = agent.start_call("execute_code", code="open('ran', 'w').close()", allowed_domains=["example.org"])
        asked = editor.approval()
        self.assertFalse((self.workspace.path / "ran").exists())
        self.assertEqual(asked["origin"]["text"], "run()  # asked for by execute_code, in allowed_domains: example.org")
        editor.deny(asked)
        self.assert_failed(agent.answer(call), "allowed_domains: example.org")
        self.assertFalse((self.workspace.path / "ran").exists())
        self.assert_failed(agent.call("execute_code", code="true", language="shell", allowed_domains=["example.org"]),
                           "leave it out")
        self.run_code(agent, "open('ran', 'w').close()")  # the control
        self.assertTrue((self.workspace.path / "ran").exists())


class Outside(SandboxmcpTest):
    def test_commands_are_asked_about_and_no_shell_reads_them(self):
        agent, editor = self.agent(), self.editor()
        for command in (["printf", "%s|", "a b", "$HOME"], "printf '%s|' 'a b' '$HOME'"):
            with self.subTest(command):
                call = agent.start_call("host_exec", command=command)
                asked = editor.approval()
                self.assertEqual(asked["action"]["kind"], "host")
                self.assertEqual(arguments_of(asked)["argv"], ["printf", "%s|", "a b", "$HOME"])
                editor.allow(asked)
                result = self.assert_ok(agent.answer(call))["structuredContent"]
                self.assertEqual((result["stdout"], result["exitCode"]), ("a b|$HOME|", 0))
        self.assert_failed(agent.call("host_exec", command="docker restart x; rm y"), "only a shell")
        call = agent.start_call("host_exec", command="touch made")
        editor.deny(editor.approval(), reason="no commands")
        self.assert_failed(agent.answer(call), "no commands")
        self.assertFalse((self.workspace.path / "made").exists())

    def test_files_of_the_workspace(self):
        self.workspace.write("notes.txt", "the notes")
        agent, editor = self.agent(), self.editor()
        editor.request("policy/add", {"scope": "workspace", "rule": {"effect": "allow", "kind": "host", "server": "host", "tool": "read_file"}})
        self.assertEqual(self.assert_ok(agent.call("host_file_read", path="notes.txt"))["structuredContent"],
                         {"content": "the notes"})
        call = agent.start_call("host_file_list", path=".")
        editor.allow(editor.approval())
        names = [each["name"] for each in self.assert_ok(agent.answer(call))["structuredContent"]["entries"]]
        self.assertIn("notes.txt", names)
        for tool, arguments, content in (("host_file_write", {"path": "new.txt", "content": "new"}, "new"),
                                         ("host_file_copy", {"source": "notes.txt", "destination": "new.txt"}, "the notes")):
            call = agent.start_call(tool, **arguments)
            asked = editor.approval()
            self.assertEqual(arguments_of(asked), {"path": "new.txt", "content": content})
            editor.allow(asked)
            self.assert_ok(agent.answer(call))
            self.assertEqual((self.workspace.path / "new.txt").read_text(), content)
        self.assert_failed(agent.call("host_file_read", path="/etc/passwd"), "workspace")

    def test_access_in_advance_is_a_user_s_to_give(self):
        agent, editor = self.agent(), self.editor()
        asked = self.json_of(agent.call("request_host_access", pattern="docker restart *"))
        self.assertEqual((asked["pattern"], asked["approved"]), ("docker restart *", False))
        self.assertIn("cellgate policy add", asked["hint"])
        self.assertEqual(editor.request("policy/list"), {"rules": []})
        listed = self.json_of(agent.call("list_host_access"))
        self.assertEqual({each["tool"] for each in listed["tools"]},
                         {"host_exec", "host_file_list", "host_file_read", "host_file_write"})

    def test_without_a_server_named_web_it_is_said_how_to_add_it(self):
        agent = self.agent()
        for tool, arguments in (("web_search", {"query": "x"}), ("fetch_webpage", {"url": "https://example.org/"}),
                                ("browser_fetch", {"url": "https://example.org/"})):
            with self.subTest(tool):
                self.assert_failed(agent.call(tool, **arguments), '"web": {"builtin": "web"}')


class Settings(SandboxmcpTest):
    def test_what_cannot_be_read_or_is_done_another_way_starts_nothing(self):
        def start(tools, **variables):
            return subprocess.run([CELLGATE, "mcp", "--root", self.workspace.path, "--as", tools], text=True,
                                  capture_output=True, stdin=subprocess.DEVNULL,
                                  env=self.workspace.environment(**variables))
        for name, value, told in (("SANDBOXMCP_TIMEOUT", "1m", "number"), ("SANDBOXMCP_NETWORK", "true", "policy add"),
                                  ("SANDBOXMCP_BACKEND", "docker", "run --image"), ("SANDBOXMCP_VAULT", "env", "secret add"),
                                  ("SANDBOXMCP_AUDIT", "memory", "cellgate record"),
                                  ("SANDBOXMCP_SQLITE_PATH", "x.db", "cellgate record"),
                                  ("SANDBOXMCP_IMAGE", "python:3.11", "run --image"),
                                  ("SANDBOXMCP_SECRET_DEFAULT_KEY", "x", "secret add"),
                                  ("SANDBOXMCP_TIMOUT", "1", "Did you mean SANDBOXMCP_TIMEOUT")):
            with self.subTest(name):
                ended = start("sandboxmcp", **{name: value})
                self.assertNotEqual(ended.returncode, 0)
                self.assertIn(name, ended.stderr)
                self.assertIn(told, ended.stderr)
                self.assertEqual(start("all", **{name: value}).returncode, 0)
        usual = {"BACKEND": "process", "NETWORK": "false", "VAULT": "memory", "AUDIT": "sqlite"}
        self.assertEqual(start("sandboxmcp", **{"SANDBOXMCP_" + name: value for name, value in usual.items()}).returncode, 0)


if __name__ == "__main__":
    unittest.main()
