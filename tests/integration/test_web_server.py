"""The built-in tool server `web`: real pages as Markdown, in Chromium, and searches; which hosts are asked about, and what
it does not reach."""

import base64
import contextlib
import json
import os
import shutil
import struct
import unittest
from pathlib import Path

import own_network
from cellgate_client import SharedSidecarTest
from cli_testing import CliTest
from executions import RpcError
from tools_testing import text_of
from web_site import Site
from workspaces import SYSTEM_PATH

NODE = shutil.which("node", path=SYSTEM_PATH)
BUILT = (Path(os.environ.get("CELLGATE_BUILD", "/")).parent / "share/cellgate/web.cjs").exists()
CHROMIUM = Path("/usr/lib/chromium/chromium").exists() or Path("/usr/bin/google-chrome").exists()
MARKDOWN = """\
## Rules

See [the rules](http://allowed.example:{port}/rules?page=2#top), click or `policy`. """
CODE = """\
```python
def gate(x):
    return x < 1
```"""
TABLE = """\
| Rule | Effect |
| --- | --- |
| first | allow |
| second | deny |"""


class WebTest(SharedSidecarTest):
    @classmethod
    def prepare(cls):
        cls.site = Site()
        cls.addClassCleanup(cls.site.server_close)
        cls.addClassCleanup(cls.site.shutdown)

    def setUp(self):
        self.site.asked.clear()
        self.base = f"http://allowed.example:{self.site.port}"
        self.engine = f"http://pypi.example:{self.site.port}/"
        self.add("web", env={"SEARXNG_URL": self.engine})

    def add(self, name, **more):
        self.addCleanup(self.remove, name)
        return self.cellgate.request("toolServers/add", {"server": name, "config": {"builtin": "web", **more}})

    def remove(self, name):
        with contextlib.suppress(RpcError):  # it is gone already
            self.cellgate.request("toolServers/remove", {"server": name})

    def rule(self, **rule):
        rule = self.cellgate.request("policy/add", {"rule": {"effect": "allow", **rule}, "scope": "workspace"})
        self.addCleanup(self.cellgate.request, "policy/remove", {"ruleId": rule["id"]})

    def start(self, tool, server="web", **arguments):
        return self.cellgate.start("tools/call", {"server": server, "tool": tool, "arguments": arguments})

    def call(self, tool, server="web", **arguments):
        """The result of a call that the user allows; the user is asked about nothing else."""
        before = self.cellgate.asked()
        pending = self.start(tool, server, **arguments)
        approval = self.cellgate.approval()
        self.assertEqual((approval["action"]["kind"], approval["action"]["tool"]), ("tool", tool))
        self.cellgate.allow(approval)
        result = pending.result()
        self.assertEqual(self.cellgate.asked(), before + 1, self.cellgate.waiting())
        return result

    def answer(self, tool, **arguments):
        result = self.call(tool, **arguments)
        self.assertFalse(result.get("isError"), text_of(result))
        return result["structuredContent"]

    def failure(self, tool, **arguments):
        result = self.call(tool, **arguments)
        self.assertTrue(result.get("isError"), text_of(result))
        return text_of(result)


@unittest.skipUnless(NODE and BUILT, "needs node, and `./dev web`")
class Fetch(WebTest):
    def test_a_page_becomes_the_markdown_of_its_main_content(self):
        page = self.answer("fetch", url=self.base + "/article")
        self.assertEqual((page["title"], page["url"], page["truncated"]), ("On gates", self.base + "/article", False))
        self.assertIn(MARKDOWN.format(port=self.site.port), page["text"])
        self.assertIn(CODE, page["text"])
        self.assertIn(TABLE, " ".join(page["text"].split(" ")).replace("  ", " "))
        self.assertIn("Über naïve Gates: ü.", page["text"])
        for left_out in ("Home", "About this site", "Imprint", "made by a script", "javascript:"):
            self.assertNotIn(left_out, page["text"])
        text = text_of(self.call("fetch", url=self.base + "/packed"))
        self.assertTrue(text.startswith(f"# On gates\n\n{self.base}/packed\n\n"), text)
        self.assertIn(CODE, text)

    def test_no_more_than_was_asked_for(self):
        page = self.answer("fetch", url=self.base + "/article", max_chars=100)
        self.assertEqual((len(page["text"]), page["truncated"]), (100, True))

    def test_what_is_no_html(self):
        self.assertEqual(self.answer("fetch", url=self.base + "/data")["text"], '{"a": [1, 2]}')
        self.assertEqual(self.answer("fetch", url=self.base + "/latin")["text"], "naïve")
        self.assertIn("application/pdf", self.failure("fetch", url=self.base + "/document"))
        self.assertIn("404", self.failure("fetch", url=self.base + "/absent"))

    def test_a_page_of_100_mb_is_cut(self):
        page = self.answer("fetch", url=self.base + "/huge")
        self.assertTrue(page["truncated"])
        self.assertIn("words words", page["text"])
        self.assertLess(self.site.sent, 50_000_000)

    def test_a_page_that_is_too_much_for_a_parser_harms_no_other(self):
        pending = self.start("fetch", url=self.base + "/deep")
        self.cellgate.allow(self.cellgate.approval())
        self.assertEqual(self.answer("fetch", url=self.base + "/data")["text"], '{"a": [1, 2]}')
        self.assertIn("cannot be turned into Markdown", text_of(pending.result()))

    def test_a_redirect_to_another_host_is_asked_about(self):
        other = f"http://other.example:{self.site.port}/article"
        for allowed in (False, True):
            pending = self.start("fetch", url=f"{self.base}/to?url={other}")
            self.cellgate.allow(self.cellgate.approval())
            approval = self.cellgate.approval()
            action = approval["action"]
            self.assertEqual((action["kind"], action["server"], action["host"], action["port"]),
                             ("network", "web", "other.example", self.site.port))
            self.assertNotIn(("other.example", "/article"), [(host.split(":")[0], path) for host, path in self.site.asked])
            (self.cellgate.allow if allowed else self.cellgate.deny)(approval)
            result = pending.result()
            self.assertEqual(result.get("isError", False), not allowed, text_of(result))
            self.assertIn("# On gates" if allowed else "no connection to other.example", text_of(result))
        self.assertIn("more than 10 times", self.failure("fetch", url=self.base + "/round"))

    def test_the_yes_to_a_call_ends_with_it(self):
        self.answer("fetch", url=self.base + "/data")
        rules = self.cellgate.request("policy/list")["rules"]
        self.assertFalse([rule for rule in rules if rule.get("host", "").startswith("allowed.example")])
        pending = self.start("fetch", url=f"http://other.example:{self.site.port}/to?url={self.base}/data")
        self.cellgate.allow(self.cellgate.approval())
        approval = self.cellgate.approval()
        self.assertEqual(approval["action"]["host"], "allowed.example")
        self.cellgate.deny(approval)
        self.assertIn("no connection to allowed.example", text_of(pending.result()))

    def test_a_rule_that_denies_a_host_holds_for_an_allowed_call(self):
        self.rule(effect="deny", kind="network", host="allowed.example")
        self.assertIn("no connection to allowed.example", self.failure("fetch", url=self.base + "/data"))
        self.assertEqual(self.site.asked, [])

    def test_this_machine_and_a_clouds_metadata_are_refused(self):
        local = f"http://127.0.0.1:{self.site.port}/data"
        for url in (local, f"http://localhost:{self.site.port}/data", f"http://rebind.example:{self.site.port}/data",
                    f"http://[::ffff:7f00:1]:{self.site.port}/data", "http://169.254.169.254/latest/meta-data/",
                    f"{self.base}/to?url={local}", f"{self.base}/to?url=file:///etc/passwd"):
            with self.subTest(url):
                self.assertRegex(self.failure("fetch", url=url), "no connection to|starts with http")
        self.assertNotIn("/data", [path for _, path in self.site.asked])
        self.rule(kind="network", host=f"127.0.0.1:{self.site.port}")
        self.assertEqual(self.answer("fetch", url=local)["text"], '{"a": [1, 2]}')  # the control

    def test_other_addresses_than_those_of_the_web(self):
        for url in ("file:///etc/passwd", "data:text/html,x", "chrome://version", "allowed.example",
                    f"http://a:b@allowed.example:{self.site.port}/data"):
            for tool in ("fetch", "browse"):
                with self.subTest(tool=tool, url=url):
                    self.assertRegex(self.failure(tool, url=url), "^expected a URL")
        self.assertEqual(self.site.asked, [])

    def test_it_sees_neither_the_workspace_nor_the_home(self):
        (self.workspace.home / "mine").write_text("x")
        self.workspace.write("ours", "x")
        files = [str(self.workspace.home / "mine"), str(self.workspace.path / "ours"), "/usr/bin/env"]
        look = "".join(f"console.error(fs.existsSync('{file}'));" for file in files)
        program = "data:text/javascript,import%20fs%20from%20'node:fs';" + look
        self.add("looking", env={"NODE_OPTIONS": f"--import={program}"})
        self.answer("fetch", server="looking", url=self.base + "/data")
        self.assertEqual(self.cellgate.request("toolServers/log", {"server": "looking"})["text"].split()[:3],
                         ["false", "false", "true"])
        [info] = [s for s in self.cellgate.request("toolServers/list")["servers"] if s["name"] == "looking"]
        self.assertEqual((info["sandbox"], info["transport"]), ("bwrap", "stdio"))
        self.assertLessEqual({"network-namespace", "private-home", "network-proxy"}, set(info["layers"]))

    def test_from_a_cell(self):
        self.cellgate.request("wrappers/generate", {"server": "web"})
        execution = self.cellgate.execute(f"from mcptools.web import fetch\nprint(fetch.run(url='{self.base}/article').title)")
        self.cellgate.allow(self.cellgate.approval())
        execution.result()
        self.assertEqual(execution.text().strip(), "On gates", execution.outputs())

    def test_what_no_configuration_can_say(self):
        for config, expected in (({"builtin": "weather"}, '"web"'), ({"builtin": "web", "sandbox": True}, "alone"),
                                 ({"builtin": "web", "command": "node"}, "alone")):
            with self.assertRaises(RpcError) as caught:
                self.cellgate.request("toolServers/add", {"server": "other", "config": config})
            self.assertIn(expected, caught.exception.message)


@unittest.skipUnless(NODE and BUILT, "needs node, and `./dev web`")
class Secure(WebTest):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.authority, certificate = own_network.make_certificates(cls.workspace.base / "certificates", ["allowed.example"])
        cls.secure = Site(443, certificate)
        cls.plain = Site(80)
        for site in (cls.secure, cls.plain):
            cls.addClassCleanup(site.server_close)
            cls.addClassCleanup(site.shutdown)

    def test_certificates_are_verified(self):
        self.assertRegex(self.failure("fetch", url="https://allowed.example/article"), "certificate")
        self.add("web", env={"SSL_CERT_FILE": str(self.authority)})
        self.assertEqual(self.answer("fetch", url="https://allowed.example/article")["title"], "On gates")
        self.assertRegex(self.failure("fetch", url="https://other.example/article"), "certificate|altnames")

    def test_one_yes_covers_http_and_https_of_a_host(self):
        self.add("web", env={"SSL_CERT_FILE": str(self.authority)})
        page = self.answer("fetch", url="http://allowed.example/to?url=https://allowed.example/article")
        self.assertEqual(page["url"], "https://allowed.example/article")


@unittest.skipUnless(NODE and BUILT, "needs node, and `./dev web`")
class Search(WebTest):
    def test_results_are_those_of_the_engine(self):
        found = self.answer("search", query="gates & rules", max_results=2)["results"]
        self.assertEqual(found, [{"title": f"Result {i}", "url": f"https://host{i}.example/", "snippet": f"Snippet {i}"}
                                 for i in range(2)])
        self.assertEqual(self.site.asked, [(f"pypi.example:{self.site.port}", "/search?q=gates+%26+rules&format=json")])
        text = text_of(self.call("search", query="gates"))
        self.assertIn("1. Result 0\n   https://host0.example/\n   Snippet 0\n2. ", text)
        self.assertNotIn("11. ", text)
        self.assertEqual(text_of(self.call("search", query="nothing")), "No results.")

    def test_a_key_of_braves_is_enough(self):
        self.add("web", env={"BRAVE_API_KEY": "the-key", "BRAVE_API_URL": self.base + "/brave"})
        found = self.answer("search", query="gates & rules", max_results=2)["results"]
        self.assertEqual(found, [{"title": f"Result {i}", "url": f"https://host{i}.example/", "snippet": f"Snippet {i}"}
                                 for i in range(2)])
        self.assertEqual(self.site.asked[-1][1], "/brave?q=gates+%26+rules&count=2&text_decorations=false")
        self.assertEqual(text_of(self.call("search", query="nothing")), "No results.")
        self.add("web", env={"BRAVE_API_KEY": "another", "BRAVE_API_URL": self.base + "/brave"})
        self.assertIn("does not accept the key", self.failure("search", query="x"))

    def test_what_is_missing_is_said(self):
        self.assertIn("search.formats", self.failure("search", query="refuse"))
        self.add("web")
        self.assertRegex(self.failure("search", query="x"), "SEARXNG_URL.*BRAVE_API_KEY")
        self.add("web", env={"SEARXNG_URL": f"{self.base}/article"})
        self.assertIn("404", self.failure("search", query="x"))

    def test_an_engine_on_this_machine_is_reached(self):
        self.add("web", env={"SEARXNG_URL": f"http://127.0.0.1:{self.site.port}"})
        self.assertEqual(len(self.answer("search", query="x")["results"]), 10)
        self.assertIn("no connection", self.failure("fetch", url=f"http://127.0.0.1:{self.site.port + 1}/"))


@unittest.skipUnless(NODE and BUILT and CHROMIUM, "needs node, `./dev web` and chromium")
class Browse(WebTest):
    def test_a_page_that_is_made_by_scripts(self):
        self.assertEqual(self.answer("fetch", url=self.base + "/app")["text"], "")  # the control
        page = self.answer("browse", url=self.base + "/app")
        self.assertEqual((page["title"], page["url"], page["failed"]), ("App", self.base + "/app", []))
        self.assertIn("Made by a script", page["text"])
        self.assertNotIn("The late words", page["text"])

    def test_an_element_is_waited_for_and_the_window_pictured(self):
        result = self.call("browse", url=self.base + "/app", wait_for="#late", screenshot=True)
        self.assertIn("The late words", text_of(result))
        [picture] = [block for block in result["content"] if block["type"] == "image"]
        self.assertEqual(picture["mimeType"], "image/png")
        png = base64.b64decode(picture["data"])
        self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", png[16:24]), (1280, 800))

    def test_each_host_that_a_page_needs_is_asked_about(self):
        script = f"http://other.example:{self.site.port}/data"
        pending = self.start("browse", url=f"{self.base}/framed?of={script}")
        self.cellgate.allow(self.cellgate.approval())
        approval = self.cellgate.approval()
        self.assertEqual((approval["action"]["kind"], approval["action"]["host"]), ("network", "other.example"))
        self.cellgate.deny(approval)
        result = pending.result()
        self.assertIn("around it", text_of(result))
        self.assertNotIn("/data", [path for _, path in self.site.asked])
        self.assertIn("other.example", text_of(result))

    def test_this_machine_is_refused(self):
        local = f"http://127.0.0.1:{self.site.port}/data"
        for url in (local, f"http://localhost:{self.site.port}/data", f"{self.base}/to?url={local}",
                    f"{self.base}/to?url=file:///etc/passwd"):
            with self.subTest(url):
                self.assertTrue(self.failure("browse", url=url))
        self.assertNotIn("/data", [path for _, path in self.site.asked])
        self.rule(kind="network", host=f"127.0.0.1:{self.site.port}")
        self.assertIn('{"a": [1, 2]}', self.answer("browse", url=local)["text"])  # the control

    def test_an_error_of_the_site_is_one(self):
        self.assertIn("404", self.failure("browse", url=self.base + "/absent"))


@unittest.skipUnless(NODE and BUILT and CHROMIUM, "needs node, `./dev web` and chromium")
class OnTheCommandLine(CliTest):
    def test_call_searches_fetches_and_browses(self):
        site = Site()
        self.addCleanup(site.server_close)
        self.addCleanup(site.shutdown)
        page, engine = f"http://allowed.example:{site.port}", f"http://pypi.example:{site.port}/"
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": {"web": {"builtin": "web", "env": {"SEARXNG_URL": engine}}}}))
        for tool, arguments, expected in (("search", {"query": "gates"}, "1. Result 0"),
                                          ("fetch", {"url": page + "/article"}, "# On gates"),
                                          ("browse", {"url": page + "/app"}, "Made by a script")):
            with self.subTest(tool):
                ended = self.cli("call", "--mcp-config", ".mcp.json", "--allow", f"web/{tool}", "web", tool, json.dumps(arguments))
                self.assertEqual(ended.returncode, 0, ended.stderr)
                self.assertIn(expected, text_of(json.loads(ended.stdout)))


@unittest.skipUnless(NODE and BUILT, "needs node, and `./dev web`")
class Inspected(WebTest):
    @classmethod
    def prepare(cls):
        super().prepare()
        authority, certificate = own_network.make_certificates(cls.workspace.base / "certificates", ["allowed.example"])
        cls.environment = {"SSL_CERT_FILE": str(authority)}
        cls.secure = Site(443, certificate)
        cls.addClassCleanup(cls.secure.server_close)
        cls.addClassCleanup(cls.secure.shutdown)

    def test_a_host_whose_requests_are_judged_one_by_one(self):
        url = "https://allowed.example/article"
        self.assertIn("certificate", self.failure("fetch", url=url))  # the server does not know the test's authority
        self.rule(effect="inspect", kind="request", host="allowed.example")
        self.rule(kind="request", host="allowed.example", paths=["/article"])
        self.assertEqual(self.answer("fetch", url=url)["title"], "On gates")


if __name__ == "__main__":
    own_network.enter()
    unittest.main()
