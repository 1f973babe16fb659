"""`cellgate mcp --as sandboxmcp`: what its tools for the web, domains and packages give after a user's yes."""

import base64
import unittest

import own_network
from cellgate_client import arguments_of
from install_testing import Index, wheel
from mcp_testing import text_of
from test_sandboxmcp_tools import SandboxmcpTest
from test_web_server import BUILT, CHROMIUM, NODE
from web_site import Site

PNG = b"\x89PNG\r\n\x1a\n"


class AfterAYes(SandboxmcpTest):
    def setUp(self):
        super().setUp()
        self.site = Site()
        self.addCleanup(self.site.server_close)
        self.addCleanup(self.site.shutdown)

    def answered(self, agent, editor, tool, /, **arguments):
        """The arguments that the user saw, and the result after the yes."""
        call = agent.start_call(tool, **arguments)
        asked = editor.approval()
        editor.allow(asked)
        return arguments_of(asked), self.assert_ok(agent.answer(call))

    @unittest.skipUnless(NODE and BUILT and CHROMIUM, "needs node, `./dev web` and chromium")
    def test_each_tool_of_the_web_takes_all_that_it_offers(self):
        agent, editor = self.agent(), self.editor()
        page, engine = f"http://allowed.example:{self.site.port}", f"http://pypi.example:{self.site.port}/"
        editor.request("toolServers/add", {"server": "web", "config": {"builtin": "web", "env": {"SEARXNG_URL": engine}}})
        asked = {"query": "gates & rules", "max_results": 2}
        shown, result = self.answered(agent, editor, "web_search", **asked)
        self.assertEqual(shown, asked)
        self.assertEqual([each["title"] for each in result["structuredContent"]["results"]], ["Result 0", "Result 1"])
        asked = {"url": page + "/article", "max_chars": 100}
        shown, result = self.answered(agent, editor, "fetch_webpage", **asked)
        self.assertEqual((shown, len(result["structuredContent"]["text"])), (asked, 100))
        asked = {"url": page + "/app", "wait_for": "#late", "screenshot": True}
        shown, result = self.answered(agent, editor, "browser_fetch", **asked)
        self.assertEqual(shown, asked)
        self.assertIn("The late words", text_of(result))
        [picture] = [block for block in result["content"] if block["type"] == "image"]
        self.assertEqual(base64.b64decode(picture["data"])[:8], PNG)

    def test_a_domain_that_the_user_allows_is_reached(self):
        agent, editor = self.agent(), self.editor()
        asked = f"allowed.example:{self.site.port}"
        call = agent.start_call("request_egress", domain=asked)
        approval = editor.approval()
        self.assertEqual((approval["action"]["host"], approval["action"]["port"]), ("allowed.example", self.site.port))
        editor.allow(approval)
        result = self.json_of(agent.answer(call))
        self.assertEqual((result["domain"], result["approved"]), (asked, True), result)

    def test_a_package_that_the_user_allows_can_be_imported_and_is_in_the_record(self):
        index = Index()
        self.addCleanup(index.close)
        index.add("tiny", wheel("tiny", "1.0", "SIZE = 'tiny'\n"))
        index_url = index.url + "/simple/"
        editor = self.editor(environment=self.environment(PIP_INDEX_URL=index_url))
        agent = self.agent(PIP_INDEX_URL=index_url)
        self.assertIn("ModuleNotFoundError", self.run_code(agent, "import tiny")["error"])  # the control
        call = agent.start_call("install_package", package="tiny")
        editor.allow(editor.approval())
        installed = self.json_of(agent.answer(call))
        self.assertTrue(installed["success"], installed)
        self.assertIn("tiny", str(installed["installed"]))
        self.assertEqual(self.run_code(agent, "import tiny\nprint(tiny.SIZE)")["stdout"], "tiny\n")
        entries = editor.request("record/query", {"types": ["action.decided", "action.ended"]})["entries"]
        [decided] = [entry["data"] for entry in entries if entry["data"].get("action", {}).get("kind") == "install"]
        [ended] = [entry["data"] for entry in entries if entry["type"] == "action.ended"]
        self.assertEqual((decided["decision"], decided["action"]["command"][-1]), ("allow", "tiny"))
        self.assertEqual((ended["number"], ended["status"]), (decided["number"], "succeeded"))


if __name__ == "__main__":
    own_network.enter()
    unittest.main()
