"""Every tool of seven real servers: its wrapper imports, satisfies Pyright, and carries what the caller wrote."""

import os
import sys
import tempfile
import unittest

from packages import SERVERS, generate, generated, module, pyright, tools_of
from round_trip import RoundTrip
from values import Values


class RealTools(RoundTrip):
    def test_the_server_receives_what_the_caller_wrote(self):
        sent = 0
        for server in SERVERS:
            tools = tools_of(server)
            with generated(server, tools) as (_, report):
                self.assertEqual(report["skipped"], [])
                self.assertEqual([each["tool"] for each in report["modules"]], [tool["name"] for tool in tools])
                for tool, made in zip(tools, report["modules"]):
                    wrapper = module(report["package"], made["module"])
                    for seed, fullness in enumerate((0, 1, 1, 0.5, 0.5, 0.9)):
                        with self.subTest(server=server, tool=tool["name"], seed=seed):
                            self.check_arguments(wrapper, Values(tool["inputSchema"], seed, fullness).make())
                            if "outputSchema" in tool:
                                answered = Values(tool["outputSchema"], seed, fullness).make()
                                self.assertIsInstance(self.check_result(wrapper, answered), wrapper.Result)
                            sent += 1
        self.assertGreater(sent, 500)

    def test_pyright_accepts_the_packages_in_strict_mode(self):
        with tempfile.TemporaryDirectory(prefix="cellgate-test-") as folder:
            for server in SERVERS:
                generate(server, tools_of(server), folder)
            for version in ("3.9", "3.13"):
                with self.subTest(version=version):
                    self.assertEqual(pyright(folder, version), [])

    def test_pyright_tells_right_uses_from_wrong_ones(self):
        uses = {
            'read_text_file.run(path="x", head=3)': True,
            'read_text_file.run({"path": "x"}).content.upper()': True,
            'read_text_file.run(read_text_file.Params(path="x", extra={"y": 1}))': True,
            'edit_file.run(path="x", edits=[edit_file.Edit(oldText="a", newText="b")], dryRun=True)': True,
            'edit_file.run(path="x", edits=[{"oldText": "a", "newText": "b"}], dryRun=None)': True,
            'read_text_file.run(path="x", head=None).content_.text.upper()': True,
            'list_directory_with_sizes.run(path="x", sortBy="size")': True,
            'echo.run(message="x").text.upper()': True,
            'get_structured_content.run(location="New York").content[0].type.upper()': True,
            'echo.run(message="x").content': False,
            'echo.run(message=None)': False,
            "read_text_file.run()": False,
            "read_text_file.run(path=1)": False,
            'read_text_file.run(pth="x")': False,
            'read_text_file.run({"path": "x"}).contents': False,
            'edit_file.run(path="x", edits=["a"])': False,
            'list_directory_with_sizes.run(path="x", sortBy="colour")': False,
        }
        with tempfile.TemporaryDirectory(prefix="cellgate-test-") as folder:
            generate("fs", tools_of("server-filesystem"), folder)
            generate("everything", tools_of("server-everything"), folder)
            lines = [
                "from mcptools.everything import echo, get_structured_content",
                "from mcptools.fs import edit_file, list_directory_with_sizes, read_text_file",
                "",
            ]
            with open(os.path.join(folder, "uses.py"), "w", encoding="utf-8") as file:
                file.write("\n".join(lines + ["print(%s)" % use for use in uses]) + "\n")
            wrong = {int(found.split(":")[1]) for found in pyright(folder, "3.9")}
            for number, (use, right) in enumerate(uses.items(), len(lines) + 1):
                self.assertEqual(number not in wrong, right, use)

    def test_importing_one_tool_imports_no_other(self):
        with generated("fs", tools_of("server-filesystem")) as (_, report):
            module(report["package"], "read_file")
            loaded = {name for name in sys.modules if name.startswith("mcptools")}
            self.assertEqual(loaded, {"mcptools", "mcptools._runtime", "mcptools.fs", "mcptools.fs.read_file"})


if __name__ == "__main__":
    unittest.main()
