"""A server of bytes: it keeps what it was asked, byte by byte, and answers what a test says, well-formed or not."""

import base64
import contextlib
import re
import socket
import ssl
import threading

import own_network

SECRETS = (rb"\r\nauthorization: Bearer ([^\r]+)", rb"\r\nauthorization: Basic ([^\r]+)", rb"\r\nx-key: ([^\r]+)",
           rb"[?&]key=([^ &]+)")


class Request:
    def __init__(self, head, body):
        self.head = head
        self.body = body
        self.line = head.split(b"\r\n")[0].decode()
        found = [re.search(each, head) for each in SECRETS]
        self.secret = next((match[1] for match in found if match), b"")

    def field(self, name):
        return re.findall(rb"\r\n%s: ([^\r]*)" % name.encode(), self.head)


def ok(content, fields=b"", version=b"1.1"):
    return b"HTTP/%s 200 OK\r\n%sContent-Length: %d\r\n\r\n%s" % (version, fields, len(content), content)


def in_chunks(content, size, extension=b"", trailer=b""):
    pieces = [content[at:at + size] for at in range(0, len(content), size)]
    return [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            *(b"%x%s\r\n%s\r\n" % (len(piece), extension, piece) for piece in pieces), b"0\r\n%s\r\n" % trailer]


class Connection:
    """`earlier`: the requests that came over it before."""

    def __init__(self, stream):
        self.stream = stream
        self.buffer = b""
        self.earlier = []

    def read(self, size):
        while len(self.buffer) < size:
            self._more()
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def read_to(self, end):
        while end not in self.buffer:
            self._more()
        return self.read(self.buffer.index(end) + len(end))

    def _more(self):
        piece = self.stream.recv(1 << 16)
        if not piece:
            raise EOFError
        self.buffer += piece

    def request(self):
        head = self.read_to(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: (\d+)", head)
        body = self.read(int(length[1])) if length else b""
        if b"\r\ntransfer-encoding: chunked" in head:
            while size := int(self.read_to(b"\r\n"), 16):
                body += self.read(size + 2)[:-2]
            self.read_to(b"\r\n")
        return Request(head, body)

    def say(self, pieces):
        for piece in [pieces] if isinstance(pieces, bytes) else pieces:
            self.stream.sendall(piece)


class HuntServer:
    """`answer(request)` is the bytes, or the pieces, of an answer, after which the connection ends. `serve(connection)`
    in its place does what it likes."""

    def __init__(self, port, certificate=None):
        self.asked = []
        self.connections = 0
        self.answer = lambda request: ok(request.head)
        self.serve = self.serve_one
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate)
        self.socket = socket.create_server((own_network.ADDRESS, port), backlog=100)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                stream, _ = self.socket.accept()
                threading.Thread(target=self._run, args=(stream,), daemon=True).start()

    def _run(self, stream):
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(OSError, EOFError):
            if self.context:
                stream = self.context.wrap_socket(stream, server_side=True)
            self.connections += 1
            self.serve(Connection(stream))
        with contextlib.suppress(OSError):
            stream.shutdown(socket.SHUT_RDWR)
        stream.close()

    def take(self, connection):
        request = connection.request()
        self.asked.append(request)
        connection.earlier.append(request)
        return request

    def serve_one(self, connection):
        request = self.take(connection)
        connection.say(self.answer(request))

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def spellings(value):
    """In which a program may have said it, in lower case; the pieces of 8 bytes of the value among them."""
    raw = value.encode()
    coded = [base64.b64encode(b"x" * before + raw)[4 if before else 0:24].rstrip(b"=") for before in range(3)]
    pieces = [raw[at:at + 8] for at in range(len(raw) - 7)]
    return [each.lower() for each in [*pieces, *coded, raw.hex().encode()]]
