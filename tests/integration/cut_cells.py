"""Cells over a connection to a kernel that is cut again and again: no code runs twice, no call is made twice, and what is
lost is announced.

CELLGATE_CUTS=1000 cuts so often and prints what became of the cells.
"""

import ast
import base64
import collections
import json
import os
import random
import time

from processes import TIMEOUT
from tools_testing import MCP_SERVER, fixture_server

# A small number finds most faults: CELLGATE_CUTS=1000 looks for the rest.
CUTS = int(os.environ.get("CELLGATE_CUTS", "12"))
PRINTS, CALLS, SHOWS = range(3)
PNG = b"\x89PNG\r\n\x1a\n"
CODE = {
    PRINTS: "print('n {0}\\n', end='')",
    CALLS: "from mcptools.fix import tool_1\nprint(tool_1.run(s='n {0}') + '\\n', end='')",
    SHOWS: "import random\nfrom IPython.display import Image, display\n"
           f"display(Image({PNG!r} + random.Random({{0}}).randbytes(3000), format='png'))",
}


def expected_outputs(number):
    return {PRINTS: [f"n {number}\n"], CALLS: [f"You passed to tool 1: n {number}\n"],
            SHOWS: [PNG + random.Random(number).randbytes(3000)]}[number % 3]


def outputs_of(run):
    """What arrived of the cell itself: its texts, and the bytes of its pictures."""
    pictures = [base64.b64decode(output["data"]["image/png"]) for output in run.outputs()
                if output["output_type"] == "display_data"]
    return ([run.text()] if run.text() else []) + pictures


class CutCells:
    """Numbered cells of the session `far`. In turn they print, call a tool and show a picture."""

    def __init__(self, test):
        self.test = test
        self.ends = {}  # by number: "ok", or the error's name
        self.lost = 0  # outputs of cells that are ok

    def run_next(self):
        number = len(self.ends) + 1
        code = f"runs = globals().get('runs', []); runs.append({number})\n" + CODE[number % 3].format(number)
        # A message of a call that was lost twice is repeated after several seconds.
        run = self.test.run_far(code, timeout=5 * TIMEOUT)
        result = run.result()
        arrived = outputs_of(run)
        self.test.assertIn(arrived, (expected_outputs(number), []), number)
        if result["status"] == "ok":
            self.ends[number] = "ok"
            if not arrived:
                self.test.assertIn("may be lost", run.text("stderr"))
                self.lost += 1
        else:
            self.ends[number] = result["error"]["ename"]
            self.test.assertIn(self.ends[number], ("ConnectionCut", "ReplyLost"), result)
            self.test.assertIn("was cut", run.text("stderr") + result["error"]["evalue"])

    def check(self, calls):
        """`calls`: the texts that the tool server got, in that order."""
        runs = ast.literal_eval(self.test.run_far("print(runs)").text())
        self.test.assertEqual(runs, sorted(set(runs)))  # none twice
        self.test.assertLessEqual({n for n, end in self.ends.items() if end != "ConnectionCut"}, set(runs))
        self.test.assertEqual(calls, [f"n {n}" for n in runs if n % 3 == CALLS])

    def figures(self):
        ends = collections.Counter(self.ends.values())
        return (f"{len(self.ends)} cells: {ends['ok']} ok, of which {self.lost} lost output, "
                f"{ends['ConnectionCut']} ConnectionCut, {ends['ReplyLost']} ReplyLost")


def calls_in(log):
    messages = [json.loads(line) for line in log.read_text().splitlines()]
    return [each["params"]["arguments"]["s"] for each in messages if each["method"] == "tools/call"]


def run_over_cuts(test):
    """Through a relay that cuts each connection after a seeded number of bytes, in a seeded direction."""
    begun = time.monotonic()
    seeded = random.Random(20)
    relay = test.relay([(seeded.choice(("sent", "received")), seeded.randrange(200, 12_000)) for _ in range(CUTS)])
    log = test.workspace.base / "received-by-the-tool-server"
    test.sidecar(options={"mcpServers": {"fix": fixture_server(args=["-B", str(MCP_SERVER), "--log", str(log)])}})
    test.cellgate.request("wrappers/generate", {"server": "fix"})
    test.cellgate.request("policy/add", {"rule": {"effect": "allow", "kind": "tool", "server": "fix"},
                                         "scope": "workspace"})
    notices = test.create(relay.url)["sandboxNotices"]
    test.assertEqual(len(notices), 1, notices)
    cells = CutCells(test)
    while not relay.is_used_up or len(cells.ends) < 3:
        cells.run_next()
    cells.check(calls_in(log))
    test.assertGreater(relay.made, CUTS // 2)  # a connection may also end before it would have been cut
    if "CELLGATE_CUTS" in os.environ:
        print(f"{test.id()}: {relay.made} cuts, {cells.figures()}, {time.monotonic() - begun:.0f} s", flush=True)
