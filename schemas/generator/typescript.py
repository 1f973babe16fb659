"""The protocol's messages and methods as types of TypeScript."""

import json

from generator.schema import name_of

FOLDER = "editors/vscode/src/protocol"
WIDTH = 120
SIMPLE = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def doc(text, indent):
    # A `*/` would end the comment.
    return f"{indent}/**\n{indent} * {text.replace('*/', '*∕')}\n{indent} */\n"


def is_object(schema):
    return schema.get("type") == "object"


def object_type(schema, indent):
    inner = indent + "    "
    lines = []
    for name, part in schema.get("properties", {}).items():
        if isinstance(part, dict) and "description" in part:
            lines.append(doc(part["description"], inner))
        optional = "" if name in schema.get("required", []) else "?"
        lines.append(f"{inner}{name}{optional}: {type_of(part, inner)};\n")
    more = schema.get("additionalProperties", not schema.get("properties"))
    if more is not False:
        lines.append(f"{inner}[k: string]: {type_of(more, inner)};\n")
    return "{\n" + "".join(lines) + indent + "}" if lines else "{}"


def union(parts, indent):
    """`parts` are schemas."""
    types = list(dict.fromkeys(type_of(part, indent) for part in parts))
    if not any("\n" in each for each in types):
        return " | ".join(types)
    wide = [type_of(part, indent + "      ") for part in parts]
    return "".join(f"\n{indent}    | {each}" for each in wide)


def type_of(schema, indent=""):
    """A schema as a type. TypeScript has no word for limits and conditions: those are left out."""
    if isinstance(schema, bool):
        return "unknown" if schema else "never"
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "$ref" in schema:
        return name_of(schema["$ref"])
    kind = schema.get("type")
    if is_object(schema):
        return object_type(schema, indent)
    if isinstance(kind, list):
        return union([{**schema, "type": each} for each in kind], indent)
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return union(schema[key], indent)
    if "allOf" in schema:
        return type_of(schema["allOf"][0], indent)
    if kind == "array":
        inner = type_of(schema["items"], indent)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind is None and "pattern" in schema:
        kind = "string"
    return SIMPLE[kind] if kind else "unknown"


def definition(name, schema):
    text = doc(schema["description"], "")
    if is_object(schema):
        return f"{text}export interface {name} {object_type(schema, '')}\n"
    made = type_of(schema)
    if made.startswith("\n"):
        return f"{text}export type {name} ={made};\n"
    line = f"{text}export type {name} = {made};\n"
    return line if len(line) - len(text) <= WIDTH + 1 else f"{text}export type {name} =\n    {made};\n"


def notice(what):
    return f"// {what} Made from schemas/ by `schemas/generate.py clients`; a change belongs there.\n\n"


def messages(contract):
    text = notice("Every message between cellgate and its clients.")
    return text + "".join(definition(name, schema) for name, schema in contract.protocol.items())


def methods(contract):
    def call(entry):
        return f"{{ params: {name_of(entry['params'])}; result: {name_of(entry['result'])} }}"

    def told(entry):
        return name_of(entry["params"])

    def part(title, words, kind, directions, line):
        lines = "".join(
            f"    /** {entry['summary']} */\n    {json.dumps(method)}: {line(entry)};\n"
            for method, entry in contract.methods.items()
            if entry["type"] == kind and entry["direction"] in directions
        )
        return f"/** {words} */\nexport interface {title} {{\n{lines}}}\n"

    client, server, both = "clientToServer", "serverToClient", "both"
    parts = [
        part("Requests", "What a client asks cellgate.", "request", [client], call),
        part("Notifications", "What a client tells cellgate.", "notification", [client, both], told),
        part("ServerRequests", "What cellgate asks a client.", "request", [server], call),
        part("ServerNotifications", "What cellgate tells a client.", "notification", [server, both], told),
    ]
    used = {name_of(entry[key]) for entry in contract.methods.values() for key in ("params", "result") if key in entry}
    imports = "".join(f"    {each},\n" for each in sorted(used))
    return notice("Every method of the protocol.") + f'import type {{\n{imports}}} from "./messages";\n\n' + "\n".join(parts)


def files(contract):
    """File names below the repository to their texts."""
    return {f"{FOLDER}/messages.ts": messages(contract), f"{FOLDER}/methods.ts": methods(contract)}
