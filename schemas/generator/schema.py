"""The contract as the generators read it. `load` refuses a document with a construct that no generator knows: one that
is skipped without a word would be a limit that does not hold."""

import json
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parents[1]

DOCUMENT = {"$schema", "$id", "title", "description", "$defs", "protocolVersion", "methods"}
# What a definition or a part of it may say. `$ref` beside others narrows what it refers to.
ANNOTATIONS = {"description"}
SHAPES = {"$ref", "type", "enum", "const", "properties", "required", "additionalProperties", "items", "oneOf", "anyOf",
          "allOf"}
LIMITS = {"minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "pattern", "minItems", "maxItems",
          "uniqueItems", "minProperties", "maxProperties", "propertyNames"}
CONDITIONS = {"if", "then", "else", "dependentSchemas"}
TYPES = {"string", "integer", "number", "boolean", "null", "array", "object"}


class UnknownConstruct(Exception):
    pass


def name_of(reference):
    return reference.rpartition("/")[2]


def check_node(node, where):
    if isinstance(node, bool):
        return
    unknown = node.keys() - ANNOTATIONS - SHAPES - LIMITS - CONDITIONS
    types = node.get("type", [])
    unknown |= set([types] if isinstance(types, str) else types) - TYPES
    if unknown:
        raise UnknownConstruct(f"{where}: no generator knows {', '.join(sorted(unknown))}")
    for key in ("items", "propertyNames", "additionalProperties", "if", "then", "else"):
        if key in node:
            check_node(node[key], f"{where}/{key}")
    for key in ("oneOf", "anyOf", "allOf"):
        for number, each in enumerate(node.get(key, [])):
            check_node(each, f"{where}/{key}/{number}")
    for key in ("properties", "dependentSchemas"):
        for name, each in node.get(key, {}).items():
            check_node(each, f"{where}/{key}/{name}")


class Contract:
    """`definitions`: those of protocol.json and channel.json by name. `methods` and `channel`: their method tables.
    `errors`: codes to kinds."""

    def __init__(self, folder=SCHEMAS):
        def read(name):
            return json.loads((folder / name).read_text(encoding="utf-8"))

        self.protocol = self.definitions_of(read("protocol.json"))
        channel = read("channel.json")
        self.definitions = {**self.protocol, **self.definitions_of(channel)}
        self.methods = read("methods.json")["methods"]
        self.channel = channel["methods"]
        self.errors = {int(code): entry["kind"] for code, entry in read("errors.json")["errors"].items()}

    @staticmethod
    def definitions_of(document):
        name = document["$id"]
        if unknown := document.keys() - DOCUMENT:
            raise UnknownConstruct(f"{name}: no generator knows {', '.join(sorted(unknown))}")
        for definition, node in document["$defs"].items():
            check_node(node, f"{name}#/$defs/{definition}")
        return document["$defs"]
