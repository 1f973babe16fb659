"""Logins at tool servers over HTTP: tests/fixtures/oauth_server.py is the MCP server and its authorization server, and
`browse` the user's browser."""

import json
import os
import signal
import subprocess
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request

from cellgate_client import CELLGATE, FIXTURES, WorkspaceTest
from executions import RpcError
from processes import start_process

LOGIN_REQUIRED = 1026
TOOL_SERVER_FAILED = 1018


class StayHere(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def redirect_of(page):
    """Where the page sends the browser."""
    try:
        urllib.request.build_opener(StayHere).open(page)
    except urllib.error.HTTPError as answer:
        return answer.headers["Location"]
    raise AssertionError("the page does not lead back")


def status_of(url, method="GET", **fields):
    request = urllib.request.Request(url, method=method, headers=fields)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def browse(page):
    return status_of(redirect_of(page))


class LoginTest(WorkspaceTest):
    def serve(self, **options):
        self.server = start_process([sys.executable, "-B", str(FIXTURES / "oauth_server.py"), json.dumps(options)],
                                    text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end_server)
        self.port, self.as_port = map(int, self.server.stdout.readline().split())
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    def end_server(self):
        if self.server.poll() is None:
            self.requests()

    def requests(self):
        """All that both were sent; they end."""
        out, _ = self.server.communicate("\n")
        return json.loads(out)

    def at_token(self):
        """What the token endpoint was asked for; the servers end."""
        return [each["body"] for each in self.requests() if each["at"] == "as" and each["path"] == "/token"]

    def control(self, what):
        self.assertEqual(status_of(f"http://127.0.0.1:{self.port}/control/{what}"), 200)

    def start(self, oauth=None, **more):
        config = {"url": self.url, **({"oauth": oauth} if oauth else {})}
        cellgate = self.sidecar(options={"mcpServers": {"web": config}}, **more)
        cellgate.request("policy/add", {"rule": {"effect": "allow", "kind": "tool", "server": "web"},
                                        "scope": "workspace"})
        return cellgate

    def call(self, cellgate):
        result = cellgate.request("tools/call", {"server": "web", "tool": "look", "arguments": {}})
        return result["content"][0]["text"]

    def refused(self, cellgate, code=LOGIN_REQUIRED):
        with self.assertRaises(RpcError) as error:
            self.call(cellgate)
        self.assertEqual(error.exception.code, code, error.exception)
        return error.exception

    def begin(self, cellgate):
        return cellgate.request("toolServers/login", {"server": "web"})["authorizationUrl"]

    def ended(self, cellgate, count=1):
        """How the login with this number ended."""
        cellgate.wait(lambda: len(cellgate.notifications["toolServers/loginEnded"]) >= count, "the end of the login")
        return cellgate.received("toolServers/loginEnded")[count - 1]

    def log_in(self, cellgate, count=1):
        self.assertEqual(browse(self.begin(cellgate)), 200)
        self.assertEqual(self.ended(cellgate, count), {"server": "web", "status": "granted"})

    def info(self, cellgate):
        servers = cellgate.request("toolServers/list")["servers"]
        return next(each for each in servers if each["name"] == "web")

    def state(self, cellgate):
        info = self.info(cellgate)
        return info["state"], info["authorization"]


class Tokens(LoginTest):
    def test_a_call_without_a_login_says_so_and_works_after_one(self):
        self.serve()
        cellgate = self.start()
        self.assertEqual(self.state(cellgate), ("stopped", "none"))
        error = self.refused(cellgate)
        self.assertIn("cellgate login web", error.hint)
        self.assertEqual(self.state(cellgate), ("failed", "needed"))
        self.log_in(cellgate)
        self.assertEqual(self.state(cellgate), ("stopped", "granted"))
        self.assertEqual(self.call(cellgate), "seen")
        info = self.info(cellgate)
        self.assertEqual((info["state"], info["authorization"], info["transport"]), ("running", "granted", "http"))
        cellgate.close()
        requests = self.requests()
        page = next(each["path"] for each in requests if each["path"].startswith("/authorize"))
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page).query))
        self.assertEqual((asked["response_type"], asked["code_challenge_method"], asked["resource"], asked["scope"]),
                         ("code", "S256", self.url, "read"))
        self.assertGreaterEqual(len(asked["state"]), 32)
        registered = next(each["body"] for each in requests if each["path"] == "/register")
        self.assertEqual((registered["client_name"], registered["application_type"], registered["redirect_uris"]),
                         ("cellgate", "native", [asked["redirect_uri"]]))
        token = next(each["body"] for each in requests if each["path"] == "/token")
        self.assertEqual(token["resource"], self.url)

    def test_a_login_is_kept_and_its_registration_too(self):
        self.serve()
        cellgate = self.start()
        self.log_in(cellgate)
        cellgate.close()
        again = self.start()
        self.assertEqual(self.state(again), ("stopped", "granted"))
        self.assertEqual(self.call(again), "seen")
        self.log_in(again)
        again.close()
        self.assertEqual([each["path"] for each in self.requests()].count("/register"), 1)

    def test_a_token_that_is_refused_is_replaced_once(self):
        self.serve()
        cellgate = self.start()
        self.log_in(cellgate)
        self.assertEqual(self.call(cellgate), "seen")
        self.control("expire")
        self.assertEqual(self.call(cellgate), "seen")
        self.control("expire")
        self.assertEqual(self.call(cellgate), "seen")  # with the successor of the refresh token
        cellgate.close()
        self.assertEqual([each["grant_type"] for each in self.at_token()],
                         ["authorization_code", "refresh_token", "refresh_token"])

    def test_a_token_that_is_about_to_expire_is_replaced_before(self):
        self.serve(expiresIn=30)
        cellgate = self.start()
        self.log_in(cellgate)
        self.assertEqual(self.call(cellgate), "seen")
        cellgate.close()
        requests = self.requests()
        self.assertIn("refresh_token", [(each["body"] or {}).get("grant_type") for each in requests if each["path"] == "/token"])
        first = next(each for each in requests if each["at"] == "mcp" and each["authorization"])
        self.assertNotIn(first["authorization"], [None, ""])

    def test_when_no_token_is_valid_any_more_a_user_has_to_log_in_again(self):
        self.serve()
        cellgate = self.start()
        self.log_in(cellgate)
        self.call(cellgate)
        self.control("revoke")
        self.refused(cellgate)
        self.assertEqual(self.state(cellgate), ("failed", "needed"))
        self.log_in(cellgate, 2)
        self.assertEqual(self.call(cellgate), "seen")

    def test_without_a_refresh_token_likewise(self):
        self.serve(refresh=False)
        cellgate = self.start()
        self.log_in(cellgate)
        self.call(cellgate)
        self.control("expire")
        self.refused(cellgate)
        self.assertEqual(self.state(cellgate), ("failed", "needed"))

    def test_a_tool_that_wants_more_gets_a_login_for_all_of_it(self):
        self.serve(stepUp=True)
        cellgate = self.start()
        self.log_in(cellgate)
        error = self.refused(cellgate)
        self.assertIn('the scopes "write"', error.message)
        self.assertEqual(self.info(cellgate)["authorization"], "needed")
        self.log_in(cellgate, 2)
        self.assertEqual(self.call(cellgate), "seen")
        cellgate.close()
        pages = [each["path"] for each in self.requests() if each["path"].startswith("/authorize")]
        scopes = [urllib.parse.parse_qs(urllib.parse.urlsplit(page).query)["scope"][0] for page in pages]
        self.assertEqual([sorted(each.split()) for each in scopes], [["read"], ["read", "write"]])

    def test_a_tool_that_never_has_enough_is_an_error_and_no_loop(self):
        self.serve(neverEnough=True)
        cellgate = self.start()
        self.log_in(cellgate)
        self.refused(cellgate)
        self.log_in(cellgate, 2)
        error = self.refused(cellgate, TOOL_SERVER_FAILED)
        self.assertIn("which the login asked for", error.message)

    def test_after_a_logout_nothing_is_left_here_or_there(self):
        self.serve()
        cellgate = self.start()
        self.log_in(cellgate)
        self.call(cellgate)
        cellgate.request("toolServers/logout", {"server": "web"})
        self.refused(cellgate)
        cellgate.close()
        requests = self.requests()
        revoked = {each["body"]["token"].split("-")[0] for each in requests if each["path"] == "/revoke"}
        self.assertEqual(revoked, {"access", "refresh"})

    def test_a_login_of_another_process_is_noticed(self):
        self.serve()
        one, other = self.start(), self.start()
        self.refused(other)
        self.log_in(one)
        self.assertEqual(self.info(other)["authorization"], "granted")
        self.assertEqual(self.call(other), "seen")

    def test_the_code_in_a_cell_learns_what_to_do(self):
        self.serve()
        cellgate = self.start()
        self.log_in(cellgate)
        cellgate.request("wrappers/generate", {"server": "web"})
        self.control("revoke")
        execution = cellgate.run("from mcptools.web import look\ntry:\n    look.run()\n"
                                 "except Exception as error:\n    print(type(error).__name__, error)")
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertIn("ToolConnectionError", execution.text())
        self.assertIn("cellgate login web", execution.text())


class Secrets(LoginTest):
    def test_no_token_code_or_verifier_is_in_a_trace_a_log_or_a_file(self):
        self.serve()
        environment = self.workspace.environment(SECRET="the client's secret")
        cellgate = self.start(oauth={"clientId": "mine", "clientSecret": "${SECRET}"}, environment=environment)
        self.log_in(cellgate)
        self.call(cellgate)
        self.control("expire")
        self.call(cellgate)
        decisions = json.dumps(cellgate.request("policy/decisions"))
        cellgate.close()
        forms = self.at_token()
        secrets = [value for form in forms for name, value in form.items()
                   if name in ("code", "code_verifier", "refresh_token")]
        secrets += ["the client's secret", "access-"]
        self.assertGreaterEqual(len(secrets), 5)
        texts = {"decisions": decisions, "trace": cellgate.trace.read_text(), "log": cellgate.log_path.read_text()}
        for folder, _, names in os.walk(self.workspace.base):
            for name in names:
                with open(os.path.join(folder, name), errors="replace") as file:
                    texts[name] = file.read()
        self.assertIn("logins", texts)
        for secret in secrets:
            for name, text in texts.items():
                self.assertNotIn(secret, text, name)

    def test_what_an_authorization_server_repeats_is_not_shown(self):
        self.serve(tokenError=True)
        cellgate = self.start()
        self.assertEqual(browse(self.begin(cellgate)), 200)
        ended = self.ended(cellgate)
        self.assertEqual(ended["status"], "failed")
        self.assertIn("invalid_request", ended["message"])
        cellgate.close()
        [form] = self.at_token()
        self.assertNotIn(form["code"], ended["message"])
        self.assertNotIn(form["code_verifier"], ended["message"])

    def store(self):
        return self.workspace.home / ".local/state/cellgate/logins/logins"

    def test_the_files_are_the_users_alone(self):
        self.serve()
        cellgate = self.start()
        self.log_in(cellgate)
        self.assertEqual({path.stat().st_mode & 0o777 for path in self.store().parent.iterdir()}, {0o600})
        self.assertEqual(self.store().parent.stat().st_mode & 0o777, 0o700)

    def test_a_damaged_file_or_key_is_a_warning_and_a_new_login(self):
        self.serve()
        for name in ("logins", "logins.key"):
            with self.subTest(name):
                cellgate = self.start()
                self.log_in(cellgate)
                path = self.store().parent / name
                data = bytearray(path.read_bytes())
                data[-1] ^= 1
                cellgate.close()
                path.write_bytes(data)
                again = self.start()
                self.assertEqual(self.state(again), ("stopped", "none"))
                self.refused(again)
                self.assertIn("all tool servers need a login again", again.log())
                self.log_in(again)
                self.assertEqual(self.call(again), "seen")
                again.close()

    def test_a_kill_during_a_login_leaves_what_was_kept(self):
        self.serve()
        cellgate = self.start()
        self.log_in(cellgate)
        self.begin(cellgate)
        cellgate.process.send_signal(signal.SIGKILL)
        cellgate.kill()
        again = self.start()
        self.assertEqual(self.state(again), ("stopped", "granted"))
        self.assertEqual(self.call(again), "seen")
        self.log_in(again)


class Redirect(LoginTest):
    def test_only_the_answer_that_is_waited_for_ends_the_login(self):
        self.serve()
        cellgate = self.start()
        back = redirect_of(self.begin(cellgate))
        url = urllib.parse.urlsplit(back)
        fields = dict(urllib.parse.parse_qsl(url.query))
        foreign = f"http://{url.netloc}/callback?" + urllib.parse.urlencode({**fields, "state": "0" * 64})
        self.assertEqual(status_of(foreign), 400)
        self.assertEqual(status_of(back.replace("&state=", "&x=")), 400)
        self.assertEqual(status_of(back, Host="evil.example"), 400)
        self.assertEqual(status_of(back, method="POST"), 405)
        self.assertEqual(status_of(back.replace("/callback", "/other")), 404)
        self.assertEqual(cellgate.received("toolServers/loginEnded"), [])
        self.assertEqual(status_of(back), 200)  # the control
        self.assertEqual(self.ended(cellgate)["status"], "granted")

    def test_a_login_that_is_cancelled_does_not_listen_any_more(self):
        self.serve()
        cellgate = self.start()
        back = redirect_of(self.begin(cellgate))
        cellgate.request("toolServers/cancelLogin", {"server": "web"})
        self.assertEqual(self.ended(cellgate), {"server": "web", "status": "cancelled"})
        with self.assertRaises(urllib.error.URLError):
            status_of(back)

    def test_a_second_login_takes_the_place_of_the_first(self):
        self.serve()
        cellgate = self.start()
        first = redirect_of(self.begin(cellgate))
        second = redirect_of(self.begin(cellgate))
        self.assertEqual(self.ended(cellgate)["status"], "cancelled")
        self.assertEqual(status_of(first), 400)
        self.assertEqual(status_of(second), 200)
        self.assertEqual(self.ended(cellgate, 2)["status"], "granted")

    def test_an_answer_of_another_authorization_server_is_not_used(self):
        for issuer in ("https://evil.example", "http://127.0.0.1"):
            with self.subTest(issuer):
                self.serve(iss=issuer)
                cellgate = self.start()
                self.assertEqual(browse(self.begin(cellgate)), 200)
                ended = self.ended(cellgate)
                self.assertEqual(ended["status"], "failed")
                self.assertIn("the code was not used", ended["message"])
                cellgate.close()
                self.assertEqual(self.at_token(), [])


class Hostile(LoginTest):
    def login_fails(self, words, **options):
        self.serve(**options)
        cellgate = self.start()
        with self.assertRaises(RpcError) as error:
            self.begin(cellgate)
        self.assertIn(words, str(error.exception))
        cellgate.close()
        paths = {each["path"].partition("?")[0] for each in self.requests()}
        self.assertFalse(paths & {"/register", "/authorize", "/token"}, paths)

    def test_documents_that_are_not_right_end_the_login_before_anything_is_asked_for(self):
        cases = [("is of https://evil.example, not of", {"issuer": "https://evil.example"}),
                 ("is for https://evil.example/mcp, not for", {"resource": "https://evil.example/mcp"}),
                 ("does not list PKCE with S256", {"methods": ["plain"]}),
                 ("does not list PKCE with S256", {"methods": None}),
                 ("expected an https URL as the token endpoint", {"tokenEndpoint": "http://login.example/token"}),
                 ("expected an https URL as the authorization server", {"authorizationServer": "http://login.example"}),
                 ("cannot register itself", {"registration": False})]
        for words, options in cases:
            with self.subTest(words, **options):
                self.login_fails(words, **options)

    def test_no_request_goes_to_a_clouds_metadata(self):
        for options in ({"resourceMetadata": "https://169.254.169.254/latest/meta-data"},
                        {"authorizationServer": "https://169.254.169.254"},
                        {"authorizationServer": "https://[::ffff:169.254.169.254]"}):
            with self.subTest(**options):
                self.login_fails("a cloud's metadata", **options)

    def test_a_redirect_of_the_token_endpoint_is_not_followed(self):
        self.serve(redirectToken=True)
        cellgate = self.start()
        self.assertEqual(browse(self.begin(cellgate)), 200)
        self.assertIn("redirects, which is not followed", self.ended(cellgate)["message"])
        cellgate.close()
        self.assertNotIn("/stolen", [each["path"] for each in self.requests()])

    def test_a_server_of_the_workspaces_file_gets_a_login_only_after_the_yes_to_it(self):
        self.serve()
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": {"web": {"url": self.url}}}))
        cellgate = self.sidecar()
        pending = cellgate.start("toolServers/login", {"server": "web"})
        approval = cellgate.approval()
        self.assertEqual((approval["action"]["kind"], approval["action"]["url"]), ("server", self.url))
        cellgate.deny(approval)
        with self.assertRaises(RpcError):
            pending.result()
        pending = cellgate.start("toolServers/login", {"server": "web"})
        cellgate.allow(cellgate.approval())
        self.assertEqual(browse(pending.result()["authorizationUrl"]), 200)
        self.assertEqual(self.ended(cellgate)["status"], "granted")

    def test_before_that_yes_nothing_is_sent(self):
        self.serve()
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": {"web": {"url": self.url}}}))
        cellgate = self.sidecar()
        pending = cellgate.start("toolServers/login", {"server": "web"})
        cellgate.deny(cellgate.approval())
        with self.assertRaises(RpcError):
            pending.result()
        cellgate.close()
        self.assertEqual(self.requests(), [])


class CommandLine(LoginTest):
    def cellgate(self, command, *words):
        return subprocess.run([CELLGATE, command, "web", *words, "--url", self.url], cwd=self.workspace.path, text=True,
                              env=self.workspace.environment(), stdin=subprocess.DEVNULL, capture_output=True)

    def begin_login(self, *options):
        return start_process([CELLGATE, "login", "web", *options, "--url", self.url], cwd=self.workspace.path, text=True,
                             env=self.workspace.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)

    def start_login(self):
        login = self.begin_login()
        page = next(line for line in login.stdout if line.startswith("http")).strip()
        return login, page

    def test_login_call_and_logout(self):
        self.serve()
        call = ("call", "look", "--allow", "web/look")
        refused = self.cellgate(*call)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"`cellgate login web --url {self.url}` in a terminal", refused.stderr)
        self.assertEqual(self.cellgate("logout").stdout, "there was no login to web\n")
        login, page = self.start_login()
        self.assertEqual(browse(page), 200)
        out, _ = login.communicate()
        self.assertEqual((login.returncode, out), (0, "logged in to web\n"))
        self.assertIn("seen", self.cellgate(*call).stdout)
        self.assertEqual(self.cellgate("logout").stdout, "logged out of web\n")
        self.assertEqual(self.cellgate(*call).returncode, 1)

    def test_the_login_of_a_server_of_a_file_is_advised_with_the_file(self):
        self.serve()
        config = self.workspace.write("a b.json", json.dumps({"mcpServers": {"web": {"url": self.url}}}))
        refused = subprocess.run([CELLGATE, "call", "web", "look", "--mcp-config", str(config)], cwd=self.workspace.path,
                                 text=True, env=self.workspace.environment(), stdin=subprocess.DEVNULL, capture_output=True)
        self.assertIn(f"`cellgate login web --mcp-config '{config}'` in a terminal", refused.stderr)

    def test_with_json_it_prints_what_the_methods_answer(self):
        self.serve()
        login = self.begin_login("--json")
        begun = json.loads(login.stdout.readline())
        self.assertEqual(browse(begun["authorizationUrl"]), 200)
        out, _ = login.communicate()
        self.assertEqual((login.returncode, json.loads(out)["status"]), (0, "granted"))
        self.assertEqual(json.loads(self.cellgate("logout", "--json").stdout), {})

    def test_an_interrupt_gives_the_login_up(self):
        self.serve()
        login, _ = self.start_login()
        login.send_signal(signal.SIGINT)
        _, errors = login.communicate()
        self.assertEqual(login.returncode, 1)
        self.assertIn("was given up", errors)


if __name__ == "__main__":
    unittest.main()
