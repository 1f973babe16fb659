"""What holds for the tools of `cellgate mcp` in each of its modes."""

import json
import re
import unittest

from mcp_testing import McpTest, text_of

# How code is run: the mode, the tool, and what else its call needs.
RUNNING = (("few", "execute"), ("all", "execute"), ("all", "execute_ipython_cell"),
           ("ipybox", "execute_ipython_cell"), ("python-sandbox", "execute_code"), ("sandboxmcp", "execute_code"))


class ATimeLimitBelowTheUsualOne(McpTest):
    def setUp(self):
        super().setUp()
        folder = self.workspace.home / ".config/cellgate"
        folder.mkdir(parents=True, mode=0o700)
        (folder / "agents.json").write_text(json.dumps({"timeoutSeconds": 8}))

    def test_holds_for_a_call_that_names_none(self):
        for mode, tool in RUNNING:
            with self.subTest(mode=mode, tool=tool):
                agent = self.mcp(tools=mode)
                self.assertIn("42", text_of(self.assert_ok(agent.call(tool, code="print(6 * 7)"))))
        agent = self.mcp()
        self.assert_failed(agent.call("execute", code="while True: pass"), "timeout")
        self.assert_failed(agent.call("execute", code="1", timeout=9), "timeout: expected at most 8 of an agent")

    def test_is_what_python_sandbox_names(self):
        agent = self.mcp(tools="python-sandbox")
        ended = json.loads(text_of(agent.call("execute_code", code="while True: pass")))
        self.assertEqual((ended["error_category"], ended["timeout"]), ("timeout", 8))
        info = json.loads(text_of(agent.call("get_sandbox_info")))
        self.assertEqual((info["timeout_seconds"], info["resource_limits"]["timeout"]), (8, 8))
        limits = json.loads(text_of(agent.call("list_capabilities")))["limits"]
        self.assertEqual((limits["default_timeout"], limits["max_timeout"]), (8, 8))

    def test_leaves_sandboxmcps_own_code_to_run(self):
        agent = self.mcp(tools="sandboxmcp")
        session = json.loads(text_of(agent.call("create_session")))["session_id"]
        self.assert_ok(agent.call("execute_code", code="x = 1", session_id=session))
        self.assertIn('"x":"int"', text_of(self.assert_ok(agent.call("inspect_state", session_id=session))))


class Annotations(McpTest):
    def test_each_tool_has_a_title_and_says_what_it_does(self):
        only_read = {
            "few": "read_output search_tools describe_tool",
            "all": "read_output search_tools describe_tool list_tools validate runtimes",
            "ipybox": "",
            "python-sandbox": "validate_code get_sandbox_info list_capabilities",
            "sandboxmcp": "validate_code get_artifacts audit_execution list_runtimes sandbox_stats inspect_state web_search "
                          "fetch_webpage browser_fetch host_file_read host_file_list request_host_access list_host_access"}
        for mode, names in only_read.items():
            with self.subTest(mode):
                tools = self.mcp(tools=mode).request("tools/list")["tools"]
                for tool in tools:
                    self.assertTrue(tool["title"], tool["name"])
                    self.assertEqual(set(tool["annotations"]),
                                     {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"})
                hints = {tool["name"]: tool["annotations"] for tool in tools}
                self.assertEqual({name for name, each in hints.items() if each["readOnlyHint"]}, set(names.split()))
                for name, each in hints.items():
                    self.assertFalse(each["readOnlyHint"] and each["destructiveHint"], name)
                    if name.startswith("execute"):
                        self.assertTrue(each["destructiveHint"] and each["openWorldHint"], name)


class MissingWrappers(McpTest):
    def test_are_written_by_the_modes_own_tool(self):
        self.workspace.write("mcptools/__init__.py", "")
        for mode, run, tool in (("few", "execute", "generate_wrappers"),
                                ("ipybox", "execute_ipython_cell", "register_mcp_server")):
            with self.subTest(mode):
                told = text_of(self.mcp(tools=mode).call(run, code="from mcptools.host import read_file"))
                self.assertIn(f"[there are no wrappers mcptools.host; the tool {tool} writes them]", told)
        told = text_of(self.mcp(tools="sandboxmcp").call("execute_code", code="from mcptools.host import read_file"))
        self.assertIn("for your user: cellgate generate host", told)


class Notes(McpTest):
    """The lines under a result that say what the sandbox refused, and what can be done."""

    def test_say_whether_the_code_or_the_user_can_follow_them(self):
        direct = "import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=5)"
        proxied = "import urllib.request\nurllib.request.urlopen('http://192.0.2.1/', timeout=5)"
        for mode, run in (("few", "execute"), ("ipybox", "execute_ipython_cell"), ("sandboxmcp", "execute_code")):
            with self.subTest(mode):
                agent = self.mcp(tools=mode)
                told = text_of(agent.call(run, code=direct))
                self.assertIn("; in the code: use what reads these variables", told)
                self.assertNotIn("for your user: in", told)
                self.assertIn("; for your user: to allow it, add a rule for", text_of(agent.call(run, code=proxied)))
                told = text_of(agent.call(run, code="open('/usr/bin/env', 'a')"))
                self.assertIn("; in the code: write into the workspace", told)

    def test_say_where_the_workspace_is_when_a_path_is_outside(self):
        outside = self.workspace.home / "plan.txt"
        agent = self.mcp(tools="few")
        before = text_of(self.assert_failed(agent.call("execute", code=f"open({str(outside)!r})"), "FileNotFoundError"))
        self.assertIn(f"[{outside} is not in the sandbox", before)
        self.assertIn(f"; in the code: use files of the workspace, {self.workspace.path};", before)
        outside.write_text("of the user alone")
        after = text_of(agent.call("execute", code=f"open({str(outside)!r})"))
        self.assertEqual(before.replace("[1]", "[2]"), after)
        told = text_of(agent.call("execute", code="open('missing.txt')"))
        self.assertIn("FileNotFoundError", told)
        self.assertNotIn("not in the sandbox", told)

    def test_say_that_there_is_no_input(self):
        agent = self.mcp(tools="few")
        notice = "asked for input, which an agent's code does not get; in the code: "
        for language, code in (("python", "input('name? ')"), ("python", "import getpass\ngetpass.getpass()"),
                               ("bash", "read name; echo \"<$name>\"")):
            with self.subTest(code):
                self.assertIn(notice, text_of(agent.call("execute", code=code, language=language)))
        self.assertNotIn(notice, text_of(agent.call("execute", code="1")))


class EndedKernels(McpTest):
    def test_are_named_with_their_cause_and_what_is_lost(self):
        agent = self.mcp(tools="few")
        for language, code, cause in (("bash", "set -e\nx=1\nfalse", "a command that fails after set -e"),
                                      ("bash", "exit 3", "exit does"),
                                      ("bash", "exit 0", "within parentheses they end a subshell only"),
                                      ("python", "quit()", "as quit() and exit() do"),
                                      ("python", "import os; os._exit(3)", "the kernel died: exit code 3")):
            with self.subTest(code):
                told = text_of(agent.call("execute", code=code, language=language))
                self.assertIn(cause, told)
                self.assertIn("its variables are gone", told)
        kept = agent.call("execute", code="y=1; ( set -e; false ); echo \"<$y>\"", language="bash")
        self.assertEqual(text_of(self.assert_ok(kept)), "<1>\n")
        agent = self.mcp(tools="sandboxmcp")
        session = json.loads(text_of(agent.call("create_session", language="shell")))["session_id"]
        ended = json.loads(text_of(agent.call("execute_code", code="exit 3", language="shell", session_id=session)))
        self.assertIn("variables are gone", str(ended["warnings"]), ended)


class Tracebacks(McpTest):
    CODE = ("import json\nclass Strange:\n    pass\ndef save(value):\n    return json.dumps(value, indent=1)\n"
            "save([[[[Strange()]]]])")

    def test_leave_out_the_frames_of_libraries_which_can_be_read(self):
        agent = self.mcp(tools="few")
        told = text_of(self.assert_failed(agent.call("execute", code=self.CODE), "not JSON serializable"))
        self.assertIn("line 5, in save(value)", told)
        self.assertNotIn("json/encoder.py", told)
        more = re.search(r'frames of libraries left out: read_output with execution_id "(\w+)" and cursor "([\d:]+)"', told)
        whole = text_of(agent.call("read_output", execution_id=more[1], cursor=more[2]))
        self.assertIn("json/encoder.py", whole)
        self.assertLess(3 * len(told), len(whole))

    def test_are_whole_where_nothing_reads_the_rest(self):
        told = text_of(self.mcp(tools="ipybox").call("execute_ipython_cell", code=self.CODE))
        self.assertIn("json/encoder.py", told)


class Words(McpTest):
    def test_of_the_usual_tools_name_none_that_is_not_there(self):
        agent = self.mcp(tools="few")
        tools = agent.request("tools/list")["tools"]
        everything = {tool["name"] for tool in self.mcp(tools="all").request("tools/list")["tools"]}
        missing = everything - {tool["name"] for tool in tools} - {"interrupt", "transfer", "validate", "runtimes"}
        texts = [json.dumps(tools)]
        for tool, arguments in (("describe_tool", {"server": "hots", "tool": "x"}), ("generate_wrappers", {"server": "hots"}),
                                ("describe_tool", {"server": "host", "tool": "x"})):
            texts.append(text_of(self.assert_failed(agent.call(tool, **arguments), "")))
        for name in missing:
            for text in texts:
                self.assertNotIn(name, text)
        self.assertIn("There is: host.", texts[1])

    def test_a_language_has_other_names_and_an_unknown_one_is_told_the_others(self):
        agent = self.mcp(tools="few")
        self.assertEqual(text_of(agent.call("execute", code="x=bash; echo $x", language="sh")), "bash\n")
        self.assertEqual(text_of(agent.call("execute", code="echo $x", language="bash")), "bash\n")
        self.assert_failed(agent.call("execute", code="1", language="ruby"), "bash, python")


if __name__ == "__main__":
    unittest.main()
