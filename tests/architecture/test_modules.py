"""A wrong include does not build. For every module: with the flags that its own sources are compiled with, a header of a
module that it does not name is not found, and (the control) the headers of itself and of all that it names are. What
modules there are, and on which layers, comes from the build."""

import json
import os
import shlex
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BUILD = Path(os.environ["CELLGATE_BUILD"])
ROOT = Path(__file__).resolve().parents[2]


class Module:
    def __init__(self, line):
        self.name, layer, folder, *self.depends = line.split(";")
        self.layer = int(layer)
        self.folder = Path(folder)
        names = [name for name in self.depends if name]
        self.shown = [name for name in names if not name.startswith("private:")]
        self.depends = [name.removeprefix("private:") for name in names]

    def headers(self):
        root = self.folder / "include"
        return sorted(str(path.relative_to(root)) for path in root.rglob("*.hpp"))


MODULES = {module.name: module for module in map(Module, (BUILD / "modules.txt").read_text().splitlines())}


def shown_by(module):
    """The modules whose headers a user of this one may use."""
    return {module.name}.union(*(shown_by(MODULES[name]) for name in module.shown))


def seen_by(module):
    """The modules whose headers this one may use."""
    return {module.name}.union(*(shown_by(MODULES[name]) for name in module.depends))


def compile_command(module):
    """How the build compiles a source of this module, without the source and the output."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        if f"/cellgate_{module.name}.dir/" in entry["command"]:
            words = shlex.split(entry["command"])
            del words[words.index("-o") : words.index("-o") + 2]
            del words[words.index("-c") : words.index("-c") + 2]
            return words[words[0].endswith("ccache") :], entry["directory"]
    raise AssertionError(f"no source of {module.name} is compiled")


def find_includes(module, headers):
    """Preprocesses a source that includes them."""
    words, directory = compile_command(module)
    if "-include" in words:  # what is precompiled would be read as text
        del words[words.index("-include") : words.index("-include") + 2]
    text = "".join(f'#include "{header}"\n' for header in headers)
    return subprocess.run([*words, "-E", "-x", "c++", "-"], cwd=directory, input=text, text=True, capture_output=True)


class Rooms(unittest.TestCase):
    def test_there_are_modules_on_their_layers(self):
        self.assertEqual(MODULES["base"].layer, 0)
        self.assertEqual(MODULES["async"].layer, 1)

    def test_an_include_root_holds_nothing_but_its_module(self):
        for module in MODULES.values():
            with self.subTest(module=module.name):
                self.assertEqual(os.listdir(module.folder / "include"), [module.name])

    def test_a_module_names_only_modules_on_lower_layers(self):
        for module in MODULES.values():
            for name in module.depends:
                with self.subTest(module=module.name, depends=name):
                    self.assertLess(MODULES[name].layer, module.layer)

    def test_a_wrong_include_does_not_build(self):
        tries = [(module, MODULES[name]) for module in MODULES.values() for name in MODULES.keys() - seen_by(module)]
        self.assertTrue(tries)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = pool.map(lambda pair: find_includes(pair[0], pair[1].headers()[:1]), tries)
        for (module, other), result in zip(tries, results):
            with self.subTest(module=f"{module.name} (layer {module.layer})", includes=f"{other.name} (layer {other.layer})"):
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(other.headers()[0], result.stderr)
                self.assertRegex(result.stderr, r"No such file|file not found")

    def test_control_a_right_include_builds(self):
        def all_headers(module):
            return find_includes(module, [header for name in sorted(seen_by(module)) for header in MODULES[name].headers()])

        modules = list(MODULES.values())
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for module, result in zip(modules, pool.map(all_headers, modules)):
                with self.subTest(module=module.name):
                    self.assertEqual(result.returncode, 0, result.stderr)


class Layers(unittest.TestCase):
    """The same for the list of modules that a module names: the build refuses a wrong one."""

    def configure(self, module, depends):
        with tempfile.TemporaryDirectory() as folder:
            top = Path(folder)
            layers = {"base": "base", "async": "async", "jupyter": "jupyter,sidecar/mcp", "gate": "gate"}
            listed = " ".join(f'"sidecar/{names}"' for names in layers.values())
            (top / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(tiny LANGUAGES CXX)\n"
                "add_library(cellgate_options INTERFACE)\nadd_library(cellgate_pch OBJECT empty.cpp)\n"
                "target_precompile_headers(cellgate_pch PRIVATE <string>)\n"
                f"include({ROOT}/sidecar/modules.cmake)\nset(CELLGATE_LAYERS {listed})\ncellgate_add_modules()\n"
            )
            (top / "empty.cpp").touch()
            for name in ("base", "async", "jupyter", "mcp", "gate"):
                path = top / "sidecar" / name
                path.mkdir(parents=True)
                (path / "empty.cpp").touch()
                named = f"DEPENDS {depends}" if name == module else ""
                (path / "CMakeLists.txt").write_text(f"cellgate_module({name} SOURCES empty.cpp {named})\n")
            return subprocess.run(
                ["cmake", "-S", str(top), "-B", str(top / "build"), "-G", "Ninja"], capture_output=True, text=True
            )

    def test_a_sibling_is_refused(self):
        result = self.configure("jupyter", "mcp")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("jupyter (layer 2) cannot use mcp (layer 2)", result.stderr.replace("\n ", ""))

    def test_a_higher_layer_is_refused(self):
        result = self.configure("async", "gate")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("async (layer 1) cannot use gate (layer 3)", result.stderr.replace("\n ", ""))

    def test_control_a_lower_layer_is_not(self):
        result = self.configure("gate", "async")
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
