"""`mcptools SERVER TOOL [NAME=VALUE...]` in a bash session: calls a tool through cellgate's gate.

Started as `python mcptools_command.py LINE SERVER TOOL ...`, where LINE is that of the cell (0-based), or nothing.
"""

import json
import os
import socket
import sys

USAGE = """usage: mcptools SERVER TOOL [NAME=VALUE...]
       mcptools SERVER TOOL '{"name": "value"}'
A value is JSON, or else a text: path=notes.txt limit=10 tags='["a"]' version='"10"'
Prints the structure of the result as JSON, or its text. Exit status: 0, 1 (the tool failed), 2 (these words),
3 (not allowed), 4 (no answer)."""
FAILED, MISUSED, DENIED, UNANSWERED = 1, 2, 3, 4


class Misused(Exception):
    pass


def value_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def arguments_of(words):
    if len(words) == 1 and words[0].startswith("{"):
        try:
            return json.loads(words[0])
        except ValueError as error:
            raise Misused("the arguments are not JSON: %s" % error) from None
    arguments = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise Misused("expected NAME=VALUE, found %s" % word)
        arguments[name] = value_of(value)
    return arguments


def answer_to(params):
    """The answer as JSON-RPC; closing the connection, as an interrupt does, gives the call up."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.connect(os.environ["CELLGATE_CHANNEL"])
        channel.sendall(json.dumps(message).encode() + b"\n")
        with channel.makefile("rb") as lines:
            return json.loads(lines.readline())


def text_of(content):
    if all(block.get("type") == "text" for block in content):
        return "\n".join(block.get("text", "") for block in content)
    return json.dumps(content, ensure_ascii=False)


def main(line, *words):
    if len(words) < 2 or words[0] in ("-h", "--help"):
        print(USAGE, file=sys.stderr)
        return 0 if words[:1] in (("-h",), ("--help",)) else MISUSED
    server, tool = words[:2]
    try:
        params = {"server": server, "tool": tool, "arguments": arguments_of(words[2:])}
        if line:
            params["line"] = int(line)
        answer = answer_to(params)
    except Misused as problem:
        print("mcptools: %s\n%s" % (problem, USAGE), file=sys.stderr)
        return MISUSED
    except (OSError, ValueError) as error:
        print("mcptools: no answer from cellgate: %s" % error, file=sys.stderr)
        return UNANSWERED
    if "error" in answer:
        data = answer["error"].get("data") or {}
        hint = " (%s)" % data["hint"] if data.get("hint") else ""
        print("mcptools: %s.%s: %s%s" % (server, tool, answer["error"].get("message", ""), hint), file=sys.stderr)
        return DENIED if data.get("kind") == "denied" else UNANSWERED
    result = answer["result"]
    if result.get("isError"):
        print("mcptools: %s.%s: %s" % (server, tool, text_of(result.get("content") or [])), file=sys.stderr)
        return FAILED
    if result.get("structuredContent") is not None:
        print(json.dumps(result["structuredContent"], ensure_ascii=False))
    else:
        print(text_of(result.get("content") or []))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
