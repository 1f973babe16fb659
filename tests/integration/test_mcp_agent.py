"""`cellgate mcp`: what an agent can do. With ipybox's own cases (IPYBOX.md)."""

import json
import os
import re
import signal
import unittest

import mcp_wire
from cellgate_client import REPOSITORY
from executions import RpcError
from mcp_testing import McpTest, details_of, text_of
from processes import wait_until
from tools_testing import MCP_SERVER, fixture_server

TOOLS = {"execute", "execute_ipython_cell", "reset", "interrupt", "read_output", "register_mcp_server",
         "generate_wrappers", "list_tools", "search_tools", "describe_tool", "install_package", "create_session",
         "close_session", "transfer", "validate", "runtimes"}
FIX = {"mcpServers": {"fix": fixture_server()}}
CALL = "from mcptools.fix import tool_2\nprint(tool_2.run(s='hello'))"
PNG = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


class IpyboxCases(McpTest):
    def test_values_errors_state_and_reset(self):
        agent = self.mcp()
        self.assertEqual(text_of(agent.call("execute_ipython_cell", code="print('hello world')")).strip(),
                         "hello world")
        self.assertEqual(text_of(agent.call("execute_ipython_cell", code="2 + 2")).strip(), "4")
        self.assert_failed(agent.call("execute_ipython_cell", code="raise ValueError('this one')"),
                           "ValueError: this one")
        self.assertEqual(agent.call("execute_ipython_cell", code="x = 42")["content"], [{"type": "text", "text": ""}])
        self.assertEqual(text_of(agent.call("execute_ipython_cell", code="x")).strip(), "42")
        self.assert_ok(agent.call("reset"))
        self.assert_failed(agent.call("execute_ipython_cell", code="x"), "NameError")
        self.assertEqual(text_of(agent.call("execute_ipython_cell", code="1 + 1")).strip(), "2")

    def test_output_is_cut_where_the_caller_says_and_says_so(self):
        agent = self.mcp()
        cut = text_of(agent.call("execute_ipython_cell", code="print('a' * 100)", max_output_chars=50))
        self.assertTrue(cut.startswith("a" * 50 + "\n"), cut)
        self.assertIn("[Output truncated: exceeded 50 character limit]", cut)
        whole = text_of(agent.call("execute_ipython_cell", code="print('a' * 40)", max_output_chars=50))
        self.assertEqual(whole.strip(), "a" * 40)
        default = text_of(agent.call("execute_ipython_cell", code="print('a' * 6000)"))
        self.assertIn("[Output truncated: exceeded 5000 character limit]", default)
        self.assertEqual(default.count("a" * 100), 50)

    def test_variables_that_the_user_means_for_the_kernel_reach_it(self):
        agent = self.mcp(environment=self.workspace.environment(KERNEL_ENV_TEST_VAR="from outside"))
        result = agent.call("execute_ipython_cell", code="import os; print(os.environ['TEST_VAR'])")
        self.assertEqual(text_of(result).strip(), "from outside")

    def test_a_server_that_is_registered_has_modules_that_can_be_called(self):
        editor = self.editor()
        agent = self.mcp("ipybox-user")
        call = agent.start_call("register_mcp_server", server_name="mine", server_params=fixture_server())
        asked = editor.approval()
        self.assertEqual(asked["action"]["kind"], "server")
        self.assertEqual(asked["agent"], "ipybox-user")
        self.assertEqual(asked["action"]["command"][-1], str(MCP_SERVER))
        editor.allow(asked)
        modules = [block["text"] for block in self.assert_ok(agent.answer(call))["content"]]
        self.assertLessEqual({"tool_1", "tool_2", "tool_3"}, set(modules))
        self.assertTrue((self.workspace.path / "mcptools/mine/tool_2.py").is_file())
        call = agent.start_call("execute_ipython_cell",
                                code="from mcptools.mine.tool_2 import Params, run\nprint(run(Params(s='hello')))")
        editor.allow(editor.approval())
        self.assertIn("hello", text_of(self.assert_ok(agent.answer(call))))
        self.assertNotIn("the package is", modules[-1])
        call = agent.start_call("register_mcp_server", server_name="of-mine", server_params=fixture_server())
        editor.allow(editor.approval())
        self.assertEqual(self.assert_ok(agent.answer(call))["content"][-1]["text"], "[the package is mcptools.of_mine]")


class Running(McpTest):
    def test_a_result_carries_the_output_once_and_says_more_when_asked(self):
        agent = self.mcp()
        result = agent.call("execute", code="print('one')\n'two'")
        self.assertEqual(result, {"content": [{"type": "text", "text": "one\n'two'\n"}]})
        detailed = agent.call("execute", code="print('one')", details=True)
        self.assertEqual(text_of(detailed).count("one"), 1)
        details = details_of(detailed)
        self.assertEqual(details["status"], "ok")
        self.assertTrue(details["session"].startswith("agent-"))
        self.assertIn("bwrap", details["isolation"])
        failed = agent.call("execute", code="1 / 0", details=True)
        self.assertEqual(details_of(failed)["status"], "error")
        self.assert_failed(failed, "ZeroDivisionError: division by zero")
        late = agent.call("execute", code="while True: pass", timeout=0.5, details=True)
        self.assertEqual(details_of(late)["status"], "timeout")
        self.assert_failed(late, "timeout")
        longer = text_of(self.assert_failed(agent.call("execute", code="1", timeout=301), "expected at most 300"))
        self.assertRegex(longer, r"(^|\W)timeout: expected")
        self.assertNotIn("params", longer)

    def test_pages_make_the_whole_whatever_was_cut(self):
        agent = self.mcp()
        code = ("import sys\nfor i in range(300):\n    print(f'zeile {i} äöü€😀', flush=True)\n"
                "    print(f'stderr {i}', file=sys.stderr, flush=True)")
        page = agent.call("execute", code=code, max_output_chars=997, details=True)
        execution_id = details_of(page)["execution_id"]
        whole = "".join(f"zeile {i} äöü€😀\nstderr {i}\n" for i in range(300))
        self.assertTrue(whole.endswith("\n" + page["content"][2]["text"]))
        self.assertLessEqual(len(page["content"][2]["text"]), 249)
        self.assertIn(f"[{len(whole) - 748 - len(page['content'][2]['text'])} characters are left out here", text_of(page))
        del page["content"][2:]
        pages = [page["content"][0]["text"]]
        rest = r'read_output with execution_id "(\w+)" and cursor "([\d:]+)"'
        while more := re.search(rest, page["content"][-1]["text"]):
            page = agent.call("read_output", execution_id=more[1], cursor=more[2], max_output_chars=1009)
            self.assertLessEqual(len(page["content"][0]["text"]), 1009)
            pages.append(page["content"][0]["text"])
        self.assertEqual("".join(pages), whole)
        self.assertEqual(len(pages[0]), 997 - 249)
        for cursor in ("", "1", "a:b", "-1:0", "1:2:3", "1:-1", " 1:1"):
            self.assert_failed(agent.call("read_output", execution_id=execution_id, cursor=cursor), "cursor")

    def test_a_long_json_document_stays_one(self):
        agent = self.mcp()
        code = "import json\nprint(json.dumps({'items': [{'id': i, 'text': 'x' * 300} for i in range(1000)], 'next': 'p2'}, indent=1))"
        result = agent.call("execute", code=code, max_output_chars=2000)
        [document, notice] = [block["text"] for block in result["content"]]
        self.assertLessEqual(len(document), 2000)
        shown = json.loads(document)
        self.assertEqual((shown["next"], shown["items"][0]["id"], shown["items"][-1]["id"]), ("p2", 0, 999))
        self.assertRegex(document, r"… \d+ of 1000 items left out …")
        more = re.search(r'execution_id "(\w+)" and cursor "([\d:]+)" gives all of it', notice)
        page = agent.call("read_output", execution_id=more[1], cursor=more[2], max_output_chars=1_000_000)
        self.assertEqual(len(json.loads(page["content"][0]["text"])["items"]), 1000)

    def test_a_traceback_behind_much_output_is_seen(self):
        agent = self.mcp()
        result = agent.call("execute", code="for i in range(5000): print('line', i)\n1 / 0")
        self.assert_failed(result, "ZeroDivisionError: division by zero")
        self.assertTrue(text_of(result).startswith("line 0\n"))
        self.assertNotIn("ended with", text_of(result))

    def test_pictures_are_pictures_in_their_place(self):
        agent = self.mcp()
        result = agent.call("execute", code="from IPython.display import display, Image\nimport base64\n"
                            f"print('before', flush=True)\ndisplay(Image(base64.b64decode('{PNG}'), format='png'))\n"
                            "print('after')")
        kinds = [(block["type"], block.get("text") or block.get("mimeType")) for block in result["content"]]
        self.assertEqual(kinds, [("text", "before\n"), ("image", "image/png"), ("text", "after\n")])
        self.assertEqual(result["content"][1]["data"], PNG)
        large = agent.call("execute", code="from IPython.display import display, Image\n"
                           "display(Image(b'\\x89PNG' + b'x' * 5_000_000, format='png'))")
        self.assertEqual([block["type"] for block in large["content"]], ["text"])
        self.assertIn("more than fits", text_of(large))

    def test_terminal_colours_are_left_out(self):
        agent = self.mcp()
        result = agent.call("execute", code=r"print('\x1b[31mred\x1b[0m \x1b]0;title\x07plain')")
        self.assertEqual(text_of(result), "red plain\n")

    def test_progress_tells_the_latest_line(self):
        agent = self.mcp()
        call = agent.start_call("execute", progress="p1", code="print('first', flush=True)\nimport time\n"
                                "time.sleep(0.5)\nprint('second', flush=True)")
        self.assert_ok(agent.answer(call))
        told = [m["params"] for m in agent.heard if m.get("method") == "notifications/progress"]
        self.assertEqual([p["progressToken"] for p in told], ["p1"] * len(told))
        self.assertEqual(told[0]["message"], "first")
        self.assertEqual([p["progress"] for p in told], list(range(1, len(told) + 1)))

    def test_a_call_that_is_cancelled_interrupts_its_code_and_is_not_answered(self):
        editor = self.editor()
        agent = self.mcp()
        agent.call("execute", code="x = 1")
        call = agent.start_call("execute", progress=1, code="print('runs', flush=True)\nwhile True: pass")
        agent.wait(lambda: agent.heard, "progress")
        agent.notify("notifications/cancelled", {"requestId": call, "reason": "enough"})
        self.assertEqual(text_of(agent.call("execute", code="x")), "1\n")
        self.assertNotIn(call, agent.answers)
        call = agent.start_call("execute", progress=2, code="print('runs again', flush=True)\nwhile True: pass")
        agent.wait(lambda: any(told["params"].get("progressToken") == 2 for told in agent.heard), "progress")
        agent.notify("notifications/cancelled", {"requestId": call, "reason": "enough"})
        self.assertIn("runs again\n", text_of(self.assert_ok(agent.call("read_output"))))
        del editor

    def test_interrupt_ends_what_runs_and_keeps_variables(self):
        agent = self.mcp()
        agent.call("execute", code="x = 1")
        call = agent.start_call("execute", progress=1, code="print('runs', flush=True)\nwhile True: pass")
        agent.wait(lambda: agent.heard, "progress")
        self.assert_ok(agent.call("interrupt"))
        self.assert_failed(agent.answer(call), "KeyboardInterrupt")
        idle = self.assert_failed(agent.call("interrupt"), "nothing of yours runs")
        self.assertNotIn("editor", text_of(idle))
        self.assertEqual(text_of(agent.call("execute", code="x")), "1\n")

    def test_a_kernel_that_was_lost_is_told_of_once(self):
        agent = self.mcp()
        code = "print('x' in globals())\nx = 1"
        notice = "its variables and imports are gone"
        for loss in range(3):
            for tool in ("execute", "execute_ipython_cell") if loss % 2 == 0 else ("execute_ipython_cell", "execute"):
                result = self.call_again_if_it_was_under_way(agent, tool, code)
                with self.subTest(loss=loss, tool=tool):
                    first = tool == ("execute" if loss % 2 == 0 else "execute_ipython_cell")
                    self.assertTrue(text_of(result).startswith(str(not first)), result)
                    self.assertEqual(text_of(result).count(notice), 1 if first and loss else 0)
            os.kill(self.sidecar_pid(), signal.SIGKILL)
            self.wait_for_the_end_of_the_sidecar()

    def test_a_session_that_a_user_closed_is_made_anew(self):
        editor = self.editor()
        agent = self.mcp()
        for tool in ("execute", "execute_ipython_cell", "reset"):
            self.assert_ok(agent.call("execute", code="x = 1"))
            (own,) = [each["sessionId"] for each in editor.request("session/list")["sessions"]]
            editor.request("session/close", {"sessionId": own})
            told = text_of(self.assert_ok(agent.call(tool, **({} if tool == "reset" else {"code": "print('x' in globals())"}))))
            self.assertEqual((told.startswith("False"), "variables and imports are gone" in told), (tool != "reset", True), told)
        self.assertNotIn("gone", text_of(agent.call("execute", code="1")))

    def test_a_server_that_does_not_start_is_not_listed(self):
        editor = self.editor()
        agent = self.mcp()
        call = agent.start_call("register_mcp_server", server_name="bad", server_params={"command": "/bin/false"})
        editor.allow(editor.approval())
        self.assert_failed(agent.answer(call), "bad")
        self.assertNotIn("bad", text_of(agent.call("list_tools")))
        self.assertNotIn("bad", [each["name"] for each in editor.request("toolServers/list")["servers"]])

    def call_again_if_it_was_under_way(self, agent, tool, code):
        """The agent's program may hear of the sidecar's end only while it calls."""
        result = agent.call(tool, code=code)
        if "the connection ended before the answer came" in text_of(result):
            result = agent.call(tool, code=code)
        return self.assert_ok(result)

    def test_code_that_reads_a_line_gets_none(self):
        agent = self.mcp()
        self.assert_failed(agent.call("execute", code="input('name: ')"), "EOFError")
        asks = ("import time\nbegan = time.monotonic()\nwhile time.monotonic() < began + 20:\n"
                "    try: input()\n    except EOFError: pass\nprint('it went on')")
        # What asks in vain has no more time than other code.
        self.assert_failed(agent.call("execute", code=asks, timeout=1), "timeout: interrupted")

    def test_each_agent_has_a_session_of_its_own_that_ends_with_it(self):
        editor = self.editor()
        one, two = self.mcp("one"), self.mcp("two")
        one.call("execute", code="x = 'of one'")
        self.assert_failed(two.call("execute", code="x"), "NameError")
        sessions = editor.request("session/list")["sessions"]
        self.assertEqual({session.get("agent") for session in sessions}, {"one", "two"})
        self.assertEqual(one.close(), 0)
        wait_until(lambda: {s.get("agent") for s in editor.request("session/list")["sessions"]} == {"two"},
                   "the end of the first agent's session")

    def test_an_agent_that_names_the_editors_session_shares_its_variables(self):
        editor = self.editor()
        editor.run("x = 'of the user'")
        agent = self.mcp()
        result = agent.call("execute", code="x", session="default")
        self.assertEqual(text_of(result), "'of the user'\n")
        detailed = agent.call("execute", code="x", session="default", details=True)
        self.assertEqual(details_of(detailed)["session"], "default")
        self.assert_failed(agent.call("execute", code="x", session="nothing"), "there is no session")

    def test_both_eras_list_the_same_tools(self):
        legacy, modern = self.mcp(), self.mcp(modern=True)
        found = modern.request("server/discover")
        self.assertEqual(found["supportedVersions"], ["2026-07-28"])
        lists = [client.request("tools/list")["tools"] for client in (legacy, modern)]
        self.assertEqual({json.dumps(tool.pop("execution")) for tool in lists[0]}, {'{"taskSupport": "optional"}'})
        self.assertEqual(lists[0], lists[1])
        self.assertEqual({tool["name"] for tool in lists[0]}, TOOLS)
        self.assertEqual(text_of(modern.call("execute", code="6 * 7")), "42\n")

    def test_a_user_can_attach_variables_changes_and_what_waits(self):
        editor = self.editor()
        for modern in (False, True):
            agent, other = self.mcp(modern=modern, tools=None), self.mcp(tools=None)
            self.assert_ok(other.call("execute", code="theirs = 1"))
            self.assert_ok(agent.call("execute", code=f"rows = [1, 2]\nopen('out-{modern}.txt', 'w').write('x')"))
            self.assert_failed(agent.call("execute", code="1", timeout=900), "300")
            waiting = agent.start_call("execute", code="import urllib.request as r\nr.urlopen('http://a.example')")
            approval = editor.approval()
            listed = [each["uri"] for each in agent.request("resources/list")["resources"]]
            self.assertEqual(listed, ["cellgate://variables", "cellgate://changes", "cellgate://approvals"])

            def read(name, agent=agent):
                contents = agent.request("resources/read", {"uri": "cellgate://" + name})["contents"]
                return json.loads(contents[0]["text"])

            self.assertEqual([each["pending_approvals"] for each in read("approvals")], [1])
            editor.deny(approval)
            agent.answer(waiting)
            (session,) = read("variables")
            names = {each["name"]: each["value"] for each in session["variables"]}
            self.assertEqual((names["rows"], "theirs" in names), ("[1, 2]", False))
            self.assertEqual([each["path"] for each in read("changes")[0]["files"]], [f"out-{modern}.txt"])
            self.assertEqual(read("approvals"), [])

    def test_those_that_imitate_others_have_no_resources(self):
        for name in ("ipybox", "python-sandbox", "sandboxmcp"):
            info = self.mcp(tools=name, initialize=False).initialize()
            self.assertNotIn("resources", info["capabilities"], name)

    def test_the_set_of_tools_is_chosen_and_without_a_choice_it_is_small(self):
        def tools(*arguments):
            agent = self.mcp(tools=None, arguments=arguments)
            return agent, {tool["name"]: tool for tool in agent.request("tools/list")["tools"]}

        _, few = tools()
        _, everything = tools("--as", "all")
        self.assertEqual(set(few), {"execute", "read_output", "search_tools", "describe_tool", "generate_wrappers",
                                    "install_package", "reset"})
        self.assertLess(len(json.dumps(few)), len(json.dumps(everything)) * 0.6)
        # VS Code's chat is offered what its extension's manifest says.
        manifest = json.loads((REPOSITORY / "editors/vscode/package.json").read_text())["contributes"]
        for chat in manifest["languageModelTools"]:
            tool = everything[chat["name"].removeprefix("cellgate_")]
            self.assertEqual((chat["modelDescription"], chat["inputSchema"]), (tool["description"], tool["inputSchema"]))
        # ipybox's tools, with its parameters (ipybox/mcp/server.py).
        agent, ipybox = tools("--as", "ipybox")
        parameters = {name: sorted(tool["inputSchema"]["properties"]) for name, tool in ipybox.items()}
        self.assertEqual(parameters, {
            "register_mcp_server": ["server_name", "server_params"],
            "execute_ipython_cell": ["code", "max_output_chars", "timeout"],
            "install_package": ["package_name"], "reset": []})
        self.assertEqual(sorted(few["reset"]["inputSchema"]["properties"]), ["session"])
        self.assert_failed(agent.call("reset", session="default"), "session")
        self.assert_ok(agent.call("reset"))
        self.assertEqual(text_of(agent.call("execute_ipython_cell", code="6 * 7")), "42\n")
        with self.assertRaises(RpcError):
            agent.call("execute", code="1")


class WireSchema(McpTest):
    """Every message is judged in every test, by McpClient; here is that the judge judges."""

    @unittest.skipUnless(mcp_wire.AVAILABLE, "needs node and the npm packages of tests/package.json")
    def test_the_judge_takes_the_specifications_word(self):
        for modern in (False, True):
            agent = self.mcp(modern=modern)
            self.assert_failed(agent.call("execute", code="1 / 0"), "ZeroDivisionError")
            with self.assertRaises(RpcError):
                agent.request("no/such/method")
            self.assertEqual(agent.judged, 2 if modern else 3)
            self.assertEqual(agent.broken, [])
        good = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "a"}]}}
        for modern, message in ((False, good), (True, {**good, "result": {**good["result"], "resultType": "complete"}})):
            self.assertEqual(mcp_wire.violations(modern, message, "tools/call"), [])
        for change in ({"jsonrpc": "1.0"}, {"id": None}, {"result": {"content": [{"type": "text"}]}},
                       {"result": {"content": "a"}}):
            self.assertTrue(mcp_wire.violations(False, {**good, **change}, "tools/call"), change)
        self.assertTrue(mcp_wire.violations(True, {**good, "result": {"content": []}}, "tools/call"))


class Catalogue(McpTest):
    def test_tools_are_found_within_the_budget(self):
        self.editor(options=FIX)
        agent = self.mcp()
        self.assertIn("generate_wrappers starts it", text_of(agent.call("list_tools", server="fix")))
        made = self.assert_ok(agent.call("generate_wrappers", server="fix"))
        self.assertRegex(text_of(made), r"(?m)^from mcptools\.fix import tool_1, tool_2, tool_3\b")
        listed = agent.call("list_tools")
        self.assertLessEqual({"fix", "host"}, {line.split(".")[0] for line in text_of(listed).splitlines()})
        found = agent.call("search_tools", query="echoes text after a delay")
        self.assertRegex(text_of(found), r"\Afix\.tool_2: .*\nmcptools\.fix\.tool_2\.run\(s: str.*\) -> ")
        few = agent.call("search_tools", query="echoes text", max_tokens=12)
        self.assertRegex(text_of(few), r"\[[1-9]\d* more: search_tools")
        self.assertEqual(text_of(agent.call("search_tools", query="zebra")), "no tool fits")
        for result in (made, listed, found):  # many clients show nothing else where there is one
            self.assertNotIn("structuredContent", result)
        described = agent.call("describe_tool", server="fix", tool="tool_3")
        self.assertEqual(described["structuredContent"]["tool"]["inputSchema"]["required"], ["name", "level"])
        self.assertIn("Input schema", text_of(described))
        self.assert_failed(agent.call("describe_tool", server="fix", tool="nothing"), "no tool")
        self.assert_failed(agent.call("describe_tool", server="nothing", tool="x"), "no tool server")

    def test_names_are_checked_and_nothing_is_started_or_written_for_a_bad_one(self):
        editor = self.editor()
        agent = self.mcp()
        before = self.workspace.files()
        for name in ("", ".", "..", "../x", "/tmp/x", "a/b", "a\nb", "host", "x" * 300):
            result = agent.call("register_mcp_server", server_name=name, server_params=fixture_server())
            self.assertTrue(result.get("isError"), (name, result))
        self.assertEqual(self.workspace.files(), before)
        self.assertEqual(editor.asked(), 0)

    def test_an_agent_cannot_change_a_server_that_a_user_gave(self):
        editor = self.editor(options=FIX)
        agent = self.mcp()
        other = {"command": "/bin/sh", "args": ["-c", "touch started"]}
        self.assert_failed(agent.call("register_mcp_server", server_name="fix", server_params=other),
                           "only a user can change it")
        (server,) = [s for s in editor.request("toolServers/list")["servers"] if s["name"] == "fix"]
        self.assertEqual((server["source"], server["command"][0]), ("user", "/usr/bin/python3"))

    def test_an_agent_cannot_change_a_server_that_another_agent_named(self):
        editor = self.editor()
        one, two = self.mcp(), self.mcp()
        call = one.start_call("register_mcp_server", server_name="notes", server_params=fixture_server())
        editor.allow(editor.approval())
        self.assertNotIn("isError", one.answer(call))
        other = {"command": "/bin/sh", "args": ["-c", "touch started"]}
        self.assert_failed(two.call("register_mcp_server", server_name="notes", server_params=other),
                           "which another agent named")
        # The same server is both's, and ends with the last of them.
        self.assertNotIn("isError", two.call("register_mcp_server", server_name="notes", server_params=fixture_server()))
        one.close()
        wait_until(lambda: len(editor.request("session/list")["sessions"]) < 2, "the end of the first agent's session")
        call = two.start_call("execute", code="from mcptools.notes import tool_2\nprint(tool_2.run(s='x'))")
        editor.allow(editor.approval())
        self.assertIn("You passed to tool 2: x", text_of(two.answer(call)))
        self.assertFalse((self.workspace.path / "started").exists())

    def test_a_server_that_cannot_be_had_is_not_listed_as_one_that_can(self):
        editor = self.editor()
        agent = self.mcp()
        call = agent.start_call("register_mcp_server", server_name="web", server_params={"url": "http://127.0.0.1:1/"})
        editor.deny(editor.approval())
        self.assert_failed(agent.answer(call), "denied")
        call = agent.start_call("register_mcp_server", server_name="broken",
                                server_params={"command": "/bin/sh", "args": ["-c", "echo the fuse is gone >&2; exit 3"]})
        editor.allow(editor.approval())
        self.assert_failed(agent.answer(call), "the fuse is gone")
        listed = text_of(agent.call("list_tools"))
        self.assertNotIn("web", listed)
        self.assertNotIn("broken", listed)

    def test_no_user_is_asked_about_a_start_that_cannot_succeed(self):
        editor = self.editor()
        agent = self.mcp()
        for params, why in (({"command": "there-is-no-such-program"}, "there is no program"),
                            ({"command": "/bin/sh", "env": {"KEY": "${NO_SUCH_VARIABLE}"}}, "cellgate secret add"),
                            ({"url": "http://127.0.0.1:1/", "headers": {"X-Key": "${NO_SUCH_VARIABLE}"}}, "is not set")):
            with self.subTest(why):
                self.assert_failed(agent.call("register_mcp_server", server_name="mine", server_params=params), why)
        self.assertEqual(editor.waiting(), [])

    def test_a_no_to_a_start_starts_nothing_and_says_why(self):
        editor = self.editor()
        agent = self.mcp()
        mark = {"command": "/bin/sh", "args": ["-c", "touch started; sleep 9"], "env": {"LD_PRELOAD": "/tmp/x.so"}}
        call = agent.start_call("register_mcp_server", server_name="bad", server_params=mark)
        asked = editor.approval()
        shown = "\n".join(asked["display"])
        self.assertIn("touch started", shown)
        self.assertIn("/tmp/x.so", shown)  # not only the names of its variables
        self.assertIn("by agent test-agent", shown)
        editor.deny(asked, reason="not that one")
        self.assert_failed(agent.answer(call), "not that one")
        self.assertFalse((self.workspace.path / "started").exists())

    def test_a_name_that_was_denied_is_free_again_and_goes_to_the_workspaces_file(self):
        editor = self.editor()
        agent = self.mcp()
        params = {"command": "/bin/sh", "args": ["-c", "sleep 9"]}
        call = agent.start_call("register_mcp_server", server_name="notes", server_params=params)
        editor.deny(editor.approval())
        self.assert_failed(agent.answer(call), "denied")
        self.assertNotIn("notes", [s["name"] for s in editor.request("toolServers/list")["servers"]])
        agent.close()
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": {"notes": fixture_server()}}))
        (server,) = [s for s in editor.request("toolServers/list")["servers"] if s["name"] == "notes"]
        self.assertEqual((server["source"], server["state"]), ("workspaceFile", "pending"))

    def test_a_server_that_an_agent_started_goes_with_it(self):
        editor = self.editor()
        agent = self.mcp()
        call = agent.start_call("register_mcp_server", server_name="notes", server_params=fixture_server())
        editor.allow(editor.approval())
        self.assert_ok(agent.answer(call))
        def listed():
            return [s["name"] for s in editor.request("toolServers/list")["servers"]]
        self.assertIn("notes", listed())
        agent.close()
        wait_until(lambda: "notes" not in listed(), "the end of the agent's server")


if __name__ == "__main__":
    unittest.main()
