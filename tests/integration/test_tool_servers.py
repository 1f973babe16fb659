"""Tool servers: who may start one, what it gets, and what happens when it fails or dies."""

import json
import os
import signal
import unittest

from cellgate_client import WorkspaceTest
from executions import RpcError
from processes import command_of, processes_with, wait_until
from tools_testing import MCP_SERVER, ToolsTest, fixture_server, text_of


class Given(ToolsTest):
    """By a user's word."""

    def server(self, name):
        found = [s for s in self.cellgate.request("toolServers/list")["servers"] if s["name"] == name]
        return found[0] if found else None

    def marked(self, name):
        """A configuration whose processes can be told from others, and its mark."""
        link = self.workspace.base / f"{name}-server.py"
        link.symlink_to(MCP_SERVER)
        return {"command": "/usr/bin/python3", "args": ["-B", str(link)]}, str(link)

    def test_servers_are_listed_with_their_tools(self):
        fix = self.server("fix")
        self.assertEqual((fix["state"], fix["source"]), ("running", "user"))
        self.assertEqual(fix["command"][0], "/usr/bin/python3")
        self.assertLessEqual({"tool-1", "tool_2", "tool_3"}, {tool["name"] for tool in fix["tools"]})
        self.assertEqual(self.server("host")["source"], "builtIn")

    def test_a_server_starts_when_it_is_needed_and_not_before(self):
        config, mark = self.marked("lazy")
        info = self.cellgate.request("toolServers/add", {"server": "lazy", "config": config})
        self.assertEqual((info["state"], info["source"]), ("stopped", "user"))
        self.assertEqual(processes_with(mark), set())
        self.call("lazy", "tool-1", {"s": "x"})
        self.assertEqual(self.server("lazy")["state"], "running")
        self.assertEqual(len(self.pids(mark)), 1)
        self.cellgate.request("toolServers/remove", {"server": "lazy"})
        self.assertIsNone(self.server("lazy"))
        wait_until(lambda: not processes_with(mark), "the end of the removed server")
        self.assert_error(1017, self.cellgate.request, "toolServers/restart", {"server": "lazy"})

    @staticmethod
    def pids(mark):
        """Of the servers themselves, without what supervises them."""
        return {pid for pid in processes_with(mark) if "supervise" not in command_of(pid)}

    def test_a_restart_is_another_process_with_the_same_identity(self):
        config, mark = self.marked("restarted")
        before = self.cellgate.request("toolServers/add", {"server": "restarted", "config": config})
        self.call("restarted", "tool-1", {"s": "x"})
        first = self.pids(mark)
        after = self.cellgate.request("toolServers/restart", {"server": "restarted"})
        self.assertEqual((after["state"], after["identity"]), ("running", before["identity"]))
        wait_until(lambda: self.pids(mark) and not self.pids(mark) & first, "another process")
        self.cellgate.request("toolServers/remove", {"server": "restarted"})

    def test_a_server_that_dies_starts_again_on_the_next_call(self):
        config, mark = self.marked("mortal")
        self.cellgate.request("toolServers/add", {"server": "mortal", "config": config})
        self.call("mortal", "tool-1", {"s": "x"})
        [pid] = self.pids(mark)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: self.server("mortal")["state"] != "running", "the death to be noticed")
        self.assertIn("again", text_of(self.call("mortal", "tool-1", {"s": "again"})))
        self.cellgate.request("toolServers/remove", {"server": "mortal"})

    def test_a_call_that_is_under_way_when_the_server_dies_fails_with_the_cause(self):
        config, mark = self.marked("dying")
        self.cellgate.request("toolServers/add", {"server": "dying", "config": config})
        self.cellgate.request("policy/add",
                              {"rule": {"effect": "allow", "kind": "tool", "server": "dying"}, "scope": "workspace"})
        self.call("dying", "tool-1", {"s": "x"})
        pending = self.cellgate.start("tools/call",
                                      {"server": "dying", "tool": "tool_2", "arguments": {"s": "x", "delay": 60}})
        [pid] = self.pids(mark)
        os.kill(pid, signal.SIGKILL)
        error = self.assert_error(1018, pending.result)
        self.assertTrue(error.hint)
        self.cellgate.request("toolServers/remove", {"server": "dying"})

    def test_a_server_that_will_not_start_is_told_with_its_last_words(self):
        config = {"command": "/bin/sh", "args": ["-c", "echo 'the fuse is gone' >&2; exit 3"]}
        self.cellgate.request("toolServers/add", {"server": "broken", "config": config})
        error = self.assert_error(1018, self.cellgate.request, "wrappers/generate", {"server": "broken"})
        self.assertIn("the fuse is gone", error.message)
        broken = self.server("broken")
        self.assertEqual(broken["state"], "failed")
        self.assertIn("the fuse is gone", broken["error"])
        self.cellgate.request("toolServers/remove", {"server": "broken"})

    def test_what_a_server_writes_to_stderr_is_its_log(self):
        config, _ = self.marked("talking")
        config = {**config, "command": "/bin/sh",
                  "args": ["-c", "printf 'listens \\033[31m\\n' >&2; exec \"$@\"", "sh", config["command"], *config["args"]]}
        self.cellgate.request("toolServers/add", {"server": "talking", "config": config})

        def log():
            return self.cellgate.request("toolServers/log", {"server": "talking"})["text"]

        self.assertEqual(log(), "")
        self.call("talking", "tool-1", {"s": "x"})
        wait_until(lambda: log().startswith("listens "), "the log of one that runs")
        self.assertNotIn("\x1b", log())
        self.cellgate.request("toolServers/add", {"server": "talking", "config": {
            "command": "/bin/sh", "args": ["-c", "echo 'cannot go on' >&2; exit 3"]}})
        self.assert_error(1018, self.cellgate.request, "toolServers/restart", {"server": "talking"})
        self.assertEqual(log(), "cannot go on\n")
        self.cellgate.request("toolServers/remove", {"server": "talking"})
        self.assert_error(1017, self.cellgate.request, "toolServers/log", {"server": "talking"})

    def test_a_command_that_is_not_there_is_said_so(self):
        config = {"command": "no-such-program-anywhere"}
        with self.assertRaises(RpcError) as caught:
            self.cellgate.request("wrappers/generate", {"server": "absent", "config": config})
        self.assertIn(caught.exception.code, (1018, 1021))
        self.assertIn("no-such-program-anywhere", caught.exception.message)

    def test_a_server_that_answers_as_none_should_breaks_its_own_calls_alone(self):
        config, mark = self.marked("hostile")
        config["args"].append("--hostile")
        self.cellgate.request("toolServers/add", {"server": "hostile", "config": config})
        self.cellgate.request("policy/add",
                              {"rule": {"effect": "allow", "kind": "tool", "server": "hostile"}, "scope": "workspace"})

        def misbehave(mode):
            return self.cellgate.request("tools/call",
                                         {"server": "hostile", "tool": "hostile", "arguments": {"mode": mode}})

        for mode in ("twice", "foreign ids", "garbage first"):
            with self.subTest(mode):
                self.assertEqual(text_of(misbehave(mode)), "good")
        for mode in ("list", "no content", "content is text", "a block is text", "deep", "key twice", "not JSON",
                     "not UTF-8", "half a pair", "too long", "half", "close"):
            with self.subTest(mode):
                with self.assertRaises(RpcError) as caught:
                    misbehave(mode)
                self.assertIn("hostile", caught.exception.message)
                self.assertLess(len(caught.exception.message), 100_000)
                # The next call works, with the same server or, where it ended, with another one.
                again = self.cellgate.request("tools/call",
                                              {"server": "hostile", "tool": "tool-1", "arguments": {"s": "next"}})
                self.assertIn("next", text_of(again))
        failure = misbehave("long error")
        self.assertTrue(failure["isError"])
        self.assertLess(len(text_of(failure)), 100_000)
        self.assertEqual(text_of(misbehave("vanish")), "tool-1 is gone")
        gone = self.assert_error(1019, self.cellgate.request, "tools/call",
                                 {"server": "hostile", "tool": "tool-1", "arguments": {"s": "x"}})
        self.assertIn("tool-1", gone.message)
        self.cellgate.request("toolServers/remove", {"server": "hostile"})
        wait_until(lambda: not processes_with(mark), "the end of the removed server")

    def test_a_result_too_large_is_an_error_and_the_next_call_works(self):
        error = self.call("fix", "big", {"size": (64 << 20) - 100})
        self.assertIsInstance(error, RpcError)
        self.assertEqual(error.code, 1024, error)
        self.assertIn("found 67108", error.message)
        self.assertEqual(len(text_of(self.call("fix", "big", {"size": 8 << 20}))), 8 << 20)

    def test_a_server_that_is_added_again_or_removed_leaves_no_rule_behind(self):
        def starting(server):
            return [rule for rule in self.rules().values() if rule.get("kind") == "server" and
                    rule.get("server") == server]

        for flags in ([], [], ["--pages", "3"]):
            config = fixture_server()
            config["args"] += flags
            self.cellgate.request("toolServers/add", {"server": "again", "config": config})
            self.assertEqual(len(starting("again")), 1)
        self.cellgate.request("toolServers/remove", {"server": "again"})
        self.assertEqual(starting("again"), [])

    def test_two_servers_whose_wrappers_are_one_package_cannot_both_be(self):
        self.cellgate.request("toolServers/add", {"server": "two words", "config": fixture_server()})
        for name in ("two-words", "Two_Words"):
            with self.subTest(name):
                error = self.assert_error(1021, self.cellgate.request, "toolServers/add",
                                          {"server": name, "config": fixture_server()})
                self.assertIn("two words", error.message)
                self.assertIsNone(self.server(name))
        self.assert_error(1021, self.cellgate.request, "toolServers/add",
                          {"server": "Host", "config": fixture_server()})
        self.cellgate.request("toolServers/remove", {"server": "two words"})
        self.cellgate.request("toolServers/add", {"server": "two-words", "config": fixture_server()})
        self.cellgate.request("toolServers/remove", {"server": "two-words"})

    def test_servers_of_both_eras_and_of_many_pages_and_words_are_understood(self):
        for name, flags in (("modern", ["--era", "modern"]), ("pages", ["--pages", "3"]), ("noisy", ["--garbage"]),
                            ("old", ["--version", "2024-11-05"])):
            with self.subTest(name):
                config = fixture_server()
                config["args"] += flags
                answer = self.cellgate.request("wrappers/generate", {"server": name, "config": config})
                self.assertEqual({m["tool"] for m in answer["modules"]},
                                 {m["tool"] for m in self.modules["fix"]["modules"]})
                self.assertIn("x", text_of(self.call(name, "tool-1", {"s": "x"})))
                self.cellgate.request("toolServers/remove", {"server": name})

    def test_a_tool_that_changes_its_definition_loses_its_grants(self):
        self.cellgate.request("wrappers/generate", {"server": "turncoat", "config": fixture_server()})
        rule = {"effect": "allow", "kind": "tool", "server": "turncoat", "tool": "tool-1"}
        pending = self.cellgate.start("tools/call", {"server": "turncoat", "tool": "tool-1", "arguments": {"s": "1"}})
        self.cellgate.allow(self.cellgate.approval(), scope="workspace", rule=rule)
        pending.result()
        self.call("turncoat", "tool-1", {"s": "2"})
        self.assertIsNone(self.approval)
        self.call("turncoat", "change", {})
        self.call("turncoat", "tool-1", {"s": "3"})
        self.assertIsNotNone(self.approval)
        self.cellgate.request("toolServers/remove", {"server": "turncoat"})

    def test_the_servers_questions_are_refused_and_never_left_hanging(self):
        for method in ("sampling/createMessage", "elicitation/create", "unheard/of"):
            with self.subTest(method):
                config = fixture_server()
                config["args"] += ["--ask", method]
                self.cellgate.request("toolServers/add", {"server": "asks", "config": config})
                self.assertIn("code", text_of(self.call("asks", "tool-1", {"s": "x"})))
                self.cellgate.request("toolServers/remove", {"server": "asks"})

    def test_what_the_tool_says_of_its_failure_is_a_result(self):
        result = self.call("fix", "fail", {})
        self.assertTrue(result["isError"])
        self.assertIn("it failed", text_of(result))
        self.assertEqual(self.call("fix", "image", {})["content"][0]["type"], "image")

    def test_a_server_gets_a_small_environment_and_what_its_configuration_names(self):
        script = f"env > env.txt; pwd > cwd.txt; exec /usr/bin/python3 -B {MCP_SERVER}"
        config = {"command": "/bin/sh", "args": ["-c", script], "cwd": "${workspaceFolder}/sub",
                  "env": {"GIVEN": "yes", "BY_DEFAULT": "${NOT_SET:-fallback}", "FROM_OURS": "${HOME}"}}
        (self.workspace.path / "sub").mkdir()
        self.cellgate.request("wrappers/generate", {"server": "surroundings", "config": config})
        text = (self.workspace.path / "sub/env.txt").read_text()
        lines = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        self.assertEqual((lines["GIVEN"], lines["BY_DEFAULT"], lines["FROM_OURS"]),
                         ("yes", "fallback", str(self.workspace.home)))
        self.assertNotIn("XDG_RUNTIME_DIR", lines)
        self.assertEqual((self.workspace.path / "sub/cwd.txt").read_text().strip(), str(self.workspace.path / "sub"))
        self.cellgate.request("toolServers/remove", {"server": "surroundings"})

    def test_wrappers_go_where_they_are_wanted_and_are_the_same_each_time(self):
        answer = self.modules["fix"]
        self.assertEqual((answer["package"], answer["skipped"]), ("mcptools.fix", []))
        modules = {m["tool"]: m for m in answer["modules"]}
        self.assertEqual(modules["tool-1"]["module"], "mcptools.fix.tool_1")
        self.assertEqual(modules["tool-1"]["path"], str(self.workspace.path / "mcptools/fix/tool_1.py"))
        self.assertTrue(os.path.isfile(modules["tool-1"]["path"]))

        def package():
            return {p: p.read_bytes() for p in (self.workspace.path / "mcptools").rglob("*.py")}
        before = package()
        self.assertEqual(self.cellgate.request("wrappers/generate", {"server": "fix"}), answer)
        self.assertEqual(package(), before)
        for content in before.values():
            self.assertNotIn(b"/usr/bin/python3", content)  # no configuration is in it
        (self.workspace.path / "lib").mkdir()
        elsewhere = self.cellgate.request("wrappers/generate", {"server": "fix", "outDir": "lib"})
        self.assertTrue(elsewhere["modules"][0]["path"].startswith(str(self.workspace.path / "lib/mcptools/")))

    def test_the_built_in_server_stays(self):
        with self.assertRaises(RpcError):
            self.cellgate.request("toolServers/remove", {"server": "host"})
        self.assertIsNotNone(self.server("host"))

    def test_a_session_may_have_fewer_servers(self):
        self.cellgate.session("few", toolServers=["host"])
        result = self.cellgate.run("from mcptools.fix import tool_1\ntool_1.run(s='x')", sessionId="few").result()
        self.assertEqual(result["status"], "error")
        self.assertEqual(self.cellgate.waiting(), [])
        self.cellgate.request("session/close", {"sessionId": "few"})

    def test_what_reads_variables_that_are_not_set_does_not_start(self):
        config = fixture_server(env={"TOKEN": "${SURELY_NOT_SET}"})
        with self.assertRaises(RpcError) as caught:
            self.cellgate.request("wrappers/generate", {"server": "unset", "config": config})
        self.assertIn("SURELY_NOT_SET", caught.exception.message)


class FromTheWorkspace(WorkspaceTest):
    """What a cloned repository names starts only after a user agreed to exactly that."""

    FILES = ((".mcp.json", "mcpServers"), (".vscode/mcp.json", "servers"))

    def name_server(self, file, key, **more):
        script = f"touch started; exec /usr/bin/python3 -B {MCP_SERVER}"
        config = {"command": "/bin/sh", "args": ["-c", script], "env": {"SECRET": "${TOKEN:-none}"}, **more}
        self.workspace.write(file, json.dumps({key: {"repo": config}}))

    def started(self):
        return (self.workspace.path / "started").exists()

    def state(self, cellgate):
        [server] = [s for s in cellgate.request("toolServers/list")["servers"] if s["name"] == "repo"]
        return server

    def test_it_is_pending_asked_about_and_started_after_the_yes(self):
        for file, key in self.FILES:
            with self.subTest(file):
                self.name_server(file, key)
                cellgate = self.sidecar()
                server = self.state(cellgate)
                self.assertEqual((server["state"], server["source"]), ("pending", "workspaceFile"))
                self.assertTrue(server["file"].endswith(file))
                pending = cellgate.start("wrappers/generate", {"server": "repo"})
                approval = cellgate.approval()
                action = approval["action"]
                self.assertEqual((action["kind"], action["server"], action["cwd"]),
                                 ("server", "repo", str(self.workspace.path)))
                self.assertEqual(action["command"][0], "/bin/sh")
                self.assertIn("SECRET", action["environmentNames"])
                # What the workspace's file says is shown, as it is written; what a user gave is not.
                self.assertEqual(action["environment"], {"SECRET": "${TOKEN:-none}"})
                self.assertIn('with the variable SECRET: "${TOKEN:-none}"', approval["display"])
                self.assertIn("touch started", "\n".join(approval["display"]))
                self.assertFalse(self.started())
                cellgate.allow(approval)
                self.assertEqual(pending.result()["package"], "mcptools.repo")
                self.assertTrue(self.started())
                self.assertEqual(self.state(cellgate)["state"], "running")
                cellgate.close()
                os.remove(self.workspace.path / "started")
                os.remove(self.workspace.path / file)

    def test_a_no_starts_nothing(self):
        self.name_server(*self.FILES[0])
        cellgate = self.sidecar()
        pending = cellgate.start("wrappers/generate", {"server": "repo"})
        cellgate.deny(cellgate.approval(), reason="whose is it?")
        with self.assertRaises(RpcError) as caught:
            pending.result()
        self.assertEqual(caught.exception.code, 1014)
        self.assertIn("whose is it?", caught.exception.message)
        self.assertFalse(self.started())

    def test_nobody_to_ask_is_a_no(self):
        self.name_server(*self.FILES[0])
        cellgate = self.sidecar(capabilities={})
        with self.assertRaises(RpcError) as caught:
            cellgate.request("tools/call", {"server": "repo", "tool": "tool-1", "arguments": {"s": "x"}})
        self.assertEqual(caught.exception.code, 1014)
        self.assertFalse(self.started())

    def test_a_yes_for_the_workspace_is_for_that_command_and_no_other(self):
        self.name_server(*self.FILES[0])
        first = self.sidecar()
        pending = first.start("wrappers/generate", {"server": "repo"})
        first.allow(first.approval(), scope="workspace")
        pending.result()
        first.close()
        second = self.sidecar()
        second.request("wrappers/generate", {"server": "repo"})
        self.assertEqual(second.asked(), 0)
        second.close()
        os.remove(self.workspace.path / "started")
        self.name_server(*self.FILES[0], args=["-c", f"touch started; : ; exec /usr/bin/python3 -B {MCP_SERVER}"])
        third = self.sidecar()
        self.assertEqual(self.state(third)["state"], "pending")
        pending = third.start("wrappers/generate", {"server": "repo"})
        third.deny(third.approval())
        with self.assertRaises(RpcError):
            pending.result()
        self.assertFalse(self.started())

    def test_a_file_of_the_workspace_cannot_take_a_users_name(self):
        self.workspace.write(".mcp.json",
                         json.dumps({"mcpServers": {"fix": {"command": "/bin/sh", "args": ["-c", "touch started"]}}}))
        cellgate = self.sidecar(options={"mcpServers": {"fix": fixture_server()}})
        cellgate.request("wrappers/generate", {"server": "fix"})
        self.assertEqual((cellgate.asked(), self.started()), (0, False))

    def test_a_server_that_was_just_added_can_be_called(self):
        cellgate = self.sidecar()
        with self.assertRaises(RpcError) as caught:
            cellgate.request("tools/call", {"server": "repo", "tool": "tool-1", "arguments": {"s": "x"}})
        self.assertEqual(caught.exception.code, 1017)
        self.name_server(*self.FILES[0])
        pending = cellgate.start("tools/call", {"server": "repo", "tool": "fail", "arguments": {}})
        cellgate.allow(cellgate.approval())
        cellgate.allow(cellgate.approval())
        self.assertTrue(pending.result()["isError"])

    def test_a_broken_file_breaks_nothing_else(self):
        self.workspace.write(".mcp.json", "{broken")
        cellgate = self.sidecar(options={"mcpServers": {"fix": fixture_server()}})
        self.assertEqual(cellgate.request("wrappers/generate", {"server": "fix"})["package"], "mcptools.fix")


if __name__ == "__main__":
    unittest.main()
