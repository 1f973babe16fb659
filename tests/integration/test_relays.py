"""Listed ports of the machine's loopback, which programs find at the same ports of the sandbox's own."""

import json
import socket
import socketserver
import subprocess
import threading
import unittest

from cellgate_client import CELLGATE, SharedSidecarTest
from server_sandbox_testing import PYTHON, ServerTest, Web, settings

# What a program says that knows no proxy; the end of what it sends comes before any answer.
ATTEMPT = """
import errno, socket
def attempt(port, *hosts):
    for host in hosts:
        try:
            with socket.create_connection((host, port), 60) as s:
                s.sendall(b"ping\\n")
                s.shutdown(socket.SHUT_WR)
                said = b""
                while part := s.recv(65536): said += part
                print(said.decode())
        except ConnectionRefusedError: print("refused")
        except OSError as error: print("reset" if error.errno in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN) else error)
"""
ALL = ("127.0.0.1", "::1", "localhost")


class Database(socketserver.ThreadingTCPServer):
    """Answers ping by pong."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host="127.0.0.1", port=0):
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), self.answer)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answer(self, connection, _address, _server):
        self.seen = connection.recv(5, socket.MSG_WAITALL)
        connection.sendall(self.seen.replace(b"i", b"o"))

    def stop(self):
        self.shutdown()
        self.server_close()


def attempt(port, *hosts):
    return ATTEMPT + f"attempt({port}, *{hosts!r})"


class Cells(SharedSidecarTest):
    @classmethod
    def prepare(cls):
        cls.database, cls.other = Database(), Database()
        cls.addClassCleanup(cls.database.stop)
        cls.addClassCleanup(cls.other.stop)

    def listing(self, session, *hosts):
        file = self.workspace.base / f"{session}.json"
        file.write_text(settings(hosts))
        self.addCleanup(self.cellgate.request, "session/close", {"sessionId": session})
        return self.cellgate.session(session, sandbox={"configFile": str(file)})

    def said(self, code, session):
        return self.run_ok(code, sessionId=session).text().split()

    def test_a_plain_connection_reaches_a_listed_port_and_no_other(self):
        self.listing("listed", f"tcp://localhost:{self.database.port}")
        self.cellgate.session("unlisted")
        listed, other = attempt(self.database.port, *ALL), attempt(self.other.port, *ALL)
        self.assertEqual(self.said(listed, "listed"), ["pong"] * 3)
        self.assertEqual(self.said(other, "listed"), ["refused"] * 3)
        self.assertEqual(self.said(listed, "unlisted"), ["refused"] * 3)  # the control
        names = "import os\nprint([name for name in os.environ if 'RELAY' in name])"
        self.assertEqual(self.said(names, "unlisted"), ["[]"])
        self.assertEqual(self.cellgate.asked(), 0)

    def test_a_port_that_is_listed_for_http_alone_carries_nothing_else(self):
        self.listing("web-only", f"localhost:{self.database.port}")
        execution = self.run_ok(attempt(self.database.port, "127.0.0.1"), sessionId="web-only")
        self.assertNotIn("pong", execution.text())
        [note] = execution.result()["notes"]
        self.assertIn(f"add a rule for the host tcp://localhost:{self.database.port}", note["remedy"])
        self.assertEqual(note["rule"]["protocol"], "raw")
        self.assertEqual(self.cellgate.asked(), 0)

    def test_the_decision_history_has_it_with_its_line_and_its_outcome(self):
        self.listing("recorded", f"tcp://127.0.0.1:{self.database.port}")
        self.said(attempt(self.database.port, "::1"), "recorded")
        past = [d for d in self.cellgate.request("policy/decisions")["decisions"] if d.get("sessionId") == "recorded"][0]
        self.assertEqual((past["decision"], past["by"]), ("allow", "rule"))
        self.assertEqual((past["action"]["host"], past["action"]["port"]), ("127.0.0.1", self.database.port))
        self.assertEqual(past["action"]["program"], "the kernel (python3)")
        self.assertIn("socket.create_connection", past["origin"]["text"])
        self.assertEqual((past["outcome"]["bytesSent"], past["outcome"]["bytesReceived"]), (5, 5), past)

    def test_either_family_leads_to_the_listed_address(self):
        six = Database("::1")
        self.addCleanup(six.stop)
        self.listing("six", f"tcp://[::1]:{six.port}")
        self.assertEqual(self.said(attempt(six.port, *ALL), "six"), ["pong"] * 3)
        self.listing("wrong", f"tcp://127.0.0.1:{six.port}")
        self.assertEqual(self.said(attempt(six.port, *ALL), "wrong"), ["reset"] * 3)

    def test_a_server_that_goes_and_comes_back(self):
        server = Database()
        self.listing("going", f"tcp://localhost:{server.port}")
        code = attempt(server.port, "127.0.0.1")
        self.assertEqual(self.said(code, "going"), ["pong"])
        server.stop()
        self.assertEqual(self.said(code, "going"), ["reset"])
        again = Database(port=server.port)
        self.addCleanup(again.stop)
        self.assertEqual(self.said(code, "going"), ["pong"])

    def test_http_by_any_name_of_the_loopback(self):
        web = Web()
        self.addCleanup(web.server_close)
        self.addCleanup(web.shutdown)
        self.listing("web", f"localhost:{web.port}")
        code = ("import requests, urllib.request\n"
                f"for url in ('http://127.0.0.1:{web.port}/', 'http://localhost:{web.port}/', 'http://[::1]:{web.port}/'):\n"
                "    print(requests.get(url).text, urllib.request.urlopen(url).read().decode(), sep='\\n')\n"
                f"with requests.Session() as s: print(*[s.get('http://localhost:{web.port}/').text for _ in '12'], sep='\\n')")
        lines = self.run_ok(code, sessionId="web").text().splitlines()
        self.assertEqual(lines, [f"hello from localhost:{web.port}"] * 8)

    def test_a_rule_that_denies_is_stronger_and_a_note_says_so(self):
        self.listing("denied", f"tcp://localhost:{self.database.port}")
        rule = self.cellgate.request("policy/add", {"rule": {"effect": "deny", "kind": "network", "host": "localhost"},
                                                    "scope": "workspace"})
        execution = self.run_ok(attempt(self.database.port, "127.0.0.1"), sessionId="denied")
        self.cellgate.request("policy/remove", {"ruleId": rule["id"]})
        self.assertEqual(execution.text().split(), ["reset"])
        [note] = execution.result()["notes"]
        self.assertIn(rule["id"], note["remedy"])

    def test_a_workspaces_rule_lists_a_port_for_what_starts_later(self):
        code = attempt(self.database.port, "localhost")
        self.cellgate.session("ruled")
        self.addCleanup(self.cellgate.request, "session/close", {"sessionId": "ruled"})
        rule = self.cellgate.request("policy/add", {"rule": {"effect": "allow", "kind": "network",
                                                             "host": f"localhost:{self.database.port}", "protocol": "raw"},
                                                    "scope": "workspace"})
        self.addCleanup(self.cellgate.request, "policy/remove", {"ruleId": rule["id"]})
        self.assertEqual(self.said(code, "ruled"), ["refused"])
        self.cellgate.request("session/restart", {"sessionId": "ruled"})
        self.assertEqual(self.said(code, "ruled"), ["pong"])

    def test_ports_that_cannot_be_relayed_are_notices(self):
        info = self.listing("notices", "localhost:80", "127.0.0.1:3128", f"tcp://localhost:{self.database.port}")
        said = "\n".join(info["sandboxNotices"])
        self.assertIn("localhost:80 is not relayed", said)
        self.assertIn("127.0.0.1:3128 is not relayed", said)
        bind = "try: socket.socket().bind(('127.0.0.1', 80))\nexcept OSError as error: print(type(error).__name__)"
        self.assertEqual(self.said("import socket\n" + bind, "notices"), ["PermissionError"])
        self.assertEqual(self.said(attempt(self.database.port, "127.0.0.1"), "notices"), ["pong"])


class Servers(ServerTest):
    @classmethod
    def prepare(cls):
        cls.database, cls.other = Database(), Database()
        cls.addClassCleanup(cls.database.stop)
        cls.addClassCleanup(cls.other.stop)

    def test_a_server_in_the_sandbox_reaches_what_its_settings_list(self):
        file = self.write_settings("relayed.json", settings([f"tcp://localhost:{self.database.port}"]))
        self.add("relayed", sandbox={"configFile": file})
        self.add("unlisted", sandbox=True)
        code = attempt(self.database.port, *ALL)
        self.assertEqual(self.run_in("relayed", code).split(), ["pong"] * 3)
        self.assertEqual(self.run_in("relayed", attempt(self.other.port, *ALL)).split(), ["refused"] * 3)
        self.assertEqual(self.run_in("unlisted", code).split(), ["refused"] * 3)  # the control
        past = [d for d in self.cellgate.request("policy/decisions")["decisions"] if d["action"]["kind"] == "network"][0]
        self.assertEqual((past["action"]["server"], past["action"]["host"], past["action"]["port"]),
                         ("relayed", "localhost", self.database.port))

    def test_the_command_lines_option_lists_for_cells_and_servers(self):
        self.prepare_server()
        config = self.workspace.write("cli.json", json.dumps({"mcpServers": {
            "boxed": {"command": PYTHON, "args": ["server.py"], "sandbox": True}}}))
        code = attempt(self.database.port, "127.0.0.1")
        script = self.workspace.write("connects.py", code)

        def cli(*arguments):
            return subprocess.run([CELLGATE, *arguments, "--root", str(self.workspace.path)],
                                  env=self.workspace.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, start_new_session=True, check=False)
        call = ("call", "boxed", "run", json.dumps({"code": code}), "--allow", "boxed/run", "--mcp-config", str(config))
        option = ("--allow-domain", f"tcp://localhost:{self.database.port}")
        for command in (("run", str(script)), call):
            with self.subTest(command[0]):
                self.assertIn("refused", cli(*command).stdout)
                ended = cli(*command, *option)
                self.assertIn("pong", ended.stdout, ended.stderr)
        ended = cli("generate", "boxed", "--mcp-config", str(config), "--allow-domain", "localhost:80")
        self.assertIn("localhost:80 is not relayed", ended.stderr)


if __name__ == "__main__":
    unittest.main()
