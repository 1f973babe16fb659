"""Secrets: where they come from, which tool servers get them, when a user is asked, and where no value is."""

import hashlib
import json
import subprocess
import sys
import threading
import unittest
from http.server import ThreadingHTTPServer

from cellgate_client import FIXTURES, WorkspaceSidecarTest
from cli_testing import CliTest
from executions import RpcError
from processes import TIMEOUT
from test_elicitation import CAPABILITIES, asked_by, respond
from tools_testing import MCP_SERVER, text_of

sys.path.insert(0, str(FIXTURES))
import mcp_http_server  # noqa: E402

VALUE = "v4lue-of-the-user"
OTHER = "0ther-of-the-user"
# Keeps no more of its variable than a hash, with which it answers.
LOCAL = """
import hashlib, os, runpy, sys
os.environ["TOKEN_HASH"] = hashlib.sha256(os.environ.pop("TOKEN").encode()).hexdigest()
runpy.run_path(sys.argv[1], run_name="__main__")
"""
LEAKS = """
import hashlib, os, runpy, sys
os.environ["TOKEN_HASH"] = hashlib.sha256(os.environ["TOKEN"].encode()).hexdigest()
print("log of", os.environ["TOKEN"], file=sys.stderr, flush=True)
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def hashed(text):
    return hashlib.sha256(text.encode()).hexdigest()


def local(token="${secret:TOKEN}", **more):
    return {"command": "/usr/bin/python3", "args": ["-B", "-c", LOCAL, str(MCP_SERVER)], "env": {"TOKEN": token}, **more}


class Seen(mcp_http_server.Handler):
    """Remembers the hash of what each request carries."""

    hashes: list = []

    def do_POST(self):
        Seen.hashes.append(hashed(self.headers["Authorization"]))
        super().do_POST()


class SecretsTest(WorkspaceSidecarTest):
    def setUp(self):
        super().setUp()
        self.user = self.connect()

    def connect(self, **more):
        user = self.editor(capabilities=CAPABILITIES, **more)
        user.request("policy/add", {"rule": {"effect": "allow", "kind": "tool"}, "scope": "workspace"})
        return user

    def set(self, name="TOKEN", **source):
        return self.user.request("secret/set", {"name": name, **(source or {"value": VALUE})})

    def listed(self):
        return self.user.request("secret/list", {})["secrets"]

    def add(self, name="local", config=None):
        return self.user.request("toolServers/add", {"server": name, "config": config or local()})

    def call(self, server="local", client=None, tool="environment"):
        return (client or self.user).start("tools/call", {"server": server, "tool": tool, "arguments": {}})

    def environment(self, server="local"):
        return json.loads(text_of(self.call(server).result()))["env"]

    def token(self, server="local"):
        return self.environment(server)["TOKEN_HASH"]

    def refused(self, call):
        with self.assertRaises(RpcError) as caught:
            call.result()
        return caught.exception

    def restart(self, server="local"):
        self.user.request("toolServers/restart", {"server": server})

    def recorded(self, *types):
        found = self.user.request("record/query", {"types": list(types)})["entries"]
        return [(entry["type"], entry["actor"], entry["data"]) for entry in reversed(found)]

    def holders(self, *texts):
        """The files of the workspace, its home and the traces that have one of the texts."""
        return [str(path) for path in self.workspace.base.rglob("*")
                if path.is_file() and not path.is_symlink() and any(text.encode() in path.read_bytes() for text in texts)]

    def serve_http(self):
        mcp_http_server.say = lambda **_: None
        Seen.hashes = []
        server = ThreadingHTTPServer(("127.0.0.1", 0), Seen)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return {"type": "http", "url": f"http://127.0.0.1:{server.server_port}/json",
                "headers": {"Authorization": "Bearer ${secret:TOKEN}"}}


class Use(SecretsTest):
    def test_a_process_gets_it_in_a_variable_and_a_url_in_a_header(self):
        self.set()
        self.add()
        self.assertEqual(self.token(), hashed(VALUE))
        self.add("web", self.serve_http())
        self.call("web", tool="täg").result()
        self.assertEqual(set(Seen.hashes), {hashed(f"Bearer {VALUE}")})
        (info,) = self.listed()
        self.assertEqual((info["usedBy"], info["scope"], info["source"]), (["local", "web"], "user", "stored"))
        self.assertGreaterEqual(info["lastUsedAt"], info["setAt"])

    def test_the_value_is_nowhere_but_in_the_server(self):
        self.set()
        self.set("ASKED", value=OTHER)
        self.user.request("secret/delete", {"name": "ASKED"})
        self.add()
        self.add("asking", local("${secret:ASKED}"))
        self.token()
        call = self.call("asking")
        respond(self.user, asked_by(self.user)[0], "accept", values={"ASKED": OTHER})
        call.result()
        self.user.request("wrappers/generate", {"server": "local"})
        run = self.user.run("from mcptools.local import environment\nprint(environment.run())")
        self.assertEqual(run.result()["status"], "ok", run.outputs())
        told = [self.listed(), self.user.request("toolServers/list"), self.user.request("policy/decisions"),
                self.user.request("toolServers/log", {"server": "local"}), self.user.request("record/query", {}),
                run.outputs(), self.user.received("approval/requested"), self.user.received("elicitation/requested")]
        self.assertNotIn(VALUE, json.dumps(told))
        self.assertNotIn(OTHER, json.dumps(told))
        self.assertIn("TOKEN", json.dumps(told))
        self.assertEqual(self.recorded("secret.set", "secret.deleted", "secret.used"), [
            ("secret.set", "user", {"name": "TOKEN", "scope": "user", "source": "stored"}),
            ("secret.set", "user", {"name": "ASKED", "scope": "user", "source": "stored"}),
            ("secret.deleted", "user", {"name": "ASKED", "scope": "user", "source": "stored"}),
            ("secret.used", "cellgate", {"name": "TOKEN", "scope": "user", "server": "local"}),
            ("secret.set", "user", {"name": "ASKED", "scope": "user", "source": "stored"}),
            ("secret.used", "cellgate", {"name": "ASKED", "scope": "user", "server": "asking"}),
        ])
        self.user.close()
        self.assertIn("secret/set", self.user.trace.read_text())
        self.assertEqual(self.holders(VALUE, OTHER), [])
        self.assertTrue(self.holders("secret.used"))  # the control: these files are looked through

    def test_a_server_that_runs_keeps_its_value_and_the_next_start_gets_the_new_one(self):
        self.set()
        self.add()
        self.assertEqual(self.token(), hashed(VALUE))
        self.set(value=OTHER)
        self.assertEqual(self.token(), hashed(VALUE))
        self.restart()
        self.assertEqual(self.token(), hashed(OTHER))

    def test_a_workspace_has_its_own(self):
        self.set()
        self.set(value=OTHER, scope="workspace")
        self.add()
        self.assertEqual(self.token(), hashed(OTHER))
        self.assertEqual([(each["scope"], each["usedBy"]) for each in self.listed()],
                         [("workspace", ["local"]), ("user", [])])
        self.user.request("secret/delete", {"name": "TOKEN", "scope": "workspace"})
        self.restart()
        self.assertEqual(self.token(), hashed(VALUE))

    def test_in_an_argument_it_is_refused(self):
        self.set()
        with self.assertRaises(RpcError) as caught:
            self.add(config={"command": "/usr/bin/env", "args": ["--token=${secret:TOKEN}"]})
        self.assertEqual(caught.exception.code, 1021)
        self.assertIn("every user of this machine could see", caught.exception.message)
        self.assertIn('"env" or "headers"', caught.exception.data["hint"])

    def test_in_the_sandbox_too(self):
        self.set()
        server = self.workspace.write("server.py", MCP_SERVER.read_bytes())  # where the sandbox shows it
        self.add(config=local(sandbox=True, args=["-B", "-c", LOCAL, str(server)]))
        self.assertEqual(self.token(), hashed(VALUE))


class Sources(SecretsTest):
    def test_what_a_command_prints_runs_once(self):
        runs = self.workspace.base / "runs"
        self.set(command=["sh", "-c", f"echo run >> {runs}; echo {VALUE}"])
        for name in ("local", "other"):
            self.add(name)
            self.assertEqual(self.token(name), hashed(VALUE))
        self.assertEqual(runs.read_text(), "run\n")
        (info,) = self.listed()
        self.assertEqual((info["source"], info["from"].split()[0]), ("command", "sh"))

    def test_a_command_that_fails_says_how(self):
        self.set(command=["sh", "-c", "echo not logged in >&2; exit 3"])
        self.add()
        error = self.refused(self.call())
        self.assertIn("the secret TOKEN: ", error.message)
        self.assertIn("exit code 3; its stderr ends with: not logged in", error.message)

    def test_a_file_is_read_each_time(self):
        secrets = self.workspace.write(".secrets", f"# mine\nexport TOKEN='{VALUE}'\n")
        self.set(file=".secrets")
        self.assertEqual(self.listed()[0]["from"], str(secrets))
        self.add()
        self.assertEqual(self.token(), hashed(VALUE))
        secrets.write_text(f'TOKEN="{OTHER}"\n')
        self.restart()
        self.assertEqual(self.token(), hashed(OTHER))
        secrets.write_text("")
        error = self.refused(self.user.start("toolServers/restart", {"server": "local"}))
        self.assertIn(f"{secrets} has no line TOKEN=", error.message)


class OfTheEnvironment(SecretsTest):
    def connect(self, **more):
        return super().connect(environment=self.workspace.environment(CELLGATE_SECRET_TOKEN=VALUE, CONTROL="seen"))

    def test_it_is_used_where_it_is_named_and_seen_nowhere_else(self):
        (info,) = self.listed()
        self.assertEqual((info["name"], info["source"], info["scope"]), ("TOKEN", "environment", "user"))
        self.assertNotIn("setAt", info)
        self.add()
        self.assertEqual(self.token(), hashed(VALUE))
        self.assertNotIn("CELLGATE_SECRET_TOKEN", self.environment())
        self.add("by-name", local("${CELLGATE_SECRET_TOKEN}"))
        self.assertIn("CELLGATE_SECRET_TOKEN, which is not set", self.refused(self.call("by-name")).message)
        self.add("control", local("${CONTROL}"))
        self.assertEqual(self.token("control"), hashed("seen"))
        code = "import os; print(sorted(name for name in os.environ if 'SECRET' in name or name == 'CONTROL'))"
        self.assertEqual(self.user.run(code).text(), "[]\n")
        self.user.session("open", sandbox=False)
        self.assertEqual(self.user.run(code, sessionId="open").text(), "['CONTROL']\n")


class OfARepository(SecretsTest):
    """A cloned repository's files name servers, too."""

    def write(self, **servers):
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": servers}))
        self.user.request("toolServers/list")  # which reads it

    def test_it_gets_a_secret_only_after_a_yes_to_exactly_that_text(self):
        self.set()
        self.set("OTHER", value=OTHER)
        web = self.serve_http()
        for name, config, tool in (("local", local(), "environment"), ("web", web, "täg")):
            with self.subTest(name):
                self.write(**{name: config})
                call = self.call(name, tool=tool)
                approval = self.user.approval()
                self.assertIn("${secret:TOKEN}", json.dumps(approval["action"]))
                self.user.deny(approval)
                self.refused(call)
                self.assertEqual(self.recorded("secret.used"), [])
        self.write(local=local())
        call = self.call()
        self.user.allow(self.user.approval(), scope="workspace")
        self.assertEqual(json.loads(text_of(call.result()))["env"]["TOKEN_HASH"], hashed(VALUE))
        asked = self.user.asked()
        self.restart()
        self.assertEqual(self.user.asked(), asked)  # the control: the same text is not asked about again
        self.write(local=local("${secret:OTHER}"))
        call = self.call()
        approval = self.user.approval()
        self.assertEqual(approval["action"]["environment"], {"TOKEN": "${secret:OTHER}"})
        self.user.deny(approval)
        self.refused(call)
        self.assertEqual({data["name"] for _, _, data in self.recorded("secret.used")}, {"TOKEN"})


class Unknown(SecretsTest):
    def test_a_user_is_asked_and_what_they_type_is_kept(self):
        self.add()
        call = self.call()
        (question,) = asked_by(self.user)
        self.assertTrue(question["message"].startswith("The tool server local needs the secret TOKEN.\n"), question)
        self.assertIn("is kept, encrypted", question["message"])
        (field,) = question["fields"]
        self.assertEqual((field["name"], field["secret"], field["required"]), ("TOKEN", True, True))
        with self.assertRaises(RpcError) as caught:
            respond(self.user, question, "accept", values={"TOKEN": ""})
        self.assertEqual(caught.exception.code, 1027)
        respond(self.user, question, "accept", values={"TOKEN": VALUE})
        self.assertEqual(json.loads(text_of(call.result()))["env"]["TOKEN_HASH"], hashed(VALUE))
        self.restart()
        self.assertEqual(self.token(), hashed(VALUE))
        self.assertEqual(len(self.user.received("elicitation/requested")), 1)
        self.assertEqual(self.listed()[0]["source"], "stored")

    def test_without_an_answer_and_without_a_user_it_says_what_to_do(self):
        self.add()
        call = self.call()
        respond(self.user, asked_by(self.user)[0], "decline")
        error = self.refused(call)
        self.assertEqual(error.code, 1014)
        self.assertIn('"local" needs the secret TOKEN, and no user gave it', error.message)
        self.assertEqual(error.data["hint"], "cellgate secret add TOKEN")
        without = self.editor(capabilities={"approvals": True})
        self.user.close()
        self.assertIn("no editor or terminal is there", self.refused(self.call(client=without)).message)

    def test_nobody_is_asked_for_a_server_of_an_agent(self):
        agent = self.agent()
        call = agent.start("wrappers/generate", {"server": "theirs", "config": local()})
        approval = self.user.approval()
        self.assertEqual(approval["action"]["environment"], {"TOKEN": "${secret:TOKEN}"})
        self.user.allow(approval)
        self.assertIn("an agent named the server", self.refused(call).message)
        self.set()  # the control
        call = agent.start("wrappers/generate", {"server": "theirs", "config": local()})
        self.user.allow(self.user.approval())
        call.result()

    def test_an_agent_has_no_way_to_them(self):
        agent = self.agent()
        for method, params in (("secret/list", {}), ("secret/set", {"name": "A", "value": "x"}),
                               ("secret/delete", {"name": "A"})):
            self.assertEqual(self.refused(agent.start(method, params)).code, 1013)


class Shown(SecretsTest):
    """A server that gives its variable away to who asks, and writes it into its log."""

    def setUp(self):
        super().setUp()
        self.set()
        config = local()
        config["args"] = ["-B", "-c", LEAKS, str(MCP_SERVER)]
        self.add(config=config)
        self.environment()

    def printed(self, code, value=VALUE):
        return self.user.run(f"value = {value!r}\n" + code).text()

    def test_what_code_prints_has_no_value(self):
        for code in ("print(value)", "import sys\nsys.stdout.write(value[:6]); sys.stdout.flush(); print(value[6:])"):
            with self.subTest(code):
                self.assertEqual(self.printed(code, OTHER), OTHER + "\n")  # the control: it is no secret
                self.assertEqual(self.printed(code), "[secret TOKEN]\n")
        encoded = "import base64, urllib.parse\nprint(base64.b64encode(b'a' + value.encode()).decode(), value.encode().hex())"
        self.assertRegex(self.printed(encoded), r"^.{1,3}\[secret TOKEN\].{0,3} \[secret TOKEN\]\n$")

    def test_what_may_begin_a_value_is_not_held_back_until_the_end(self):
        wait = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.05)"
        execution = self.user.execute(f"print({VALUE[:6]!r}, end='', flush=True)\n{wait}")
        execution.wait_for_text(VALUE[:6])
        self.workspace.write("go", "")
        self.assertEqual(execution.result()["status"], "ok")

    def test_results_errors_the_record_and_logs_have_none_either(self):
        self.assertEqual(self.user.run(repr(VALUE)).data()["text/plain"], "'[secret TOKEN]'")
        error = self.user.run(f"raise ValueError({VALUE!r})").result()["error"]
        self.assertEqual(error["evalue"], "[secret TOKEN]")
        self.assertNotIn(VALUE, json.dumps(error))
        self.assertIn("log of [secret TOKEN]", self.user.request("toolServers/log", {"server": "local"})["text"])
        entries = json.dumps(self.user.request("record/query", {"limit": 1000})["entries"])
        self.assertNotIn(VALUE, entries)
        self.assertIn("raise ValueError('[secret TOKEN]')", entries)

    def test_variables_and_what_is_inspected_have_none(self):
        for value, seen in ((OTHER, OTHER), (VALUE, "[secret TOKEN]")):
            self.user.run(f"value = {value!r}")
            variables = self.user.request("kernel/variables", {})["variables"]
            self.assertIn(seen, next(each["value"] for each in variables if each["name"] == "value"))
            inspected = self.user.request("kernel/inspect", {"code": "value", "cursorPos": 5})
            self.assertIn(seen, inspected["text"])
            if value == VALUE:
                self.assertNotIn(VALUE, json.dumps([variables, inspected]))

    def test_an_agent_reads_none_of_a_tool_and_a_user_does(self):
        read = text_of(self.call(client=self.agent()).result())
        self.assertNotIn(VALUE, read)
        self.assertIn("[secret TOKEN]", read)
        self.assertIn(VALUE, text_of(self.call().result()))  # the control


class CommandLine(CliTest):
    def secret(self, *arguments, given=None):
        command = self.arguments("secret", *arguments, rooted=False)
        return subprocess.run(command, input=given, capture_output=True, text=True, timeout=TIMEOUT, check=False,
                              cwd=self.workspace.path, env=self.workspace.environment(), start_new_session=True)

    def infos(self):
        lines = self.secret("list", "--json").stdout.splitlines()
        return {(info["name"], info["scope"]): info for info in map(json.loads, lines)}

    def token(self):
        """What a server of the user gets."""
        config = self.workspace.write("servers.json", json.dumps({"mcpServers": {"local": local()}}))
        called = self.cli("call", "--mcp-config", str(config), "--allow", "local/environment", "local", "environment", "{}")
        self.assertEqual(called.returncode, 0, called.stderr)
        return called.stdout

    def test_a_piped_value_is_kept_listed_and_removed(self):
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": {"local": local()}}))
        added = self.secret("add", "TOKEN", given=VALUE + "\n")
        self.assertEqual(added.returncode, 0, added.stderr)
        self.assertIn("${secret:TOKEN}", added.stdout)
        listed = self.secret("list").stdout
        self.assertIn("TOKEN  user  stored  used by local", listed)
        self.assertNotIn(VALUE, added.stdout + listed)
        (self.workspace.path / ".mcp.json").unlink()
        self.assertIn(hashed(VALUE), self.token())
        self.assertEqual(self.secret("add", "TOKEN", "--workspace", given=OTHER).returncode, 0)
        self.assertIn(hashed(OTHER), self.token())
        self.assertEqual(self.secret("remove", "TOKEN", "--workspace").returncode, 0)
        self.assertEqual(list(self.infos()), [("TOKEN", "user")])
        removed = self.secret("remove", "TOKEN", "--workspace")
        self.assertEqual(removed.returncode, 1)
        self.assertIn("no secret TOKEN is kept for this workspace", removed.stderr)

    def test_a_command_is_split_as_a_shell_quotes_and_a_file_is_named_from_here(self):
        self.assertEqual(self.secret("add", "TOKEN", "--command", f"printf '%s\\n' \"{VALUE}\"").returncode, 0)
        self.assertIn(hashed(VALUE), self.token())
        refused = self.secret("add", "TOKEN", "--command", "cat x | head")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("found what only a shell takes", refused.stderr)
        self.workspace.write("here.env", f"TOKEN={OTHER}\n")
        self.assertEqual(self.secret("add", "TOKEN", "--file", "here.env").returncode, 0)
        self.assertEqual(self.infos()["TOKEN", "user"]["from"], str(self.workspace.path / "here.env"))
        self.assertIn(hashed(OTHER), self.token())

    def test_what_cannot_give_the_value_now_is_named(self):
        self.workspace.write("here.env", f"TOKEN={OTHER}\n")
        for words, said in ((("--command", "nosuch x"), "there is no program nosuch in PATH; TOKEN has no value"),
                            (("--command", "./here.env"), "./here.env is no program with an absolute path"),
                            (("--command", "cat x"), ""), (("--command", "/bin/cat x"), ""),
                            (("--file", "none.env"), "none.env cannot be read: No such file"),
                            (("--file", "here.env"), "")):
            with self.subTest(words):
                added = self.secret("add", "TOKEN", *words)
                self.assertEqual(added.returncode, 0, added.stderr)
                self.assertIn(said, added.stderr)
                self.assertEqual(added.stderr == "", said == "")

    def test_what_cannot_be_a_value_is_refused_and_not_shown(self):
        for given in ("", "\n", VALUE + "\0", VALUE * 10000):
            with self.subTest(size=len(given)):
                refused = self.secret("add", "TOKEN", given=given)
                self.assertEqual(refused.returncode, 1)
                self.assertIn("expected a value of 1 to 65536 bytes", refused.stderr)
                self.assertNotIn(VALUE, refused.stdout + refused.stderr)
        self.assertEqual(self.infos(), {})
        self.assertEqual(self.secret("add", "no-name", given=VALUE).returncode, 2)

    def test_it_is_typed_unseen(self):
        terminal = self.terminal("secret", "add", "TOKEN", rooted=False)
        terminal.expect("The value of TOKEN, typed unseen: $")
        terminal.type(VALUE)
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertNotIn(VALUE, terminal.text)
        self.assertIn(hashed(VALUE), self.token())


if __name__ == "__main__":
    unittest.main()
