"""`search_tools` of an agent, over all tools of real servers: those of servers.py, and two that need an account, whose
tools a scripted server offers. The ranking was tuned with the queries of one file; those of the other are kept back."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "integration"))
from cellgate_client import FIXTURES  # noqa: E402
from mcp_testing import McpTest  # noqa: E402
from servers import SERVERS, fill, prepare  # noqa: E402
from test_servers import MODULES, NODE, START  # noqa: E402
from tools_testing import fixture_server  # noqa: E402

TUNED_WITH = "tool_queries.tsv"
KEPT_BACK = "tool_queries_kept_back.tsv"
PLAYED = ("brave-search", "firecrawl")
MIN_TOOLS = 259
# As the queries name them: by the file of tests/fixtures/mcp-tools, where there is one.
NAMES = {"everything": "server-everything", "filesystem": "server-filesystem", "memory": "server-memory",
         "playwright": "playwright-mcp", "sequential_thinking": "server-sequential-thinking"}


def queries_of(file):
    """Each query with the tools that do it."""
    lines = (FIXTURES / file).read_text(encoding="utf-8").splitlines()
    return [(query, set(tools.split())) for query, tools in (line.split("\t") for line in lines)]


class Search(McpTest):
    def configured(self):
        servers = {}
        for name, server in SERVERS.items():
            made = {"command": str(NODE), "args": [str(MODULES / server.script), *server.args], "env": server.env}
            servers[NAMES.get(name, name)] = fill(made, self.workspace.path)
        for name in PLAYED:
            servers[name] = fixture_server()
            servers[name]["args"] += ["--tools", str(FIXTURES / "mcp-tools" / f"{name}.json")]
        return servers

    def start_all(self):
        """The agent, and the names of all tools, SERVER/TOOL, without the built-in server's."""
        prepare(self.workspace)
        servers = self.configured()
        editor = self.editor(options={"mcpServers": servers})
        for name in servers:
            editor.request("wrappers/generate", {"server": name}, timeout=START)
        listed = editor.request("toolServers/list")["servers"]
        tools = {f"{server['name']}/{tool['name']}" for server in listed for tool in server.get("tools", [])}
        return self.mcp(), {tool for tool in tools if tool.split("/")[0] in servers}

    def misses(self, agent, file):
        """Of the queries, those whose tools are not among the first five, with what is."""
        missed = []
        for query, wanted in queries_of(file):
            found = self.assert_ok(agent.call("search_tools", query=query))["structuredContent"]["tools"]
            first = [f"{tool['server']}/{tool['tool']}" for tool in found[:5]]
            if wanted.isdisjoint(first):
                missed.append(f"{query}: {' '.join(first)}")
        return missed

    def test_a_tool_that_does_it_is_among_the_first_five(self):
        agent, tools = self.start_all()
        self.assertGreaterEqual(len(tools), MIN_TOOLS)
        counts = {}
        for file in (TUNED_WITH, KEPT_BACK):
            queries = queries_of(file)
            for query, wanted in queries:
                self.assertFalse(wanted.isdisjoint(tools), f"no tool is there for: {query}")
            missed = self.misses(agent, file)
            counts[file] = (len(queries), len(queries) - len(missed))
            print(f"{file}: {counts[file][1]} of {len(queries)} queries, {len(tools)} tools", *missed, sep="\n  ")
        self.assertGreaterEqual(counts[KEPT_BACK][0], counts[TUNED_WITH][0])
        self.assertGreaterEqual(sum(number for number, _ in counts.values()), 100)
        for subject, (number, hits) in (("kept back", counts[KEPT_BACK]), ("all", map(sum, zip(*counts.values())))):
            with self.subTest(subject):
                self.assertGreaterEqual(hits / number, 0.9)


if __name__ == "__main__":
    unittest.main()
