"""What a tool answers, as a cell gets it: blocks that display themselves, structures, failures, filled-in defaults."""

import unittest

from cellgate_client import arguments_of
from tools_testing import ToolsTest


class Answers(ToolsTest):
    def displayed(self, execution):
        """The data of each display, by type."""
        return [output["data"] for output in execution.outputs() if "data" in output]

    def test_a_list_of_blocks_displays_each_of_them(self):
        execution = self.run_ok("from mcptools.fix import image\nimage.run()", approvals="allow")
        (picture,) = self.displayed(execution)
        self.assertEqual(picture["text/plain"], "<ImageContent image/png, 70 bytes>")
        self.assertTrue(picture["image/png"].startswith("iVBORw0KGgo"))
        shown = self.run_ok("from mcptools.fix import image\nprint(image.run())", approvals="allow")
        self.assertEqual(shown.text(), "[<ImageContent image/png, 70 bytes>]\n")

    def test_a_structure_has_the_picture_that_came_with_it(self):
        execution = self.run_ok("from mcptools.fix import measure\nresult = measure.run(unit='m')\n"
                                "print(result.content.text, [block.type for block in result.content])\nresult",
                                approvals="allow")
        self.assertEqual(execution.text(), "measured ['text', 'image']\n")
        picture, structure = self.displayed(execution)
        self.assertIn("image/png", picture)
        self.assertEqual(structure["text/plain"], "Result(length=3, unit='m')")

    def test_a_structure_that_its_schema_forbids_is_a_tool_error_that_shows_both(self):
        code = ("from mcptools import ToolError\nfrom mcptools.fix import measure\ntry:\n    measure.run(wrong=True)\n"
                "except ToolError as error:\n    print(error)")
        text = self.run_ok(code, approvals="allow").text()
        self.assertIn("fix.measure: ", text)
        self.assertIn('result.length: expected a number, found "long"', text)
        self.assertIn('{"length": "long", "unit": "cm"}', text)
        self.assertIn("measured", text)

    def test_a_failure_says_whose_it_is(self):
        code = ("import mcptools\nfrom mcptools.fix import fail, die\nfor tool in (fail, die):\n    try:\n"
                "        tool.run()\n    except mcptools.ToolCallError as error:\n"
                "        print(type(error).__name__, error.server, error.tool, error.message.split(':')[0])")
        self.assertEqual(self.run_ok(code, approvals="allow").text(),
                         "ToolError fix fail it failed\n"
                         'ToolConnectionError fix die the tool server "fix" ended during the call\n')

    def test_a_default_that_is_filled_in_is_what_the_user_sees_and_the_server_gets(self):
        execution = self.cellgate.execute("from mcptools.fix import measure\nprint(measure.run().unit)")
        asked = self.cellgate.approval()
        self.assertEqual(arguments_of(asked), {"unit": "cm"})
        self.cellgate.allow(asked)
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(execution.text(), "cm\n")


if __name__ == "__main__":
    unittest.main()
