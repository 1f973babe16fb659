"""`search_tools` of an agent, over all tools of real servers: those of servers.py, and two that need an account, whose
tools a scripted server offers. The ranking was tuned with the queries of one file. The other has wishes that were kept back,
in other words than the tools', and the query that an agent wrote for each, which knew the wish and the description of
search_tools, and no tool."""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "integration"))
from cellgate_client import FIXTURES  # noqa: E402
from mcp_testing import McpTest, text_of  # noqa: E402
from servers import SERVERS, fill, prepare  # noqa: E402
from test_servers import MODULES, NODE, START  # noqa: E402
from tools_testing import fixture_server  # noqa: E402

TUNED_WITH = "tool_queries.tsv"
KEPT_BACK = "tool_queries_kept_back.tsv"
AGENTS_QUERY = 2  # the column
PLAYED = ("brave-search", "firecrawl")
MIN_TOOLS = 259
FOUND = re.compile(r"^([^\s.:]+)\.([^\s:(]+): ", re.MULTILINE)  # the line of a tool in the result
# As the queries name them: by the file of tests/fixtures/mcp-tools, where there is one.
NAMES = {"everything": "server-everything", "filesystem": "server-filesystem", "memory": "server-memory",
         "playwright": "playwright-mcp", "sequential_thinking": "server-sequential-thinking"}


def queries_of(file, column=0):
    """Each query with the tools that do it."""
    lines = [line.split("\t") for line in (FIXTURES / file).read_text(encoding="utf-8").splitlines()]
    return [(line[column], set(line[1].split())) for line in lines]


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

    def misses(self, agent, queries):
        """Of the queries, those whose tools are not among the first five, with what is."""
        missed = []
        for query, wanted in queries:
            found = FOUND.findall(text_of(self.assert_ok(agent.call("search_tools", query=query))))
            first = [f"{server}/{tool}" for server, tool in found[:5]]
            if wanted.isdisjoint(first):
                missed.append(f"{query}: {' '.join(first)}")
        return missed

    def test_a_tool_that_does_it_is_among_the_first_five(self):
        agent, tools = self.start_all()
        self.assertGreaterEqual(len(tools), MIN_TOOLS)
        asked = {"tuned with": (queries_of(TUNED_WITH), 0.9), "of an agent": (queries_of(KEPT_BACK, AGENTS_QUERY), 0.9),
                 "wishes as they are": (queries_of(KEPT_BACK), 0.5)}  # one in two: this compares words
        for subject, (queries, goal) in asked.items():
            for query, wanted in queries:
                self.assertFalse(wanted.isdisjoint(tools), f"no tool is there for: {query}")
            missed = self.misses(agent, queries)
            hits = len(queries) - len(missed)
            print(f"{subject}: {hits} of {len(queries)} queries, {len(tools)} tools", *missed, sep="\n  ")
            with self.subTest(subject):
                self.assertGreaterEqual(hits / len(queries), goal)


if __name__ == "__main__":
    unittest.main()
