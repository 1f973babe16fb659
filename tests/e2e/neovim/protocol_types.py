"""The protocol's messages as LuaCATS annotations, from schemas/protocol.json. Without arguments they are written to
editors/neovim/lua/cellgate/types.lua; `test_types.py` fails when that file is not what this makes."""

import json
import textwrap
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
TYPES = REPOSITORY / "editors/neovim/lua/cellgate/types.lua"
SIMPLE = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "null": "nil",
          "object": "table<string, any>", "array": "any[]"}


def name_of(reference):
    return reference.rsplit("/", 1)[1]


def type_of(schema):
    """A schema as a type of LuaCATS; any where Lua has no word for it."""
    if schema is True or schema is False:
        return "any"
    if "$ref" in schema:
        return name_of(schema["$ref"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return "|".join(json.dumps(value) for value in schema["enum"])
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return "|".join(dict.fromkeys(type_of(each) for each in schema[key]))
    if "allOf" in schema:
        return type_of(schema["allOf"][0])
    kind = schema.get("type")
    if isinstance(kind, list):
        return "|".join(SIMPLE[each] for each in kind)
    if kind == "array":
        inner = type_of(schema.get("items", True))
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"table<string, {type_of(schema['additionalProperties'])}>"
    return SIMPLE.get(kind, "any")


def comment(text):
    return [f"--- {line}" for line in textwrap.wrap(text, 114, break_on_hyphens=False)] if text else []


def fields_of(schema):
    """The fields of an object, or of one whose parts are in allOf or oneOf: each field once, needed only if all need it."""
    fields, needed = dict(schema.get("properties", {})), set(schema.get("required", []))
    for part in schema.get("allOf", []):
        more, also = fields_of(part)
        fields.update(more)
        needed |= also
    choices = [fields_of(each) for each in schema.get("oneOf", schema.get("anyOf", []))]
    for more, _ in choices:
        fields.update({key: value for key, value in more.items() if key not in fields or fields[key] is True})
    if choices:
        needed |= set.intersection(*(also for _, also in choices))
    return fields, needed


def make():
    definitions = json.loads((REPOSITORY / "schemas/protocol.json").read_text())["$defs"]
    out = ["---@meta", "-- Made from schemas/protocol.json by tests/e2e/neovim/protocol_types.py; do not edit.", ""]
    for name, schema in definitions.items():
        out += comment(schema.get("description", ""))
        fields, needed = fields_of(schema)
        if fields:
            out.append(f"---@class {name}")
            for field, what in fields.items():
                optional = "" if field in needed else "?"
                what_type = "any" if what is False else type_of(what)
                words = what.get("description", "").split("\n")[0] if isinstance(what, dict) else ""
                line = f"---@field {field}{optional} {what_type}"
                if words and len(line) + len(words) + 1 <= 120:
                    line += f" {words}"
                out.append(line)
        else:
            out.append(f"---@alias {name} {type_of(schema)}")
        out.append("")
    return "\n".join(out).rstrip("\n") + "\n"


if __name__ == "__main__":
    TYPES.write_text(make())
