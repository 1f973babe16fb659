"""Random schemas and random values that fit them. CELLGATE_PROPERTY_SEEDS=N tries N batches in place of two."""

import collections
import json
import os
import subprocess
import tempfile
import unittest

import jsonschema
from packages import generate, generated, importable, module, pyright
from round_trip import RoundTrip, exact
from schemas import Schemas
from values import Values

BATCHES = int(os.environ.get("CELLGATE_PROPERTY_SEEDS", "2"))
TOOLS = 60
FULLNESS = (0, 0.5, 0.9, 1)


def tools_of_batch(batch, unions=True):
    tools = []
    for number in range(TOOLS):
        made = Schemas(1000 * batch + number, unions)
        tool = {"name": "tool%d" % number, "inputSchema": made.document()}
        if number % 2:
            tool["outputSchema"] = made.document()
        tools.append(tool)
    return tools


def fitting_values(schema):
    """Values that the schema's own judge accepts, and how many it did not."""
    judge = jsonschema.Draft202012Validator(schema)
    made = [Values(schema, seed, fullness).make() for seed, fullness in enumerate(FULLNESS)]
    fitting = [value for value in made if judge.is_valid(value)]
    return fitting, len(made) - len(fitting)


def check_arguments(pairs):
    """What the sidecar's check finds ("" when nothing), with the schema and the arguments."""
    tool = os.path.join(os.environ["CELLGATE_TEST_TOOLS"], "check_arguments_tool")
    lines = "".join(json.dumps(pair) + "\n" for pair in pairs)
    done = subprocess.run([tool], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    return [(found, *pair) for found, pair in zip(done.stdout.decode().splitlines(), pairs, strict=True)]


def source(value, wrapper):
    """Python that makes the typed value; `wrapper` is the name that its module was imported under."""
    if hasattr(value, "__slots__") and hasattr(value, "to_dict"):
        kind = type(value)
        given = [
            "%s=%s" % (field, source(getattr(value, field), wrapper))
            for field in kind.__slots__
            if repr(getattr(value, field)) != "UNSET"
        ]
        if value.extra:
            given.append("extra=" + source(value.extra, wrapper))
        return "%s.%s(%s)" % (wrapper, kind.__name__, ", ".join(given))
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%a: %s" % (name, source(item, wrapper)) for name, item in value.items())
    if isinstance(value, list):
        return "[%s]" % ", ".join(source(item, wrapper) for item in value)
    if isinstance(value, tuple):
        return "(%s,)" % ", ".join(source(item, wrapper) for item in value)
    return ascii(value)


class AnySchema(RoundTrip):
    maxDiff = None

    def test_values_arrive_as_written_whatever_the_schema(self):
        counts = collections.Counter()
        for batch in range(BATCHES):
            tools = tools_of_batch(batch)
            with generated("any server", tools) as (_, report):
                self.assertEqual(report["skipped"], [])
                for tool, made in zip(tools, report["modules"]):
                    wrapper = module(report["package"], made["module"])
                    with self.subTest(batch=batch, tool=tool["name"]):
                        written, misfits = fitting_values(tool["inputSchema"])
                        for value in written:
                            self.check_arguments(wrapper, value)
                        counts.update(fit=len(written), misfit=misfits)
                        answered, misfits = fitting_values(tool.get("outputSchema", {}))
                        for value in answered if "outputSchema" in tool else []:
                            self.check_result(wrapper, value)
                            counts["answered"] += 1
        # Else this tests less than it says.
        self.assertGreater(counts["fit"], 2 * counts["misfit"], counts)
        self.assertGreater(counts["answered"], 50 * BATCHES, counts)

    def test_values_that_do_not_fit_arrive_too(self):
        tools = tools_of_batch(0)
        strange = [{}, {"a": None, "": [{"x": 1}], "from": {"kind": []}, "kind": 2**90, "x-y": [[]], "x_y": {"": 1.0}}]
        self.answer = {"content": [{"type": "text", "text": "{}"}]}
        with generated("any server", tools) as (_, report):
            for number, made in enumerate(report["modules"]):
                other = Values(tools[number - 1]["inputSchema"], number, 1).make()
                with self.subTest(tool=made["tool"]):
                    for value in [*strange, other]:
                        wrapper = module(report["package"], made["module"])
                        self.assertEqual(exact(wrapper.Params.from_dict(value).to_dict()), exact(value))
                        wrapper.run(value)
                        self.assertEqual(exact(self.received()), exact(value))

    def test_arguments_that_fit_are_not_refused_before_the_tool_sees_them(self):
        pairs = {True: [], False: []}
        for batch in range(BATCHES):
            for tool in tools_of_batch(batch):
                schema = tool["inputSchema"]
                judge = jsonschema.Draft202012Validator(schema)
                for seed in range(4):
                    other = Values(tool.get("outputSchema", {}), seed, 1).make()
                    for made in (Values(schema, seed, 0.5).make(), other):
                        if isinstance(made, dict):
                            pairs[judge.is_valid(made)].append((schema, made))
        self.assertEqual([found for found in check_arguments(pairs[True]) if found[0]], [])
        refused = [found for found in check_arguments(pairs[False]) if found[0]]
        self.assertGreater(len(refused), len(pairs[False]) / 2)  # the check does check

    def test_pyright_accepts_the_packages_in_strict_mode_and_what_fits_them(self):
        with tempfile.TemporaryDirectory(prefix="cellgate-test-") as folder:
            with_unions = tools_of_batch(0)
            generate("any server", with_unions, folder)
            tools = tools_of_batch(0, unions=False)
            report = generate("plain server", tools, folder)
            imports = []
            uses = []
            with importable(folder):
                for tool, made in zip(tools, report["modules"]):
                    wrapper = module(report["package"], made["module"])
                    values = fitting_values(tool["inputSchema"])[0]
                    typed = [source(wrapper.Params.from_dict(value), made["module"]) for value in values]
                    uses += ["%s.run(%s)" % (made["module"], each) for each in typed]
                    if typed:
                        imports.append("from mcptools.%s import %s" % (report["package"], made["module"]))
            self.assertGreater(len(uses), 2 * TOOLS)
            with open(os.path.join(folder, "uses.py"), "w", encoding="utf-8") as file:
                file.write("\n".join([*imports, "", *uses, ""]))
            for version in ("3.9", "3.13"):
                with self.subTest(version=version):
                    self.assertEqual(pyright(folder, version), [])


if __name__ == "__main__":
    unittest.main()
