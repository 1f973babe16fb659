"""Tool servers in the sandbox: what they reach of the machine and of the network, by which settings, and who is asked.
Their controls are the same servers without it."""

import json
import os
import shutil
import subprocess
import unittest

import own_network
from cellgate_client import CELLGATE, FIXTURES, REPOSITORY, WorkspaceSidecarTest, WorkspaceTest
from executions import RpcError
from processes import processes_with, wait_until
from server_sandbox_testing import FETCH, PYTHON, ServerTest, Web, settings
from tools_testing import text_of
from workspaces import SYSTEM_PATH

NODE = shutil.which("node", path=SYSTEM_PATH)
WITHOUT_GVISOR = shutil.which("runsc") is None
NPM_SERVER = REPOSITORY / "tests/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"


class Files(ServerTest):
    def read(self, path):
        return f"print(open({str(path)!r}).read())"

    def reached(self, name):
        """What the attempts of a server print, by what is tried."""
        attempts = {"key": self.read(self.workspace.home / ".ssh/id_rsa"), "outside": self.read(self.outside),
                    "secret": self.read(self.workspace.path / ".env"),
                    "home": f"open({str(self.workspace.home / 'mark')!r}, 'w').write('x')",
                    "hook": f"open({str(self.workspace.path / '.git/hooks/post-commit')!r}, 'w').write('x')",
                    "processes": "import os\nprint(os.path.exists('/proc/%d/environ'))" % os.getpid(),
                    "workspace": f"open({str(self.workspace.path / 'made')!r}, 'w').write('x')",
                    "variables": "import os\nprint(sorted(os.environ))"}
        return {what: self.run_in(name, code) for what, code in attempts.items()}

    def test_a_server_in_the_sandbox_sees_what_a_cell_sees(self):
        self.workspace.write(".env", "TOKEN=1")
        self.workspace.write(".git/hooks/pre-commit", "")
        self.add("free")
        self.add("boxed", sandbox=True, env={"GIVEN": "yes"})
        free, boxed = self.reached("free"), self.reached("boxed")
        self.assertEqual((free["key"], free["outside"], free["secret"], free["processes"]),
                         ("a key of mine", "nobody's business", "TOKEN=1", "True"))
        self.assertEqual((free["home"], free["hook"]), ("", ""))
        self.assertTrue((self.workspace.home / "mark").exists())
        (self.workspace.home / "mark").unlink()
        for what in ("key", "outside"):
            self.assertIn("FileNotFoundError", boxed[what])
        self.assertIn("PermissionError", boxed["secret"])
        self.assertIn("Read-only", boxed["hook"])
        self.assertEqual(boxed["processes"], "False")
        self.assertFalse((self.workspace.home / "mark").exists())
        for reached in (free, boxed):
            self.assertEqual(reached["workspace"], "")
        self.assertIn("'GIVEN'", boxed["variables"])
        self.assertNotIn("XDG", boxed["variables"])
        self.assertEqual(self.info("free")["sandbox"], "none")
        self.assertNotIn("layers", self.info("free"))
        self.assertEqual(self.info("boxed")["sandbox"], "bwrap")
        self.assertLessEqual({"network-namespace", "private-home", "protected-files", "network-proxy"},
                             set(self.info("boxed")["layers"]))
        self.assertFalse(self.cellgate.asked())

    @unittest.skipIf(WITHOUT_GVISOR, "gVisor is not installed (apt install runsc)")
    def test_in_gvisor_it_sees_no_more(self):
        self.workspace.write(".env", "TOKEN=1")
        self.workspace.write(".git/hooks/pre-commit", "")
        (self.workspace.path / ".git/hooks/post-commit").unlink(missing_ok=True)
        self.add("boxed", sandbox={"launcher": "gvisor"}, env={"GIVEN": "yes"})
        boxed = self.reached("boxed")
        self.assertIn("Starting gVisor", self.run_in("boxed", "import subprocess\nprint(subprocess.run("
                                                              "['dmesg'], capture_output=True, text=True).stdout)"))
        for what, told in (("key", "FileNotFoundError"), ("outside", "FileNotFoundError"), ("secret", "PermissionError"),
                           ("processes", "False"), ("workspace", ""), ("variables", "'GIVEN'")):
            self.assertIn(told, boxed[what])
        self.assertRegex(boxed["hook"], "Read-only|PermissionError")
        self.assertFalse((self.workspace.path / ".git/hooks/post-commit").exists())
        self.assertFalse((self.workspace.home / "mark").exists())
        self.assertEqual(self.info("boxed")["sandbox"], "gvisor")
        self.assertIn("gvisor", self.info("boxed")["layers"])

    def test_landlock_is_for_kernels_alone(self):
        with self.assertRaises(RpcError) as raised:
            self.add("weak", sandbox={"launcher": "landlock"})
        self.assertIn("landlock, which is for kernels alone", raised.exception.message)

    def test_settings_show_and_hide(self):
        file = self.write_settings("files.json", settings(allowRead=[str(self.outside)], denyRead=["data"]))
        self.workspace.write("data/x", "hidden")
        info = self.add("set", sandbox={"configFile": file})
        self.assertEqual(info["sandboxConfig"], file)
        shutil.copy(file, self.workspace.home / "files.json")
        self.assertEqual(self.add("at home", sandbox={"configFile": "~/files.json"})["sandboxConfig"],
                         str(self.workspace.home / "files.json"))
        self.assertEqual(self.run_in("set", self.read(self.outside)), "nobody's business")
        self.assertIn("PermissionError", self.run_in("set", self.read(self.workspace.path / "data/x")))
        self.assertIn("FileNotFoundError", self.run_in("set", self.read(self.workspace.home / ".ssh/id_rsa")))

    def test_settings_are_read_at_each_start_and_others_are_asked_for(self):
        file = self.write_settings("changing.json", settings())
        self.add("changing", sandbox={"configFile": file})
        self.assertIn("FileNotFoundError", self.run_in("changing", self.read(self.outside)))
        self.write_settings("changing.json", settings(allowRead=[str(self.outside)]))
        pending = self.cellgate.start("toolServers/restart", {"server": "changing"})
        approval = self.cellgate.approval()
        self.assertEqual(json.loads(approval["action"]["sandboxSettingsText"])["filesystem"]["allowRead"], [str(self.outside)])
        self.cellgate.allow(approval)
        pending.result()
        self.assertEqual(self.run_in("changing", self.read(self.outside)), "nobody's business")

    def test_settings_that_cannot_be_read_start_nothing(self):
        for text in ("", "{}", settings()[:-1] + ', "credentials": {"files": [{"path": "x", "mode": "deny"}]}}'):
            file = self.write_settings("broken.json", text)
            with self.assertRaises(RpcError) as caught:
                self.cellgate.request("toolServers/add", {"server": "none", "config": {
                    "command": PYTHON, "sandbox": {"configFile": file}}})
            self.assertIn("broken.json", caught.exception.message)

    def test_a_server_that_lies_elsewhere_is_told_of_with_what_to_do(self):
        script = self.workspace.base / "elsewhere.py"
        shutil.copy(FIXTURES / "probing_server.py", script)
        self.add("elsewhere", args=[str(script)], sandbox=True)
        with self.assertRaises(RpcError) as caught:
            self.run_in("elsewhere", "print(1)")
        self.assertIn("No such file", caught.exception.message)
        self.assertIn(str(script), caught.exception.hint)
        self.assertIn("allowRead", caught.exception.hint)
        file = self.write_settings("elsewhere.json", settings(allowRead=[str(script)]))
        self.add("elsewhere", args=[str(script)], sandbox={"configFile": file})
        self.assertEqual(self.run_in("elsewhere", "print(1)"), "1")

    def test_a_program_of_the_home_is_shown_with_what_lies_beside_it_and_no_more(self):
        tools = self.workspace.home / "tools"
        (tools / "bin").mkdir(parents=True)
        (tools / "lib").mkdir()
        (tools / "private").write_text("not to be shown")
        (tools / "lib/probing.py").write_text((FIXTURES / "probing_server.py").read_text())
        program = tools / "bin/probe"
        program.write_text(f"#!{PYTHON}\nimport runpy\nrunpy.run_path({str(tools / 'lib/probing.py')!r})\n")
        program.chmod(0o755)
        self.add("home", command=str(program), args=[], sandbox=True)
        self.assertEqual(self.run_in("home", "print(1)"), "1")
        self.assertIn("FileNotFoundError", self.run_in("home", self.read(tools / "private")))

    def test_it_ends_with_its_removal_and_leaves_no_directory(self):
        self.add("short", args=["server.py", "a-mark-of-short"], sandbox=True)
        self.run_in("short", "print(1)")
        self.assertTrue(processes_with("a-mark-of-short"))
        self.assertEqual(len(list((self.workspace.runtime / "cellgate").glob("t-*"))), 1)
        self.cellgate.request("toolServers/remove", {"server": "short"})
        wait_until(lambda: not processes_with("a-mark-of-short"), "the end of the server")
        wait_until(lambda: not list((self.workspace.runtime / "cellgate").glob("t-*")), "the end of its directory")

    def test_a_server_that_dies_is_told_of_with_its_signal_and_its_last_words(self):
        self.add("dying", sandbox=True)
        with self.assertRaises(RpcError) as caught:
            self.run_in("dying", "import os, sys\nsys.stderr.write('last words')\nsys.stderr.flush()\nos.kill(0, 9)")
        self.assertIn("SIGKILL", caught.exception.message)
        self.assertEqual(self.run_in("dying", "print(1)"), "1")

    @unittest.skipUnless(NODE and NPM_SERVER.exists(), "needs node and the npm packages of tests/package.json")
    def test_a_real_server_of_npm(self):
        self.workspace.write("a.txt", "in the workspace")
        self.workspace.write(".env", "TOKEN=1")
        script = NPM_SERVER.resolve()
        file = self.write_settings("npm.json", settings(allowRead=[str(script.parents[3])]))
        args = [str(script), str(self.workspace.path), str(self.workspace.home)]
        (self.workspace.home / "b.txt").write_text("in the home")
        rule = self.cellgate.request("policy/add", {"rule": {"effect": "allow", "kind": "tool",
                                                             "tool": "read_text_file"}, "scope": "workspace"})
        self.addCleanup(self.cellgate.request, "policy/remove", {"ruleId": rule["id"]})
        self.add("files", command=NODE, args=args, roots=False)
        self.add("rooted", command=NODE, args=args)
        self.add("boxed_files", command="srt", args=["--settings", file, NODE, *args], roots=False)

        def read(server, path):
            return text_of(self.cellgate.request("tools/call", {"server": server, "tool": "read_text_file",
                                                                "arguments": {"path": str(path)}}))

        for server in ("files", "rooted", "boxed_files"):
            self.assertEqual(read(server, self.workspace.path / "a.txt"), "in the workspace")
        self.assertEqual(read("files", self.workspace.home / "b.txt"), "in the home")
        # A root takes the place of the folders in its arguments.
        self.assertIn("outside allowed directories", read("rooted", self.workspace.home / "b.txt"))
        self.assertEqual(read("files", self.workspace.path / ".env"), "TOKEN=1")
        # I25 of ipybox, whose page has macOS's words for it: "operation not permitted".
        self.assertIn("EACCES: permission denied", read("boxed_files", self.workspace.path / ".env"))
        self.assertIn("ENOENT", read("boxed_files", self.workspace.home / "b.txt"))
        self.assertIn("ENOENT", read("boxed_files", self.workspace.home / ".ssh/id_rsa"))


class Network(ServerTest):
    @classmethod
    def prepare(cls):
        cls.web = Web()
        cls.addClassCleanup(cls.web.server_close)
        cls.addClassCleanup(cls.web.shutdown)

    def setUp(self):
        super().setUp()
        self.web.asked.clear()
        self.url = f"http://allowed.example:{self.web.port}/"
        self.fetch = FETCH + f"fetch({self.url!r})"

    def test_an_unknown_host_is_asked_for_by_the_server_and_reached_after_the_yes(self):
        self.add("asks", sandbox=True)
        pending = self.start("asks", self.fetch)
        approval = self.cellgate.approval()
        action = approval["action"]
        self.assertEqual((action["kind"], action["server"], action["host"], action["port"]),
                         ("network", "asks", "allowed.example", self.web.port))
        self.assertNotIn("sessionId", approval)
        self.assertIn("for the tool server asks", approval["display"][0])
        self.assertEqual(self.web.asked, [])
        self.cellgate.allow(approval)
        self.assertIn("hello from allowed.example", text_of(pending.result()))
        pending = self.start("asks", self.fetch)
        self.cellgate.deny(self.cellgate.approval(), reason="not again")
        self.assertIn("not again", text_of(pending.result()))

    def test_call_and_generate_take_the_option_that_they_advise(self):
        config = self.workspace.write("cli.json", json.dumps({"mcpServers": {
            "boxed": {"command": PYTHON, "args": ["server.py"], "sandbox": True}}}))

        def cli(*arguments):
            return subprocess.run([CELLGATE, *arguments, "--root", str(self.workspace.path), "--mcp-config", str(config)],
                                  env=self.workspace.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, start_new_session=True, check=False)
        call = ("call", "boxed", "run", json.dumps({"code": self.fetch}), "--allow", "boxed/run")
        option = ("--allow-domain", f"allowed.example:{self.web.port}")
        denied = cli(*call)
        self.assertIn("    " + " ".join(option), denied.stderr)
        self.assertNotIn("hello from", denied.stdout)
        self.assertIn("hello from allowed.example", cli(*call, *option).stdout)
        generated = cli("generate", "boxed", *option)
        self.assertEqual(generated.returncode, 0, generated.stderr)
        self.assertIn(" ".join(option), generated.stderr)

    def test_an_answer_for_the_workspace_is_for_that_server_alone(self):
        self.add("one", sandbox=True)
        self.add("two", sandbox=True)
        pending = self.start("one", self.fetch)
        approval = self.cellgate.approval()
        [choice] = [c for c in approval["choices"] if c["scope"] == "workspace"]
        self.assertIn("this tool server", choice["label"])
        self.cellgate.allow(approval, scope="workspace")
        pending.result()
        asked = self.cellgate.asked()
        self.assertIn("hello", self.run_in("one", self.fetch))
        self.assertEqual(self.cellgate.asked(), asked)
        pending = self.start("two", self.fetch)
        self.cellgate.deny(self.cellgate.approval())
        self.assertNotIn("hello", text_of(pending.result()))

    def test_what_a_cell_may_reach_its_servers_may_not(self):
        self.add("called", sandbox=True)
        self.cellgate.request("wrappers/generate", {"server": "called"})
        call = f"from mcptools.called import run\nprint(run.run(code={self.fetch!r}))"
        own = self.cellgate.run(self.fetch, allowedDomains=["allowed.example"])
        self.assertIn("hello", own.text())  # the control
        for mode in ({"allowedDomains": ["allowed.example"]}, {"approvals": "allow"}):
            execution = self.cellgate.execute(call, **mode)
            approval = self.cellgate.approval()
            self.assertEqual((approval["action"]["kind"], approval["action"]["server"]), ("network", "called"))
            self.cellgate.deny(approval)
            self.assertEqual(execution.result()["status"], "ok", execution.outputs())
            self.assertIn("403", execution.text())

    def test_settings_answer_for_their_server_while_it_runs(self):
        file = self.write_settings("hosts.json", settings(["allowed.example"], ["other.example"]))
        self.add("set", sandbox={"configFile": file})
        self.add("plain", sandbox=True)
        before = self.cellgate.asked()
        self.assertIn("hello", self.run_in("set", self.fetch))
        self.assertIn("403", self.run_in("set", self.fetch.replace("allowed", "other")))
        self.assertEqual(self.cellgate.asked(), before)
        pending = self.start("plain", self.fetch)
        self.cellgate.deny(self.cellgate.approval())
        self.assertIn("403", text_of(pending.result()))
        rules = self.cellgate.request("policy/list")["rules"]
        self.assertEqual(len([r for r in rules if r.get("kind") == "network" and r.get("server") == "set"]), 2)
        self.cellgate.request("toolServers/remove", {"server": "set"})
        rules = self.cellgate.request("policy/list")["rules"]
        self.assertEqual([r for r in rules if r.get("kind") == "network" and r.get("server") == "set"], [])

    def test_without_the_proxy_nothing_is_reached(self):
        connect = ("import socket\ntry:\n"
                   f"    socket.create_connection((%r, {self.web.port}), 5)\n    print('connected')\n"
                   "except OSError as error: print(type(error).__name__, error)")
        self.add("free")
        self.add("boxed", sandbox=True)
        for host in ("127.0.0.1", own_network.ADDRESS):
            self.assertEqual(self.run_in("free", connect % host), "connected")
            self.assertIn("Error", self.run_in("boxed", connect % host))
        self.assertFalse(self.cellgate.asked() and self.web.asked)


class Srt(ServerTest):
    """Commands of srt, which is not installed."""

    def test_its_forms_run_in_the_sandbox_by_their_settings(self):
        read = f"print(open({str(self.outside)!r}).read())"
        self.add("free")
        self.assertEqual(self.run_in("free", read), "nobody's business")
        file = self.write_settings("s.json", settings())
        wide = self.write_settings("wide.json", settings(allowRead=[str(self.outside)]))
        npx = ["-y", "@anthropic-ai/sandbox-runtime"]
        for number, (command, args) in enumerate((
                ("srt", ["--settings", file, PYTHON, "server.py"]), ("srt", ["-s", file, "--", PYTHON, "server.py"]),
                ("srt", [f"--settings={file}", "-d", "python3", "server.py"]),
                ("srt", ["-s", file, "-c", "exec python3 server.py 2>/dev/null"]),
                ("npx", [*npx, "--settings", file, PYTHON, "server.py"]),
                ("npx", [f"{npx[1]}@0.0.83", "-s", file, PYTHON, "server.py"]))):
            with self.subTest(args):
                info = self.add(f"srt{number}", command, args)
                self.assertEqual((info["sandbox"], info["sandboxConfig"]), ("bwrap", file))
                self.assertNotIn("srt", info["command"][0])
                self.assertIn("FileNotFoundError", self.run_in(f"srt{number}", read))
                self.add(f"srt{number}", command, [arg.replace(file, wide) for arg in args])
                self.assertEqual(self.run_in(f"srt{number}", read), "nobody's business")

    def test_without_settings_those_of_the_home_hold_or_srts_own(self):
        write = f"open({str(self.workspace.path / 'made')!r}, 'w').write('x')"
        self.add("bare", "srt", [PYTHON, "server.py"])
        self.assertIn("Read-only", self.run_in("bare", write))
        self.assertIn(".srt-settings.json does not exist", " ".join(self.info("bare")["sandboxNotices"]))
        self.cellgate.request("toolServers/remove", {"server": "bare"})
        (self.workspace.home / ".srt-settings.json").write_text(settings())
        self.addCleanup((self.workspace.home / ".srt-settings.json").unlink)
        self.add("bare", "srt", [PYTHON, "server.py"])
        self.assertEqual(self.run_in("bare", write), "")

    def test_what_is_not_known_is_an_error(self):
        for args, word in ((["--control-fd", "3", "x"], "--control-fd"), ([], "a program"), (["-s"], "-s"),
                           (["-c", "x", "y"], "both"), (["--unheard-of", "x"], "--unheard-of")):
            error = self.assert_error(1021, self.cellgate.request, "toolServers/add",
                                      {"server": "wrong", "config": {"command": "srt", "args": args}})
            self.assertIn(word, error.message)
        error = self.assert_error(1021, self.cellgate.request, "toolServers/add",
                                  {"server": "wrong", "config": {"command": "srt", "args": ["x"], "sandbox": False}})
        self.assertIn("sandbox", error.message)


class FromTheWorkspace(WorkspaceTest):
    def name_server(self, **config):
        self.workspace.write("server.py", (FIXTURES / "probing_server.py").read_text())
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": {"repo": {"command": PYTHON, "args": ["server.py"],
                                                                          **config}}}))

    def test_the_question_says_that_it_runs_in_the_sandbox_and_by_what(self):
        self.workspace.write("sandbox.json", settings(["example.org"], allowRead=["~/.ssh/id_rsa"]))
        first = {"args": ["server.py"], "sandbox": True}
        second = {"command": "srt", "args": ["-s", "sandbox.json", PYTHON, "server.py"]}
        for config in (first, second):
            self.name_server(**config)
            cellgate = self.sidecar()
            pending = cellgate.start("wrappers/generate", {"server": "repo"})
            approval = cellgate.approval()
            action, display = approval["action"], "\n".join(approval["display"])
            self.assertEqual((action["sandbox"], action["command"]), (True, [PYTHON, "server.py"]))
            self.assertIn("in the sandbox", approval["display"][0])
            self.assertNotIn("sandboxLauncher", action)
            self.assertEqual("sandboxSettingsText" in action, config is second)
            if config is second:
                self.assertEqual(action["sandboxConfig"], str(self.workspace.path / "sandbox.json"))
                self.assertIn('allowRead: ["~/.ssh/id_rsa"]', display)
                self.assertIn('"example.org"', display)
            cellgate.allow(approval)
            pending.result()
            cellgate.close()

    def test_a_yes_is_for_those_settings_and_for_no_less_of_a_sandbox(self):
        def asked_by(cellgate):
            pending = cellgate.start("wrappers/generate", {"server": "repo"})
            cellgate.wait(lambda: pending.done or cellgate.notifications["approval/requested"], "an answer")
            asked = cellgate.asked()
            if asked:
                cellgate.allow(cellgate.approval(), scope="workspace")
            pending.result()
            cellgate.close()
            return asked

        self.workspace.write("sandbox.json", settings())
        self.name_server(sandbox={"configFile": "sandbox.json"})
        self.assertEqual(asked_by(self.sidecar()), 1)
        self.assertEqual(asked_by(self.sidecar()), 0)
        self.workspace.write("sandbox.json", settings(["example.org"]))
        self.assertEqual(asked_by(self.sidecar()), 1)
        for config in ({"sandbox": {"launcher": "gvisor", "configFile": "sandbox.json"}}, {"sandbox": True}, {}):
            self.name_server(**config)
            self.assertEqual(asked_by(self.sidecar()), 1, config)


class NotToBeHad(WorkspaceTest):
    def test_without_bubblewrap_it_does_not_start(self):
        hide = ["unshare", "-rm", "sh", "-c", f'mount --bind /dev/null {shutil.which("bwrap")} && exec "$@"', "sh"]
        if subprocess.run([*hide, "true"], capture_output=True).returncode != 0:
            self.skipTest("bubblewrap cannot be hidden here")
        self.workspace.write("server.py", (FIXTURES / "probing_server.py").read_text())
        cellgate = self.sidecar(under=hide)
        config = {"command": PYTHON, "args": ["server.py"]}
        with self.assertRaises(RpcError) as caught:
            cellgate.request("wrappers/generate", {"server": "boxed", "config": {**config, "sandbox": True}})
        self.assertEqual(caught.exception.code, 1005)
        self.assertIn("bubblewrap", caught.exception.message + caught.exception.hint)
        cellgate.request("wrappers/generate", {"server": "free", "config": config})


class OnTheCommandLine(WorkspaceTest):
    def test_generate_says_that_the_server_ran_in_the_sandbox(self):
        self.workspace.write("server.py", (FIXTURES / "probing_server.py").read_text())
        file = self.workspace.base / "s.json"
        file.write_text(settings())
        for command, word in ((["srt", "-s", str(file)], "in the sandbox: bwrap"), ([], "")):
            ended = subprocess.run([CELLGATE, "generate", "probing", "--", *command, PYTHON, "server.py"],
                                   cwd=self.workspace.path, env=self.workspace.environment(), stdin=subprocess.DEVNULL,
                                   capture_output=True, text=True)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertIn("mcptools.probing.run", ended.stdout)
            self.assertIn(word, ended.stderr)
            self.assertEqual("sandbox" in ended.stderr, bool(word), ended.stderr)


class WithoutUs(WorkspaceTest):
    def test_it_ends_with_its_directory_when_the_sidecar_is_killed(self):
        self.workspace.write("server.py", (FIXTURES / "probing_server.py").read_text())
        config = {"command": PYTHON, "args": ["server.py", "a-mark-of-left"], "sandbox": True}
        first = self.sidecar()
        first.request("wrappers/generate", {"server": "left", "config": config})
        self.assertTrue(processes_with("a-mark-of-left"))
        own = self.workspace.runtime / "cellgate"
        self.assertEqual(len(list(own.glob("t-*"))), 1)
        first.kill()
        wait_until(lambda: not processes_with("a-mark-of-left"), "the end of the server")
        wait_until(lambda: not list(own.glob("t-*")), "the end of its directory")
        second = self.sidecar()
        second.request("wrappers/generate", {"server": "left", "config": config})


class OfAnAgent(WorkspaceSidecarTest):
    def generate(self, agent, **config):
        return agent.start("wrappers/generate", {"server": "mine", "config": {"command": PYTHON, "args": ["server.py"],
                                                                              **config}})

    def test_it_may_ask_for_the_sandbox_and_not_by_which_settings(self):
        self.workspace.write("server.py", (FIXTURES / "probing_server.py").read_text())
        file = self.workspace.base / "s.json"
        file.write_text(settings())
        user, agent = self.editor(), self.agent()
        for config in ({"sandbox": {"configFile": str(file)}}, {"command": "srt", "args": ["-s", str(file), PYTHON]},
                       {"command": "srt", "args": [PYTHON, "server.py"]}):
            with self.assertRaises(RpcError) as caught:
                self.generate(agent, **config).result()
            self.assertEqual(caught.exception.code, 1013, config)
        self.assertEqual(user.asked(), 0)
        pending = self.generate(agent, sandbox=True)
        approval = user.approval()
        self.assertTrue(approval["action"]["sandbox"])
        user.allow(approval)
        self.assertEqual(pending.result()["package"], "mcptools.mine")


if __name__ == "__main__":
    own_network.enter()
    unittest.main()
