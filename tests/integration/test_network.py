"""The way from a cell to the network: what is asked, and what is reached. Real programs reach real servers of this
machine under names of the public network (own_network.py)."""

import json
import subprocess
import unittest

import own_network
from cellgate_client import CELLGATE
from network_testing import FETCH, NODE, NetworkTest


class Asking(NetworkTest):
    def test_an_unknown_host_is_asked_for_and_reached_after_the_yes(self):
        execution = self.cellgate.execute(FETCH + f"fetch({self.url!r})")
        approval = self.cellgate.approval()
        action = approval["action"]
        self.assertEqual((action["kind"], action["host"], action["port"]),
                         ("network", "allowed.example", self.plain.port))
        self.assertEqual(action["program"], "the kernel (python3)")
        self.assertEqual((approval["sessionId"], approval["executionId"]), ("default", execution.id))
        self.assertIn(f"connect to allowed.example port {self.plain.port}", approval["display"][0])
        self.assertEqual(self.plain.asked, [])
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(execution.text().strip(), f"hello from allowed.example:{self.plain.port}")

    def test_a_no_reaches_the_code_as_an_error_that_says_why(self):
        execution = self.cellgate.execute(FETCH + "fetch('https://other.example/hello')")
        self.cellgate.deny(self.cellgate.approval(), reason="not that one")
        execution.result()
        self.assertIn("URLError", execution.text())
        self.assertIn("not that one", execution.text())
        self.assertEqual(self.secure.asked, [])

    def test_what_was_asked_and_how_it_was_decided_are_in_the_record(self):
        for answer in ("deny", "allow"):
            execution = self.cellgate.execute(FETCH + f"fetch({self.url!r})")
            approval = self.cellgate.approval()  # approval/requested
            self.cellgate.respond(approval, answer)
            execution.result()
            entries = self.cellgate.request("record/query", {"executionId": execution.id, "types": ["action.decided"]})["entries"]
            [decided] = [entry["data"] for entry in entries]
            self.assertEqual((decided["decision"], decided["action"]), (answer, approval["action"]))

    def test_what_was_refused_without_a_user_is_said_beside_the_output(self):
        execution = self.cellgate.run(FETCH + f"fetch('http://10.0.0.5:{self.plain.port}/')\nfetch({self.url!r})",
                                      approvals="deny")
        notes = execution.result()["notes"]
        self.assertEqual([note["rule"]["host"] for note in notes],
                         [f"10.0.0.5:{self.plain.port}", f"allowed.example:{self.plain.port}"])
        self.assertIn("a private network", notes[0]["text"])
        self.assertNotIn("to allow it", execution.text())
        rule = self.cellgate.request("policy/add", {"rule": notes[1]["rule"], "scope": "workspace"})
        self.assertIn("hello from", self.fetched(self.url, approvals="deny"))
        self.cellgate.request("policy/remove", {"ruleId": rule["id"]})
        [note] = self.cellgate.run("%pip install tiny", approvals="deny").result()["notes"][-1:]
        self.assertIn("cellgate install tiny", note["remedy"])

    def test_an_answer_holds_as_long_as_it_says(self):
        execution = self.cellgate.execute(FETCH + f"fetch({self.url!r})\nfetch({self.url!r})")
        self.cellgate.allow(self.cellgate.approval(), scope="execution")
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(execution.text().count("hello from"), 2)
        again = self.cellgate.execute(FETCH + f"fetch({self.url!r})")
        self.cellgate.deny(self.cellgate.approval())
        self.assertIn("Forbidden" if "Forbidden" in again.text() else "HTTP", str(again.result()) + again.text())

    def test_an_answer_for_the_workspace_is_a_rule_for_that_host_and_port(self):
        execution = self.cellgate.execute(FETCH + f"fetch({self.url!r})")
        approval = self.cellgate.approval()
        [choice] = [choice for choice in approval["choices"] if choice["scope"] == "workspace"]
        self.assertEqual(choice["rule"]["host"], f"allowed.example:{self.plain.port}")
        wide = {"effect": "allow", "kind": "network"}
        self.assert_error(1015, self.cellgate.allow, approval, scope="workspace", rule=wide)
        self.assert_error(1015, self.cellgate.allow, approval, scope="workspace",
                          rule={**wide, "host": "other.example"})
        self.cellgate.allow(approval, scope="workspace", rule=choice["rule"])
        execution.result()
        self.assertIn("hello from", execution.text())
        self.assertIn("hello from", self.fetched(self.url, approvals="deny"))
        self.assertNotIn("hello from", self.fetched(self.url.replace("allowed", "other"), approvals="deny"))
        [rule] = [rule for rule in self.cellgate.request("policy/list")["rules"] if rule["source"] == "workspaceStore"]
        self.cellgate.request("policy/remove", {"ruleId": rule["id"]})

    def test_the_domains_of_one_execution_are_its_own(self):
        domains = [f"*.example:{self.plain.port}"]
        with self.assertRaises(Exception) as wrong:
            self.fetched(self.url, allowedDomains=domains)
        self.assertIn("allowedDomains[0]", str(wrong.exception))
        domains = [f"allowed.example:{self.plain.port}"]
        self.assertIn("hello from", self.fetched(self.url, allowedDomains=domains))
        self.assertIn("no user is asked", self.fetched(self.url, approvals="deny"))
        self.assertIn("no user is asked", self.fetched(self.url.replace("allowed", "other"), allowedDomains=domains,
                                                       approvals="deny"))

    def test_a_settings_file_answers_for_its_session(self):
        """I23 of ipybox."""
        settings = self.workspace.base / "sandbox.json"

        def write(allowed, denied):
            settings.write_text(json.dumps({"filesystem": {"denyRead": [".env"], "allowWrite": ["."], "denyWrite": []},
                                            "network": {"allowedDomains": allowed, "deniedDomains": denied}}))

        before = self.cellgate.asked()
        write(["allowed.example"], ["other.example"])
        self.cellgate.session("set", sandbox={"configFile": str(settings)})
        self.assertIn("hello from", self.fetched(self.url, sessionId="set"))
        other = self.url.replace("allowed", "other")
        self.assertIn("403", self.fetched(other, sessionId="set", allowedDomains=["other.example"]))
        self.assertIn("403", self.fetched(self.url, approvals="deny"))  # another session
        write([], ["*"])
        self.cellgate.request("session/restart", {"sessionId": "set"})
        self.assertIn("403", self.fetched(self.url, sessionId="set", allowedDomains=["allowed.example"]))
        self.assertEqual(self.cellgate.asked(), before)

    def test_a_denial_names_its_line_and_what_would_take_it_away(self):
        settings = self.workspace.base / "denies.json"
        settings.write_text(json.dumps({"filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []},
                                        "network": {"allowedDomains": [], "deniedDomains": ["x.example",
                                                                                            "*.denied.example"]}}))
        self.cellgate.session("denying", sandbox={"configFile": str(settings)})
        url = f"http://a.denied.example:{self.plain.port}/"
        [note] = self.cellgate.run(FETCH + f"fetch({url!r})", sessionId="denying").result()["notes"]
        line = f'network.deniedDomains[1] "*.denied.example" of {settings}'
        self.assertTrue(note["text"].endswith(f"refused by {line}"), note)
        self.assertEqual(note["remedy"], f"to allow it, remove {line}, and restart the session")
        self.assertNotIn("rule", note)  # deny is stronger than any
        rule = self.cellgate.request("policy/add", {"rule": {"effect": "deny", "kind": "network",
                                                             "host": "allowed.example"}, "scope": "workspace"})
        [note] = self.cellgate.run(FETCH + f"fetch({self.url!r})").result()["notes"]
        self.cellgate.request("policy/remove", {"ruleId": rule["id"]})
        self.assertIn(rule["id"], note["remedy"])
        self.assertNotIn("rule", note)

    def test_what_goes_past_the_proxy_is_explained(self):
        for code in ("import socket\nsocket.create_connection(('1.1.1.1', 443))",
                     "import socket\nsocket.create_connection(('example.org', 443))",
                     "import subprocess\nsubprocess.run(['curl', '-sS', '--noproxy', '*', 'http://example.org'], check=True)",
                     "try:\n    import socket\n    socket.create_connection(('1.1.1.1', 443))\n"
                     "except OSError as error:\n    raise RuntimeError('no') from error"):
            with self.subTest(code):
                [note] = self.cellgate.run(code).result()["notes"]
                self.assertIn("by itself", note["text"])
        self.assertNotIn("notes", self.cellgate.run("raise OSError('no')").result())

    def test_a_run_without_a_terminal_says_which_option_allows_a_host(self):
        script = self.workspace.write("fetches.py", FETCH + f"fetch({self.url!r})\nfetch('http://10.0.0.5:1/')")

        def run(*arguments):
            return subprocess.run([CELLGATE, "run", str(script), "--root", str(self.workspace.path), *arguments],
                                  env=self.workspace.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, start_new_session=True)
        ended = run()
        self.assertNotIn("hello from", ended.stdout)
        self.assertIn(f"\n    --allow-domain allowed.example:{self.plain.port}\n", ended.stderr)
        self.assertIn("to allow it, run again with --allow-domain 10.0.0.5:1\n", ended.stderr)
        self.assertIn("hello from", run("--allow-domain", f"allowed.example:{self.plain.port}").stdout)
        self.assertEqual(run("--allow-domain", "*").returncode, 2)

    def test_a_rule_of_a_user_answers(self):
        rule = self.cellgate.request("policy/add", {"rule": {"effect": "deny", "kind": "network",
                                                             "host": "allowed.example"}, "scope": "workspace"})
        text = self.fetched(self.url, allowedDomains=["allowed.example"])
        self.assertIn("HTTPError", text)
        self.cellgate.request("policy/remove", {"ruleId": rule["id"]})
        self.assertIn("hello from", self.fetched(self.url, allowedDomains=["allowed.example"]))


class Lines(NetworkTest):
    """Where in the code a question comes from."""

    def line(self, *lines):
        """The line that the question of a cell names; None when it names none."""
        execution = self.cellgate.execute("\n".join(lines), cell={"uri": "file:///plan.py", "line": 10})
        approval = self.cellgate.approval()
        self.cellgate.deny(approval)
        execution.result()
        self.assertEqual(approval["executionId"], execution.id)
        origin = approval.get("origin")
        if origin is None:
            return None
        self.assertEqual((origin["uri"], origin["reportedBy"]), ("file:///plan.py", "code"))
        self.assertEqual(origin["text"], lines[origin["line"] - 10])
        return origin["text"]

    def test_connections_of_the_code_itself(self):
        fetch = FETCH.strip().split("\n")
        urlopen = "        print(urllib.request.urlopen(url, timeout=60).read().decode())"
        self.assertEqual(self.line(*fetch, f"fetch({self.url!r})"), urlopen)
        self.assertEqual(self.line(*fetch, "import threading",
                                   f"t = threading.Thread(target=fetch, args=({self.url!r},)); t.start(); t.join()"),
                         urlopen)

    def test_programs(self):
        for line in (f"!curl -s {self.url}", f"subprocess.run(['curl', '-s', {self.url!r}])",
                     f"subprocess.run('(curl -s {self.url}; true); true', shell=True)",
                     f"os.system('curl -s {self.url}')"):
            self.assertEqual(self.line("import os, subprocess", "subprocess.run(['true'])", line, "pass"), line)

    def test_a_program_that_goes_on_while_others_are_started(self):
        first = f"first = subprocess.Popen('cat fifo; curl -s {self.url}', shell=True, stdout=subprocess.DEVNULL)"
        self.assertEqual(self.line("import os, subprocess", "os.path.exists('fifo') or os.mkfifo('fifo')", first,
                                   "subprocess.run('echo > fifo', shell=True)", "first.wait()"), first)
        # Nor does the next execution get it.
        self.run_ok(first)
        self.assertIsNone(self.line("subprocess.run('echo > fifo', shell=True)", "first.wait()"))

    def test_a_question_without_a_line_is_asked_all_the_same(self):
        self.assertIsNone(self.line(
            "import os, socket",
            "s = socket.socket(socket.AF_UNIX)",
            "s.connect(os.path.dirname(os.environ['CELLGATE_CHANNEL']) + '/net.sock')  # past the bridge",
            f"s.sendall(b'CONNECT allowed.example:{self.plain.port} HTTP/1.1\\r\\n\\r\\n'); s.recv(1)"))


class Programs(NetworkTest):
    """What people's code uses, with the variables as the sandbox sets them and nothing else."""

    def reached(self, code, expected="hello from allowed.example", host="allowed.example"):
        """Its output when the host is allowed; when it is not, it reaches nothing."""
        before = len(self.secure.asked) + len(self.plain.asked)
        refused = self.cellgate.run(code, approvals="deny")
        refused.result()
        self.assertNotIn(expected, refused.text())
        self.assertEqual(len(self.secure.asked) + len(self.plain.asked), before)
        execution = self.cellgate.run(code, allowedDomains=[host])
        execution.result()
        self.assertIn(expected, execution.text(), execution.outputs())

    def shell(self, command):
        return ("import subprocess\n"
                f"print(subprocess.run({command!r}, shell=True, text=True, stdout=subprocess.PIPE, "
                "stderr=subprocess.STDOUT).stdout)")

    @property
    def authority(self):
        return str(self.workspace.path / "authority.crt")

    def test_urllib(self):
        self.reached("import ssl, urllib.request\n"
                     f"context = ssl.create_default_context(cafile={self.authority!r})\n"
                     "print(urllib.request.urlopen('https://allowed.example/hello', context=context).read().decode())")

    def test_requests(self):
        self.reached("import requests\n"
                     f"print(requests.get('https://allowed.example/hello', verify={self.authority!r}).text)")

    def test_httpx(self):
        self.reached("import httpx\n"
                     f"print(httpx.get('https://allowed.example/hello', verify={self.authority!r}).text)")

    def test_aiohttp(self):
        self.reached("import aiohttp, ssl\n"
                     f"context = ssl.create_default_context(cafile={self.authority!r})\n"
                     "async with aiohttp.ClientSession(trust_env=True) as session:\n"
                     "    async with session.get('https://allowed.example/hello', ssl=context) as response:\n"
                     "        print(await response.text())")

    def test_curl(self):
        self.reached(self.shell(f"curl -sS --cacert {self.authority} https://allowed.example/hello"))
        self.reached(self.shell(f"curl -sS {self.url}"))
        self.reached(self.shell(f"curl -sS --socks5-hostname 127.0.0.1:3128 --noproxy '' {self.url}"))

    def test_git(self):
        source = self.workspace.base / "source"
        subprocess.run(f"""git init -q {source} && cd {source} && echo content > file && git add file &&
            git -c user.name=a -c user.email=a@example.org commit -qm first &&
            git clone -q --bare {source} {self.served}/code.git && cd {self.served}/code.git && git update-server-info""",
                       shell=True, check=True)
        self.reached(self.shell(f"cd /tmp && rm -rf code && git -c http.sslCAInfo={self.authority} clone -q "
                                "https://allowed.example/code.git && cat code/file"), "content")

    def test_pip(self):
        package = self.served / "tiny-1.0-py3-none-any.whl"
        files = {"tiny.py": "", "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
                 "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
                 "tiny-1.0.dist-info/RECORD": ""}
        import zipfile
        with zipfile.ZipFile(package, "w") as wheel:
            for name, text in files.items():
                wheel.writestr(name, text)
        (self.served / "simple/tiny").mkdir(parents=True)
        (self.served / "simple/tiny/index.html").write_text(f'<a href="../../{package.name}">{package.name}</a>')
        self.reached(self.shell(f"cd /tmp && python3 -m pip download -q --no-cache-dir --cert {self.authority} "
                                "--index-url https://pypi.example/simple/ tiny; ls *.whl"), package.name, "pypi.example")

    def test_node(self):
        # Since 22.21 it reads the proxy's variables.
        if not NODE.exists():
            self.skipTest("npm's packages are not installed")
        self.cellgate.request("session/restart", {"sessionId": "default", "sandbox": {"allowRead": [str(NODE)]}})
        self.reached(self.shell(f"NODE_EXTRA_CA_CERTS={self.authority} {NODE} -e "
                                "'fetch(\"https://allowed.example/hello\").then(r => r.text()).then(console.log)'"))

    def test_a_large_file_arrives_whole(self):
        (self.served / "large").write_bytes(bytes(range(256)) * (20 << 12))
        text = self.run_ok("import hashlib, urllib.request\n"
                           f"bytes = urllib.request.urlopen('http://allowed.example:{self.plain.port}/large').read()\n"
                           "print(len(bytes), bytes == __builtins__.bytes(range(256)) * (20 << 12))",
                           allowedDomains=["allowed.example"]).text()
        self.assertEqual(text.strip(), f"{20 << 20} True")


if __name__ == "__main__":
    own_network.enter()
    unittest.main()
