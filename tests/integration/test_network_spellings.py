"""No spelling of a host, and no trick with the proxy, gets out of the sandbox."""

import contextlib
import os
import signal
import socket
import subprocess
import threading
import unittest
from pathlib import Path

import own_network
from measuring import memory, sanitized
from network_testing import NODE, Echo, NetworkTest
from processes import TIMEOUT, descendants, wait_until


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
                f"    context = ssl.create_default_context(cafile={str(self.workspace.path / 'authority.crt')!r})\n"
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
        os.kill(bridge, signal.SIGKILL)  # from outside: where there is Landlock, a cell cannot
        wait_until(lambda: bridge not in descendants(self.cellgate.process.pid), "the bridge's end")
        self.assertIn("refused", self.fetched(self.url, allowedDomains=["allowed.example"], sessionId="cut"))
        self.assertIn("hello", self.fetched(self.url, allowedDomains=["allowed.example"]))
        self.cellgate.request("session/restart", {"sessionId": "cut"})
        self.assertIn("hello", self.fetched(self.url, allowedDomains=["allowed.example"], sessionId="cut"))

    # Most end by a reset: a machine keeps what ended otherwise for a minute, and the bridge reads its whole list.
    CONNECTIONS = (
        "import asyncio, itertools, socket, struct\n"
        "number = itertools.count()\n"
        "async def one(held=None):\n"
        "    reader, writer = await asyncio.open_connection('127.0.0.1', 3128)\n"
        "    writer.write(b'CONNECT allowed.example:PORT HTTP/1.1\\r\\n\\r\\nPING\\r\\n')\n"
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
        "    return sum(await asyncio.gather(*[one(held) for _ in range(count)]))\n"
    )

    def test_ten_thousand_connections_leave_nothing_behind_and_64_are_open_at_a_time(self):
        count, burst, long = 10_000, 100, 5 * TIMEOUT
        server = Echo()
        self.addCleanup(server.stop)
        self.cellgate.session("many")
        self.cellgate.request("policy/add", {"scope": "session", "sessionId": "many", "rule": {
            "effect": "allow", "kind": "network", "host": f"allowed.example:{server.port}", "protocol": "raw"}})

        def run(what, **more):
            return self.cellgate.execute(f"print(await {what})", sessionId="many", **more)

        # A burst that is held at the server: what is over the cap waits, however long.
        code = self.CONNECTIONS.replace("PORT", str(server.port))
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
