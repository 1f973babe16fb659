"""Resources and prompts of MCP servers: read in cells, each read through the gate."""

import json
import shutil
import unittest

from cellgate_client import FIXTURES, REPOSITORY, WorkspaceTest, arguments_of
from executions import RpcError
from tools_testing import ToolsTest
from workspaces import SYSTEM_PATH

EVERYTHING = REPOSITORY / "tests/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
NODE = shutil.which("node") or shutil.which("node", path=SYSTEM_PATH)


def features_server(*more):
    return {"command": "/usr/bin/python3", "args": ["-B", str(FIXTURES / "features_server.py"), *more]}


class Features(ToolsTest):
    """A server with lists of several pages, some items of which are broken; in both eras."""

    options = {"mcpServers": {"notes": features_server(), "modern": features_server("--era", "modern")}}
    generated = ("notes", "modern")

    def test_what_can_be_used_is_a_tool_and_what_is_the_servers_own_comes_first(self):
        for server in self.generated:
            made = self.modules[server]
            self.assertEqual([each["tool"] for each in made["modules"]],
                             ["prompts/odd", "resources/list", "resources/templates", "resources/read",
                              "resources/subscribe", "resources/Weather_of_a_day", "prompts/greet"])
            self.assertEqual(made["skipped"], [])
        own = self.call("notes", "prompts/odd", {})
        self.assertEqual(own["content"][0]["text"], "the tool")

    def test_a_cell_lists_and_reads_resources(self):
        for server in self.generated:
            text = self.run_ok(
                f"from mcptools.{server} import resources\n"
                "print([each.uri for each in resources.list.run().resources])\n"
                "print(resources.read.run(uri='note://7').text)\n"
                "print(resources.weather_of_a_day.run(city='São Paulo', day='2026/1', unit='K').text)\n"
                "print([each.name for each in resources.templates.run().resourceTemplates])",
                approvals="allow").text()
            self.assertEqual(text, "['note://0', 'note://1', 'note://2', 'note://3', 'note://4']\n"
                                   "the text of note://7\n"
                                   "the text of weather://S%C3%A3o%20Paulo/2026/1?unit=K\n"
                                   "['Weather of a day', 'broken', 'read']\n")

    def test_a_user_is_asked_about_the_address_that_a_template_gives(self):
        execution = self.cellgate.execute("from mcptools.notes import resources\n"
                                          "resources.weather_of_a_day.run(city='Oslo', day='today')", cell=self.CELL)
        asked = self.cellgate.approval()
        self.assertEqual(asked["action"]["tool"], "resources/read")
        self.assertEqual(arguments_of(asked), {"uri": "weather://Oslo/today"})
        self.assertEqual(asked["origin"]["line"], 11)
        self.cellgate.respond(asked, "allow", argumentsText='{"uri": "weather://Oslo/tomorrow"}')
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertIn("the text of weather://Oslo/tomorrow", json.dumps(execution.outputs()))
        self.cellgate.execute("resources.read.run(uri='note://secret')")
        self.cellgate.deny(self.cellgate.approval(), reason="not that one")

    def test_a_rule_for_reads_holds_for_templates_too(self):
        self.cellgate.request("policy/add", {"scope": "workspace", "rule": {
            "effect": "allow", "kind": "tool", "server": "notes", "tool": "resources/read",
            "arguments": {"/uri": {"glob": "weather://Oslo/*"}}}})
        self.run_ok("from mcptools.notes import resources\n"
                    "print(resources.weather_of_a_day.run(city='Oslo', day='now').text)")
        other = self.call("notes", "resources/Weather_of_a_day", {"city": "Oslo/../Rome", "day": "now"})
        self.assertEqual(other["content"][0]["resource"]["uri"], "weather://Oslo%2F..%2FRome/now")
        self.assertIsNotNone(self.approval)

    def test_a_resource_is_followed_through_its_changes(self):
        for server in self.generated:
            text = self.run_ok(
                f"from mcptools.{server} import prompts_odd, resources\n"
                "updates = resources.updates(uri='note://5')\n"
                "print(next(updates).text)\n"
                "prompts_odd.run()\n"
                "print(next(updates).text)", approvals="allow").text()
            self.assertEqual(text, "the text of note://5\n" * 2)
            # Without a change it waits, and its caller can give it up.
            pending = self.cellgate.start("tools/call", {"server": server, "tool": "resources/subscribe",
                                                         "arguments": {"uri": "note://5"}})
            self.cellgate.allow(self.cellgate.approval())
            self.cellgate.notify("$/cancelRequest", {"id": pending.id})
            with self.assertRaises(RpcError):
                pending.result()

    def test_a_picture_displays_itself(self):
        execution = self.run_ok("from mcptools.notes import resources\nresources.read.run(uri='note://picture')",
                                approvals="allow")
        (data,) = [output["data"] for output in execution.outputs() if "data" in output]
        self.assertTrue(data["image/png"].startswith("iVBORw0KGgo"))

    def test_a_prompt_has_typed_arguments_and_gives_messages(self):
        for server in self.generated:
            text = self.run_ok(f"from mcptools.{server} import prompts\n"
                               "greeting = prompts.greet.run(who='Ada', how='Salve')\n"
                               "print(greeting.description, greeting.messages[0].role, greeting.content.text)",
                               approvals="allow").text()
            self.assertEqual(text, "A greeting user Salve Ada\n")
        missing = self.call("notes", "prompts/greet", {"how": "Salve"})
        self.assertEqual(missing.data["kind"], "argumentsInvalid")
        self.assertIn("who", str(missing))

    def test_what_the_server_refuses_or_breaks_is_an_error_that_says_so(self):
        refused = self.call("notes", "resources/read", {"uri": "note://missing"})
        self.assertTrue(refused["isError"])
        self.assertIn("Resource not found", refused["content"][0]["text"])
        broken = self.call("notes", "resources/read", {"uri": "note://nothing"})
        self.assertEqual(broken.data["kind"], "toolServerFailed")
        self.assertIn("resources/read is broken: expected contents with a text or a blob", str(broken))


class Muted(WorkspaceTest):
    def test_a_list_that_a_server_does_not_give_leaves_the_rest(self):
        cellgate = self.sidecar(options={"mcpServers": {"notes": features_server("--mute", "prompts/list")}})
        made = cellgate.request("wrappers/generate", {"server": "notes"})
        self.assertEqual([each["tool"] for each in made["modules"]][-1], "resources/Weather_of_a_day")
        cellgate.close()


@unittest.skipUnless(NODE and EVERYTHING.exists(), "needs node and the npm packages of tests/package.json")
class Everything(ToolsTest):
    """@modelcontextprotocol/server-everything, as it comes."""

    options = {"mcpServers": {"everything": {"command": NODE, "args": [str(EVERYTHING), "stdio"]}}}
    generated = ("everything",)

    def test_its_resources_and_prompts_are_used_in_a_cell(self):
        self.assertEqual(self.modules["everything"]["skipped"], [])
        text = self.run_ok(
            "from mcptools.everything import prompts, resources\n"
            "print(resources.dynamic_text_resource.run(resourceId='3').text)\n"
            "print(len(resources.list.run().resources) > 3)\n"
            "print(prompts.args_prompt.run(city='Oslo').content.text)", approvals="allow").text()
        self.assertRegex(text, r"Resource 3: .*\nTrue\nWhat's weather in Oslo\?\n")

    def test_its_updates_arrive(self):
        text = self.run_ok(
            "from mcptools.everything import resources, toggle_subscriber_updates\n"
            "updates = resources.updates(uri='demo://resource/dynamic/text/1')\n"
            "print(next(updates).text)\n"
            "toggle_subscriber_updates.run()\n"
            "print(next(updates).text)", approvals="allow").text()
        self.assertRegex(text, r"\A(Resource 1: .*\n){2}\Z")


if __name__ == "__main__":
    unittest.main()
