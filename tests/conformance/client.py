"""The client that MCP's conformance suite tests: cellgate, which generates the wrappers of the server at the URL that the
suite names, and calls its tools: those that the suite asks for, or each one once. Its user allows everything, and
accepts what the tools ask as it is. Where the server wants a login, the user has the command line log in, with the
browser of `browse`.

    conformance client --command "/usr/bin/python3 -B client.py" --scenario tools_call
"""

import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))
from cellgate_client import CELLGATE, Sidecar  # noqa: E402
from executions import RpcError  # noqa: E402
from workspaces import TestWorkspace  # noqa: E402

SERVER = "under-test"
ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}, "valid_tool": {"region": "here"}, "lookup_user": {"id": "1"}}
# Of the client whose metadata document the suite knows.
METADATA_URL = "https://conformance-test.local/client-metadata.json"
MAX_LOGINS = 4


def calls_of(made, context):
    """What to call, as (tool, arguments)."""
    if "toolCalls" in context:
        # A wrapper leaves out what is None.
        return [(call["name"], {name: value for name, value in call["arguments"].items() if value is not None})
                for call in context["toolCalls"]]
    return [(module["tool"], ARGUMENTS.get(module["tool"], {})) for module in made["modules"]]


def accept_what_is_asked(cellgate, ended):
    """As a user who changes nothing: what the fields hold beforehand is sent."""
    answered = 0
    while not ended.is_set():
        with cellgate.changed:
            cellgate.changed.wait_for(lambda: len(cellgate.notifications["elicitation/requested"]) > answered
                                      or ended.is_set())
            asked = cellgate.notifications["elicitation/requested"][answered:]
        for question in asked:
            values = {field["name"]: field.get("initial", True) for field in question.get("fields", [])
                      if "initial" in field or field["type"] == "boolean"}
            cellgate.request("elicitation/respond", {"elicitationId": question["elicitationId"], "action": "accept",
                                                     "values": values})
        answered += len(asked)


def call_tools(workspace, context):
    options = {"mcpServers": {SERVER: {"url": sys.argv[1]}}}
    capabilities = {"approvals": True, "elicitation": True}
    with Sidecar(workspace, options=options, capabilities=capabilities) as cellgate:
        ended = threading.Event()
        user = threading.Thread(target=accept_what_is_asked, args=(cellgate, ended))
        user.start()
        cellgate.request("policy/add", {"rule": {"effect": "allow", "kind": "tool", "server": SERVER}, "scope": "workspace"})
        made = cellgate.request("wrappers/generate", {"server": SERVER})
        for tool, arguments in calls_of(made, context):
            try:
                cellgate.request("tools/call", {"server": SERVER, "tool": tool, "arguments": arguments})
            except RpcError as error:  # the suite knows which may fail
                print(f"{tool}: {error}", file=sys.stderr)
        ended.set()
        with cellgate.changed:
            cellgate.changed.notify_all()
        user.join()


class StayHere(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def browse(page):
    """As a user's browser: the page sends it to the redirect at once."""
    try:
        urllib.request.build_opener(StayHere).open(page)
        raise RuntimeError("the page does not lead back")
    except urllib.error.HTTPError as answer:
        location = answer.headers["Location"]
    urllib.request.urlopen(location).read()


def cellgate_words(workspace, command, *words):
    return [CELLGATE, command, SERVER, *words, "--mcp-config", str(workspace.path / "servers.json")]


def log_in(workspace):
    login = subprocess.Popen(cellgate_words(workspace, "login"), cwd=workspace.path, env=workspace.environment(),
                             text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    page = next((line for line in login.stdout if line.startswith("http")), None)
    if page:
        browse(page.strip())
    login.communicate()
    return login.returncode == 0


def call_with_logins(workspace, context):
    oauth = {"clientId": METADATA_URL}
    if "client_id" in context:
        oauth = {"clientId": context["client_id"], "clientSecret": context["client_secret"]}
    if os.environ["MCP_CONFORMANCE_SCENARIO"] == "auth/client-credentials-basic":
        oauth["grantType"] = "client_credentials"
    workspace.write("servers.json", json.dumps({"mcpServers": {SERVER: {"url": sys.argv[1], "oauth": oauth}}}))
    for _ in range(MAX_LOGINS):
        call = subprocess.run(cellgate_words(workspace, "call", "test-tool", "--allow", f"{SERVER}/test-tool"),
                              cwd=workspace.path, env=workspace.environment(), text=True, stdin=subprocess.DEVNULL,
                              capture_output=True)
        sys.stderr.write(call.stderr)
        if f"cellgate login {SERVER}" not in call.stderr:
            return call.returncode
        if not log_in(workspace):
            return 1
    return 1


def main():
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    workspace = TestWorkspace()
    code = 0
    if os.environ.get("MCP_CONFORMANCE_SCENARIO", "").startswith("auth/"):
        code = call_with_logins(workspace, context)
    else:
        call_tools(workspace, context)
    workspace.remove()
    sys.exit(code)


if __name__ == "__main__":
    main()
