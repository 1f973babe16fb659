"""Thirteen real MCP servers of npm (servers.py): their wrappers, calls from a cell and direct ones, and the same in the
sandbox."""

import json
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1]
sys.path[:0] = [str(TESTS / "integration"), str(TESTS / "wrappers")]
from cellgate_client import SharedSidecarTest  # noqa: E402
from packages import pyright  # noqa: E402
from servers import FAILS, SERVERS, fill, prepare  # noqa: E402
from tools_testing import text_of  # noqa: E402

MODULES = HERE / "node_modules"
NODE = (TESTS / "node_modules/node/bin/node").resolve()
START = 120  # seconds that a busy machine may take for a server's start and its first answer


class ServersTest(SharedSidecarTest):
    """A workspace with all servers, whose tools a rule allows."""

    boxed = False

    @classmethod
    def prepare(cls):
        prepare(cls.workspace)
        cls.options = {"mcpServers": {name: cls.config(server) for name, server in SERVERS.items()}}

    @classmethod
    def config(cls, server):
        made = {"command": str(NODE), "args": [str(MODULES / server.script), *server.args], "env": server.env}
        return {**fill(made, cls.workspace.path), **({"sandbox": {"configFile": cls.settings()}} if cls.boxed else {})}

    @classmethod
    def settings(cls):
        """A file that shows the packages, Node and Chromium's settings to a server in the sandbox."""
        file = cls.workspace.base / "sandbox.json"
        shown = [str(MODULES), str(NODE), "/etc/chromium.d"]
        file.write_text(json.dumps({
            "network": {"allowedDomains": [], "deniedDomains": []},
            "filesystem": {"denyRead": [], "allowRead": shown, "allowWrite": ["."], "denyWrite": []}}))
        return str(file)

    def generate(self, name):
        made = self.cellgate.request("wrappers/generate", {"server": name}, timeout=START)
        self.assertEqual(made["skipped"], [])
        self.assertTrue(made["modules"], f"{name} has no tools")

    def try_server(self, name):
        server = SERVERS[name]
        self.generate(name)
        [info] = [each for each in self.cellgate.request("toolServers/list")["servers"] if each["name"] == name]
        self.assertEqual(info["sandbox"], "bwrap" if self.boxed else "none")
        # No connection is needed. Chromium asks for updates.
        for effect, kind in (("allow", "tool"), ("deny", "network")):
            rule = {"effect": effect, "kind": kind, "server": name}
            self.cellgate.request("policy/add", {"rule": rule, "scope": "workspace"})
        execution = self.cellgate.run(fill(server.cell, self.workspace.path), timeout=START)
        if "error" in execution.result():
            self.fail("{ename}: {evalue}".format(**execution.result()["error"]))
        prints = (self.boxed and server.prints_in_sandbox) or server.prints
        self.assertIn(prints, execution.text())
        for tool, arguments, expected in server.calls:
            params = {"server": name, "tool": tool, "arguments": fill(arguments, self.workspace.path)}
            result = self.cellgate.request("tools/call", params, timeout=START)
            self.assertEqual(result.get("isError", False), expected.startswith(FAILS), (tool, result))
            self.assertIn(expected.removeprefix(FAILS), text_of(result), tool)
        self.assertEqual(self.cellgate.waiting(), [])


class Outside(ServersTest):
    def test_all_wrappers_are_strict_under_pyright(self):
        for name in SERVERS:
            self.generate(name)
        for version in ("3.9", "3.13"):
            found = pyright(self.workspace.path, version)
            for name in [*(f"mcptools/{server}/" for server in SERVERS), "mcptools/_"]:
                with self.subTest(name, version=version):
                    self.assertEqual([each for each in found if each.startswith(name)], [])


class InSandbox(ServersTest):
    boxed = True


def test_of(name):
    return lambda self: self.try_server(name)


for _name in SERVERS:
    setattr(Outside, f"test_{_name}", test_of(_name))
    setattr(InSandbox, f"test_{_name}", test_of(_name))


if __name__ == "__main__":
    unittest.main()
