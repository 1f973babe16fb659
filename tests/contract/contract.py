"""`Contract` is schemas/, by which messages are judged; a `Conversation` is the messages of one trace, and what of them
breaks it."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator, RefResolver

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602

ENVELOPES = {
    "request": ("RequestMessage", {"jsonrpc", "id", "method", "params"}),
    "notification": ("NotificationMessage", {"jsonrpc", "method", "params"}),
    "result": ("ResultMessage", {"jsonrpc", "id", "result"}),
    "error": ("ErrorMessage", {"jsonrpc", "id", "error"}),
}


class DuplicateKey(ValueError):
    """A JSON object names a key twice, so that two readers may see two different messages."""


def _unique_object(pairs):
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        raise DuplicateKey(f"key {next(n for n in names if names.count(n) > 1)!r} stands twice in one object")
    return value


def _not_json(word):
    raise ValueError(f"{word} is not JSON")


def loads(text):
    """Reads JSON as strictly as cellgate has to: no duplicate keys, no NaN."""
    return json.loads(text, object_pairs_hook=_unique_object, parse_constant=_not_json)


def load(path):
    return loads(path.read_text(encoding="utf-8"))


def pointer(path):
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _leaves(error):
    """The errors that say what is wrong. Of a oneOf or anyOf, those of the branch that was most likely meant."""
    if not error.context or error.validator not in ("oneOf", "anyOf"):
        return [error]
    branches = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)

    def distance(errors):
        tag_differs = any(inner.validator in ("const", "type") for inner in errors)
        return tag_differs, len(errors)

    meant = min(branches.values(), key=distance)
    return [leaf for inner in meant for leaf in _leaves(inner)]


def shape(value):
    kinds = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    return kinds.get(type(value), "number")


class Contract:
    """The schemas, with one validator for each definition, made when it is first needed."""

    def __init__(self, schemas=SCHEMAS):
        self.schemas = schemas
        self.documents = {name: load(schemas / name) for name in ("protocol.json", "channel.json")}
        self.protocol_methods = load(schemas / "methods.json")["methods"]
        self.channel_methods = self.documents["channel.json"]["methods"]
        self.errors = {int(code): entry for code, entry in load(schemas / "errors.json")["errors"].items()}
        self._resolver = RefResolver("protocol.json", self.documents["protocol.json"], store=self.documents)
        self._validators = {}

    def validator(self, reference, document="protocol.json"):
        if reference.startswith("#"):
            reference = document + reference
        if reference not in self._validators:
            self._validators[reference] = Draft202012Validator({"$ref": reference}, resolver=self._resolver)
        return self._validators[reference]

    def leaves(self, reference, value, document="protocol.json"):
        validator = self.validator(reference, document)
        return [leaf for error in validator.iter_errors(value) for leaf in _leaves(error)]

    def check(self, reference, value, at="", document="protocol.json"):
        """What is wrong with `value`, as strings `<JSON pointer>: <why>`; empty when it is valid."""
        return [
            f"{at}{pointer(error.absolute_path) or ('' if at else '/')}: {_shorten(error.message)}"
            for error in self.leaves(reference, value, document)
        ]

    def check_error(self, error):
        """An error that cellgate sends: its form, and that code and kind belong together."""
        found = self.check("#/$defs/ErrorObject", error, "/error")
        if not found:
            known = self.errors.get(error["code"])
            if known is None:
                found.append(f"/error/code: {error['code']} is not in errors.json")
            elif error["data"]["kind"] != known["kind"]:
                found.append(f"/error/data/kind: {error['data']['kind']!r}, but {error['code']} is {known['kind']!r}")
        return found

    def follow(self, lines, hostile=False):
        """The conversation that the lines of a trace record; its `violations` begin with the line's number."""
        conversation = Conversation(self, hostile)
        for number, line in enumerate(lines, 1):
            if line.strip():
                conversation.line(number, line)
        conversation.end()
        return conversation


def _shorten(text, limit=300):
    return text if len(text) <= limit else f"{text[: limit // 2]} … {text[-limit // 2 :]}"


class Client:
    """What is known of one client of a conversation."""

    def __init__(self):
        self.role = None  # not before initialize was answered
        self.pending = {"in": {}, "out": {}}  # by the direction of the request: (type of id, id) → Requests
        self.malformed = []  # lines of messages that have no readable id, to be answered with id null
        self.next_seq = {}  # by execution
        self.finished = set()  # executions whose `execute` was answered


class Request:
    def __init__(self, number, method, entry, problems, execution=None):
        self.number = number
        self.method = method
        self.entry = entry  # the method table's; None when there is no such method in this direction
        self.problems = problems
        self.execution = execution  # the id that `execute` chose


class Conversation:
    """Follows one trace, or the kernel's channel when given its methods: who asked what, and what came back."""

    def __init__(self, contract, hostile=False, methods=None, document="protocol.json"):
        self.contract = contract
        self.hostile = hostile
        self.methods = contract.protocol_methods if methods is None else methods
        self.document = document
        self.clients = {}
        self.violations = []
        self.messages = 0
        self.refused = 0

    def line(self, number, text):
        faults = []
        try:
            try:
                entry = loads(text)
            except DuplicateKey as duplicate:
                entry = json.loads(text)
                faults.append(f"/: {duplicate}")
            client, direction, message = entry["client"], entry["direction"], entry["message"]
            if direction not in ("in", "out"):
                raise ValueError(f"direction is {direction!r}, not in or out")
        except (ValueError, KeyError, TypeError, RecursionError) as problem:
            self.violations.append(f"line {number}: not a line of a trace: {problem!r}")
            return
        self.message(number, str(client), direction, message, faults)

    def message(self, number, client_id, direction, message, faults=()):
        """`faults`: what is wrong with the message's text, beyond what its value can show."""
        self.messages += 1
        client = self.clients.setdefault(client_id, Client())
        kind = _kind(message)
        problems = self._envelope(kind, message, direction)
        if kind is None or problems:
            problems = problems or [f"/: {_shorten(repr(message))} is no message"]
            self._malformed(number, client, direction, message, problems)
        elif kind in ("request", "notification"):
            self._call(number, client, direction, kind, message, faults)
        else:
            self._violation(number, direction, f"{kind} for id {message['id']!r}", faults)
            self._answer(number, client, direction, kind, message)

    def end(self):
        for client in self.clients.values():
            for number in client.malformed:
                self._violation(number, "out", "the malformed message was never answered with an error, id null", [""])

    def _violation(self, number, direction, what, problems):
        if direction == "in" and self.hostile:
            return
        arrow = "→ cellgate" if direction == "in" else "cellgate →"
        self.violations.extend(f"line {number}: {arrow} {what}{' at ' if p else ''}{p}" for p in problems)

    def _envelope(self, kind, message, direction):
        if kind is None:
            return []
        definition, fields = ENVELOPES[kind]
        if direction == "in":  # unknown fields of a client are ignored
            message = {name: value for name, value in message.items() if name in fields}
        return self.contract.check(f"#/$defs/{definition}", message)

    def _malformed(self, number, client, direction, message, problems):
        if direction == "out" or _kind(message) in ("result", "error"):
            self._violation(number, direction, "malformed message", problems)
        elif isinstance(message, dict) and _is_id(message.get("id")):
            self._remember(client, direction, message["id"], Request(number, None, None, problems))
        else:
            client.malformed.append(number)

    def _call(self, number, client, direction, kind, message, faults):
        method = message["method"]
        entry = self.methods.get(method)
        way = "clientToServer" if direction == "in" else "serverToClient"
        problems = list(faults)
        if entry is None or entry["direction"] not in (way, "both"):
            entry = None
            problems.append(f"/method: {method!r} is not a method in this direction")
        elif entry["type"] != kind:
            problems.append(f"/method: {method!r} is a {entry['type']}, not a {kind}")
        else:
            problems += self.contract.check(entry["params"], message.get("params", {}), "/params", self.document)
            if client.role and client.role not in entry.get("roles", [client.role]):
                problems.append(f"/method: {method!r} is not for the role {client.role}")
        if kind == "request":
            execution = message.get("params", {}).get("executionId") if method == "execute" else None
            self._remember(client, direction, message["id"], Request(number, method, entry, problems, execution))
        if direction == "out":
            if method == "execute/output" and not problems:
                problems += self._out_of_order(client, message["params"])
            self._violation(number, direction, method, problems)
        elif kind == "notification" and not (entry is None and method.startswith("$/")):
            self._violation(number, direction, method, problems)

    @staticmethod
    def _out_of_order(client, params):
        execution, seq = params["executionId"], params["seq"]
        expected = client.next_seq.get(execution, 0)
        client.next_seq[execution] = seq + params["count"]
        if seq != expected:
            yield f"/params/seq: {seq}, but {expected} comes next"
        if execution in client.finished and not params.get("late"):
            yield "/params/late: is missing, though `execute` was answered before"

    def _remember(self, client, direction, request_id, request):
        client.pending[direction].setdefault((type(request_id), request_id), []).append(request)

    def _answer(self, number, client, direction, kind, message):
        if message["id"] is None:
            self._answer_to_nothing(number, client, direction, message)
            return
        key = (type(message["id"]), message["id"])
        asked = client.pending["out" if direction == "in" else "in"]
        if key not in asked:
            self._violation(number, direction, f"a {kind} for id {message['id']!r}, which answers no request", [""])
            return
        request = asked[key].pop(0)
        if not asked[key]:
            del asked[key]
        if direction == "in":
            self._client_answers(number, request, kind, message)
        else:
            self._cellgate_answers(number, client, request, kind, message)

    def _answer_to_nothing(self, number, client, direction, message):
        if direction == "in":
            self._violation(number, direction, "an answer with id null", [""])
            return
        problems = self.contract.check_error(message["error"])
        if not problems and message["error"]["code"] not in (PARSE_ERROR, INVALID_REQUEST):
            problems.append(f"/error/code: {message['error']['code']} needs the id of a request")
        if client.malformed:
            client.malformed.pop(0)
            self.refused += 1
        self._violation(number, direction, "an error with id null", problems)

    def _client_answers(self, number, request, kind, message):
        if request.entry is None:
            return  # the request itself was reported
        if kind == "error":
            problems = self.contract.check("#/$defs/ClientError", message["error"], "/error")
        else:
            problems = self.contract.check(request.entry["result"], message["result"], "/result", self.document)
        self._violation(number, "in", f"answer to {request.method}", problems)

    def _cellgate_answers(self, number, client, request, kind, message):
        what = f"answer to {request.method or 'a malformed request'}"
        if kind == "error":
            problems = self.contract.check_error(message["error"])
            if request.problems:
                self.refused += 1
            elif not problems and message["error"]["code"] in (METHOD_NOT_FOUND, INVALID_PARAMS):
                problems.append(f"/error: refused what the schema allows: {_shorten(message['error']['message'])}")
            self._violation(number, "out", what, problems)
            if isinstance(request.execution, str):
                client.finished.add(request.execution)
            return
        accepted = f"accepted, though it breaks the contract: {request.method}"
        self._violation(request.number, "out", accepted, request.problems)
        if request.entry is None or "result" not in request.entry:
            return
        problems = self.contract.check(request.entry["result"], message["result"], "/result", self.document)
        self._violation(number, "out", what, problems)
        if problems:
            return
        if request.method == "initialize":
            client.role = message["result"]["role"]
        elif request.method == "execute":
            client.finished.add(message["result"]["executionId"])
        elif request.method == "session/attach":
            self._violation(number, "out", what, self._attached(client, message["result"]["executions"]))

    @staticmethod
    def _attached(client, executions):
        """What was sent of an execution before, and what comes, meet at nextSeq."""
        for execution in executions:
            sent = client.next_seq.setdefault(execution["executionId"], execution["nextSeq"])
            if sent != execution["nextSeq"]:
                yield f"/result/executions/nextSeq: {execution['nextSeq']}, but {sent} records were sent"


def _is_id(value):
    return isinstance(value, (int, str)) and not isinstance(value, bool)


def _kind(message):
    if not isinstance(message, dict):
        return None
    if "method" in message:
        return "request" if "id" in message else "notification"
    if "result" in message and "error" in message:
        return None
    return next((kind for kind in ("result", "error") if kind in message), None)
