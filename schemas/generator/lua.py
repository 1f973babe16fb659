"""The protocol's messages as annotations of LuaCATS."""

import json
import textwrap

from generator.schema import name_of

SIMPLE = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "null": "nil",
          "object": "table<string, any>", "array": "any[]"}


def type_of(schema):
    """A schema as a type of LuaCATS; any where Lua has no word for it."""
    if isinstance(schema, bool):
        return "any"
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return "|".join(json.dumps(value) for value in schema["enum"])
    if "$ref" in schema:
        return name_of(schema["$ref"])
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
    return [f"--- {line}" for line in textwrap.wrap(text, 114, break_on_hyphens=False)]


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


def field_line(name, schema, needed):
    line = f"---@field {name}{'' if name in needed else '?'} {type_of(schema)}"
    words = schema.get("description", "").split("\n")[0] if isinstance(schema, dict) else ""
    return f"{line} {words}" if words and len(line) + len(words) + 1 <= 120 else line


def alias_lines(name, kind):
    line = f"---@alias {name} {kind}"
    return [line] if len(line) <= 120 else [f"---@alias {name}"] + [f"---| {each}" for each in kind.split("|")]


def files(contract):
    """File names below the repository to their texts."""
    out = ["---@meta", "-- Made from schemas/ by `schemas/generate.py clients`; a change belongs there.", ""]
    for name, schema in contract.protocol.items():
        out += comment(schema["description"])
        fields, needed = fields_of(schema)
        if fields:
            out.append(f"---@class {name}")
            out += [field_line(field, part, needed) for field, part in fields.items()]
        else:
            out += alias_lines(name, type_of(schema))
        out.append("")
    return {"editors/neovim/lua/cellgate/types.lua": "\n".join(out).rstrip("\n") + "\n"}
