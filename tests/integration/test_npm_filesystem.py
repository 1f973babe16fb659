"""The same with a real MCP server of npm, @modelcontextprotocol/server-filesystem."""

import os
import shutil
import unittest

from cellgate_client import REPOSITORY, arguments_of
from tools_testing import ToolsTest
from workspaces import SYSTEM_PATH

SERVER = REPOSITORY / "tests/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
NODE = shutil.which("node") or shutil.which("node", path=SYSTEM_PATH)


@unittest.skipUnless(NODE and SERVER.exists(), "needs node and the npm packages of tests/package.json")
class Filesystem(ToolsTest):
    options = {"mcpServers": {"filesystem": {"command": NODE, "args": [str(SERVER), "${workspaceFolder}"]}}}
    generated = ("filesystem",)
    LIST = "from mcptools.filesystem import list_directory\n"

    @classmethod
    def prepare(cls):
        for name in ("data/january.csv", "data/february.csv", "other/x.txt"):
            cls.workspace.write(name, name)

    def path(self, name):
        return os.path.join(self.workspace.path, name)

    def test_all_of_its_tools_have_wrappers(self):
        answer = self.modules["filesystem"]
        self.assertEqual(answer["skipped"], [])
        self.assertLessEqual({"list_directory", "read_text_file", "write_file", "edit_file"},
                             {m["tool"] for m in answer["modules"]})

    def test_a_directory_is_listed_after_the_yes(self):
        execution = self.cellgate.execute(self.LIST + f"print(list_directory.run(path={self.path('data')!r}).content)",
                                          cell=self.CELL)
        approval = self.cellgate.approval()
        self.assertEqual(approval["action"]["tool"], "list_directory")
        self.assertEqual(arguments_of(approval), {"path": self.path("data")})
        self.assertEqual(approval["origin"]["line"], 11)
        self.assertTrue(approval["hints"]["readOnlyHint"])
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertIn("[FILE] january.csv", execution.text())

    def test_the_reason_of_a_no_is_in_the_cells_error(self):
        execution = self.cellgate.execute(self.LIST + f"list_directory.run(path={self.path('data')!r})")
        self.cellgate.deny(self.cellgate.approval(), reason="these are private")
        self.assert_denied(execution, "these are private")

    def test_a_loop_of_equal_calls_asks_once_and_anything_else_asks_again(self):
        data, other = self.path("data"), self.path("other")
        execution = self.cellgate.execute(
            "from mcptools.filesystem import list_directory, get_file_info\n"
            f"for _ in range(1000): list_directory.run(path={data!r})\nprint('looped', flush=True)\n"
            f"list_directory.run(path={other!r})\nget_file_info.run(path={data!r})\n")
        asked = self.cellgate.asked()
        first = self.cellgate.approval()
        self.cellgate.allow(first, scope="execution")
        second = self.cellgate.approval(timeout=300)
        self.assertEqual(execution.wait_for_text("looped").text(), "looped\n")
        self.cellgate.allow(second, scope="execution")
        third = self.cellgate.approval()
        self.cellgate.allow(third, scope="execution")
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertEqual([(a["action"]["tool"], arguments_of(a)["path"]) for a in (first, second, third)],
                         [("list_directory", data), ("list_directory", other), ("get_file_info", data)])
        self.assertLessEqual(self.cellgate.asked() - asked, 3)
        execution = self.cellgate.execute(self.LIST + f"list_directory.run(path={data!r})")
        self.cellgate.deny(self.cellgate.approval())
        self.assert_denied(execution, "")

    def test_writing_and_editing(self):
        execution = self.cellgate.execute("from mcptools.filesystem import write_file\n"
                                          f"write_file.run(path={self.path('new.txt')!r}, content='from the cell')")
        approval = self.cellgate.approval()
        self.assertFalse(os.path.exists(self.path("new.txt")))
        self.cellgate.allow(approval, arguments={"path": self.path("new.txt"), "content": "from the user"})
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        with open(self.path("new.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "from the user")

    def test_what_the_tool_refuses_is_an_error_with_its_words(self):
        execution = self.cellgate.execute("from mcptools.filesystem import read_text_file\n"
                                          "read_text_file.run(path='/etc/passwd')")
        self.cellgate.allow(self.cellgate.approval())
        error = execution.result()["error"]
        self.assertEqual(error["ename"], "ToolError")
        self.assertIn("denied", error["evalue"].lower())


if __name__ == "__main__":
    unittest.main()
