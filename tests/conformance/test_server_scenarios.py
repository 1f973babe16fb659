"""`cellgate mcp --http` as a server, by MCP's own conformance suite: the scenarios of both eras that a server with tools of
its own can be tested by, and why the others do not apply."""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

import token_relay
from test_client_scenarios import MODULES, NODE, SUITE

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))
from mcp_http_testing import HttpMcpTest  # noqa: E402

# With the checks of a scenario that need what cellgate does not have.
TEST_TOOLS = ["sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400",
              "sep-2575-http-server-no-independent-requests-on-stream", "sep-2575-server-no-log-without-loglevel"]
SCENARIOS = {
    "2025-11-25": {"server-initialize": [], "ping": [], "tools-list": [], "dns-rebinding-protection": [],
                   "server-session-lifecycle": []},
    "2026-07-28": {"server-stateless": TEST_TOOLS, "tools-list": [], "dns-rebinding-protection": [],
                   "http-header-validation": []},
}
NOT_APPLICABLE = {
    r"tools-call-.*|elicitation-.*|input-required-result-.*|server-sse-.*|json-schema-2020-12":
        "it calls a tool that the suite prescribes",
    r"http-custom-header-server-validation": "no tool has parameters in the head of a request",
    r"resources-.*|sep-2164-.*|prompts-.*|completion-complete|logging-set-level|caching":
        "it is about more than tools, which is all that the server has",
}


@unittest.skipUnless(MODULES.exists() and SUITE.exists() and NODE.exists(), "needs the npm packages of tests/package.json")
class ServerScenarios(HttpMcpTest):
    def setUp(self):
        super().setUp()
        served = self.serve()
        relay = token_relay.start(int(served.port), served.token)
        self.addCleanup(relay.server_close)
        self.addCleanup(relay.shutdown)
        self.url = f"http://localhost:{relay.server_address[1]}/mcp"

    def failed_checks(self, name, version):
        command = [NODE, SUITE, "server", "--url", self.url, "--scenario", name, "--spec-version", version, "--verbose"]
        ended = subprocess.run(command, text=True, stdin=subprocess.DEVNULL, capture_output=True)
        found = re.search(r"^\[\n.*?^\]$", ended.stdout, re.MULTILINE | re.DOTALL)
        self.assertIsNotNone(found, ended.stdout[-2000:] + ended.stderr[-2000:])
        checks = json.loads(found[0])
        self.assertIn("SUCCESS", {check["status"] for check in checks})
        return {check["id"]: check for check in checks if check["status"] in ("FAILURE", "WARNING")}

    def test_scenarios(self):
        for version, scenarios in SCENARIOS.items():
            for name, untestable in scenarios.items():
                with self.subTest(name, version=version):
                    failed = self.failed_checks(name, version)
                    self.assertEqual(set(failed), set(untestable), json.dumps(failed, indent=1)[-4000:])

    def test_each_scenario_that_a_revision_requires_is_run_or_does_not_apply(self):
        for version, scenarios in SCENARIOS.items():
            listed = subprocess.run([NODE, SUITE, "list", "--requirements", version], text=True,
                                    stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout
            of_servers = listed.partition("Server scenarios")[2].partition("Client scenarios")[0]
            required = set(re.findall(r"^  - (\S+)", of_servers, re.MULTILINE))
            self.assertGreater(len(required), 25)
            others = {name for name in required if not any(re.fullmatch(names, name) for names in NOT_APPLICABLE)}
            self.assertLessEqual(others, set(scenarios))


if __name__ == "__main__":
    unittest.main()
