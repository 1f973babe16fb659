"""A relay to `cellgate mcp --http` that adds the token, which the conformance suite cannot send. The suite's requests name
the relay as their host and origin; it puts cellgate's own port there, and leaves other hosts as they are."""

import http.client
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OWN = re.compile(r"\b(localhost|127\.0\.0\.1|\[::1\]):\d+$")
OF_A_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "content-length"}


class Relay(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    port = None
    token = None

    def log_message(self, *_):
        pass

    def relay(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        upstream = http.client.HTTPConnection("127.0.0.1", self.port)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() in ("host", "origin"):
                value = OWN.sub(rf"\1:{self.port}", value)
            if name.lower() not in OF_A_CONNECTION:
                upstream.putheader(name, value)
        upstream.putheader("Authorization", f"Bearer {self.token}")
        upstream.putheader("Content-Length", str(len(body)))
        upstream.endheaders(body)
        answer = upstream.getresponse()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in OF_A_CONNECTION:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while piece := answer.read1(1 << 16):
                self.wfile.write(piece)
        except ConnectionError:
            pass  # the suite has closed its side
        upstream.close()

    do_GET = do_POST = do_DELETE = relay


def start(port, token):
    """The relay's server, whose owner ends it with shutdown() and server_close()."""
    handler = type("RelayHere", (Relay,), {"port": port, "token": token})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
