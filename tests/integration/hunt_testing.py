"""Cells with a client of bytes, and a server of bytes, for tests of requests that are judged one by one. The whole home,
the traces and the workspace are searched for the secret at the end of each class."""

from hunt_server import HuntServer, ok, spellings
from request_testing import HOST, RequestTest

VALUE = "Hunt-7f3A9c1D5e2B8x4Z"
# What was got goes to the test in another form, past the mask that cells' outputs have.
CLIENT = """
import socket, ssl
def connect(host='allowed.example', port=443):
    stream = socket.create_connection(('127.0.0.1', 3128), timeout=60)
    stream.sendall(f'CONNECT {host}:{port} HTTP/1.1\\r\\nHost: {host}:{port}\\r\\n\\r\\n'.encode())
    head = b''
    while not head.endswith(b'\\r\\n\\r\\n'):
        head += stream.recv(1)
    if port == 80:
        return stream
    return ssl.create_default_context().wrap_socket(stream, server_hostname=host)
def read(stream):
    got = b''
    try:
        while piece := stream.recv(1 << 16):
            got += piece
    except OSError as error:
        got += f'<{error}>'.encode()
    return got
def tell(data):
    print(bytes(byte ^ 0x55 for byte in data).hex(), flush=True)
def talk(data, **where):
    stream = connect(**where)
    stream.sendall(data)
    tell(read(stream))
"""


def request(line="GET /a", fields=b"", body=b"", host=HOST):
    return b"%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n%s" % (line.encode(), host.encode(), fields, body)


def look_for(value):
    """A cell that looks for a value wherever code can. It prints "placeholders N values N …": how many files have each."""
    coded = bytes(byte ^ 0x55 for byte in value.encode()).hex()
    return f"""
import os, pathlib
def has(data, text=bytes(byte ^ 0x55 for byte in bytes.fromhex({coded!r}))):
    return text in data or text.hex().encode() in data
seen = found = 0
for base in ['/proc', os.getcwd(), os.path.expanduser('~'), '/tmp', '/run', '/dev/shm', os.environ.get('XDG_RUNTIME_DIR', '/run')]:
    for folder, folders, names in os.walk(base):
        if base == '/proc':
            folders[:] = [name for name in folders if name != 'task' and name != 'fd'] if folder != '/proc' else [
                name for name in folders if name.isdigit()]
            names = [name for name in names if name in ('environ', 'cmdline', 'status', 'auxv')]
        for name in names:
            path = os.path.join(folder, name)
            try:
                if os.path.isfile(path) and os.path.getsize(path) < 1 << 26:
                    data = open(path, 'rb').read()
                    seen += b'cellgate-secret-' in data
                    found += has(data)
            except OSError:
                pass
print('placeholders', seen, 'values', found, 'parent', sorted(
    pathlib.Path('/proc', name, 'comm').read_text().strip() for name in os.listdir('/proc') if name.isdigit()))
"""


class HuntTest(RequestTest):
    inject = {"as": "bearer", "value": "${secret:API_TOKEN}"}

    @classmethod
    def prepare(cls):
        cls.server = HuntServer(443, cls.certificate())
        cls.plain = HuntServer(80)
        cls.addClassCleanup(cls.server.close)
        cls.addClassCleanup(cls.plain.close)
        cls.addClassCleanup(cls.search)  # after the end of the sidecar

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cellgate.request("secret/set", {"name": "API_TOKEN", "scope": "user", "value": VALUE})

    @classmethod
    def search(cls):
        """The record, journals, logs, traces and all other files, after the end."""
        asked = str(cls.workspace.base / "trace1.jsonl")  # where the test set it, for the user
        holders = []
        for path in cls.workspace.base.rglob("*"):
            if path.is_file() and not path.is_symlink():
                text = path.read_bytes().lower()
                if any(each in text for each in spellings(VALUE)):
                    holders.append(str(path))
        assert [each for each in holders if each != asked and "/secrets" not in each] == [], holders

    def setUp(self):
        super().setUp()
        self.server.answer = lambda request: ok(request.head)
        self.server.serve = self.server.serve_one
        for server in self.server, self.plain:
            server.asked.clear()

    def got(self, sent, **where):
        execution = self.run_ok(CLIENT + f"talk({sent!r}, **{where!r})", approvals="deny")
        return bytes(byte ^ 0x55 for byte in bytes.fromhex(execution.text().strip()))

    def assert_hidden(self, got):
        found = [each for each in spellings(VALUE) if each in got.lower()]
        self.assertEqual(found, [], got)
