"""An API over TLS, which says what it was asked. As a program, `api_server.py FOLDER`: it makes its certificates in
FOLDER, for 127.0.0.1, and prints {"port", "authority"}, then each request: {"method", "path", "headers", "body"}."""

import http.server
import io
import json
import os
import socketserver
import ssl
import subprocess
import sys
import threading
import zipfile
from pathlib import Path


class Api(http.server.BaseHTTPRequestHandler):
    """Says what it was asked, but for /repos/…, and keeps it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def serve(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size) if size else self.read_chunks()
        self.server.on_asked((self.command, self.path, dict(self.headers.items()), body))
        if self.path.startswith("/git/"):
            self.serve_git(body)
            return
        if self.path.startswith("/packages/"):
            self.serve_package()
            return
        if self.path.startswith("/redirect"):
            self.send_response(302)
            self.send_header("Location", "https://other.example/echo")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        text = json.dumps({"method": self.command, "path": self.path, "headers": dict(self.headers.items()),
                           "bytes": len(body)}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        if self.path.startswith("/chunked"):
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(text), 5):
                piece = text[at:at + 5]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
            return
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = serve

    def serve_package(self):
        """An index for pip, with one wheel."""
        name = "tiny-1.0-py3-none-any.whl"
        if self.path.endswith(name):
            wheel = io.BytesIO()
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.writestr("tiny.py", "print('tiny runs')\n")
                archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
                archive.writestr("tiny-1.0.dist-info/WHEEL",
                                 "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
                archive.writestr("tiny-1.0.dist-info/RECORD", "")
            body, kind = wheel.getvalue(), "application/zip"
        else:
            body, kind = f'<!DOCTYPE html><a href="/packages/{name}">{name}</a>'.encode(), "text/html"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve_git(self, body):
        """By git's own program; repositories are in the server's `repositories`."""
        path, _, query = self.path.removeprefix("/git").partition("?")
        made = subprocess.run(["git", "http-backend"], input=body, stdout=subprocess.PIPE, check=True, env={
            **os.environ, "GIT_PROJECT_ROOT": str(self.server.repositories), "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": "ada", "REQUEST_METHOD": self.command, "PATH_INFO": path, "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}).stdout
        head, _, answer = made.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def read_chunks(self):
        body = b""
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        return body

    def log_message(self, *_):
        pass


class ApiServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def __init__(self, certificate, port=0, on_asked=None, handler=Api):
        self.asked = []
        self.connections = 0
        self.repositories = None
        self.on_asked = on_asked or self.asked.append
        super().__init__(("0.0.0.0", port), handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def get_request(self):
        self.connections += 1
        return super().get_request()


def main():
    from own_network import make_certificates
    authority, certificate = make_certificates(Path(sys.argv[1]) / "certificates", ["IP:127.0.0.1"])

    def tell(asked):
        method, path, headers, body = asked
        print(json.dumps({"method": method, "path": path, "headers": headers, "body": body.decode()}), flush=True)
    server = ApiServer(certificate, on_asked=tell)
    print(json.dumps({"port": server.server_address[1], "authority": str(authority)}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
