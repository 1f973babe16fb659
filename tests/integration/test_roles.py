"""What an agent asks for beyond its role gets error 1013 and a line in the log, whatever it says; a user gets it."""

import json
import unittest

from cellgate_client import Agent, WorkspaceSidecarTest, contract
from executions import RpcError
from existing_kernel import ExistingKernel
from remote_testing import TOKEN, JupyterServer, has_jupyter_server

PROTOCOL = json.loads((contract.SCHEMAS / "methods.json").read_text())["methods"]


# Their examples start kernels and servers that are not here.
STARTING = ("execute", "session/create", "session/restart", "wrappers/generate", "toolServers/restart",
            "packages/install")


def example(method):
    folder = contract.SCHEMAS / "examples"
    return contract.load(folder / f"{method.replace('/', '.')}.json")["params"]["valid"][0]


def nested(path, value):
    for name in reversed(path.split(".")):
        value = {name: value}
    return value


def merged(into, more):
    for name, value in more.items():
        before = into.get(name)
        inner = dict(before) if isinstance(before, dict) else {}
        into[name] = merged(inner, value) if isinstance(value, dict) else value
    return into


def attempts():
    """Of every method, what an agent may not send: derived from the contract."""
    for method, entry in PROTOCOL.items():
        if entry["direction"] != "clientToServer" or entry["type"] != "request" or method == "initialize":
            continue
        if "agent" not in entry["roles"]:
            yield method, example(method)
        for part in entry.get("userOnly", ()):
            yield method, merged(dict(example(method)), nested(part["param"], part.get("value", "something")))


class Roles(WorkspaceSidecarTest):
    hostile = True  # made-up values of parameters that are refused before they are read

    def code_of(self, client, method, params):
        try:
            client.request(method, params)
        except RpcError as error:
            return error.code
        return None

    def test_everything_that_is_for_users_is_refused_to_an_agent_and_logged(self):
        agent, user = self.agent(), self.editor()
        self.assertGreater(len(list(attempts())), 12)
        for method, params in attempts():
            with self.subTest(method, params=params):
                self.assertEqual(self.code_of(agent, method, params), 1013)
                self.assertIn(f"was refused: {method}", self.log_of_the_sidecar())
                if method not in STARTING:
                    self.assertNotEqual(self.code_of(user, method, params), 1013)

    def test_an_agent_does_not_see_how_servers_are_started(self):
        secret = "t0ken-in-an-argument"
        user = self.editor(options={"mcpServers": {
            "mine": {"command": "/bin/sh", "args": ["-c", secret]},
            "far": {"url": f"https://127.0.0.1/{secret}"}}})
        agent = self.agent()
        seen, told = (client.request("toolServers/list")["servers"] for client in (user, agent))
        self.assertEqual(json.dumps(seen).count(secret), 2)  # the control
        self.assertNotIn(secret, json.dumps(told))
        self.assertEqual([(s["name"], s["state"], s["source"]) for s in told],
                         [(s["name"], s["state"], s["source"]) for s in seen])
        self.assertTrue(all("command" not in s and "url" not in s for s in told))

    def test_settings_come_from_users_only(self):
        agent = self.agent(initialize=False)
        with self.assertRaises(RpcError) as caught:
            agent.initialize(capabilities={}, options={"mcpServers": {"mine": {"command": "/bin/true"}}})
        self.assertEqual(caught.exception.code, 1013)
        agent.initialize(capabilities={"approvals": True, "input": True})
        user = self.editor()
        self.assertEqual(user.request("policy/list"), {"rules": []})

    def test_an_agent_neither_sees_nor_answers_what_its_own_code_asks(self):
        user = self.editor()
        user.request("wrappers/generate", {"server": "host"})
        agent = Agent(self.workspace, initialize=False)
        self.addCleanup(agent.close)
        agent.initialize(capabilities={"approvals": True})  # whatever it says
        cell = agent.execute("from mcptools.host import write_file\nwrite_file.run(path='a.txt', content='x')")
        approval = user.approval()
        for method, params in (
            ("approval/respond", {"approvalIds": [approval["approvalId"]], "decision": "allow"}),
            ("policy/add", {"rule": {"effect": "allow", "kind": "tool", "server": "host"}, "scope": "session"}),
            ("policy/decisions", {}),
            ("session/attach", {"sessionId": "default"}),
            ("toolServers/add", {"server": "mine", "config": {"command": "/bin/true"}}),
            ("execute", {"code": "1", "approvals": "allow"}),
        ):
            with self.subTest(method):
                self.assertEqual(self.code_of(agent, method, params), 1013)
        self.assertEqual(agent.asked(), 0)
        self.assertFalse(cell.pending.done)
        user.allow(approval)
        self.assertEqual(cell.result()["status"], "ok")

    def test_an_agent_stops_only_what_it_runs_itself(self):
        user, agent = self.editor(), self.agent()
        cell = user.execute("print('begun', flush=True)\nwhile True: pass").wait_for_text("begun")
        self.assertEqual(self.code_of(agent, "session/interrupt", {"sessionId": "default"}), 1013)
        self.assertEqual(self.code_of(agent, "execute/cancel", {"executionId": cell.id}), 1013)
        self.assertFalse(cell.pending.done)
        self.assertIsNone(self.code_of(user, "session/interrupt", {"sessionId": "default"}))
        self.assertEqual(cell.result()["status"], "error")
        own = agent.execute("while True: pass").wait_running()  # cancelling one that has not begun works, too
        self.assertIsNone(self.code_of(agent, "execute/cancel", {"executionId": own.id}))
        self.assertEqual(own.result()["status"], "cancelled")

    def test_an_agent_runs_nothing_where_there_is_no_sandbox(self):
        user, agent = self.editor(), self.agent()
        user.session("open", sandbox=False)
        self.assertEqual(self.code_of(agent, "execute", {"code": "1", "sessionId": "open"}), 1013)
        self.assertEqual(user.run("1", sessionId="open").result()["status"], "ok")
        self.assertEqual(agent.run("1").result()["status"], "ok")


    def test_an_agent_runs_nothing_in_a_kernel_of_the_user_s_that_already_ran(self):
        kernel = ExistingKernel("tcp")
        self.addCleanup(kernel.end)
        self.assert_for_users_only({"connectionFile": kernel.file})

    @unittest.skipUnless(has_jupyter_server(), "needs python3-jupyter-server")
    def test_an_agent_runs_nothing_on_a_jupyter_server_of_the_user_s(self):
        home = self.workspace.base / "server"
        home.mkdir()
        server = JupyterServer(home)
        self.addCleanup(server.close)
        self.assert_for_users_only({"server": {"url": server.url, "token": TOKEN}})

    def assert_for_users_only(self, kernel):
        user, agent = self.editor(), self.agent()
        self.assertEqual(self.code_of(agent, "session/create", {"sessionId": "agent-1", "kernel": kernel}), 1013)
        user.session("elsewhere", kernel=kernel)
        self.assertEqual(self.code_of(agent, "execute", {"code": "1", "sessionId": "elsewhere"}), 1013)
        self.assertEqual(user.run("1", sessionId="elsewhere").result()["status"], "ok")
        user.request("session/close", {"sessionId": "elsewhere"})


SOCKETS = """
import os, socket
found = []
for folder, _, files in os.walk({runtime!r}):
    for name in files:
        if name.endswith('.sock') and folder.rsplit('/', 2)[-2] == 'roots':
            line = socket.socket(socket.AF_UNIX)
            line.connect(os.path.join(folder, name))
            line.sendall(b'cellgate 0.0.1\\n')
            found.append(line.recv(100)[:8])
print(found)
"""


class Kernels(WorkspaceSidecarTest):
    """Invariant: a kernel never sees the clients' sockets."""

    def test_a_cell_does_not_reach_the_sockets_of_clients(self):
        user = self.editor()
        code = SOCKETS.format(runtime=str(self.workspace.runtime))
        self.assertEqual(user.run(code).text(), "[]\n")
        # The control: without a sandbox it does, so the code is right.
        user.session("open", sandbox=False)
        self.assertEqual(user.run(code, sessionId="open").text(), "[b'cellgate', b'cellgate']\n")


if __name__ == "__main__":
    unittest.main()
