"""The way from a cell to the network: what is asked, what is reached, and what no spelling gets out. Real programs reach
real servers of this machine under names of the public network (own_network.py)."""

import asyncio
import contextlib
import http.server
import json
import os
import shutil
import signal
import socket
import socketserver
import ssl
import subprocess
import threading
import unittest
from pathlib import Path

import own_network
from cellgate_client import CELLGATE, PATIENCE, REPOSITORY, SharedSidecarTest, descendants, wait_until
from measuring import memory, sanitized

FETCH = """
import urllib.request
def fetch(url):
    try:
        print(urllib.request.urlopen(url, timeout=60).read().decode())
    except Exception as error:
        print(type(error).__name__, error)
"""
NODE = REPOSITORY / "tests/node_modules/node/bin/node"


class Page(http.server.SimpleHTTPRequestHandler):
    """The files of a folder; /hello says which host was asked for. What was asked is kept."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append((self.headers["Host"], self.path))
        if self.path.startswith("/hello"):
            body = f"hello from {self.headers['Host']}".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, folder, certificate=None, port=0):
        self.asked = []
        super().__init__(("0.0.0.0", port), lambda *rest: Page(*rest, directory=str(folder)))
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Echo:
    """Answers PING by PONG, once its gate is open, and counts connections: open ones, the most of them, all."""

    def __init__(self):
        self.open = self.most = self.seen = 0
        self.open_gate = threading.Event()
        self.open_gate.set()
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self.thread.start()
        ready.wait()

    def _run(self, ready):
        async def start():
            server = await asyncio.start_server(self._serve, "0.0.0.0", 0, backlog=200)
            self.port = server.sockets[0].getsockname()[1]
            ready.set()

        self.loop.run_until_complete(start())
        self.loop.run_forever()

    async def _serve(self, reader, writer):
        self.open += 1
        self.seen += 1
        self.most = max(self.most, self.open)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await reader.readexactly(6)
            while not self.open_gate.is_set():
                await asyncio.sleep(0.01)
            writer.write(b"PONG")
            await reader.read()
        self.open -= 1
        writer.close()

    def stop(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


class NetworkTest(SharedSidecarTest):
    @classmethod
    def prepare(cls):
        folder = cls.place.base / "served"
        folder.mkdir()
        authority, certificate = own_network.make_certificates(cls.place.base / "certificates",
                                                               ["allowed.example", "other.example", "pypi.example"])
        shutil.copy(authority, cls.place.root / "authority.crt")
        cls.served = folder
        cls.plain = Server(folder)
        cls.secure = Server(folder, certificate, port=443)
        cls.addClassCleanup(cls.plain.server_close)
        cls.addClassCleanup(cls.secure.server_close)
        cls.addClassCleanup(cls.plain.shutdown)
        cls.addClassCleanup(cls.secure.shutdown)

    def setUp(self):
        self.plain.asked.clear()
        self.secure.asked.clear()
        self.url = f"http://allowed.example:{self.plain.port}/hello"

    def fetched(self, url, **params):
        return self.run_ok(FETCH + f"fetch({url!r})", **params).text().strip()


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

    def test_what_was_refused_without_a_person_is_said_beside_the_output(self):
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
        self.assertIn("nobody is asked", self.fetched(self.url, approvals="deny"))
        self.assertIn("nobody is asked", self.fetched(self.url.replace("allowed", "other"), allowedDomains=domains,
                                                      approvals="deny"))

    def test_a_settings_file_answers_for_its_session(self):
        """I23 of ipybox."""
        settings = self.place.base / "sandbox.json"

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
        settings = self.place.base / "denies.json"
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
        script = self.place.write("fetches.py", FETCH + f"fetch({self.url!r})\nfetch('http://10.0.0.5:1/')")

        def run(*arguments):
            return subprocess.run([CELLGATE, "run", str(script), "--root", str(self.place.root), *arguments],
                                  env=self.place.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, start_new_session=True)
        ended = run()
        self.assertNotIn("hello from", ended.stdout)
        self.assertIn(f"\n    --allow-domain allowed.example:{self.plain.port}\n", ended.stderr)
        self.assertIn("to allow it, run again with --allow-domain 10.0.0.5:1\n", ended.stderr)
        self.assertIn("hello from", run("--allow-domain", f"allowed.example:{self.plain.port}").stdout)
        self.assertEqual(run("--allow-domain", "*").returncode, 2)

    def test_a_rule_of_a_person_answers(self):
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
        return str(self.place.root / "authority.crt")

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
        source = self.place.base / "source"
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


class Spellings(NetworkTest):
    """What a cell may try to get further than it was allowed. Each has its control: the same, as it should be."""

    RAW = """
import socket
def raw(*texts):
    with socket.create_connection(("127.0.0.1", 3128)) as s:
        s.settimeout(60)
        said = b""
        for text in texts:
            s.sendall(text.encode() if isinstance(text, str) else text)
        try:
            while part := s.recv(65536): said += part
        except ConnectionError: pass
        return said.decode(errors="replace")
"""

    def raw(self, *texts, domains=("allowed.example",)):
        code = self.RAW + f"print(raw(*{texts!r}))"
        return self.run_ok(code, allowedDomains=list(domains), approvals="deny").text()

    def test_another_host_within_a_tunnel(self):
        code = ("import ssl, socket\n"
                "def ask(name):\n"
                "    s = socket.create_connection(('127.0.0.1', 3128))\n"
                "    s.sendall(b'CONNECT allowed.example:443 HTTP/1.1\\r\\n\\r\\n')\n"
                "    s.recv(65536)\n"
                f"    context = ssl.create_default_context(cafile={str(self.place.root / 'authority.crt')!r})\n"
                "    try:\n"
                "        with context.wrap_socket(s, server_hostname=name) as tls:\n"
                "            tls.sendall(b'GET /hello HTTP/1.1\\r\\nHost: ' + name.encode() + b'\\r\\n\\r\\n')\n"
                "            print(tls.recv(65536).decode().splitlines()[0])\n"
                "    except ssl.SSLError as error: print(error.reason)\n"
                "ask('allowed.example')\nask('other.example')")
        text = self.run_ok(code, allowedDomains=["allowed.example:443"]).text()
        self.assertEqual(text.splitlines(), ["HTTP/1.1 200 OK", "TLSV1_ALERT_ACCESS_DENIED"])
        self.assertEqual([host for host, _ in self.secure.asked], ["allowed.example"])

    def test_a_second_request_for_another_host(self):
        port = self.plain.port
        first = f"GET http://allowed.example:{port}/hello HTTP/1.1\r\nHost: allowed.example:{port}\r\n\r\n"
        second = f"GET http://other.example:{port}/hello HTTP/1.1\r\nHost: other.example:{port}\r\n\r\n"
        self.assertIn("hello from allowed", self.raw(first + second))
        self.assertIn("hello from allowed", self.raw(first, second))
        self.assertEqual({host for host, _ in self.plain.asked}, {f"allowed.example:{port}"})
        self.assertIn("hello from other", self.raw(second, domains=["other.example"]))

    def test_a_real_server_gets_no_request_for_another_host(self):
        if not NODE.exists():
            self.skipTest("npm's packages are not installed")
        node = subprocess.Popen([NODE, "-e", "const server = require('http').createServer((request, response) => "
                                 "response.end('node for ' + request.headers.host + ';'));"
                                 "server.listen(0, () => console.log(server.address().port))"],
                                stdout=subprocess.PIPE, text=True)
        self.addCleanup(node.wait)
        self.addCleanup(node.terminate)
        self.addCleanup(node.stdout.close)
        port = int(node.stdout.readline())
        good = f"GET /x HTTP/1.1\r\nHost: allowed.example:{port}\r\n\r\n"
        evil = "GET /x HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n"
        for before in ("\r\n" * 8, "\r\n" * 9, "\n" * 3000, good + good):
            with socket.create_connection((own_network.ADDRESS, port)) as direct:  # the control
                direct.sendall((before + evil).encode())
                answer = b""
                while part := direct.recv(65536):
                    answer += part
            self.assertIn(b"node for other.example", answer)
            answer = self.raw(f"CONNECT allowed.example:{port} HTTP/1.1\r\n\r\n" + before + evil)
            self.assertTrue(answer.startswith("HTTP/1.1 200"), answer)
            self.assertNotIn("other.example;", answer)
            self.assertEqual(answer.count("node for allowed"), before.startswith("GET"))
        self.assertIn("node for allowed", self.raw(f"CONNECT allowed.example:{port} HTTP/1.1\r\n\r\n" + good))

    def test_an_allowed_name_that_leads_to_this_machine(self):
        port = self.plain.port
        for name in ("rebind.example", "half.example"):
            url = f"http://{name}:{port}/hello"
            self.assertIn("403", self.fetched(url, allowedDomains=[name]))
            self.assertEqual(self.plain.asked, [])
            self.assertIn("hello", self.fetched(url, allowedDomains=[name, "127.0.0.1"]))
            self.plain.asked.clear()

    def test_addresses_of_this_machine_in_every_spelling(self):
        port = self.plain.port
        for host in ("127.0.0.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]",
                     "localhost", "0.0.0.0", "169.254.169.254", "127.0.0.1%00.allowed.example"):
            answer = self.raw(f"CONNECT {host}:{port} HTTP/1.1\r\n\r\n", domains=["*.allowed.example"])
            self.assertRegex(answer, "^HTTP/1.1 40[03]", host)
        self.assertEqual(self.cellgate.asked(), 0)
        request = f"GET http://127.0.0.1:{port}/hello HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
        self.assertIn("hello", self.raw(request, domains=[f"127.0.0.1:{port}"]))

    def test_names_beside_the_pattern(self):
        for host in ("evil-allowed.example", "allowed.example.evil.example", "allowed.example", "x.allowed.example.org"):
            answer = self.raw(f"CONNECT {host}:443 HTTP/1.1\r\n\r\n", domains=["*.allowed.example"])
            self.assertTrue(answer.startswith("HTTP/1.1 403"), answer)
        self.assertTrue(self.raw("CONNECT ALLOWED.example.:443 HTTP/1.1\r\n\r\n\x16\3\1\0\0").startswith("HTTP/1.1 200"))

    def test_nothing_goes_past_the_proxy(self):
        code = ("import socket\n"
                "def attempt(what):\n"
                "    try: print('ESCAPED', what())\n"
                "    except OSError as error: print(type(error).__name__)\n"
                f"attempt(lambda: socket.create_connection(('{own_network.ADDRESS}', {self.plain.port}), 5))\n"
                "attempt(lambda: socket.getaddrinfo('allowed.example', 80))\n"
                f"attempt(lambda: socket.create_connection(('127.0.0.1', {self.plain.port}), 5))\n"
                "attempt(lambda: socket.create_connection(('169.254.169.254', 80), 5))\n"
                "attempt(lambda: socket.create_connection(('1.1.1.1', 443), 5))\n")
        text = self.run_ok(code, allowedDomains=["allowed.example"]).text()
        self.assertNotIn("ESCAPED", text)
        self.assertEqual(len(text.splitlines()), 5)
        self.cellgate.session("open", sandbox=False)
        text = self.run_ok(code, sessionId="open").text()
        self.assertEqual(text.count("ESCAPED"), 3, text)  # the control
        text = self.run_ok("import os\nprint([name for name in os.environ if 'proxy' in name.lower()])",
                           sessionId="open").text()
        self.assertEqual(text.strip(), "[]")

    def test_an_answer_before_an_uploads_end_arrives(self):
        listener = socket.create_server(("0.0.0.0", 0))
        self.addCleanup(listener.close)
        answer = b"HTTP/1.1 413 Too large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig"

        def serve():
            for _ in range(20):
                client, _ = listener.accept()
                with client:
                    client.recv(1000)
                    client.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        code = ("import urllib.error, urllib.request\n"
                f"upload = urllib.request.Request('http://allowed.example:{listener.getsockname()[1]}/',\n"
                "                                data=b'u' * 5_000_000)\n"
                "for _ in range(20):\n"
                "    try: urllib.request.urlopen(upload, timeout=60)\n"
                "    except urllib.error.HTTPError as error: print(error.code)\n")
        self.assertEqual(self.run_ok(code, allowedDomains=["allowed.example"]).text(), "413\n" * 20)
        self.assertEqual(self.run_ok(code, approvals="deny").text(), "403\n" * 20)

    def bridges(self):
        found = set()
        for pid in descendants(self.cellgate.process.pid):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/comm").read_text() == "cellgate-bridge\n":
                    found.add(pid)
        return found

    def test_the_end_of_the_bridge_is_the_end_of_the_network_and_of_nothing_else(self):
        others = self.bridges()
        self.cellgate.session("cut")
        self.assertIn("hello", self.fetched(self.url, allowedDomains=["allowed.example"], sessionId="cut"))
        [bridge] = self.bridges() - others
        os.kill(bridge, signal.SIGKILL)  # from outside: where Landlock can be had, a cell cannot
        wait_until(lambda: bridge not in descendants(self.cellgate.process.pid), "the bridge's end")
        self.assertIn("refused", self.fetched(self.url, allowedDomains=["allowed.example"], sessionId="cut"))
        self.assertIn("hello", self.fetched(self.url, allowedDomains=["allowed.example"]))
        self.cellgate.request("session/restart", {"sessionId": "cut"})
        self.assertIn("hello", self.fetched(self.url, allowedDomains=["allowed.example"], sessionId="cut"))

    def test_ten_thousand_connections_leave_nothing_behind_and_64_are_open_at_a_time(self):
        count, burst, long = 10_000, 100, 5 * PATIENCE
        server = Echo()
        self.addCleanup(server.stop)
        self.cellgate.session("many")
        # Most end by a reset: a machine keeps what ended otherwise for a minute, and the bridge reads its whole list.
        code = ("import asyncio, itertools, socket, struct\n"
                "number = itertools.count()\n"
                "async def one(held=None):\n"
                "    reader, writer = await asyncio.open_connection('127.0.0.1', 3128)\n"
                f"    writer.write(b'CONNECT allowed.example:{server.port} HTTP/1.1\\r\\n\\r\\nPING\\r\\n')\n"
                "    await writer.drain()\n"
                "    if held is not None: held()\n"
                "    said = await reader.readuntil(b'\\r\\n\\r\\n')\n"
                "    said += await reader.readexactly(4)\n"
                "    if next(number) % 50:\n"
                "        writer.get_extra_info('socket').setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, "
                "struct.pack('ii', 1, 0))\n"
                "    writer.close()\n"
                "    await writer.wait_closed()\n"
                "    return said.endswith(b'PONG')\n"
                "async def work(rounds):\n"
                "    return sum([await one() for _ in range(rounds)])\n"
                "async def whole(count, at_once):\n"
                "    return sum(await asyncio.gather(*[work(count // at_once) for _ in range(at_once)]))\n"
                "async def burst(count):\n"
                "    sent = 0\n"
                "    def held():\n"
                "        nonlocal sent\n"
                "        sent += 1\n"
                "        if sent == count: print('all sent', flush=True)\n"
                "    return sum(await asyncio.gather(*[one(held) for _ in range(count)]))\n")

        def run(what, **more):
            return self.cellgate.execute(f"print(await {what})", sessionId="many",
                                         allowedDomains=[f"allowed.example:{server.port}"], **more)

        # A burst that is held at the server: what is over the cap waits, however long.
        self.cellgate.run(code, sessionId="many").result()
        server.open_gate.clear()
        held = run(f"burst({burst})")
        held.wait_for_text("all sent")
        wait_until(lambda: server.open >= 64, "64 connections at the server")
        for _ in range(20):  # each is a turn of the same loop, and one of the bridge's machine
            self.run_ok("1")
        self.assertEqual((server.open, server.seen), (64, 64))
        server.open_gate.set()
        self.assertEqual(held.result(long)["status"], "ok", held.outputs())
        self.assertEqual(held.text().split()[-1], str(burst))
        self.assertEqual(server.most, 64)

        def descriptors(pid):
            try:
                return len(os.listdir(f"/proc/{pid}/fd"))
            except PermissionError:  # the bridge's, where this is no root: it is not dumpable
                return 0

        sidecar = self.cellgate.process.pid
        bridges = self.bridges()
        warm = run("whole(1000, 100)")
        self.assertEqual((warm.result(long)["status"], warm.text().strip()), ("ok", "1000"), warm.outputs())
        wait_until(lambda: server.open == 0, "the end of the connections")
        before = {pid: (descriptors(pid), memory(pid)) for pid in {sidecar, *bridges}}
        most = run(f"whole({count}, 100)")
        self.assertEqual((most.result(long)["status"], most.text().strip()), ("ok", str(count)), most.outputs())
        self.assertEqual(server.seen, burst + 1000 + count)
        self.assertEqual(server.most, 64)
        for pid, (open_before, memory_before) in before.items():
            wait_until(lambda: descriptors(pid) <= open_before, f"the descriptors of {pid}")
            if not sanitized():
                self.assertLess(memory(pid) - memory_before, 4 << 20, pid)  # 400 bytes for each would be too much

    def test_many_connections_hold_up_nobody_else(self):
        hammer = self.cellgate.execute(
            self.RAW + "from concurrent.futures import ThreadPoolExecutor\n"
            f"text = 'GET http://allowed.example:{self.plain.port}/hello HTTP/1.1\\r\\n"
            f"Host: allowed.example:{self.plain.port}\\r\\n\\r\\n'\n"
            "slow = [socket.create_connection(('127.0.0.1', 3128)) for _ in range(100)]\n"
            "with ThreadPoolExecutor(20) as pool:\n"
            "    print(sum('hello from' in answer for answer in pool.map(raw, [text] * 400)))",
            allowedDomains=["allowed.example"])
        hammer.wait_running()
        self.cellgate.session("other")
        self.assertEqual(self.run_ok("1 + 1", sessionId="other").result()["status"], "ok")
        self.assertEqual(hammer.result()["status"], "ok", hammer.outputs())
        self.assertEqual(hammer.text().strip(), "400")


if __name__ == "__main__":
    own_network.enter()
    unittest.main()
