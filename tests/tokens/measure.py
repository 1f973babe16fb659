"""Measures the tokens that ten tasks cost an agent, with the tools of MCP servers given to it directly, and with
`cellgate mcp`: `measure.py [--write]`. Prints the table of docs/tokens.md; --write puts it there.

Directly, an agent has the name, description and input schema of all tools, and of each call its arguments and its result.
With cellgate it has cellgate's own tools, asks search_tools once for a task, and runs one cell. All of it is counted once, as texts of
JSON; what a model writes or thinks beside it is not. The servers and cellgate are real and run; the tools' definitions
are those of real servers, their answers those of tasks.py.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))
from cellgate_client import Editor, REPOSITORY, TestWorkspace, workspace_sidecars  # noqa: E402
from mcp_testing import McpClient, text_of  # noqa: E402
from processes import wait_until  # noqa: E402
import tasks  # noqa: E402

SERVERS = {"filesystem": "server-filesystem", "brave": "brave-search", "firecrawl": "firecrawl", "playwright": "playwright-mcp",
           "memory": "server-memory", "everything": "server-everything", "thinking": "server-sequential-thinking"}
PAGE = REPOSITORY / "docs/tokens.md"
TABLE = re.compile(r"(?s)(<!-- measured -->\n).*?(<!-- end -->)")


def tools_of(count):
    """Server -> tools, so many in all. Up to 100 they are those of seven real servers, the tasks' own first; what is above
    that are copies of these under other names."""
    real = {}
    for server, file in SERVERS.items():
        listed = json.loads((HERE.parent / "fixtures/mcp-tools" / f"{file}.json").read_text())
        real[server] = listed["tools"] if isinstance(listed, dict) else listed
    needed = {(server, tool) for task in tasks.TASKS for server, tool, _ in task.calls}
    order = sorted(((server, tool) for server, listed in real.items() for tool in listed),
                   key=lambda each: (each[0], each[1]["name"]) not in needed)
    chosen = {}
    for at in range(count):
        server, tool = order[at % len(order)]
        copy = at // len(order)
        chosen.setdefault(f"{server}_{copy + 1}" if copy else server, []).append(tool)
    return chosen


def tokens(texts):
    counted = subprocess.run(["node", HERE / "count.mjs"], input=json.dumps(texts), capture_output=True, text=True, check=True)
    return json.loads(counted.stdout)


def definitions(listed):
    """As a model gets them."""
    return json.dumps([{name: tool[name] for name in ("name", "description", "inputSchema") if name in tool} for tool in listed])


def direct_texts(task, all_tools):
    texts = [all_tools]
    for server, tool, arguments in task.calls:
        texts += [json.dumps({"name": f"{server}_{tool}", "arguments": arguments}), tasks.answer(tool, arguments)]
    return texts


def cellgate_texts(agent, task, own_tools):
    texts = [own_tools]
    for tool, arguments in (("search_tools", {"query": task.asks}), ("execute", {"code": task.code})):
        result = agent.call(tool, **arguments)
        if result.get("isError"):
            raise SystemExit(f"{task.name}: {text_of(result)}")
        texts += [json.dumps({"name": tool, "arguments": arguments}), text_of(result)]
    if task.answer not in texts[-1]:
        raise SystemExit(f"{task.name}: expected {task.answer}, found {texts[-1]}")
    return texts


def measure(count):
    """(task, tokens directly, tokens with cellgate), and the tokens of the definitions."""
    workspace = TestWorkspace()
    clients = []
    try:
        servers = tools_of(count)
        for server, listed in servers.items():
            (workspace.base / f"{server}.json").write_text(json.dumps(listed))
        configs = {server: {"command": "/usr/bin/python3", "args": ["-B", str(HERE / "listing_server.py"), str(workspace.base / f"{server}.json")]}
                   for server in servers}
        editor = Editor(workspace, options={"mcpServers": configs})
        clients.append(editor)
        for server in servers:
            editor.request("wrappers/generate", {"server": server})
            rule = {"effect": "allow", "kind": "tool", "server": server}
            editor.request("policy/add", {"scope": "workspace", "rule": rule})
        agent = McpClient(workspace, tools=None)
        clients.append(agent)
        agent.initialize()
        all_tools = definitions(dict(tool, name=f"{server}_{tool['name']}") for server, listed in servers.items() for tool in listed)
        own_tools = definitions(agent.request("tools/list")["tools"])
        rows = [(task.name, sum(tokens(direct_texts(task, all_tools))), sum(tokens(cellgate_texts(agent, task, own_tools))))
                for task in tasks.TASKS]
        return rows, tokens([all_tools, own_tools])
    finally:
        for client in reversed(clients):
            client.kill() if isinstance(client, Editor) else client.close()
        for pid in workspace_sidecars(workspace):
            os.kill(pid, 15)
        wait_until(lambda: not workspace_sidecars(workspace), "the end of the sidecar")
        workspace.remove()


def table():
    few, few_definitions = measure(50)
    many, many_definitions = measure(500)
    lines = ["| task | 50 tools, directly | with cellgate | 500 tools, directly | with cellgate |", "|---|---|---|---|---|",
             "| *definitions of the tools* | " + " | ".join(f"{each:,}" for each in (*few_definitions, *many_definitions)) + " |"]
    for (name, *small), (_, *large) in zip(few, many):
        lines.append(f"| {name} | " + " | ".join(f"{each:,}" for each in (*small, *large)) + " |")
    sums = [sum(row[at] for row in rows) for rows in (few, many) for at in (1, 2)]
    lines.append("| *all ten* | " + " | ".join(f"{each:,}" for each in sums) + " |")
    return "\n".join(lines)


def main():
    found = table()
    print(found)
    if "--write" in sys.argv:
        PAGE.write_text(TABLE.sub(lambda match: match[1] + found + "\n" + match[2], PAGE.read_text()))


if __name__ == "__main__":
    main()
