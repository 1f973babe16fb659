"""Whether schemas/ holds together: definitions, methods, examples, errors and the transcript."""

import re

from jsonschema import Draft202012Validator

from contract import ENVELOPES, SCHEMAS, Contract, Conversation, load, loads, pointer, shape


def check_contract(schemas=SCHEMAS):
    """Violations within schemas/ itself."""
    contract = Contract(schemas)
    found = _check_definitions(contract)
    if found:
        return found  # nothing that follows could be trusted
    found += _check_errors(contract)
    found += _check_methods(contract, contract.protocol_methods, "protocol.json", schemas / "examples")
    found += _check_methods(contract, contract.channel_methods, "channel.json", schemas / "examples" / "channel")
    found += check_transcript(contract, (schemas / "transcript.md").read_text(encoding="utf-8"))
    return found


def _references(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref" and isinstance(value, str):
                yield value
            elif key not in ("const", "enum"):
                yield from _references(value)
    elif isinstance(node, list):
        for item in node:
            yield from _references(item)


def _check_definitions(contract):
    found = []
    used = {f"protocol.json#/$defs/{d}" for d, _ in ENVELOPES.values()}
    used |= {"protocol.json#/$defs/ErrorObject", "protocol.json#/$defs/ClientError"}
    for name, methods in (("protocol.json", contract.protocol_methods), ("channel.json", contract.channel_methods)):
        document = contract.documents[name]
        try:
            Draft202012Validator.check_schema(document)
        except Exception as problem:  # SchemaError prints pages; its first line says it
            found.append(f"{name}: not a JSON Schema: {str(problem).splitlines()[0]}")
            continue
        references = list(_references(document))
        references += [entry[part] for entry in methods.values() for part in ("params", "result") if part in entry]
        used |= {name + reference if reference.startswith("#") else reference for reference in references}
        for definition, body in document["$defs"].items():
            if not isinstance(body, dict) or not body.get("description"):
                found.append(f"{name}#/$defs/{definition}: has no description")
    existing = {f"{name}#/$defs/{d}" for name, document in contract.documents.items() for d in document["$defs"]}
    found += [f"{reference}: is referred to, but not there" for reference in sorted(used - existing)]
    found += [f"{reference}: nothing refers to it" for reference in sorted(existing - used)]
    return found


def _check_errors(contract):
    found = []
    kinds = [entry["kind"] for entry in contract.errors.values()]
    found += [f"errors.json: kind {kind!r} stands twice" for kind in set(kinds) if kinds.count(kind) > 1]
    for code, entry in contract.errors.items():
        if set(entry) != {"kind", "meaning", "hint"} or not entry["meaning"]:
            found.append(f"errors.json: {code} needs kind, meaning and hint")
        if code < 1000 and not -32899 <= code <= -32000:
            found.append(f"errors.json: {code} is neither JSON-RPC's nor from 1000 up")
    return found


ROLES = ["user", "agent"]


def _has_param(contract, reference, path):
    """Whether the definition has the parameter, `a` or `a.b`."""
    name, _, rest = path.partition(".")
    definition = contract.documents["protocol.json"]["$defs"].get(reference.rpartition("/")[2], {})
    properties = definition.get("properties", {})
    if name not in properties:
        return False
    return not rest or _has_param(contract, properties[name].get("$ref", ""), rest)


def _check_methods(contract, methods, document, folder):
    found = []
    for method, entry in methods.items():
        if entry.get("direction") not in ("clientToServer", "serverToClient", "both"):
            found.append(f"{method}: direction")
        if entry.get("type") not in ("request", "notification") or ("result" in entry) != (entry["type"] == "request"):
            found.append(f"{method}: a request has a result, a notification has none")
        if document == "protocol.json" and (not entry.get("roles") or not set(entry["roles"]) <= set(ROLES)):
            found.append(f"{method}: roles")
        for part in entry.get("userOnly", ()):
            if "agent" not in entry["roles"] or not _has_param(contract, entry["params"], part.get("param", "")):
                found.append(f"{method}: userOnly names no parameter that an agent could send: {part}")
        if entry.get("since") != "1" or not entry.get("summary") or "params" not in entry:
            found.append(f"{method}: needs params, since and summary")
        found += _check_examples(contract, method, entry, document, folder / f"{method.replace('/', '.')}.json")
    expected = {f"{method.replace('/', '.')}.json" for method in methods}
    found += [f"{path}: no such method" for path in sorted(folder.glob("*.json")) if path.name not in expected]
    return found


def _check_examples(contract, method, entry, document, path):
    if not path.exists():
        return [f"{method}: has no examples ({path.name})"]
    try:
        examples = load(path)
    except ValueError as problem:
        return [f"{path.name}: {problem}"]
    parts = [part for part in ("params", "result") if part in entry]
    if sorted(examples) != parts:
        return [f"{path.name}: holds {sorted(examples)}, not {parts}"]
    found = []
    for part in parts:
        valid, invalid = examples[part]["valid"], examples[part]["invalid"]
        if not valid or len(invalid) < 3:
            found.append(f"{path.name} {part}: needs one valid example and three invalid ones")
        for number, value in enumerate(valid):
            problems = contract.check(entry[part], value, document=document)
            found += [f"{path.name} {part} valid[{number}] fails: {problem}" for problem in problems]
        reasons = {}
        for number, example in enumerate(invalid):
            where = f"{path.name} {part} invalid[{number}]"
            errors = contract.leaves(entry[part], example["value"], document)
            if not errors:
                found.append(f"{where} passes, though {example['why']}")
                continue
            reason = _reason(errors)
            if reason in reasons:
                found.append(f"{where} fails for the same reason as invalid[{reasons[reason]}]: {reason}")
            reasons[reason] = number
            if len(errors) > 1:
                found.append(f"{where} fails for more than one reason: {[error.message for error in errors]}")
    return found


def _reason(errors):
    """What makes two failures the same: the place, the keyword, and what was missing, unknown or of which type."""
    error = errors[0]
    detail = error.message if error.validator in ("required", "additionalProperties") else shape(error.instance)
    return pointer(error.absolute_path), error.validator, detail


SPEECH = re.compile(r"^\*\*(\w+) → (\w+)\*\*[^\n]*\n+```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def check_transcript(contract, text):
    """Violations in a conversation written down as `**editor → cellgate** …` above a JSON block, or
    `**kernel → cellgate** …` for the kernel's channel."""
    found = []
    spoken = [(text.count("\n", 0, match.start()) + 1, *match.groups()) for match in SPEECH.finditer(text)]
    if text.count("```json") != len(spoken):
        found.append("transcript: a JSON block has no `**speaker → listener**` above it")
    conversations = {
        "editor": Conversation(contract),
        "kernel": Conversation(contract, methods=contract.channel_methods, document="channel.json"),
    }
    for number, speaker, listener, body in spoken:
        other, direction = (speaker, "in") if listener == "cellgate" else (listener, "out")
        if other not in conversations or "cellgate" not in (speaker, listener):
            found.append(f"transcript line {number}: {speaker} → {listener}")
            continue
        try:
            conversations[other].message(number, other, direction, loads(body))
        except ValueError as problem:
            found.append(f"transcript line {number}: {problem}")
    for conversation in conversations.values():
        conversation.end()
        found += [f"transcript {violation}" for violation in conversation.violations]
        for client in conversation.clients.values():
            left = [request for requests in client.pending.values() for queue in requests.values() for request in queue]
            found += [f"transcript line {request.number}: {request.method} is never answered" for request in left]
            if client.role is None and conversation is conversations["editor"]:
                found.append("transcript: initialize is never answered")
        if conversation.refused:
            found.append("transcript: a request was refused")
    return found
