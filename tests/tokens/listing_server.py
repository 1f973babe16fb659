"""An MCP server over stdio that lists the tools of a file, and answers calls as tasks.py says.

`listing_server.py TOOLS.json`: a list of tools as tools/list has them.
"""

import json
import sys

import tasks

with open(sys.argv[1]) as file:
    TOOLS = {tool["name"]: tool for tool in json.load(file)}
VERSION = "2025-11-25"


def result_of(method, params):
    if method == "initialize":
        return {"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": {"name": "listing", "version": "1"}}
    if method == "tools/list":
        return {"tools": list(TOOLS.values())}
    if method == "tools/call":
        name = params["name"]
        text = tasks.answer(name, params.get("arguments", {}))
        more = {"structuredContent": tasks.structured(name, text)} if TOOLS[name].get("outputSchema") else {}
        return {"content": [{"type": "text", "text": text}], **more}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        found = result_of(message["method"], message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": found}), flush=True)
