"""WebSockets through a proxy that judges requests: they are requests of a method of their own, and end with their cell."""

import threading
import unittest

import own_network
from hunt_server import ok
from hunt_testing import CLIENT, HOST, VALUE, HuntTest, request
from processes import TIMEOUT

OPEN = request("GET /live", b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n").replace(b"Connection: close\r\n", b"")
ACCEPTED = (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
SOCKET = CLIENT + """
def frame(text, mask=b'abcd'):
    return bytes([0x81, 0x80 | len(text)]) + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(text))
def said(stream):
    head = stream.recv(2)
    return stream.recv(head[1]).decode()
"""


class WebSockets(HuntTest):
    def serve_frames(self, connection):
        try:
            asked = self.server.take(connection)
            connection.say(ACCEPTED)
            while True:
                _, size = connection.read(2)
                mask = connection.read(4)
                text = bytes(byte ^ mask[i % 4] for i, byte in enumerate(connection.read(size & 0x7F)))
                if text == b"secret?":
                    text = asked.secret or b"none"
                connection.say(bytes([0x81, len(text) + 5]) + b"said " + text)
        finally:
            self.ended.set()

    def setUp(self):
        super().setUp()
        self.ended = threading.Event()
        self.server.serve = self.serve_frames

    def start(self, code, **params):
        return self.cellgate.execute(SOCKET + f"stream = connect()\nstream.sendall({OPEN!r} + frame(b'early'))\n"
                                              "head = b''\nwhile not head.endswith(b'\\r\\n\\r\\n'): head += stream.recv(1)\n"
                                              "print(head.decode().splitlines()[0])\nprint(said(stream))\n" + code, **params)

    def test_a_question_opens_it_and_the_end_of_the_cell_ends_it(self):
        self.rule("allow", methods=["GET", "POST"])
        execution = self.start("for text in b'ping', b'pong':\n    stream.sendall(frame(text))\n    print(said(stream))")
        approval = self.cellgate.approval()
        self.assertEqual(approval["display"][0], f"open wss://{HOST}/live")
        self.assertEqual(approval["action"]["method"], "WEBSOCKET")
        self.assertEqual(self.server.asked, [])
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertEqual(execution.text().splitlines(),
                         ["HTTP/1.1 101 Switching Protocols", "said early", "said ping", "said pong"])
        self.assertTrue(self.ended.wait(TIMEOUT))
        # The kernel still has its end.
        self.assertEqual(self.run_ok("print(stream.recv(9))").text().strip(), "b''")

    def test_one_that_a_rule_allows_outlives_the_cell(self):
        self.rule("allow", methods=["WEBSOCKET"])
        self.start("", approvals="deny").result()
        text = self.run_ok("stream.sendall(frame(b'later'))\nprint(said(stream))\nstream.close()").text()
        self.assertEqual(text.strip(), "said later")
        self.assertTrue(self.ended.wait(TIMEOUT))

    def test_another_request_is_none(self):
        self.rule("allow", methods=["WEBSOCKET"])
        for method in "DELETE", "POST":
            closing = OPEN.replace(b"Connection: Upgrade", b"Connection: Upgrade, close")
            self.assertIn(b"HTTP/1.1 403 ", self.got(closing.replace(b"GET", method.encode())))
        self.assertEqual(self.server.asked, [])

    def test_a_server_that_opens_none_shows_nothing_else(self):
        self.rule("deny", methods=["GET"])
        self.rule("allow")
        self.server.serve = self.server.serve_one
        self.server.answer = lambda request: ok(b"the page")
        got = self.got(OPEN)
        self.assertTrue(got.startswith(b"HTTP/1.1 502 "), got)
        self.assertNotIn(b"the page", got)
        self.server.answer = lambda request: b"HTTP/1.1 426 Upgrade\r\nConnection: close\r\nContent-Length: 3\r\n\r\nwhy"
        self.assertIn(b"why", self.got(OPEN.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")))

    def test_only_a_rule_that_names_it_puts_a_secret_in(self):
        self.rule("inspect", inject=self.inject)
        ask = "stream.sendall(frame(b'secret?'))\nprint(len(said(stream)))\nstream.close()"
        execution = self.start(ask)
        approval = self.cellgate.approval()
        self.assertNotIn("secrets", approval["action"])
        self.cellgate.allow(approval)
        execution.result()
        self.assertEqual(self.server.asked[-1].secret, b"")
        self.rule("inspect", inject=self.inject, methods=["WEBSOCKET"])
        execution = self.start(ask)
        approval = self.cellgate.approval()
        self.assertIn("with the secret API_TOKEN, which the WebSocket may show to the code",
                      approval["display"])
        self.cellgate.allow(approval)
        execution.result()
        self.assertEqual(self.server.asked[-1].secret, VALUE.encode())


if __name__ == "__main__":
    own_network.enter()
    unittest.main()
