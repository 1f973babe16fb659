"""What the tests of tools share: a workspace with tool servers, and a sidecar that made their wrappers."""

from cellgate_client import FIXTURES, SharedSidecarTest
from executions import RpcError

MCP_SERVER = FIXTURES / "mcp_server.py"
ECHO = "from mcptools.fix import tool_1\n"  # in front of a cell that calls it


def fixture_server(**more):
    return {"command": "/usr/bin/python3", "args": ["-B", str(MCP_SERVER)], **more}


class ToolsTest(SharedSidecarTest):
    """`fix` is the fixture server, by a user's word; `host` is built in. Both have wrappers."""

    options = {"mcpServers": {"fix": fixture_server()}}
    generated = ("fix", "host")
    CELL = {"uri": "file:///home/ada/tour.py", "line": 10}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.modules = {}
        for server in cls.generated:
            cls.modules[server] = cls.cellgate.request("wrappers/generate", {"server": server})

    def setUp(self):
        self.addCleanup(self.nothing_pending)
        self.rules_before = self.rules()
        self.addCleanup(self.remove_new_rules)

    def nothing_pending(self):
        self.assertEqual(self.cellgate.waiting(), [])

    def rules(self):
        return {rule["id"]: rule for rule in self.cellgate.request("policy/list")["rules"]}

    def remove_new_rules(self):
        for rule_id in self.rules().keys() - self.rules_before.keys():
            self.cellgate.request("policy/remove", {"ruleId": rule_id})

    def call(self, server, tool, payload, decision="allow", **answer):
        """A direct call, answered by `decision` if somebody is asked. The result, or the RpcError."""
        pending = self.cellgate.start("tools/call", {"server": server, "tool": tool, "arguments": payload})
        self.cellgate.wait(lambda: pending.done or self.cellgate.ended or
                           any(a["approvalId"] not in self.cellgate._taken
                               for a in self.cellgate.notifications["approval/requested"]), f"an answer to {tool}")
        self.approval = None
        if not pending.done:
            self.approval = self.cellgate.approval()
            self.cellgate.respond(self.approval, decision, **answer)
        try:
            return pending.result()
        except RpcError as error:
            return error

    def assert_denied(self, execution, reason):
        """The cell ended in an ApprovalDenied that holds the reason, and the user's frames alone."""
        result = execution.result()
        self.assertEqual(result["status"], "error", (result, execution.outputs()))
        error = result["error"]
        self.assertEqual(error["ename"], "ApprovalDenied", error)
        self.assertIn(reason, error["evalue"])
        traceback = "\n".join(error["traceback"])
        for ours in ("_runtime", "mcptools/", "cellgate/", "bootstrap"):
            self.assertNotIn(ours, traceback)
        for frame in error["frames"]:
            self.assertNotIn("mcptools", frame.get("uri", ""))
        return error


def text_of(result):
    return "".join(block.get("text", "") for block in result["content"])
