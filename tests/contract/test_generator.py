"""The types that schemas/generate.py makes of the contract: each construct of the schemas has its type, one that the
generator does not know is an error, and the committed files are what the schemas say."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
sys.path.insert(0, str(SCHEMAS))
import generate
from generator import lua, typescript
from generator.schema import Contract, UnknownConstruct

NAME = {"description": "A name.", "type": "string", "minLength": 1}
REFERENCE = {"$ref": "#/$defs/Name"}


def contract_of(definitions, methods=()):
    """A contract with these definitions; `methods` are names of those that a client sends, with the params `Params`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def write(file, **content):
            (folder / file).write_text(json.dumps(content), encoding="utf-8")

        table = {
            method: {"direction": "clientToServer", "type": "request", "params": "#/$defs/Params",
                     "result": "#/$defs/Params", "summary": "Does it."}
            for method in methods
        }
        write("protocol.json", **{"$id": "protocol.json", "$defs": {"Name": NAME, **definitions}})
        write("channel.json", **{"$id": "channel.json", "$defs": {}, "methods": {}})
        write("methods.json", methods=table)
        write("errors.json", errors={"-32602": {"kind": "invalidParams", "meaning": "x", "hint": ""}})
        return Contract(folder)


def params_of(**properties):
    return {"Params": {"description": "The params.", "type": "object", "properties": properties}}


class CommittedFiles(unittest.TestCase):
    def test_are_what_the_schemas_say(self):
        for name, text in generate.client_files(Contract()).items():
            with self.subTest(name):
                self.assertEqual((generate.REPOSITORY / name).read_text(encoding="utf-8"), text,
                                 "to write it again: python3 schemas/generate.py clients")


class Constructs(unittest.TestCase):
    # A schema, and what it is in TypeScript and in Lua.
    TYPES = [
        (REFERENCE, "Name", "Name"),
        ({**REFERENCE, "maxLength": 3}, "Name", "Name"),
        ({"allOf": [REFERENCE, {"minLength": 1}]}, "Name", "Name"),
        ({**REFERENCE, "enum": ["a", "b"]}, '"a" | "b"', '"a"|"b"'),
        ({"const": True}, "true", "true"),
        ({"type": "integer", "minimum": 1}, "number", "integer"),
        ({"type": "boolean"}, "boolean", "boolean"),
        ({"type": ["integer", "null"]}, "number | null", "integer|nil"),
        ({"anyOf": [REFERENCE, {"type": "null"}]}, "Name | null", "Name|nil"),
        ({"type": "array", "items": REFERENCE}, "Name[]", "Name[]"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, '("a" | "b")[]', '("a"|"b")[]'),
        ({"type": "object", "additionalProperties": REFERENCE},
         "{\n        [k: string]: Name;\n    }", "table<string, Name>"),
        ({"type": "object"}, "{\n        [k: string]: unknown;\n    }", "table<string, any>"),
        ({"type": "object", "additionalProperties": False}, "{}", "table<string, any>"),
        ({}, "unknown", "any"),
        (False, "never", "any"),
    ]

    def test_have_their_types_in_typescript(self):
        for schema, expected, _ in self.TYPES:
            with self.subTest(schema=schema):
                made = typescript.messages(contract_of(params_of(a=schema)))
                self.assertIn(f"export interface Params {{\n    a?: {expected};\n}}", made)

    def test_have_their_types_in_lua(self):
        for schema, _, expected in self.TYPES:
            with self.subTest(schema=schema):
                [made] = lua.files(contract_of(params_of(a=schema))).values()
                self.assertIn(f"---@class Params\n---@field a? {expected}\n", made)

    def test_a_field_that_is_needed_is_not_optional(self):
        contract = contract_of({"Params": {**params_of(a=REFERENCE)["Params"], "required": ["a"]}})
        self.assertIn("    a: Name;\n", typescript.messages(contract))
        self.assertIn("---@field a Name\n", lua.files(contract).popitem()[1])

    def test_a_choice_between_a_value_and_an_object_has_a_line_each(self):
        both = {"description": "Both.", "type": ["boolean", "object"], "properties": {"a": REFERENCE}}
        self.assertIn("export type Both =\n    | boolean\n    | {\n          a?: Name;\n      };\n",
                      typescript.messages(contract_of({"Both": both})))

    def test_a_comment_cannot_be_ended_by_a_description(self):
        made = typescript.messages(contract_of({"Evil": {**NAME, "description": "*/ evil()"}}))
        self.assertEqual(made.count("*/"), 2)

    def test_one_that_is_not_known_is_an_error(self):
        for schema, unknown in [
            ({"type": "string", "format": "uri"}, "format"),
            ({"type": "strng"}, "strng"),
            ({"type": "array", "items": {"type": "array", "contains": {}}}, "contains"),
            ({"oneOf": [{"not": {}}]}, "not"),
            ({"if": {"minContains": 1}}, "minContains"),
            ({"type": "object", "additionalProperties": {"multipleOf": 2}}, "multipleOf"),
        ]:
            with self.subTest(schema=schema), self.assertRaisesRegex(UnknownConstruct, f"knows {unknown}"):
                contract_of(params_of(a=schema))


class Methods(unittest.TestCase):
    def test_have_their_params_and_results(self):
        made = typescript.methods(contract_of(params_of(a=REFERENCE), ["thing/do"]))
        self.assertIn('    /** Does it. */\n    "thing/do": { params: Params; result: Params };\n', made)
        self.assertIn('import type {\n    Params,\n} from "./messages";\n', made)


if __name__ == "__main__":
    unittest.main()
