"""A language client, for tests: LSP with `cellgate lsp`, as an editor speaks it."""

import collections
import json
import subprocess
import threading

from cellgate_client import CELLGATE
from processes import OWN, TIMEOUT, start_process


class LanguageClient:
    def __init__(self, workspace, *arguments, **initialize):
        self.process = start_process([CELLGATE, "lsp", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=None, cwd=workspace.path, env=workspace.environment())
        self.changed = threading.Condition()
        self.replies = {}
        self.diagnostics = {}  # by URI
        self.messages = []  # of window/showMessage
        self.questions = []  # of window/showMessageRequest: [id, params], as long as they wait
        self.cancelled = set()
        self.asked = collections.Counter()
        self.next_id = 0
        self.ended = False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.initialize = {"processId": None, "clientInfo": {"name": "a test"}, "rootUri": None,
                           "capabilities": {"workspace": {"codeLens": {"refreshSupport": True}}}, **initialize}

    def start(self):
        self.request("initialize", self.initialize)
        self.notify("initialized", {})
        return self

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def request(self, method, params=None):
        """The result; an error of the other side is one here."""
        self.next_id += 1
        number = self.next_id
        self.send({"id": number, "method": method, **({} if params is None else {"params": params})})
        self.wait(lambda: number in self.replies, f"an answer to {method}")
        reply = self.replies[number]
        if "error" in reply:
            raise RuntimeError(reply["error"]["message"])
        return reply["result"]

    def wait(self, condition, what):
        with self.changed:
            if not self.changed.wait_for(condition, TIMEOUT):
                raise AssertionError(f"no {what}; diagnostics: {self.diagnostics}, messages: {self.messages}, "
                                     f"questions: {self.questions}, ended: {self.ended}")

    def _read(self):
        out = self.process.stdout
        while True:
            length = 0
            while (line := out.readline()) not in (b"", b"\r\n"):
                length = int(line.split(b":")[1])
            if not line:
                break
            self._hear(json.loads(out.read(length)))
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def _hear(self, message):
        method, params = message.get("method"), message.get("params")
        with self.changed:
            if method is None:
                self.replies[message["id"]] = message
            elif method == "textDocument/publishDiagnostics":
                self.diagnostics[params["uri"]] = params["diagnostics"]
            elif method == "window/showMessage":
                self.messages.append(params["message"])
            elif method == "window/showMessageRequest":
                self.questions.append((message["id"], params))
            elif method == "$/cancelRequest":
                self.questions = [question for question in self.questions if question[0] != params["id"]]
            elif "id" in message:
                self.asked[method] += 1
                self.send({"id": message["id"], "result": None})
            self.changed.notify_all()

    # --- as an editor's user ---

    def open(self, path, text, language="python", version=1):
        path.write_text(text)
        uri = path.as_uri()
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": language, "version": version,
                                                              "text": text}})
        return uri

    def change(self, uri, text, version):
        self.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": version},
                                               "contentChanges": [{"text": text}]})

    def lenses(self, uri):
        """The title of each cell's lens, by its line."""
        found = self.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
        return {lens["range"]["start"]["line"]: lens["command"]["title"] for lens in found}

    def actions(self, uri, line):
        """The commands at a line, by their titles."""
        place = {"line": line, "character": 0}
        found = self.request("textDocument/codeAction", {"textDocument": {"uri": uri}, "context": {"diagnostics": []},
                                                         "range": {"start": place, "end": place}})
        return {action["title"]: action["command"] for action in found}

    def do(self, uri, line, title):
        command = self.actions(uri, line)[title]
        self.request("workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]})

    def shown(self, uri):
        """(line, severity, text) of each diagnostic; severity 1 is an error, 2 a warning, 3 information."""
        return [(each["range"]["start"]["line"], each["severity"], each["message"])
                for each in self.diagnostics.get(uri, ())]

    def wait_shown(self, uri, line, severity, text):
        def is_shown():
            return any(each[:2] == (line, severity) and text in each[2] for each in self.shown(uri))
        self.wait(is_shown, f"{text!r} at line {line}, severity {severity}")

    def close(self):
        """Its exit code."""
        if self.process.poll() is None and not self.ended:
            self.request("shutdown")
            self.notify("exit", None)
        return self.end()

    def end(self):
        if not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.process.wait(TIMEOUT)
        self.reader.join(TIMEOUT)
        self.process.stdout.close()
        OWN.discard(self.process.pid)
        return code
