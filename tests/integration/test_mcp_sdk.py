"""The official MCP SDK as a client of `cellgate mcp`: version 1 speaks the legacy era, version 2 the modern one."""

import json
import os
import shutil
import subprocess
import unittest

from cellgate_client import CELLGATE, REPOSITORY, WorkspaceSidecarTest
from tools_testing import fixture_server
from workspaces import SYSTEM_PATH

HERE = REPOSITORY / "tests/integration"
MODULES = REPOSITORY / "tests/node_modules/@modelcontextprotocol"
NODE = shutil.which("node") or shutil.which("node", path=SYSTEM_PATH)


@unittest.skipUnless(NODE and (MODULES / "client").exists() and (MODULES / "sdk").exists(),
                     "needs node and the npm packages of tests/package.json")
class Sdk(WorkspaceSidecarTest):
    def run_client(self, line):
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": {"fix": fixture_server()}}))
        ended = subprocess.run(
            [NODE, str(HERE / "mcp_sdk_client.mjs"), line, CELLGATE, "mcp",
             "--root", str(self.workspace.path), "--trace",
             str(self.workspace.new_trace())], cwd=self.workspace.path, env=self.workspace.environment(
                 PATH=f"{os.path.dirname(NODE)}:{SYSTEM_PATH}"), capture_output=True, text=True, timeout=180,
            check=False)
        self.assertEqual(ended.returncode, 0, ended.stderr[-4000:])
        return json.loads(ended.stdout)

    def test_both_lines_of_the_sdk_run_code_are_asked_and_can_stop(self):
        for line in ("v1", "v2"):
            with self.subTest(line):
                saw = self.run_client(line)
                self.assertEqual(saw["server"]["name"], "cellgate")
                self.assertIn("generate_wrappers", saw["tools"])
                self.assertEqual(saw["executed"]["content"][0]["text"], "hello\n42\n")
                self.assertEqual(saw["progress"][0], "hello")
                self.assertFalse(saw["registered"].get("isError"), saw["registered"])
                self.assertIn("by the SDK", saw["called"]["content"][0]["text"])
                self.assertEqual(len(saw["questions"]), 2, saw["questions"])
                self.assertIn(f"by agent sdk {line}", saw["questions"][1])
                self.assertTrue(saw["failed"]["isError"])
                self.assertTrue(saw["aborted"])
                self.assertEqual(saw["after"]["content"][0]["text"], "'still there'\n")
                self.assertEqual(saw["picture"]["content"][0]["mimeType"], "image/png")
                self.finish()


if __name__ == "__main__":
    unittest.main()
