"""What the contract is in C++: which definition becomes which type, and in which header it is."""

import re
from typing import NamedTuple, Optional

from generator.schema import name_of

# The headers, from the one that includes no other up, and the methods whose messages each has, by the first part of
# their names.
HEADERS = {
    "sandbox": [],
    "policy": ["action", "approval", "elicitation", "policy"],
    "executions": ["execute", "execution", "output", "input"],
    "sessions": ["session", "limits"],
    "tool_servers": ["toolServers", "wrappers", "tools"],
    "packages": ["packages"],
    "record": ["record", "events"],
    "changes": ["changes"],
    "stats": ["stats"],
    "secrets": ["secret"],
    "kernels": ["kernel", "runtimes", "validate"],
    "network": ["network"],
    "lifecycle": ["initialize", "initialized", "shutdown", "exit", "$"],
}
# Definitions that are in a header although no method of it has them.
PLACED = {
    "SandboxObject": "sandbox",
    "SandboxAdditions": "sandbox",
    "SandboxKind": "sandbox",
    "SandboxLauncher": "sandbox",
}
# Definitions that C++ has a name of its own for.
RENAMED = {
    "DecidedBy": "ResolvedBy",
    "Frame": "ExecutionFrame",  # protocol::Frame is a frame of the connection
    "KernelInfo": "KernelListEntry",  # jupyter::KernelInfo is what is known of a kernel
}
# Types that are not made from their definition.
SPECIAL_TYPES = {
    "Bytes": "std::uint64_t",
    "NoParams": "Empty",
    "Empty": "Empty",
    "Null": "RawJson",
    # The bytes that were received are what is hashed, matched, shown and sent.
    "RequestId": "RawJson",
    "JsonObject": "RawJson",
    "JsonText": "JsonText",
    "Output": "RawJson",
    # One value for a boolean and an object.
    "SandboxChoice": "SandboxChoice",
    "ServerSandboxChoice": "SandboxChoice",
}
SPECIAL_HEADERS = {"SandboxChoice": "protocol/sandbox_choice.hpp"}
# The object that a definition also allows, as a definition of its own.
DERIVED = {"SandboxObject": "SandboxChoice"}
SPECIAL_FIELDS = {
    ("CallToolResult", "content"): "RawJson",  # as MCP's server wrote it
    ("ApprovalRespondParams", "argumentsText"): "std::string",  # a user's slip in it has an error code of its own
}
# The enum of a field that is another constant in each of the alternatives that are joined.
JOINED_ENUMS = {("ProgressValue", "kind"): "ProgressKind"}
# What a required value is until it is set, where that is not the first of the enum: nothing is allowed by omission.
INITIAL = {"Effect": "ask", "Verdict": "deny", "ToolServerState": "stopped",
           "ElicitationAction": "cancel", "ClientVerdict": "deny"}
# What cellgate sends, and also reads from its own files: there too a condition that is ignored would widen a rule.
STORED = {"Rule"}
# Members that are words of C++.
MEMBERS = {"default": "default_value"}
# Enumerators that are words of C++, or are no names in it.
ENUMERATORS = {"inline": "inline_data", "default": "default_rule", "date-time": "date_time"}

SIMPLE = {"string": "std::string", "integer": "std::int64_t", "number": "double", "boolean": "bool"}


class NoType(Exception):
    """A construct that has no type in C++."""


class Field(NamedTuple):
    name: str  # in JSON
    type: str  # without optional
    node: dict
    required: bool
    nullable: bool

    @property
    def member(self):
        return MEMBERS.get(self.name) or snake_case(self.name)


class Struct(NamedTuple):
    name: str
    definition: str
    node: dict
    fields: list


class Enum(NamedTuple):
    name: str
    node: dict
    values: list


def snake_case(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match[1].lower(), name)


def enumerator(value):
    return ENUMERATORS.get(value, snake_case(value))


def pascal_case(method):
    """session/create → SessionCreate, $/progress → Progress."""
    return "".join(part[0].upper() + part[1:] for part in method.split("/") if part != "$")


def without_null(node):
    """The node of a value that may also be null, without null; None when it may not."""
    if isinstance(node.get("type"), list) and "null" in node["type"]:
        [kind] = [each for each in node["type"] if each != "null"]
        return {**node, "type": kind}
    others = [each for each in node.get("anyOf", []) if each != {"type": "null"}]
    if len(others) == 1:
        return others[0]
    return None


def joined(definitions, node):
    """The alternatives of a oneOf of objects as one object: what all have is required."""
    parts = [definitions[name_of(each["$ref"])] for each in node["oneOf"]]
    properties = {}
    for part in parts:
        for name, value in part["properties"].items():
            if value is not False:
                properties.setdefault(name, value)
    required = [name for name in properties if all(name in part["required"] for part in parts)]
    return {"description": node["description"], "type": "object", "properties": properties, "required": required}


class Model:
    """The types of a contract. `headers`: for each header its types, in the order in which they need each other."""

    def __init__(self, contract):
        self.contract = contract
        self.definitions = dict(contract.definitions)
        for name, of in DERIVED.items():
            if of in self.definitions:
                self.definitions[name] = {**self.definitions[of], "type": "object"}
        self.methods = {header: [] for header in HEADERS}  # (name in C++, method, entry)
        for method, entry in contract.methods.items():
            self.methods[self.header_of_method(method)].append((pascal_case(method), method, entry))
        for method, entry in contract.channel.items():
            name = "Channel" + pascal_case(method.rpartition("/")[2])
            self.methods[self.header_of_method(method)].append((name, method, entry))
        self.placed = {}  # definition to header
        self.headers = {header: [] for header in HEADERS}
        for name, header in PLACED.items():
            if name in self.definitions:
                self.place(name, header)
        for header, methods in self.methods.items():
            for _, _, entry in methods:
                for key in ("params", "result"):
                    if key in entry:
                        self.place(name_of(entry[key]), header)

    @staticmethod
    def header_of_method(method):
        first = method.split("/")[0]
        for header, firsts in HEADERS.items():
            if first in firsts:
                return header
        raise NoType(f"{method}: no header has methods of {first}/")

    def place(self, name, header):
        """Puts a definition's type into a header, after those that it needs; none where it has no type of its own."""
        if name in self.placed or name in SPECIAL_TYPES:
            return
        self.placed[name] = header
        node = self.definitions[name]
        if "enum" in node:
            self.headers[header].append(Enum(RENAMED.get(name, name), node, node["enum"]))
            return
        shape = self.shape(node)
        for each in self.references(shape):
            self.place(each, header)
        if shape.get("properties"):
            for (definition, field), enum in JOINED_ENUMS.items():
                if definition == name:
                    values = [self.definitions[name_of(part["$ref"])]["properties"][field]["const"]
                              for part in node["oneOf"]]
                    self.headers[header].append(Enum(enum, node, values))
            self.headers[header].append(self.struct(name, shape))

    def shape(self, node):
        """The node, with alternatives of objects joined."""
        if "oneOf" in node and all("$ref" in each for each in node["oneOf"]):
            return joined(self.definitions, node)
        return node

    def references(self, node):
        """The names of all definitions that the values of a node are made of."""
        if not isinstance(node, dict):
            return
        if "$ref" in node:
            yield name_of(node["$ref"])
        for key in ("items", "additionalProperties"):
            yield from self.references(node.get(key))
        for key in ("oneOf", "anyOf", "allOf"):
            for each in node.get(key, []):
                yield from self.references(each)
        for each in node.get("properties", {}).values():
            yield from self.references(each)

    def struct(self, name, node):
        fields = []
        for field, part in node["properties"].items():
            nullable = without_null(part)
            kind = SPECIAL_FIELDS.get((name, field)) or JOINED_ENUMS.get((name, field)) or self.type_of(
                part if nullable is None else nullable, f"{name}.{field}")
            fields.append(Field(field, kind, part if nullable is None else nullable,
                                field in node.get("required", []), nullable is not None))
        return Struct(RENAMED.get(name, name), name, node, fields)

    def type_of(self, node, where):
        if "$ref" in node:
            return self.type_of_definition(name_of(node["$ref"]))
        if "allOf" in node:
            return self.type_of(node["allOf"][0], where)
        if "enum" in node or "const" in node:
            value = node["enum"][0] if "enum" in node else node["const"]
            return SIMPLE[{str: "string", int: "integer", bool: "boolean"}[type(value)]]
        kind = node.get("type")
        if kind == "array":
            return f"std::vector<{self.type_of(node['items'], where)}>"
        if kind == "object" and isinstance(node.get("additionalProperties"), dict):
            return f"std::map<std::string, {self.type_of(node['additionalProperties'], where)}>"
        if kind == "object" and node.get("additionalProperties") is False and "properties" not in node:
            return "Empty"
        if isinstance(kind, str) and kind in SIMPLE:
            return SIMPLE[kind]
        if not node.keys() - {"description"}:
            return "RawJson"
        raise NoType(f"{where}: an object or a choice needs a definition of its own to have a type in C++")

    def type_of_definition(self, name):
        if name in SPECIAL_TYPES:
            return SPECIAL_TYPES[name]
        node = self.shape(self.definitions[name])
        if node.get("properties") or "enum" in node:
            return RENAMED.get(name, name)
        return self.type_of(node, name)

    def initial(self, field: Field) -> Optional[str]:
        """How a member that always has a value begins; None where its type says so."""
        if not field.required or field.nullable:
            return None
        if "const" in field.node and field.type == "std::string":
            return f'"{field.node["const"]}"'
        if field.type in ("std::int64_t", "std::uint64_t", "double"):
            return str(max(0, field.node.get("minimum", 0)))
        if field.type == "bool":
            return "false"
        for enums in self.headers.values():
            for enum in enums:
                if isinstance(enum, Enum) and enum.name == field.type:
                    allowed = field.node.get("enum", enum.values)
                    return f"{enum.name}::{enumerator(INITIAL.get(enum.name, allowed[0]))}"
        return None

    def read_definitions(self):
        """The definitions of what cellgate receives: clients' params, and the results of what it asks them; and of what
        it stores."""
        todo = [name for name in STORED if name in self.definitions]
        for entry in [*self.contract.methods.values(), *self.contract.channel.values()]:
            if entry["direction"] != "serverToClient":
                todo.append(name_of(entry["params"]))
            elif "result" in entry:
                todo.append(name_of(entry["result"]))
        found = set()
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += self.references(self.shape(self.definitions[name]))
                todo += [derived for derived, of in DERIVED.items() if of == name]
        return found
