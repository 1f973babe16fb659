"""What the bench measures: groups of cases, and the lines of its table with their goals."""


class Group:
    """Cases that are measured side by side: `rounds` rounds, in each `count` samples of each case."""

    def __init__(self, name, rounds, count, warm_up=1, slow=(), settle=0):
        self.name = name
        self.rounds = rounds
        self.count = count
        self.warm_up = warm_up
        self.slow = slow  # cases that take a fifth as many samples
        self.settle = settle  # seconds before each sample, in which the machine does away with what the last one left

    def samples(self, case):
        return max(1, self.count // 5) if case in self.slow else self.count


GROUPS = [
    # Two kernels of the same kind, of which one is in a sandbox: their starts vary by more than what is between them.
    Group("cold stock", 80, 1, settle=0.1),
    Group("cold", 21, 1, settle=0.1),
    Group("cold deno", 21, 1, settle=0.1),
    Group("ready", 80, 1, settle=0.1),  # as the first: what is between them is little
    Group("launchers", 11, 1, settle=0.1),
    Group("execute", 10, 50, 20, slow=["server"]),
    Group("execute launchers", 10, 20, 20),
    Group("fake", 10, 200, 50),
    Group("flood", 9, 1),
    Group("picture", 9, 3),
    # A server has compiled what it runs after two thousand calls: until then a direct one takes six times as long.
    Group("tool", 10, 1000, 2000),
    Group("tool launchers", 10, 50, 20),
    Group("http tool", 10, 200, 50),
    Group("remote", 10, 20, 10),
    Group("remote nodelay", 10, 50, 20),
    Group("remote start", 5, 1, 0),
    Group("remote tool", 10, 20, 10),
    Group("request", 10, 200, 50),
    Group("snapshot", 10, 2),
    Group("launch", 60, 1),
    Group("start", 20, 1),
    Group("relay", 10, 100, 50),
    Group("idle", 3, 1, 0),
    Group("unread", 1, 1, 0),
    Group("stalls", 1, 100, 0),
    Group("editor", 10, 20),
]


class Line:
    """One goal: `case` (without what `bare` takes) against `peer` of the same group, or against nothing, is `at_most`.
    None: it is shown and has no goal.

    What counts is the median, or what `percent` of the samples are not above.
    """

    def __init__(self, group, work, case, peer, at_most, unit="s", bare=None, percent=50):
        self.group = group
        self.work = work
        self.case = case
        self.peer = peer
        self.at_most = at_most
        self.unit = unit
        self.bare = bare
        self.percent = percent

    def name(self):
        return f"{self.work} / {PEERS[self.peer]}" if self.peer else self.work


PEERS = {
    "floor": "floor",
    "jupyter": "jupyter_client",
    "server": "Jupyter Server",
    "nodelay": "Jupyter Server with TCP_NODELAY",
    "gateway": "Jupyter's client of gateways",
    "http": "HTTP POST to FastAPI",
    "direct": "direct MCP call",
    "curl": "the same by libcurl alone",
    "two": "two TLS connections in C",
    "srt": "srt",
    "git": "git status on the same tree",
    "unsandboxed": "the same without a sandbox",
    "shipped": "the same without a spare kernel",
    "bwrap": "the same in bubblewrap",
}
SHIPPED = "round trip of 1, as shipped"
LINES = [
    Line("cold stock", "cold session, stock kernel", "stock", "floor", 1.05),
    Line("cold", "cold session, as shipped", "shipped", "jupyter", 0.4),
    Line("cold", "cold session, as shipped", "shipped", "server", 0.65),
    Line("cold", "session with a spare kernel", "spare", "shipped", 0.06),
    Line("cold deno", "first cell of TypeScript", "shipped", "jupyter", 1.05),
    Line("ready", "kernel ready, in the sandbox", "sandboxed", "unsandboxed", 1.05),
    Line("execute", "round trip of 1, stock kernel", "stock", "floor", 1.1),
    Line("execute", "round trip of 1, stock kernel", "stock", "jupyter", 1.05),
    Line("execute", SHIPPED, "shipped", "floor", 0.85),
    Line("execute", SHIPPED, "shipped", "server", 0.1),
    Line("execute", SHIPPED, "shipped", "nodelay", 0.9),
    Line("fake", "own cost of an execution", "fake", "jupyter", 0.3),
    Line("flood", "100 MB flushed, to the last byte", "shipped", "jupyter", 1.0),
    Line("picture", "5 MB PNG, to the last byte", "shipped", "jupyter", 1.0),
    Line("tool", "tool call from a cell", "shipped", "http", 0.25),
    Line("tool", "tool call from a cell", "shipped", "direct", None),
    Line("http tool", "tool call over HTTP", "shipped", "curl", 1.3),
    Line("remote", "round trip on a Jupyter server", "shipped", "gateway", 0.9),
    Line("remote nodelay", "round trip on one with TCP_NODELAY", "shipped", "gateway", 0.9),
    Line("remote start", "session on a Jupyter server", "shipped", None, None),
    Line("remote tool", "tool call from a cell there", "shipped", None, None),
    Line("launchers", "cold session in gVisor", "gvisor", "bwrap", None),
    Line("launchers", "cold session in an image", "image", "bwrap", None),
    Line("execute launchers", "round trip of 1 in gVisor", "gvisor", "bwrap", None),
    Line("execute launchers", "round trip of 1 in an image", "image", "bwrap", None),
    Line("tool launchers", "tool call from a cell in gVisor", "gvisor", "bwrap", None),
    Line("tool launchers", "tool call from a cell in an image", "image", "bwrap", None),
    Line("request", "inspected HTTPS request", "shipped", "two", 1.3),
    Line("snapshot", "10 changed files of 10,000", "ours", "git", 1.5),
    Line("idle", "idle memory", "shipped", "server", 0.2, "B"),
    Line("launch", "what the sandbox adds to /bin/true", "sandbox", None, 0.015, bare="bare"),
    Line("launch", "/bin/true in the sandbox", "sandbox", "srt", 1),
    Line("start", "initialize after process start", "shipped", None, 0.020),
    Line("relay", "what connect adds to a message", "shipped", None, 50e-6),
    Line("unread", "memory growth while 1 GB is not read", "shipped", None, 64e6, "B"),
    Line("stalls", "stalls in 100,000 mixed sends", "shipped", None, 0, ""),
    Line("editor", "kernel timestamp to DOM in VS Code, p95", "vscode", None, 0.1, percent=95),
    Line("turns", "loop turns over 50 ms in all of this", "shipped", None, 0, ""),
]
