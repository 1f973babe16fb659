"""Requests that are judged one by one. Real programs reach a real server over TLS, unchanged: they trust the authority of
their sandbox by the variables that they have, and the sidecar trusts the test's authority."""

import base64
import json
import subprocess
import unittest

import own_network
from cellgate_client import CELLGATE
from network_testing import NODE
from request_testing import HOST, ApiRequestTest

TOKEN = "gh-0123456789abcdefXYZ"
FETCH = """
import json, urllib.request
def ask(path, data=None, method=None, headers={}):
    request = urllib.request.Request('https://allowed.example' + path, data=data, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            print(answer.status, answer.read().decode())
    except urllib.error.HTTPError as error:
        print(error.code, error.reason, error.read().decode())
    except OSError as error:
        print(type(error).__name__, error)
"""


class Asking(ApiRequestTest):
    def test_a_request_is_shown_whole_and_sent_as_it_was_shown(self):
        self.rule("inspect")
        body = json.dumps({"title": "Plan", "labels": ["a"]})
        execution = self.cellgate.execute(FETCH + f"ask('/repos/ada?draft=1', {body.encode()!r}, headers="
                                                  "{'Content-Type': 'application/json', 'X-Mine': 'é'.encode().decode('latin-1')})")
        approval = self.cellgate.approval()
        action = approval["action"]
        self.assertEqual((action["kind"], action["method"], action["host"], action["port"], action["path"],
                          action["query"], action["body"], action["tls"]),
                         ("request", "POST", HOST, 443, "/repos/ada", "draft=1", body, True))
        self.assertEqual(approval["display"][0], f"POST https://{HOST}/repos/ada")
        self.assertIn('  title: "Plan"', approval["display"])
        self.assertEqual(approval["origin"]["text"].strip(), "with urllib.request.urlopen(request, timeout=60) as answer:")
        self.assertEqual(self.api.asked, [])
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok")
        self.assertIn("200", execution.text())
        [(method, path, headers, sent)] = self.api.asked
        self.assertEqual((method, path, sent.decode()), ("POST", "/repos/ada?draft=1", body))
        self.assertEqual(headers["host"], HOST)

    def test_a_no_reaches_the_code_and_nothing_reaches_the_server(self):
        self.rule("inspect")
        execution = self.cellgate.execute(FETCH + "ask('/repos/ada', method='DELETE')")
        self.cellgate.deny(self.cellgate.approval(), reason="not that one")
        execution.result()
        self.assertIn("403", execution.text())
        self.assertIn("not that one", execution.text())
        self.assertEqual(self.api.asked, [])

    def test_rules_by_method_and_path_decide(self):
        self.rule("allow", methods=["GET", "HEAD"], paths=["/repos/**"])
        self.rule("deny", methods=["DELETE"])
        text = self.run_ok(FETCH + "ask('/repos/a/b')\nask('/repos/a', method='DELETE')\nask('/other')\n"
                                   "ask('/repos/../other')\nask('/repos/a', b'x')", approvals="deny").text()
        self.assertEqual([line.split()[0] for line in text.strip().splitlines() if line[:3].isdigit()],
                         ["200", "403", "403", "403", "403"], text)
        self.assertEqual([(asked[0], asked[1]) for asked in self.api.asked], [("GET", "/repos/a/b")])

    def test_an_openapi_document_names_operations_in_questions_and_rules(self):
        document = self.workspace.base / "api.json"
        operation = {"operationId": "issues/create", "summary": "Create an issue"}
        document.write_text(json.dumps({"openapi": "3.1.0", "paths": {"/repos/{owner}/issues": {"post": operation}}}))
        self.rule("inspect", openapi=str(document))
        execution = self.cellgate.execute(FETCH + "ask('/repos/ada/issues', b'x')")
        approval = self.cellgate.approval()
        self.assertEqual(approval["display"][:3],
                         [f"POST https://{HOST}/repos/ada/issues",
                          'operation issues/create of its OpenAPI document: "Create an issue", owner ad', "↳ a"])
        self.cellgate.deny(approval)
        execution.result()
        text = f"allow request {HOST} --operation issues/create owner=ada"
        parsed = self.cellgate.request("policy/parse", {"text": text})
        self.assertEqual((parsed["rule"]["methods"], parsed["rule"]["paths"]), (["POST"], ["/repos/ada/issues"]))
        self.rule("allow", **{name: parsed["rule"][name] for name in ("methods", "paths")})
        text = self.run_ok(FETCH + "ask('/repos/ada/issues', b'x')\nask('/repos/bob/issues', b'x')",
                           approvals="deny").text()
        self.assertEqual([line.split()[0] for line in text.splitlines() if line[:3].isdigit()], ["200", "403"], text)

    def test_the_answer_for_a_connection_may_be_to_ask_about_its_requests(self):
        execution = self.cellgate.execute(FETCH + "ask('/a')\nask('/b')")
        approval = self.cellgate.approval()
        self.assertEqual(approval["action"]["kind"], "network")
        [choice] = [c for c in approval["choices"] if c.get("rule", {}).get("effect") == "inspect"]
        self.cellgate.allow(approval, scope=choice["scope"], rule=choice["rule"])
        first = self.cellgate.approval()
        self.assertEqual(first["display"][0], f"GET https://{HOST}/a")
        [read_only] = [c for c in first["choices"] if c["label"].startswith("read only") and c["scope"] == "execution"]
        self.cellgate.allow(first, scope="execution", rule=read_only["rule"])
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(execution.text().count("200 "), 2)
        for rule in self.cellgate.request("policy/list")["rules"]:
            if rule["source"] == "session":
                self.cellgate.request("policy/remove", {"ruleId": rule["id"]})

    def test_what_a_user_wrote_is_sent_in_its_place(self):
        self.rule("inspect")
        execution = self.cellgate.execute(FETCH + "ask('/issues', b'{\"title\": \"a\"}')")
        approval = self.cellgate.approval()
        form = json.loads(approval["editText"])
        self.assertEqual((form["method"], form["path"], form["body"]), ("POST", "/issues", '{"title": "a"}'))
        form["body"] = '{"title": "b"}'
        form["path"] = "/issues?quiet=1"
        self.cellgate.allow(approval, argumentsText=json.dumps(form))
        execution.result()
        [(method, path, _, body)] = self.api.asked
        self.assertEqual((method, path, body), ("POST", "/issues?quiet=1", b'{"title": "b"}'))

    def test_a_client_that_goes_withdraws_its_question(self):
        self.rule("inspect")
        execution = self.cellgate.execute(FETCH.replace("timeout=60", "timeout=1") + "ask('/slow')")
        approval = self.cellgate.approval()
        self.assertEqual(self.cellgate.resolved(approval)["by"], "cancelled")
        execution.result()
        self.assertEqual(self.api.asked, [])

    def test_a_connection_carries_requests_one_after_the_other(self):
        self.rule("allow")
        before = self.api.connections
        text = self.run_ok("import http.client, os, ssl\n"
                           "c = http.client.HTTPSConnection('127.0.0.1', 3128, context=ssl.create_default_context())\n"
                           "c.set_tunnel('allowed.example')\n"
                           "for i in range(20):\n"
                           "    c.request('GET' if i % 2 else 'POST', f'/{i}', body=None if i % 2 else b'x' * i)\n"
                           "    print(c.getresponse().read().decode())").text()
        self.assertEqual(len(text.strip().splitlines()), 20)
        self.assertEqual([asked[1] for asked in self.api.asked], [f"/{i}" for i in range(20)])
        self.assertEqual(self.api.connections, before + 1)

    def test_large_bodies_pass_both_ways(self):
        self.rule("allow")
        size = 40 << 20
        text = self.run_ok(FETCH + f"ask('/up', b'x' * {size})\n"
                           "def pieces():\n    for _ in range(200): yield b'y' * 100000\n"
                           "ask('/chunked', pieces(), 'POST')").text()
        self.assertIn(f'"bytes": {size}', text)
        self.assertIn('"bytes": 20000000', text)

    def test_the_record_has_the_request(self):
        for effect, decision in (("inspect", "deny"), ("allow", "allow")):
            self.rule(effect)
            execution = self.cellgate.run(FETCH + "ask('/recorded?x=1')", approvals="deny")
            decided = self.cellgate.request("record/query", {"executionId": execution.id, "types": ["action.decided"]})
            found = [(entry["data"]["decision"], entry["data"]["action"]["kind"]) for entry in decided["entries"]]
            self.assertIn((decision, "request"), found)
            self.assertIn("GET https://allowed.example/recorded", json.dumps(decided))


class Refusals(ApiRequestTest):
    def test_a_refusal_is_said_beside_the_output_with_the_rule_that_would_allow_it(self):
        self.rule("inspect")
        execution = self.cellgate.run(FETCH + "ask('/repos/a?x=1', b'x')", approvals="deny")
        [note] = execution.result()["notes"]
        self.assertIn(f"POST {HOST}:443/repos/a was refused", note["text"])
        self.assertEqual(note["rule"], {"effect": "allow", "kind": "request", "host": f"{HOST}:443", "methods": ["POST"],
                                        "paths": ["/repos/a"]})
        self.rule(**{**note["rule"], "effect": "allow"})
        self.assertIn("200", self.run_ok(FETCH + "ask('/repos/a?x=1', b'x')", approvals="deny").text())


class Secrets(ApiRequestTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cellgate.request("secret/set", {"name": "API_TOKEN", "scope": "user", "value": TOKEN})

    def token_rule(self, **more):
        return self.rule("inspect", inject={"as": "bearer", "value": "${secret:API_TOKEN}", "variable": "API_TOKEN"},
                         **more)

    def test_code_uses_a_token_that_it_cannot_see(self):
        self.token_rule()
        self.rule("allow", methods=["GET"])
        self.cellgate.request("session/restart", {"sessionId": "default"})
        execution = self.run_ok(FETCH + "import os\nprint(os.environ['API_TOKEN'][:16])\n"
                                        "ask('/user', headers={'Authorization': 'Bearer ' + os.environ['API_TOKEN']})\n"
                                        "ask('/chunked')")
        self.assertEqual([asked[2]["authorization"] for asked in self.api.asked], ["Bearer " + TOKEN] * 2)
        used = self.cellgate.request("record/query", {"types": ["secret.used"], "limit": 2})["entries"]
        self.assertEqual([each["data"] for each in used], [{"name": "API_TOKEN", "scope": "user", "host": f"{HOST}:443"}] * 2)
        listed = subprocess.run([CELLGATE, "record", "list", "--root", str(self.workspace.path)], capture_output=True,
                                text=True, env=self.workspace.environment()).stdout
        self.assertIn(f"secret API_TOKEN put into a request to {HOST}:443", listed)
        self.assertIn("cellgate-secret-", execution.text())
        self.assertIn("[secret API_TOKEN]", execution.text())
        self.assertNotIn(TOKEN, json.dumps(execution.outputs()))

    def test_a_response_that_echoes_it_is_masked_for_the_code_itself(self):
        self.token_rule()
        self.rule("allow", methods=["GET"])
        text = self.run_ok("import urllib.request\n"
                           "for path in '/echo', '/chunked':\n"
                           "    got = urllib.request.urlopen('https://allowed.example' + path).read()\n"
                           "    print('012345' + '6789abc' in got.decode(), got.count(b'[secret API_TOKEN]'))").text()
        self.assertEqual(text.split(), ["False", "1", "False", "1"])

    def test_it_goes_nowhere_else(self):
        self.token_rule()
        self.rule("allow", methods=["GET"])
        other = self.cellgate.request("policy/add", {"scope": "workspace", "rule": {
            "effect": "allow", "kind": "request", "host": "other.example"}})
        self.rules.append(other["id"])
        self.cellgate.request("session/restart", {"sessionId": "default"})
        text = self.run_ok(FETCH + "import os\nask('/redirect')\n"
                           "ask('/x', headers={'X-Other': os.environ['API_TOKEN']})\n"
                           "ask('/x?' + os.environ['API_TOKEN'])").text()
        self.assertEqual([asked[2].get("authorization") for asked in self.api.asked if asked[1] == "/echo"], [None])
        self.assertEqual(text.count("stands for the secret API_TOKEN"), 4, text)  # in the status line, and in the body
        self.assertEqual([asked[1] for asked in self.api.asked], ["/redirect", "/echo"])

    def test_a_question_names_the_secret(self):
        self.token_rule()
        execution = self.cellgate.execute(FETCH + "ask('/user')")
        approval = self.cellgate.approval()
        self.assertEqual(approval["action"]["secrets"], ["API_TOKEN"])
        self.assertIn("with the secret API_TOKEN, which the code does not see", approval["display"])
        self.assertNotIn(TOKEN, json.dumps(approval))
        self.cellgate.deny(approval)
        execution.result()

    def test_every_place(self):
        for how, sent in (({"as": "basic", "value": "ada:${secret:API_TOKEN}"},
                           ("authorization", "Basic " + base64.b64encode(f"ada:{TOKEN}".encode()).decode())),
                          ({"as": "header", "name": "X-Key", "value": "k ${secret:API_TOKEN}"}, ("x-key", "k " + TOKEN))):
            with self.subTest(how["as"]):
                self.api.asked.clear()
                rule = self.rule("inspect", inject=how)
                self.rule("allow")
                self.run_ok(FETCH + "ask('/place')")
                self.assertEqual(self.api.asked[0][2][sent[0]], sent[1])
                self.cellgate.request("policy/remove", {"ruleId": rule["id"]})
                self.rules.remove(rule["id"])
        self.api.asked.clear()
        self.rule("inspect", inject={"as": "query", "name": "key", "value": "${secret:API_TOKEN}"})
        self.run_ok(FETCH + "ask('/place?key=mine&a=1')")
        self.assertEqual(self.api.asked[0][1], f"/place?a=1&key={TOKEN}")

    def test_one_that_is_missing_is_named(self):
        self.rule("inspect", inject={"as": "bearer", "value": "${secret:NOT_THERE}"})
        self.rule("allow")
        text = self.run_ok(FETCH + "ask('/user')").text()
        self.assertIn("403", text)
        self.assertIn("cellgate secret add NOT_THERE", text)
        self.assertEqual(self.api.asked, [])


class Programs(ApiRequestTest):
    """Unchanged, with the variables as the sandbox sets them and nothing else."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cellgate.request("policy/add", {"scope": "workspace", "rule": {
            "effect": "inspect", "kind": "request", "host": "other.example"}})  # sessions that start later know of it

    def reached(self, code, session="default"):
        self.api.asked.clear()
        rule = self.rule("inspect")
        refused = self.cellgate.run(code, approvals="deny", sessionId=session)
        refused.result()
        self.assertEqual(self.api.asked, [], refused.text())
        allowed = self.rule("allow")
        execution = self.cellgate.run(code, approvals="deny", sessionId=session)
        execution.result()
        self.assertIn('"method": "GET"', execution.text(), execution.outputs())
        for each in (rule, allowed):
            self.cellgate.request("policy/remove", {"ruleId": each["id"]})
            self.rules.remove(each["id"])

    def shell(self, command):
        return ("import subprocess\n"
                f"print(subprocess.run({command!r}, shell=True, text=True, stdout=subprocess.PIPE, "
                "stderr=subprocess.STDOUT).stdout)")

    def test_urllib(self):
        self.reached("import urllib.request\nprint(urllib.request.urlopen('https://allowed.example/a').read().decode())")

    def test_requests(self):
        self.reached("import requests\nprint(requests.get('https://allowed.example/a').text)")

    def test_httpx(self):
        self.reached("import httpx\nprint(httpx.get('https://allowed.example/a').text)")

    def test_aiohttp(self):
        self.reached("import aiohttp\n"
                     "async with aiohttp.ClientSession(trust_env=True) as session:\n"
                     "    async with session.get('https://allowed.example/a') as response:\n"
                     "        print(await response.text())")

    def test_curl(self):
        self.reached(self.shell("curl -sS https://allowed.example/a"))
        self.reached(self.shell("curl -sS --socks5-hostname 127.0.0.1:3128 --noproxy '' https://allowed.example/a"))

    def test_node(self):
        if not NODE.exists():
            self.skipTest("npm's packages are not installed")
        self.cellgate.session("node", sandbox={"allowRead": [str(NODE)]})
        self.reached(self.shell(f"{NODE} -e 'fetch(\"https://allowed.example/a\").then(r => r.text()).then(console.log)'"),
                     session="node")

    def test_git_fetches_by_a_rule_and_its_push_is_asked_about(self):
        self.api.repositories = self.workspace.base / "repositories"
        bare = self.api.repositories / "plan.git"
        subprocess.run(f"""git init -q --bare {bare} && git init -q {bare}.first && cd {bare}.first && echo a > file &&
            git add file && git -c user.name=a -c user.email=a@example.org commit -qm first &&
            git push -q {bare} HEAD:refs/heads/main && git -C {bare} symbolic-ref HEAD refs/heads/main""",
                       shell=True, check=True)
        rule = self.cellgate.request("policy/parse", {"text": f"allow request {HOST} git-fetch /git/plan.git"})["rule"]
        self.rules.append(self.cellgate.request("policy/add", {"rule": rule, "scope": "workspace"})["id"])
        text = self.run_ok(self.shell(f"cd /tmp && rm -rf plan && git clone -q https://{HOST}/git/plan.git && cat plan/file"),
                           approvals="deny").text()
        self.assertEqual(text.strip(), "a")
        push = self.shell("cd /tmp/plan && echo b > file && git -c user.name=a -c user.email=a@example.org commit -qam more; "
                          "git push -q && echo pushed")
        execution = self.cellgate.execute(push)
        approval = self.cellgate.approval()
        self.assertEqual(approval["display"][0], f"POST https://{HOST}/git/plan.git/git-receive-pack")
        self.assertIn("subprocess.run", approval["origin"]["text"])
        self.cellgate.deny(approval)
        execution.result()
        self.assertNotIn("pushed", execution.text())

        def subjects():
            return subprocess.run(["git", "-C", bare, "log", "--format=%s", "main"], capture_output=True, text=True).stdout
        self.assertEqual(subjects(), "first\n")
        execution = self.cellgate.execute(push)
        self.cellgate.allow(self.cellgate.approval())
        execution.result()
        self.assertIn("pushed", execution.text())
        self.assertEqual(subjects(), "more\nfirst\n")

    def test_pip_installs_from_an_index_whose_requests_are_judged(self):
        install = self.shell("python3 -m pip install --quiet --no-deps --disable-pip-version-check --retries 0 --target made "
                             "--index-url https://allowed.example/packages/ tiny 2>&1 && PYTHONPATH=made python3 -m tiny")
        self.rule("allow", methods=["GET"], paths=["/packages/tiny/"])
        execution = self.cellgate.execute(install)
        approval = self.cellgate.approval()
        self.assertEqual((approval["action"]["method"], approval["action"]["path"]),
                         ("GET", "/packages/tiny-1.0-py3-none-any.whl"))
        self.cellgate.allow(approval)
        execution.result()
        self.assertIn("tiny runs", execution.text())

    def test_one_that_pins_its_server_is_asked_about_as_a_whole_when_it_tries_again(self):
        self.rule("inspect")
        code = ("import ssl, urllib.request\n"
                f"context = ssl.create_default_context(cadata={self.authority.read_text()!r})\n"
                "for attempt in range(50):\n"  # a refusal may be on its way when the next attempt begins
                "    try:\n        print(urllib.request.urlopen('https://allowed.example/a', context=context).status)\n"
                "        break\n"
                "    except OSError as error:\n        print(error)\n")
        execution = self.cellgate.execute(code)
        self.cellgate.allow(self.cellgate.approval())  # the connection
        approval = self.cellgate.approval()
        self.assertEqual(approval["action"]["protocol"], "raw")
        self.assertEqual(approval["display"][0], "let any bytes pass to allowed.example port 443")
        self.assertIn("a rule has requests to this host judged one by one", approval["hints"]["description"])
        self.assertEqual(self.api.asked, [])
        self.cellgate.allow(approval)
        execution.result()
        self.assertIn("CERTIFICATE_VERIFY_FAILED", execution.text())
        self.assertTrue(execution.text().endswith("200\n"), execution.text())
        # Another line is inspected as ever.
        execution = self.cellgate.execute(FETCH + "ask('/b')")
        approval = self.cellgate.approval()
        self.assertEqual(approval["action"]["kind"], "request")
        self.cellgate.deny(approval)
        execution.result()

    def test_one_that_trusts_nobody_else_is_refused_with_a_reason(self):
        self.rule("allow")
        execution = self.run_ok("import ssl, urllib.request\n"
                                "context = ssl.create_default_context(cafile='/etc/ssl/certs/ca-certificates.crt')\n"
                                "try:\n    urllib.request.urlopen('https://allowed.example/a', context=context)\n"
                                "except OSError as error:\n    print(error)\n"
                                # The refusal was on its way before this.
                                "urllib.request.urlopen('https://allowed.example/b').read()")
        self.assertIn("CERTIFICATE_VERIFY_FAILED", execution.text())
        [note] = execution.result()["notes"]
        self.assertIn("does not trust", note["text"])
        self.assertEqual([asked[1] for asked in self.api.asked], ["/b"])


if __name__ == "__main__":
    own_network.enter()
    unittest.main()
