"""`cellgate decider`: the requests of srt's own proxy are decided by the workspace's rules and users, and without it none is
forwarded."""

import http.server
import json
import os
import signal
import socket
import struct
import subprocess
import threading
import unittest
import urllib.error
import urllib.request

from cellgate_client import CELLGATE, REPOSITORY, WorkspaceSidecarTest
from network_testing import NODE
from processes import OWN, TIMEOUT, start_process

SRT = REPOSITORY / "tests/node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js"


class Echo(http.server.BaseHTTPRequestHandler):
    """Keeps what it is asked, and answers with the body."""

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.command, self.path, body))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_):
        pass


class DeciderTest(WorkspaceSidecarTest):
    def start(self, command, **options):
        process = start_process(command, cwd=self.workspace.path, env=self.workspace.environment(),
                                stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stderr.close()
        OWN.discard(process.pid)

    def decider(self, stream, *options):
        return self.start([CELLGATE, "decider", *options], stdin=stream, stdout=stream)


@unittest.skipUnless(SRT.exists() and NODE.exists(), "the packages of npm are not installed")
class Proxy(DeciderTest):
    def setUp(self):
        super().setUp()
        self.user = self.editor()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
        self.server.asked = []
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.host = f"127.0.0.1:{self.server.server_port}"
        ours, theirs = socket.socketpair()
        self.process = self.decider(ours, "--host", self.host)
        self.proxy = self.start([NODE, SRT, "proxy", "--listen", "127.0.0.1:0", "--decider-fd", str(theirs.fileno())],
                                pass_fds=[theirs.fileno()])
        ours.close()
        theirs.close()
        served = self.proxy.stderr.readline()
        self.assertIn("serving", served)
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": f"http://{served.split()[-1]}"}))

    def request(self, path="/", body=None, host=None):
        """Status, text and why it was refused."""
        try:
            with self.opener.open(f"http://{host or self.host}{path}", body, timeout=TIMEOUT) as answer:
                return answer.status, answer.read(), None
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read(), error.headers["X-Deny-Reason"]

    def asked(self, *arguments):
        """Its result, once it is there."""
        found = []
        thread = threading.Thread(target=lambda: found.append(self.request(*arguments)), daemon=True)
        thread.start()

        def result():
            thread.join(TIMEOUT)
            return found[0]
        return result

    def rule(self, effect, **more):
        spec = {"effect": effect, "kind": "request", "host": self.host, **more}
        self.user.request("policy/add", {"rule": spec, "scope": "workspace"})

    def test_a_request_waits_for_the_user_and_is_forwarded_after_the_yes(self):
        result = self.asked("/notes?draft=1", b"three words here")
        asked = self.user.approval()
        self.assertEqual(asked["display"][0], f"POST http://{self.host}/notes")
        shown = "\n".join(asked["display"])
        for part in ('query: "draft=1"', 'body: "three words here"', "by agent srt-proxy"):
            self.assertIn(part, shown)
        self.assertNotIn("sessionId", asked)
        self.assertEqual(self.server.asked, [])
        self.user.allow(asked)
        self.assertEqual(result(), (200, b"three words here", None))
        self.assertEqual(self.server.asked, [("POST", "/notes?draft=1", b"three words here")])

    def test_a_no_reaches_the_client_and_nothing_reaches_the_server(self):
        result = self.asked("/notes")
        self.user.deny(self.user.approval(), reason="not this one")
        status, text, why = result()
        self.assertEqual((status, why), (403, "decider"), text)
        self.assertIn(b"not this one", text)
        self.assertEqual(self.server.asked, [])

    def test_rules_decide_at_once(self):
        self.rule("allow", methods=["GET"], paths=["/open/**"])
        self.assertEqual(self.request("/open/a")[0], 200)
        self.rule("deny", methods=["POST"])
        self.assertEqual(self.request("/open/a", b"x")[0], 403)
        self.assertEqual(self.user.asked(), 0)
        self.assertEqual([each[0] for each in self.server.asked], ["GET"])

    def test_an_answer_for_the_session_holds_while_the_decider_runs(self):
        result = self.asked("/a")
        asked = self.user.approval()
        (choice,) = [each for each in asked["choices"] if each["label"].startswith("any request to")]
        self.user.allow(asked, scope="session", rule=choice["rule"])
        self.assertEqual(result()[0], 200)
        self.assertEqual(self.request("/b", b"x")[0], 200)
        self.assertEqual(self.user.asked(), 1)

    def test_an_answer_that_comes_late_is_for_the_same_request_again_and_once(self):
        status, text, _ = self.request("/slow")
        self.assertEqual(status, 503)
        self.assertIn(b"try again", text)
        asked = self.user.approval()
        self.user.allow(asked)
        self.assertEqual(self.request("/slow")[0], 200)
        self.assertEqual(self.user.asked(), 1)
        result = self.asked("/slow")
        self.user.deny(self.user.approval())
        self.assertEqual(result()[0], 403)
        self.assertEqual(len(self.server.asked), 1)

    def test_what_is_not_named_is_not_asked_about(self):
        self.assertEqual(self.request(host="other.example")[2], "host_not_allowed")
        self.assertEqual(self.user.asked(), 0)

    def test_the_record_has_it_and_says_that_cellgate_did_not_send_it(self):
        self.rule("allow")
        self.request("/a", b"x")
        (decided,) = self.user.request("record/query", {"types": ["action.decided"]})["entries"]
        action = decided["data"]["action"]
        self.assertEqual((action["method"], action["path"], action["body"]), ("POST", "/a", "x"))
        (ended,) = self.user.request("record/query", {"types": ["action.ended"]})["entries"]
        self.assertEqual(ended["data"]["status"], "unknown")

    def test_when_it_ends_nothing_is_forwarded_any_more(self):
        self.rule("allow")
        self.assertEqual(self.request("/a")[0], 200)  # the control
        os.kill(self.sidecar_pid(), signal.SIGKILL)
        self.assertEqual(self.process.wait(TIMEOUT), 1)
        self.assertIn("sidecar has ended", self.process.stderr.read())
        try:
            status = self.request("/b")[0]
        except OSError:  # the proxy ends, too
            status = None
        self.assertNotEqual(status, 200)
        self.assertEqual(len(self.server.asked), 1)


class Wire(DeciderTest):
    """Without the proxy."""

    def setUp(self):
        super().setUp()
        self.user = self.editor()
        ours, theirs = socket.socketpair()
        self.addCleanup(theirs.close)
        self.process = self.decider(ours, "--host", "b.example", "--host", "a.example", "--host", "b.example")
        ours.close()
        self.stream = theirs
        self.stream.settimeout(TIMEOUT)

    def send(self, message):
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.stream.sendall(struct.pack(">I", len(data)) + data)

    def receive(self):
        with self.stream.makefile("rb") as file:
            head = file.read(4)
            return json.loads(file.read(struct.unpack(">I", head)[0])) if head else None

    def greet(self):
        self.send({"t": "hello", "proto": 1})
        self.assertEqual(self.receive(), {"t": "hello", "proto": 1, "allowedDomains": ["a.example", "b.example"],
                                          "deniedDomains": []})

    def test_a_body_is_asked_for_and_one_that_is_too_long_is_refused(self):
        self.greet()
        self.send({"t": "req", "id": 1, "method": "POST", "host": "a.example", "port": 443, "sni": "a.example", "path": "/",
                   "headers": {"content-length": ["9000000"]}})
        self.assertEqual(self.receive(), {"t": "verdict", "id": 1, "action": "need_body", "max": 8 << 20})
        self.send({"t": "body", "id": 1, "data": "eA==", "cut": True})
        self.assertEqual(self.receive()["status"], 413)
        self.assertEqual(self.user.asked(), 0)

    def test_what_is_not_the_protocol_ends_it(self):
        self.greet()
        self.send({"t": "body", "id": 7, "data": ""})
        self.assertEqual(self.process.wait(TIMEOUT), 1)
        self.assertIsNone(self.receive())

    def test_without_a_greeting_it_says_nothing(self):
        self.send(b"not json")
        self.assertEqual(self.process.wait(TIMEOUT), 1)
        self.assertIsNone(self.receive())

    def test_a_length_that_lies_is_not_waited_for(self):
        self.stream.sendall(b"\xff\xff\xff\xff{")
        self.assertEqual(self.process.wait(TIMEOUT), 1)
        self.assertIn("at most", self.process.stderr.read())


if __name__ == "__main__":
    unittest.main()
