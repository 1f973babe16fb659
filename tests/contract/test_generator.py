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
from generator import cpp, lua, typescript
from generator.cpp_model import NoType
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


class Cpp(unittest.TestCase):
    @staticmethod
    def made(definitions):
        """The header and the source of the messages of session/do, whose params are `Params`."""
        files = cpp.message_files(contract_of(definitions, ["session/do"]))
        return files["include/protocol/messages/sessions.hpp"], files["messages/sessions.cpp"]

    # A schema of an optional member `a`, its type, and the checks with which it is read.
    MEMBERS = [
        ({"type": "boolean"}, "bool", ""),
        ({"type": "string"}, "std::string", ""),
        (REFERENCE, "std::string", ", check_name"),
        ({"type": "integer", "minimum": 1, "maximum": 9}, "std::int64_t",
         ', [](std::int64_t value) -> const char* {\n'
         '        return value >= 1 && value <= 9 ? nullptr : "1 to 9";\n    }'),
        ({"type": "number", "exclusiveMinimum": 0}, "double",
         ', [](double value) -> const char* {\n        return value > 0 ? nullptr : "more than 0";\n    }'),
        ({"type": ["integer", "null"]}, "std::int64_t", ""),
        ({"type": "string", "maxLength": 3}, "std::string",
         ', [](const std::string& value) -> const char* {\n'
         '        return has_at_most(value, 3) ? nullptr : "at most 3 characters";\n    }'),
        ({"enum": ["x", "y"]}, "std::string",
         ', [](const std::string& value) -> const char* {\n'
         '        return value == "x" || value == "y" ? nullptr : "\\"x\\" or \\"y\\"";\n    }'),
        ({"type": "array", "items": REFERENCE, "maxItems": 2}, "std::vector<std::string>",
         ', [](const std::vector<std::string>& value) -> const char* {\n'
         '        return value.size() <= 2 ? nullptr : "at most 2";\n    }, codec::each(check_name)'),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "std::map<std::string, std::string>", ""),
        ({"type": "object", "additionalProperties": False}, "Empty", ""),
        ({}, "RawJson", ""),
    ]

    def test_members_have_their_types_and_their_checks(self):
        for schema, kind, checks in self.MEMBERS:
            with self.subTest(schema=schema):
                header, source = self.made(params_of(a=schema))
                self.assertIn(f"struct Params {{\n    std::optional<{kind}> a;\n}};\n", header)
                self.assertIn(f'    field("a", out.a{checks});\n', source)
                self.assertIn('    field("a", value.a);\n', source)

    def test_a_needed_member_begins_with_the_least_that_it_can_be(self):
        effect = {"description": "What a rule does.", "enum": ["allow", "ask", "deny"]}
        properties = {"count": {"type": "integer", "minimum": 1}, "flag": {"type": "boolean"},
                      "effect": {"$ref": "#/$defs/Effect"}, "by": {"const": "code"},
                      "id": {"type": ["integer", "null"]}}
        params = {**params_of(**properties)["Params"], "required": list(properties)}
        header, _ = self.made({"Params": params, "Effect": effect})
        self.assertIn("enum class Effect { allow, ask, deny };\n", header)
        self.assertIn('    std::int64_t count = 1;\n    bool flag = false;\n    Effect effect = Effect::ask;\n'
                      '    std::string by = "code";\n    Nullable<std::int64_t> id;\n', header)

    def test_an_object_is_checked_as_a_whole(self):
        [params] = params_of(a=REFERENCE, b=REFERENCE).values()
        for limits, statement in [
            ({"additionalProperties": False}, "field.require_all_known();"),
            ({"minProperties": 1}, "field.require_any();"),
            ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, 'field.require_one_of({{"a"}, {"b"}});'),
        ]:
            with self.subTest(limits=limits):
                self.assertIn(f"    {statement}\n}}\n", self.made({"Params": {**params, **limits}})[1])
                self.assertNotIn(statement, self.made({"Params": params})[1])

    def test_a_limit_that_becomes_no_check_is_an_error(self):
        for limits in ({"type": "string", "pattern": "^a$"}, {"type": "string", "minLength": 2},
                       {"type": "object", "additionalProperties": REFERENCE},
                       {"type": "object", "additionalProperties": {"type": "string"}, "propertyNames": REFERENCE},
                       {"allOf": [REFERENCE, {"maxLength": 1}]}):
            with self.subTest(limits=limits), self.assertRaises(UnknownConstruct):
                self.made(params_of(a=limits))
        for limits in ({"maxProperties": 1}, {"if": {}, "then": {}}, {"dependentSchemas": {}}):
            [params] = params_of(a=REFERENCE).values()
            with self.subTest(limits=limits), self.assertRaises(UnknownConstruct):
                self.made({"Params": {**params, **limits}})

    def test_what_has_no_name_has_no_type(self):
        for schema in ({"type": "object", "properties": {"b": REFERENCE}}, {"type": ["integer", "string"]}):
            with self.subTest(schema=schema), self.assertRaises(NoType):
                self.made(params_of(a=schema))

    def test_a_method_of_an_unknown_family_is_an_error(self):
        with self.assertRaises(NoType):
            cpp.message_files(contract_of(params_of(a=REFERENCE), ["thing/do"]))

    def test_methods_have_their_params_and_results(self):
        header, _ = self.made(params_of(a=REFERENCE))
        self.assertIn("// Does it.\nstruct SessionDo : Request<Params, Params> {\n"
                      '    static constexpr std::string_view name = "session/do";\n};\n', header)
        files = cpp.message_files(contract_of(params_of(a=REFERENCE), ["session/do"]))
        self.assertIn("using Methods = std::tuple<SessionDo>;\nusing ChannelMethods = std::tuple<>;\n",
                      files["include/protocol/messages/all.hpp"])

    def test_error_codes_have_their_kinds(self):
        files = cpp.error_files(contract_of({}))
        self.assertIn("    invalid_params = -32602,\n", files["include/base/error_code.hpp"])
        self.assertIn('    case ErrorCode::invalid_params:\n        return "invalidParams";\n', files["error_code.cpp"])


if __name__ == "__main__":
    unittest.main()
