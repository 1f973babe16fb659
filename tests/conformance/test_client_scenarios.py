"""cellgate as a client, by MCP's own conformance suite (@modelcontextprotocol/conformance): each scenario of both eras that
is about what cellgate does."""

import re
import subprocess
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULES = HERE.parent / "node_modules"
SUITE = MODULES / "@modelcontextprotocol/conformance/dist/index.js"
NODE = MODULES / ".bin/node"  # the suite needs a newer one than Debian's
CLIENT = f"/usr/bin/python3 -B {HERE / 'client.py'}"

LOGINS = [f"auth/{name}" for name in (
    "metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "basic-cimd", "scope-from-www-authenticate",
    "scope-from-scopes-supported", "scope-omitted-when-undefined", "scope-step-up", "scope-retry-limit",
    "token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none", "pre-registration")]
SCENARIOS = {
    "2025-11-25": ["initialize", "tools_call", "sse-retry", "elicitation-sep1034-client-defaults", *LOGINS],
    "2026-07-28": ["tools_call", "request-metadata", "http-standard-headers", "http-custom-headers",
                   "http-invalid-tool-headers", "json-schema-ref-no-deref", "sep-2322-client-request-state", *LOGINS,
                   *(f"auth/{name}" for name in (
                       "resource-mismatch", "offline-access-scope", "offline-access-not-supported",
                       "authorization-server-migration", "iss-supported", "iss-not-advertised", "iss-supported-missing",
                       "iss-wrong-issuer", "iss-unexpected", "iss-normalized", "metadata-issuer-mismatch"))],
}
# What no revision requires, or an older one did. Extensions belong to no revision.
FURTHER = {
    "2025-03-26": ["auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"],
    None: ["auth/client-credentials-basic"],  # with client-credentials-jwt there would be a key to keep
}


@unittest.skipUnless(SUITE.exists() and NODE.exists(), "needs the npm packages of tests/package.json")
class ClientScenarios(unittest.TestCase):
    def run_scenario(self, name, version):
        command = [NODE, SUITE, "client", "--command", CLIENT, "--scenario", name, "--timeout", "60000"]
        command += ["--spec-version", version] if version else []
        ended = subprocess.run(command, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
        self.assertEqual(ended.returncode, 0, ended.stdout[-4000:])
        self.assertRegex(ended.stdout, r"Passed: [1-9]\d*/\d+, 0 failed, 0 warnings")

    def test_scenarios(self):
        for version, names in SCENARIOS.items():
            for name in names:
                with self.subTest(name, version=version):
                    self.run_scenario(name, version)

    def test_what_no_revision_requires(self):
        for version, names in FURTHER.items():
            for name in names:
                with self.subTest(name, version=version):
                    self.run_scenario(name, version)

    def test_each_scenario_that_a_revision_requires_is_run(self):
        for version, names in SCENARIOS.items():
            listed = subprocess.run([NODE, SUITE, "list", "--requirements", version], text=True,
                                    stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout
            of_clients = listed.partition("Client scenarios")[2].partition("never scored")[0]
            required = set(re.findall(r"^  - (\S+)", of_clients, re.MULTILINE))
            self.assertGreater(len(required), 15)
            self.assertEqual(set(names), required)


if __name__ == "__main__":
    unittest.main()
