"""Secrets of one session: who gets them, when they end, and that they are never on the disk."""

import json
import subprocess
import unittest

import own_network
from cellgate_client import CELLGATE, WorkspaceSidecarTest
from executions import RpcError
from request_testing import HOST, ApiRequestTest
from tools_testing import MCP_SERVER

OF_ALL = "0f-all-workspaces-1"
OF_SESSION = "0f-one-session-22"
INVALID = -32602
ASK = f"import urllib.request\nprint(urllib.request.urlopen('https://{HOST}/user').status)"


class InRequests(ApiRequestTest):
    def setUp(self):
        super().setUp()
        self.rule("inspect", inject={"as": "bearer", "value": "${secret:TOKEN}"})
        self.rule("allow")
        self.cellgate.request("secret/set", {"name": "TOKEN", "value": OF_ALL})
        for session in ("one", "other"):
            self.cellgate.session(session)
            self.addCleanup(self.close, session)

    def close(self, session):
        if any(each["sessionId"] == session for each in self.cellgate.request("session/list")["sessions"]):
            self.cellgate.request("session/close", {"sessionId": session})

    def set(self, session="one", **more):
        return self.cellgate.request("secret/set", {"name": "TOKEN", "scope": "session", "sessionId": session,
                                                    "value": OF_SESSION, **more})

    def sent(self, session):
        self.api.asked.clear()
        self.run_ok(ASK, sessionId=session)
        return self.api.asked[0][2]["authorization"].removeprefix("Bearer ")

    def listed(self):
        return [(each["scope"], each.get("sessionId")) for each in self.cellgate.request("secret/list")["secrets"]]

    def holders(self, text):
        """The files of the workspace and its home that have it; the test's own trace has what it set."""
        return [str(path) for path in self.workspace.base.rglob("*") if path.is_file() and not path.is_symlink()
                and not path.name.startswith("trace") and text.encode() in path.read_bytes()]

    def test_its_session_alone_gets_it_and_until_it_ends(self):
        kept = self.set()
        self.assertEqual((kept["scope"], kept["sessionId"], kept["source"], kept["usedBy"]), ("session", "one", "stored", []))
        self.assertEqual(self.listed(), [("session", "one"), ("user", None)])
        self.assertEqual(self.sent("one"), OF_SESSION)
        self.assertEqual(self.sent("other"), OF_ALL)
        self.cellgate.request("session/restart", {"sessionId": "one"})
        self.assertEqual(self.sent("one"), OF_SESSION)
        self.assertIn("lastUsedAt", self.cellgate.request("secret/list")["secrets"][0])
        self.cellgate.request("session/close", {"sessionId": "one"})
        self.assertEqual(self.listed(), [("user", None)])
        self.cellgate.session("one")
        self.assertEqual(self.sent("one"), OF_ALL)
        self.assertEqual(self.run_ok(f"print({OF_SESSION!r})", sessionId="one").text(), "[secret TOKEN]\n")
        self.assertEqual(self.holders(OF_SESSION), [])
        self.assertTrue(self.holders("secret.used"))  # the control: the record is looked through

    def test_it_is_deleted_and_the_record_says_so(self):
        self.set()
        self.cellgate.request("secret/delete", {"name": "TOKEN", "scope": "session", "sessionId": "one"})
        self.assertEqual(self.sent("one"), OF_ALL)
        entries = self.cellgate.request("record/query", {"types": ["secret.set", "secret.deleted"], "limit": 2})["entries"]
        self.assertEqual([(each["type"], each["actor"], each["sessionId"], each["data"]) for each in entries], [
            (kind, "user", "one", {"name": "TOKEN", "scope": "session", "source": "stored"})
            for kind in ("secret.deleted", "secret.set")])

    def test_what_names_no_session_or_no_value_is_refused(self):
        def said(method="secret/set", **params):
            with self.assertRaises(RpcError) as caught:
                self.cellgate.request(method, {"name": "TOKEN", **params})
            return caught.exception.code, caught.exception.message
        for method, more in (("secret/set", {"value": "x"}), ("secret/delete", {})):
            with self.subTest(method):
                self.assertEqual(said(method, scope="session", **more),
                                 (INVALID, "expected a session with the scope session, found none"))
                for scope in ({"scope": "user"}, {"scope": "workspace"}, {}):
                    self.assertEqual(said(method, sessionId="one", **scope, **more),
                                     (INVALID, "expected a session only with the scope session, found one with another"))
                self.assertEqual(said(method, scope="session", sessionId="none", **more), (1001, 'there is no session "none"'))
        code, message = said(scope="session", sessionId="one", command=["echo", "x"])
        self.assertEqual(code, INVALID)
        self.assertIn("expected the value of a secret of one session", message)
        self.assertEqual(self.listed(), [("user", None)])

    def test_a_tool_server_never_gets_it(self):
        self.set(name="SERVER_TOKEN", value="f0r-a-server-3")
        self.cellgate.request("toolServers/add", {"server": "local", "config": {
            "command": "/usr/bin/python3", "args": ["-B", str(MCP_SERVER)], "env": {"TOKEN": "${secret:SERVER_TOKEN}"}}})
        rule = {"effect": "allow", "kind": "tool"}
        self.rules.append(self.cellgate.request("policy/add", {"rule": rule, "scope": "workspace"})["id"])
        call = {"server": "local", "tool": "environment", "arguments": {}}
        error = self.assert_error(1014, self.cellgate.request, "tools/call", call)
        self.assertIn("needs the secret SERVER_TOKEN", error.message)
        self.cellgate.request("toolServers/remove", {"server": "local"})


class CommandLine(WorkspaceSidecarTest):
    def secret(self, *arguments, given=None):
        return subprocess.run([CELLGATE, "secret", *arguments], cwd=self.workspace.path, text=True, capture_output=True,
                              check=False, input=given, env=self.workspace.environment())

    def test_one_of_a_session_that_runs_is_added_listed_and_removed(self):
        ended = self.secret("add", "TOKEN", "--session", "s", given=OF_SESSION)
        self.assertEqual((ended.returncode, "no sidecar runs" in ended.stderr), (1, True), ended)
        user = self.editor()
        user.session("s")
        ended = self.secret("add", "TOKEN", "--session", "s", given=OF_SESSION + "\n")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("kept until the session ends", ended.stdout)
        self.assertEqual([(each["scope"], each["sessionId"]) for each in user.request("secret/list")["secrets"]],
                         [("session", "s")])
        self.assertIn("TOKEN  session s  stored", self.secret("list", "--session", "s").stdout)
        self.assertEqual(json.loads(self.secret("list", "--json", "--session", "s").stdout)["sessionId"], "s")
        self.assertIn("there are no secrets", self.secret("list").stdout)
        self.assertEqual(self.secret("remove", "TOKEN", "--session", "s").returncode, 0)
        self.assertEqual(user.request("secret/list")["secrets"], [])
        ended = self.secret("add", "TOKEN", "--session", "other", given=OF_SESSION)
        self.assertEqual(ended.returncode, 1)
        self.assertIn('no session "other"', ended.stderr)
        self.assertNotIn(OF_SESSION, ended.stdout + ended.stderr)


if __name__ == "__main__":
    own_network.enter()
    unittest.main()
