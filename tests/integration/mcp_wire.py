"""Every message that an MCP server sends, judged by the specification's own JSON schema, as the official conformance suite
does (its check is called wire-schema-valid; it speaks HTTP only, so its schemas are used here and not its runner)."""

import functools
import json
import os
import shutil
import subprocess

import jsonschema

from cellgate_client import REPOSITORY
from workspaces import SYSTEM_PATH

BUNDLE = REPOSITORY / "tests/node_modules/@modelcontextprotocol/conformance/dist/index.js"
NODE = shutil.which("node") or shutil.which("node", path=SYSTEM_PATH)
AVAILABLE = bool(NODE and BUNDLE.exists())


@functools.cache
def _schemas():
    if not AVAILABLE:
        return {}
    printed = subprocess.run([NODE, os.path.join(os.path.dirname(__file__), "mcp_schemas.mjs"), str(BUNDLE)],
                             capture_output=True, check=True).stdout
    schemas = json.loads(printed)
    assert set(schemas) == {"2025-11-25", "2026-07-28"}, set(schemas)
    return schemas


@functools.cache
def _judge(version, name):
    schema = _schemas()[version]
    return jsonschema.Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{name}"})


def _definition(version, message, method):
    """What the message has to be; of an answer, `method` is what was asked."""
    definitions = _schemas()[version]["$defs"]
    if "method" in message:
        for name, definition in definitions.items():
            if definition.get("properties", {}).get("method", {}).get("const") == message["method"]:
                return name, message
        return ("JSONRPCRequest" if "id" in message else "JSONRPCNotification"), message
    if "error" in message:
        return ("JSONRPCErrorResponse" if "JSONRPCErrorResponse" in definitions else "JSONRPCError"), message
    kind = message["result"].get("resultType")
    if kind == "input_required":
        return "InputRequiredResult", message["result"]
    if kind == "task" or kind and str(method).startswith("tasks/"):
        return "Result", message["result"]  # of an extension, whose schemas the suite has not
    if not kind and method == "tools/call" and "task" in message["result"]:
        return "CreateTaskResult", message["result"]
    for name, definition in definitions.items():
        if name.endswith("Request") and definition.get("properties", {}).get("method", {}).get("const") == method:
            result = name[: -len("Request")] + "Result"
            if result in definitions:
                return result, message["result"]
    return "EmptyResult", message["result"]


def violations(modern, message, method=None):
    """Of a message that was sent by the server; empty where the schemas are not installed."""
    if not AVAILABLE:
        return []
    version = "2026-07-28" if modern else "2025-11-25"
    found = []
    name, value = _definition(version, message, method)
    for envelope, judged in (("JSONRPCMessage", message), (name, value)):
        for error in _judge(version, envelope).iter_errors(judged):
            found.append(f"{envelope} of {version}: {error.json_path}: {error.message[:300]}")
    return found
