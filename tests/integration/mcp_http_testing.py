"""`cellgate mcp --http`, and a client of it that shows all of HTTP."""

import http.client
import json
import re
import signal
import ssl
import subprocess
import threading

import mcp_wire
from cellgate_client import CELLGATE, WorkspaceSidecarTest
from mcp_testing import MODERN
from processes import OWN, TIMEOUT, start_process

LEGACY = "2025-11-25"
BOTH_TYPES = "application/json, text/event-stream"


class Served:
    """The process. `url` and `token` are what it tells its user."""

    def __init__(self, workspace, *arguments, at="127.0.0.1:0"):
        self.lines = []
        self.process = start_process(
            [CELLGATE, "mcp", "--root", str(workspace.path), "--as", "all", "--trace", str(workspace.new_trace()),
             "--http", at, *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=workspace.path,
            env=workspace.environment(), text=True)
        url = self._until(r"agents reach MCP at (\S+)$")
        self.token_path = self._until(r"need the token in (\S+), as")
        self.url = url
        self.scheme, self.port = re.match(r"(https?)://[^/]*:(\d+)/mcp$", url).groups()
        with open(self.token_path) as file:
            self.token = file.read().strip()
        self._rest = threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True)
        self._rest.start()

    def _until(self, pattern):
        for line in self.process.stderr:
            self.lines.append(line)
            if found := re.search(pattern, line):
                return found[1]
        OWN.discard(self.process.pid)
        raise AssertionError("it ended: " + "".join(self.lines))

    def connect(self, authority=None):
        if self.scheme == "http":
            return http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=TIMEOUT)
        context = ssl.create_default_context(cafile=authority)
        return http.client.HTTPSConnection("localhost", int(self.port), timeout=TIMEOUT, context=context)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(TIMEOUT)
        OWN.discard(self.process.pid)
        self._rest.join(TIMEOUT)
        self.process.stderr.close()
        return code


class Answer:
    """To one request: its head, and the messages of its body one by one."""

    def __init__(self, connection, response, judge):
        self.connection = connection
        self.response = response
        self.status = response.status
        self.type = response.headers.get("Content-Type", "")
        self._judge = judge

    def messages(self):
        if self.type == "application/json":
            yield self._take(self.response.read())
        elif self.type == "text/event-stream":
            for line in self.response:
                if line.startswith(b"data: "):
                    yield self._take(line[len("data: "):])

    def _take(self, text):
        message = json.loads(text)
        self._judge(message)
        return message

    def last(self):
        """Its answer, with the end of the body."""
        *_, message = self.messages()
        self.connection.close()
        return message

    def close(self):
        """As a client that is gone."""
        self.response.close()
        self.connection.close()


class HttpClient:
    """A client of either era. `heard`: what came on the streams before the answers."""

    def __init__(self, served, name="http-agent", modern=False, elicit=None, authority=None):
        self.served = served
        self.name = name
        self.modern = modern
        self.elicit = elicit
        self.authority = authority
        self.session = None
        self.heard = []
        self.broken = []
        self._next_id = 0
        self._asked = {}
        self._connections = []

    def close(self):
        for connection in self._connections:
            connection.close()
        assert not self.broken, self.broken[:3]

    def fields(self, method=None, params=None):
        fields = {"Authorization": f"Bearer {self.served.token}", "Content-Type": "application/json", "Accept": BOTH_TYPES}
        if self.session:
            fields |= {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": LEGACY}
        if self.modern:
            fields |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method or ""}
            if method == "tools/call":
                fields["Mcp-Name"] = params["name"]
        return fields

    def capabilities(self):
        return {"elicitation": {}} if self.elicit else {}

    def send(self, verb, body=b"", fields=None, path="/mcp"):
        connection = self.served.connect(self.authority)
        self._connections.append(connection)
        connection.request(verb, path, body, fields or self.fields())
        return Answer(connection, connection.getresponse(), self._judge)

    def _judge(self, message):
        method = self._asked.get(str(message.get("id")))
        self.broken += mcp_wire.violations(self.modern, message, method)

    def post(self, message, fields=None):
        return self.send("POST", json.dumps({"jsonrpc": "2.0", **message}).encode(), fields)

    def start(self, method, params=None):
        self._next_id += 1
        self._asked[str(self._next_id)] = method
        params = dict(params or {})
        if self.modern:
            params["_meta"] = {"io.modelcontextprotocol/protocolVersion": MODERN,
                               "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "1"},
                               "io.modelcontextprotocol/clientCapabilities": self.capabilities(),
                               **params.get("_meta", {})}
        return self.post({"id": self._next_id, "method": method, "params": params}, self.fields(method, params))

    def request(self, method, params=None):
        return self.start(method, params).last()["result"]

    def initialize(self):
        answer = self.start("initialize", {"protocolVersion": LEGACY, "capabilities": self.capabilities(),
                                           "clientInfo": {"name": self.name, "version": "1"}})
        self.session = answer.response.headers["Mcp-Session-Id"]
        result = answer.last()["result"]
        assert self.post({"method": "notifications/initialized"}).status == 202
        return result

    def start_call(self, tool, progress=None, **arguments):
        params = {"name": tool, "arguments": arguments}
        if progress is not None:
            params["_meta"] = {"progressToken": progress}
        return self.start("tools/call", params)

    def finish(self, answer):
        """The result; questions on the way are answered."""
        for message in answer.messages():
            if "method" in message and "id" in message:
                result = self.elicit(message["params"]["message"])
                assert self.post({"id": message["id"], "result": result}).status == 202
            elif "method" not in message:
                answer.connection.close()
                return message["result"]
            self.heard.append(message)
        raise AssertionError("the stream ended without an answer")

    def call(self, tool, **arguments):
        return self.finish(self.start_call(tool, **arguments))


class HttpMcpTest(WorkspaceSidecarTest):
    """Agents over HTTP, and editors, of one workspace."""

    def serve(self, *arguments, **options):
        served = Served(self.workspace, *arguments, **options)
        self.addCleanup(lambda: self.assertEqual(served.close(), 0))
        return served

    def http(self, served, initialize=True, **options):
        client = HttpClient(served, **options)
        self.addCleanup(client.close)
        if initialize and not client.modern:
            client.initialize()
        return client
