"""The inputs of a tool server's configuration: who is asked, when, what the server gets, and where a password is not."""

import base64
import hashlib
import json
import subprocess
import sys
import threading
import unittest
from http.server import ThreadingHTTPServer

from cellgate_client import CELLGATE, FIXTURES, WorkspaceSidecarTest
from cli_testing import CliTest
from executions import RpcError
from processes import wait_until
from test_elicitation import CAPABILITIES, asked_by, respond
from test_logins import LoginTest, browse
from tools_testing import MCP_SERVER, text_of

sys.path.insert(0, str(FIXTURES))
import mcp_http_server  # noqa: E402

TOKEN = "s3cr3t-of-the-user"
SITE = "eu-central"
# A server that starts with the right token only, and keeps no more of it than its hash.
LOCAL = f"""
import hashlib, os, runpy, sys
found = hashlib.sha256(os.environ.pop("TOKEN").encode()).hexdigest()
if found != "{hashlib.sha256(TOKEN.encode()).hexdigest()}":
    sys.exit("the token was refused")
os.environ["TOKEN_HASH"] = found
runpy.run_path(sys.argv[1], run_name="__main__")
"""
INPUTS = [
    {"type": "promptString", "id": "token", "description": "API token", "password": True},
    {"type": "pickString", "id": "site", "options": [SITE, "us-east"], "default": "us-east"},
    {"type": "command", "id": "unused", "command": "extension.of.vscode"},
]
RIGHT = {"token": TOKEN, "site": SITE}


def local(**more):
    return {"type": "stdio", "command": "/usr/bin/python3", "args": ["-B", "-c", LOCAL, str(MCP_SERVER)],
            "env": {"TOKEN": "${input:token}", "SITE": "${input:site}"}, **more}


class Tracker(mcp_http_server.Handler):
    """Takes what carries the token only."""

    def do_POST(self):
        if self.headers["Authorization"] == f"Bearer {TOKEN}":
            super().do_POST()
        else:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.reply(401, b"who are you?", "text/plain")


class Asking(WorkspaceSidecarTest):
    def setUp(self):
        super().setUp()
        mcp_http_server.say = lambda **_: None
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Tracker)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.addCleanup(self.http.server_close)
        self.addCleanup(self.http.shutdown)
        self.tracker = {"type": "http", "url": f"http://127.0.0.1:{self.http.server_port}/json",
                        "headers": {"Authorization": "Bearer ${input:token}"}}
        self.write(local=local(), tracker=self.tracker)
        self.user = self.editor(capabilities=CAPABILITIES)
        self.user.request("policy/add", {"rule": {"effect": "allow", "kind": "tool"}, "scope": "workspace"})

    def write(self, inputs=INPUTS, **servers):
        self.workspace.write(".vscode/mcp.json", json.dumps({"inputs": inputs, "servers": servers}))

    def change_inputs(self):
        """The password is another one by now: its words are."""
        self.write([{**INPUTS[0], "description": "The new token"}, *INPUTS[1:]], local=local(), tracker=self.tracker)
        self.user.request("toolServers/list")  # which reads the file

    def call(self, server="local", tool="environment", client=None):
        return (client or self.user).start("tools/call", {"server": server, "tool": tool, "arguments": {}})

    def allow_start(self, server):
        approval = self.user.approval()
        self.assertEqual((approval["action"]["kind"], approval["action"]["server"]), ("server", server))
        self.user.allow(approval, scope="workspace")
        return approval

    def asked(self, count=1):
        return asked_by(self.user, count)[-1]

    def refused(self, call):
        with self.assertRaises(RpcError) as caught:
            call.result()
        return caught.exception

    def places(self):
        """Every file of the workspace, its home and the traces, but for what the test itself wrote."""
        for path in self.workspace.base.rglob("*"):
            if path.is_file() and not path.is_symlink():
                yield path, path.read_bytes()


class Start(Asking):
    def test_after_the_yes_the_user_is_asked_once_for_all_servers_of_the_file(self):
        call = self.call()
        approval = self.allow_start("local")
        self.assertEqual(approval["action"]["environment"], {"TOKEN": "${input:token}", "SITE": "${input:site}"})
        question = self.asked()
        self.assertNotIn("tool", question)
        self.assertTrue(question["message"].startswith("local needs these before it starts.\n"), question)
        self.assertEqual([(field["name"], field["type"], field.get("secret"), field.get("initial"))
                          for field in question["fields"]],
                         [("token", "text", True, None), ("site", "choice", None, "us-east")])
        with self.assertRaises(RpcError) as caught:
            respond(self.user, question, "accept", values={"token": TOKEN})
        self.assertEqual(caught.exception.code, 1027)
        respond(self.user, question, "accept", values=RIGHT)
        found = json.loads(text_of(call.result()))["env"]
        self.assertEqual((found["TOKEN_HASH"], found["SITE"]), (hashlib.sha256(TOKEN.encode()).hexdigest(), SITE))

        call = self.call("tracker", "täg")
        self.assertEqual(self.allow_start("tracker")["action"]["headers"], self.tracker["headers"])
        call.result()
        self.user.request("toolServers/restart", {"server": "local"})
        call = self.call()
        self.assertEqual(json.loads(text_of(call.result()))["env"]["SITE"], SITE)
        self.assertEqual(len(self.user.received("elicitation/requested")), 1)

    def test_the_password_is_nowhere_and_what_is_none_is_in_the_trace(self):
        call = self.call()
        self.allow_start("local")
        question = self.asked()
        respond(self.user, question, "accept", values=RIGHT)
        call.result()
        with self.assertRaises(RpcError):  # an answer that comes too late has no form any more
            respond(self.user, question, "accept", values=RIGHT)
        self.user.request("wrappers/generate", {"server": "local"})
        run = self.user.run("from mcptools.local import environment\nprint(environment.run())")
        self.assertEqual(run.result()["status"], "ok", run.outputs())
        told = [self.user.request("toolServers/list"), self.user.request("policy/decisions"),
                self.user.request("policy/list"), self.user.request("toolServers/log", {"server": "local"}),
                run.outputs(), self.user.received("approval/requested"), self.user.received("elicitation/resolved")]
        self.assertNotIn(TOKEN, json.dumps(told))
        self.assertIn("${input:token}", json.dumps(told))
        self.user.close()
        wait_until(lambda: SITE in self.user.trace.read_text(), "the answer in the trace")  # the control
        holders = [path for path, content in self.places() if TOKEN.encode() in content]
        self.assertEqual(holders, [])

    def test_the_question_names_the_execution_and_the_line_that_needs_the_server(self):
        generated = self.user.start("wrappers/generate", {"server": "local"})
        self.allow_start("local")
        respond(self.user, self.asked(), "accept", values=RIGHT)
        generated.result()
        self.change_inputs()
        execution = self.user.execute("from mcptools.local import environment\nenvironment.run()",
                                      cell={"uri": "file:///home/ada/tour.py", "line": 10})
        question = self.asked(2)
        self.assertEqual((question["executionId"], question["origin"]["line"]), (execution.id, 11))
        respond(self.user, question, "decline")
        self.assertEqual(execution.result()["status"], "error")
        self.assertIn("no user gave it", json.dumps(execution.result()["error"]))

    def test_a_wrong_password_is_asked_for_again_and_only_that(self):
        for server, wrong in (("local", "the token was refused"), ("tracker", "401")):
            with self.subTest(server):
                before = len(self.user.received("elicitation/requested"))
                call = self.call(server, "environment" if server == "local" else "täg")
                self.allow_start(server)
                respond(self.user, self.asked(before + 1), "accept",
                        values={"token": "wrong", **({"site": SITE} if server == "local" else {})})
                error = self.refused(call)
                self.assertIn(wrong, error.message)
                self.assertNotIn("wrong", error.message.replace(wrong, ""))
                call = self.call(server, "environment" if server == "local" else "täg")
                question = self.asked(before + 2)
                self.assertEqual([field["name"] for field in question["fields"]], ["token"])
                respond(self.user, question, "accept", values={"token": TOKEN})
                call.result()
                self.change_inputs()  # so that the other server has no token either

    def test_without_an_answer_it_does_not_start(self):
        call = self.call()
        self.allow_start("local")
        respond(self.user, self.asked(), "decline")
        error = self.refused(call)
        self.assertEqual(error.code, 1014)
        self.assertIn('the tool server "local" needs "token", "site", and no user gave it', error.message)
        past = self.user.request("policy/decisions")["decisions"][0]
        self.assertEqual(past["outcome"]["status"], "failed")

        without = self.editor(capabilities={"approvals": True})
        self.user.close()
        error = self.refused(self.call(client=without))
        self.assertIn("no editor or terminal is there to ask", error.message)
        self.assertIn("${VAR} in place of ${input:token}", error.data["hint"])


class Refused(Asking):
    def add(self, config, client=None):
        return (client or self.user).start("toolServers/add", {"server": "mine", "config": config})

    def test_an_input_that_is_missing_or_for_vscode_alone_is_named_before_anything_starts(self):
        for inputs, problem in ((INPUTS[1:], 'needs the input "token", which "inputs" does not have'),
                                ([{**INPUTS[0], "type": "command"}, INPUTS[1]], "only VS Code can run")):
            with self.subTest(problem):
                error = self.refused(self.add(local(inputs=inputs)))
                self.assertEqual(error.code, 1021)
                self.assertIn(problem, error.message)
                self.write(inputs=inputs, local=local())
                servers = self.user.request("toolServers/list")["servers"]
                (listed,) = [server for server in servers if server["name"] == "local"]
                self.assertEqual(listed["state"], "failed")
                self.assertIn(problem, listed["error"])
                self.assertIn(problem, self.refused(self.call()).message)
        self.assertEqual(self.user.asked(), 0)
        self.add(local(inputs=INPUTS)).result()  # the control

    def test_each_server_of_a_users_settings_is_asked_for_its_own(self):
        for name in ("one", "two"):
            self.user.request("toolServers/add", {"server": name, "config": local(inputs=INPUTS)})
        for count, name in enumerate(("one", "two"), 1):
            call = self.call(name)
            question = self.asked(count)
            self.assertEqual(question["server"], name)
            respond(self.user, question, "accept", values=RIGHT)
            call.result()

    def test_an_agent_has_no_inputs_and_its_use_of_a_users_server_asks_the_user(self):
        agent = self.agent()
        config = local(inputs=INPUTS)
        error = self.refused(agent.start("wrappers/generate", {"server": "mine", "config": config}))
        self.assertIn('no "inputs" in what an agent names', error.message)
        error = self.refused(agent.start("wrappers/generate", {"server": "mine", "config": local()}))
        self.assertIn('"inputs" does not have', error.message)
        self.assertEqual(self.user.asked(), 0)
        call = self.call(client=agent)
        self.allow_start("local")
        question = self.asked()
        self.assertEqual(question["agent"], "integration-test")
        respond(self.user, question, "cancel")
        self.assertIn("no user gave it", self.refused(call).message)

    def test_a_field_that_is_nearly_one_of_ours_is_an_error_of_its_file(self):
        config = self.workspace.write("servers.json", json.dumps({"mcpServers": {"a": {"command": "x", "agrs": []}}}))
        ended = subprocess.run([CELLGATE, "generate", "a", "--mcp-config", str(config)], cwd=self.workspace.path,
                               env=self.workspace.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                               text=True, check=False)
        self.assertEqual(ended.returncode, 1)
        self.assertIn('expected "args", found "agrs"', ended.stderr)


class Login(LoginTest):
    def test_a_login_whose_client_secret_is_an_input_asks_for_it_once(self):
        self.serve()
        oauth = {"clientId": "mine", "clientSecret": "${input:token}"}
        config = {"url": self.url, "oauth": oauth, "inputs": INPUTS}
        cellgate = self.sidecar(options={"mcpServers": {"web": config}}, capabilities=CAPABILITIES)
        cellgate.request("policy/add", {"rule": {"effect": "allow", "kind": "tool"}, "scope": "workspace"})
        beginning = cellgate.start("toolServers/login", {"server": "web"})
        (question,) = asked_by(cellgate)
        self.assertEqual([field["name"] for field in question["fields"]], ["token"])
        respond(cellgate, question, "accept", values={"token": TOKEN})
        self.assertEqual(browse(beginning.result()["authorizationUrl"]), 200)
        self.assertEqual(self.ended(cellgate), {"server": "web", "status": "granted"})
        self.call(cellgate)
        self.assertEqual(len(cellgate.received("elicitation/requested")), 1)
        cellgate.close()
        sent = json.dumps(self.requests())
        basic = base64.b64encode(f"mine:{TOKEN}".encode()).decode()
        self.assertTrue(TOKEN in sent or basic in sent, sent)
        self.assertNotIn(TOKEN, cellgate.trace.read_text())


class AtATerminal(CliTest):
    def test_a_password_is_typed_unseen(self):
        self.workspace.write(".vscode/mcp.json", json.dumps({"inputs": INPUTS, "servers": {"local": local()}}))
        terminal = self.terminal("call", "local", "environment", "{}", "--allow", "local/environment")
        self.assertIn("${input:token}", terminal.expect(r"your answer: $"))
        terminal.type("1")
        shown = terminal.expect(r"your answer: $")
        self.assertIn("local needs these before it starts", shown)
        self.assertIn("never stored", shown)
        self.assertIn("token (a text, typed unseen)", shown)
        self.assertNotIn("No password", shown)
        terminal.type(TOKEN)
        self.assertIn("Enter takes [2]", terminal.expect(r"your answer: $"))
        terminal.type("1")
        terminal.expect("send.*: $")
        terminal.type("y")
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertIn(SITE, terminal.text)
        self.assertIn("your answer: 1", terminal.text)  # the control: what is no password is echoed
        self.assertNotIn(TOKEN, terminal.text)


if __name__ == "__main__":
    unittest.main()
