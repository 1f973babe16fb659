"""The client that MCP's conformance suite tests: cellgate, which generates the wrappers of the server at the URL that the
suite names, and calls its tools: those that the suite asks for, or each one once. Its user allows everything.

    conformance client --command "/usr/bin/python3 -B client.py" --scenario tools_call
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))
from cellgate_client import Sidecar  # noqa: E402
from executions import RpcError  # noqa: E402
from workspaces import TestWorkspace  # noqa: E402

SERVER = "under-test"
ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}, "valid_tool": {"region": "here"}, "lookup_user": {"id": "1"}}


def calls_of(made, context):
    """What to call, as (tool, arguments)."""
    if "toolCalls" in context:
        # A wrapper leaves out what is None.
        return [(call["name"], {name: value for name, value in call["arguments"].items() if value is not None})
                for call in context["toolCalls"]]
    return [(module["tool"], ARGUMENTS.get(module["tool"], {})) for module in made["modules"]]


def main():
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    workspace = TestWorkspace()
    options = {"mcpServers": {SERVER: {"url": sys.argv[1]}}}
    with Sidecar(workspace, options=options) as cellgate:
        cellgate.request("policy/add", {"rule": {"effect": "allow", "kind": "tool", "server": SERVER}, "scope": "workspace"})
        made = cellgate.request("wrappers/generate", {"server": SERVER})
        for tool, arguments in calls_of(made, context):
            try:
                cellgate.request("tools/call", {"server": SERVER, "tool": tool, "arguments": arguments})
            except RpcError as error:  # the suite knows which may fail
                print(f"{tool}: {error}", file=sys.stderr)
    workspace.remove()


if __name__ == "__main__":
    main()
