"""Whatever a tool server says about itself, the package parses, imports, does nothing, and calls what it says."""

import ast
import inspect
import json
import os
import tempfile
import unittest

from fake_channel import FakeChannel, text_result
from packages import generate, generated, importable, module, pyright

RUNS = "import os; os.environ['CELLGATE_TEST_RAN'] = 'yes'"
TEXTS = [
    '"""\n%s\n"""' % RUNS,
    "'''\n%s\n'''" % RUNS,
    '\\"""\n%s\n#' % RUNS,
    '\\\\"""\n%s\n#' % RUNS,
    'ends in a quote"',
    'ends in quotes""',
    "ends in a backslash\\",
    '"starts with one',
    "\\N{DIGIT ONE} \\x41 \\u0041 \\777 %s {x} {0!r} ${x}",
    "nul \0 form feed \f vertical \v bell \a escape \x1b[31m return \r\n%s\r" % RUNS,
    "bidi \u202e\u2066 zero\u200bwidth \u2028 line \u2029 paragraph \x85 next \ufeff mark",
    "# -*- coding: utf-7 -*-",
    "vim: set fileencoding=latin-1 :",
    "\n\n    indented\n\tand tabbed\n",
    "naïve 名前 🙂 \ue000 \U000e0041 \uffff",
    "",
    "x" * 100000,
]
NAMES = [
    "from", "class", "None", "self", "cls", "extra", "to_dict", "from_dict", "Params", "Result", "Optional", "Union",
    "Dict", "List", "Literal", "Any", "Unset", "UNSET", "Mapping", "Struct", "_Struct", "_tool", "run", "run_async",
    "args", "kwargs", "params", "dict", "list", "str", "int", "float", "bool", "type", "super", "property", "object",
    "overload", "print", "mro", "__init__", "__class__", "__slots__", "__wire__", "__readers__", "__x", "_x", "x",
    "x-y", "x_y", "x.y", "X-Y", "2fa", "$filter", "", " ", "-", "名前", "é", "ünï", "nested", "Nested", "Nested_2",
    "\"", "\\", "\n", "\0", "\u202e", "a\"]: int = os.abort() #", "import", "Import", "async", "print(1)", "json",
    "typing", "__future__", "__init__.py", "..", "/etc/passwd", "a/b", "CON", "annotations", "T" * 300,
]  # fmt: skip


def tool(name="tool", description=None, **more):
    made = {"name": name, "inputSchema": {"type": "object"}, **more}
    if description is not None:
        made["description"] = description
    return made


def files_in(folder):
    return [os.path.join(root, name) for root, _, names in os.walk(folder) for name in names if name.endswith(".py")]


class HostileTools(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        os.environ.pop("CELLGATE_TEST_RAN", None)
        self.channel = FakeChannel(lambda params: text_result("{}"))
        os.environ["CELLGATE_CHANNEL"] = self.channel.path
        self.addCleanup(os.environ.pop, "CELLGATE_CHANNEL")
        self.addCleanup(self.channel.close)

    def check_harmless(self, folder, report):
        """Every file holds definitions and constants only, and importing all of it runs nothing else."""
        for path in files_in(folder):
            with open(path, "rb") as file:
                source = file.read()
            tree = ast.parse(source, path)
            if os.path.basename(path) == "_runtime.py":
                continue
            for node in tree.body:
                if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                    self.assertRegex(ast.unparse(node), r"^_tool\.describe\(run(_async)?\)$")
                else:
                    kinds = (ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.Assign, ast.Expr)
                    self.assertIsInstance(node, kinds, ast.unparse(node))
            for invisible in "\0\x1b\u202e\u2066\u200b\u2028\x85\ufeff\ue000":
                self.assertNotIn(invisible, source.decode("utf-8"), path)
        for made in report["modules"]:
            module(report["package"], made["module"])
        self.assertNotIn("CELLGATE_TEST_RAN", os.environ)

    def test_the_attack_works_on_a_naive_generator(self):
        namespace = {}
        with self.assertRaises(KeyError):
            os.environ["CELLGATE_TEST_RAN"]
        exec('def run():\n    """%s"""\n' % TEXTS[0].replace(RUNS, "    " + RUNS), namespace)
        namespace["run"]()
        self.assertEqual(os.environ.pop("CELLGATE_TEST_RAN"), "yes")

    def test_texts_cannot_leave_their_docstrings(self):
        tools = []
        for number, text in enumerate(TEXTS):
            inner = {"type": "object", "description": text, "properties": {"a": {"enum": [text, 1]}}}
            field = {"type": "string", "description": text, "default": text, "pattern": text, "format": text}
            schema = {"type": "object", "title": text, "description": text}
            schema["properties"] = {"field": field, "choice": {"const": text}, "inner": inner}
            tools.append(tool("tool%d" % number, text, title=text, inputSchema=schema, outputSchema=schema))
        with generated("server", tools) as (folder, report):
            self.assertEqual(report["skipped"], [])
            self.check_harmless(folder, report)
            self.assertEqual(pyright(folder, "3.9"), [])
            for number, text in enumerate(TEXTS):
                wrapper = module("server", "tool%d" % number)
                wrapper.run(field=text, choice=text, inner=wrapper.Inner(a=text))
                expected = {"field": text, "choice": text, "inner": {"a": text}}
                self.assertEqual(self.channel.requests[-1]["arguments"], expected)

    def test_a_reader_still_sees_what_the_tool_says(self):
        text = 'Says "hi" and """more""", C:\\new, naïve 名前 🙂.\n\nSecond paragraph.'
        with generated("server", [tool("talks", text)]):
            self.assertEqual(inspect.getdoc(module("server", "talks").run).partition("\n\nReturns: ")[0], text)

    def test_property_names_reach_the_tool_as_they_are(self):
        nested = {"type": "object", "properties": {name: {"type": "integer"} for name in NAMES}}
        properties = {name: {"type": "string"} for name in NAMES}
        properties["nested"] = nested
        properties["Nested"] = {"type": "array", "items": nested}
        both = {"type": "object", "properties": properties, "required": NAMES[: len(NAMES) // 2]}
        with generated("server", [tool("names", inputSchema=both, outputSchema=both)]) as (folder, report):
            self.assertEqual(report["skipped"], [])
            self.check_harmless(folder, report)
            self.assertEqual(pyright(folder, "3.9"), [])
            wrapper = module("server", "names")
            written = {name: "value of %r" % name for name in NAMES}
            written["nested"] = {name: number for number, name in enumerate(NAMES)}
            written["Nested"] = [written["nested"]]
            typed = wrapper.Params.from_dict(written)
            for call in (typed, written):
                wrapper.run(call)
                self.assertEqual(self.channel.requests[-1]["arguments"], written)
            wrapper.run(**{name: getattr(typed, name) for name in wrapper.Params.__slots__})
            self.assertEqual(self.channel.requests[-1]["arguments"], written)
            self.assertEqual(wrapper.Params.__wire__["from_"], "from")
            self.assertEqual(wrapper.Params.__wire__["field_2fa"], "2fa")
            self.assertEqual(wrapper.Params.__wire__["field_filter"], "$filter")

    def test_module_names_are_importable_and_never_collide(self):
        with generated("server", [tool(name) for name in NAMES]) as (folder, report):
            self.assertEqual(report["skipped"], [])
            modules = [made["module"] for made in report["modules"]]
            self.assertEqual(len({name.lower() for name in modules}), len(NAMES))
            for made in report["modules"]:
                self.assertRegex(made["module"], r"^[a-z][a-z0-9_]*$")
                self.assertEqual(made["path"], "mcptools/server/%s.py" % made["module"])
                wrapper = {}
                exec("from mcptools.server import %s as wrapper" % made["module"], wrapper)
                wrapper["wrapper"].run()
                self.assertEqual(self.channel.requests[-1]["tool"], made["tool"])
            self.check_harmless(folder, report)

    def test_a_server_name_is_never_a_path(self):
        for name in NAMES:
            with self.subTest(name=name), tempfile.TemporaryDirectory(prefix="cellgate-test-") as folder:
                outside = os.path.join(folder, "outside")
                inside = os.path.join(outside, "inside")
                os.makedirs(inside)
                if "\0" in name:
                    continue  # no argument of a program can hold it
                report = generate(name, [tool()], inside)
                self.assertRegex(report["package"], r"^[a-z][a-z0-9_]*$")
                self.assertEqual(os.listdir(outside), ["inside"])
                self.assertEqual(os.listdir(inside), ["mcptools"])
                with importable(inside):
                    module(report["package"], "tool").run()
                self.assertEqual(self.channel.requests[-1]["server"], name)

    def test_one_bad_schema_skips_one_tool_and_says_why(self):
        deep = {}
        for _ in range(80):
            deep = {"type": "array", "items": deep}
        bad = {
            "array": {"type": "array"},
            "wide": {"type": "object", "properties": {"p%d" % i: {} for i in range(1001)}},
            "deep": {"type": "object", "properties": {"deep": deep}},
            "long": {"type": "object", "description": "x" * (1 << 20)},
        }
        tools = [tool("good")] + [tool(name, inputSchema=schema) for name, schema in bad.items()]
        tools += [tool("output", outputSchema=bad["deep"]), tool("good", "again"), tool("last")]
        with generated("server", tools) as (_, report):
            self.assertEqual([made["tool"] for made in report["modules"]], ["good", "last"])
            reasons = {each["tool"]: each["reason"] for each in report["skipped"]}
            self.assertEqual(set(reasons), {*bad, "output", "good"})
            self.assertIn("not the schema of an object", reasons["array"])
            self.assertIn("1001 members", reasons["wide"])
            self.assertIn("64 levels", reasons["deep"])
            self.assertIn("more than 1048576", reasons["long"])
            self.assertIn("twice", reasons["good"])

    def test_schemas_that_ask_for_endless_work_or_text_are_skipped(self):
        long = "x" * 500_000
        words = [("%03d" % number) * 30 for number in range(200)]
        variant = {"type": "object", "properties": {"a": {"enum": words}, "b": {}}, "required": ["b"]}
        wide = {"p%d" % number: True for number in range(900)}
        refers = {"p%d" % number: {"$ref": "#/$defs/d"} for number in range(900)}
        definitions = {
            "descriptions": {"type": "object", "description": long, "properties": {}},
            "facts": {"type": "string", "pattern": long},
            "enums": {"enum": words},
            "works": {"allOf": [{"$ref": "#/$defs/e%d" % number} for number in range(30)]},
        }
        schemas = {
            name: {"type": "object", "properties": refers, "$defs": {"d": definition}}
            for name, definition in definitions.items()
        }
        schemas["works"]["$defs"].update({"e%d" % number: {"properties": wide} for number in range(30)})
        narrowed = {name: {"allOf": [value], "minimum": number} for number, (name, value) in enumerate(refers.items())}
        schemas["works"]["properties"] = narrowed
        variants = {name: {"anyOf": [value, {"$ref": "#/$defs/e"}]} for name, value in refers.items()}
        schemas["variants"] = {"type": "object", "properties": variants, "$defs": {"d": variant, "e": variant}}
        self.assertGreater(min(len(long), 3 * sum(map(len, words))) * len(refers), 10 << 20)  # what they ask for
        self.assertLess(max(len(json.dumps(schema)) for schema in schemas.values()), 1 << 20)  # what they cost
        tools = [tool(name, inputSchema=schema) for name, schema in schemas.items()]
        with generated("server", [*tools, tool("good")]) as (folder, report):
            reasons = {each["tool"]: each["reason"] for each in report["skipped"]}
            self.assertEqual(set(reasons), set(definitions))
            self.assertIn("refers to itself in too many ways", reasons.pop("works"))
            for reason in reasons.values():
                self.assertIn("more than 4194304 bytes", reason)
            self.check_harmless(folder, report)
            self.assertLess(sum(map(os.path.getsize, files_in(folder))), 4 << 20)

    def test_schemas_that_refer_in_circles_end(self):
        chain = {"d%d" % i: {"anyOf": [{"$ref": "#/$defs/d%d" % (i + 1)}] * 2} for i in range(900)}
        schemas = {
            "self": {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}},
            "pair": {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/a"}},
                "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
            },
            "all": {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/a"}},
                "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}},
            },
            "chain": {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": chain},
            "tuples": {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/t0"}},
                "$defs": {
                    "t%d" % i: {
                        "type": "array", "minItems": 2, "maxItems": 2,
                        "prefixItems": [{"$ref": "#/$defs/t%d" % (i + 1)}] * 2,
                    }
                    for i in range(60)
                },
            },
            "lists": {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/l0"}},
                "$defs": {
                    "l199": {"type": "object", "properties": {"n": {"type": "integer"}}},
                    **{
                        "l%d" % i: {"type": ["array", "null"][: i % 2 + 1], "items": {"$ref": "#/$defs/l%d" % (i + 1)}}
                        for i in range(199)
                    },
                },
            },
            "nowhere": {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}, "b": {"$ref": "https://x/y"}}},
            "tree": {
                "type": "object",
                "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}, "root": {"$ref": "#/$defs/node"}},
                "$defs": {
                    "node": {
                        "type": "object",
                        "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
                    }
                },
            },
        }  # fmt: skip
        with generated("server", [tool(name, inputSchema=each) for name, each in schemas.items()]) as (folder, report):
            self.assertEqual(report["skipped"], [])
            self.check_harmless(folder, report)
            self.assertEqual(pyright(folder, "3.9"), [])
            tree = module("server", "tree")
            written = {"kids": [{"kids": []}], "root": {"next": {"next": None}}}
            typed = tree.Params.from_dict(written)
            self.assertIsInstance(typed.kids[0], tree.Params)
            self.assertIsInstance(typed.root.next, tree.Node)
            self.assertEqual(typed.to_dict(), written)

    def test_equal_input_gives_equal_bytes_and_files_stay_untouched(self):
        tools = [tool("one", "first"), tool("two")]
        with tempfile.TemporaryDirectory(prefix="cellgate-test-") as folder:
            generate("server", tools, folder)
            before = {path: (open(path, "rb").read(), os.stat(path).st_mtime_ns) for path in files_in(folder)}
            generate("server", json.loads(json.dumps(tools)), folder)
            after = {path: (open(path, "rb").read(), os.stat(path).st_mtime_ns) for path in files_in(folder)}
            self.assertEqual(before, after)


if __name__ == "__main__":
    unittest.main()
