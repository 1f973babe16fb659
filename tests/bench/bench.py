"""`./dev bench`: cellgate beside its peers, in one interleaved run.

Every case is a worker process that takes samples on request (worker.hpp, peer_worker.py). The cases of a group
take turns, round by round and in changing order, so that what the machine does besides hits all of them; a line of the
table is the ratio of two medians of the same group.
"""

import argparse
import contextlib
import datetime
import hashlib
import json
import os
import platform
import random
import re
import selectors
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from bench_cells import (CALLER, FLOOD_PIECE, HTTP_CELL, MESSAGE, PICTURE, PRINT, REQUEST_CELL, SERVER, SHOW, TOOL_CELL,
                         printed)
from bench_lines import GROUPS, LINES, PEERS

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))
import image_testing  # noqa: E402

PYTHON = "/usr/bin/python3"
EVERYTHING = HERE.parent / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
DENO = HERE.parent / "node_modules/deno/deno"
SRT = HERE.parent / "node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js"
SRT_NODE = HERE.parent / "node_modules/node/bin/node"  # the system's may be too old for it
SRT_SETTINGS = {"network": {"allowedDomains": [], "deniedDomains": []},
                "filesystem": {"denyRead": [".env"], "allowWrite": ["."], "denyWrite": []}}
# An editor is measured when `./dev e2e-vscode` has installed it.
EDITOR_DRIVER = HERE.parent / "e2e/vscode/node_modules/playwright-core/package.json"
EDITOR = HERE.parent.parent / "build/e2e/vscode/1.139/installed"
VSIX = HERE.parent.parent / "build/cellgate-linux-x64.vsix"
NO_EDITOR = "VS Code is not installed: ./dev e2e-vscode VSCODE=1.139 does it"
LAUNCHER = [PYTHON, "-m", "ipykernel_launcher", "-f"]
# All sides start the same Python; a shim in front of it would be asked for each session.
PATH = os.pathsep.join(dict.fromkeys([*(os.path.dirname(node) for node in [shutil.which("node")] if node),
                                      "/usr/local/bin", "/usr/bin", "/bin"]))
BUSY = 0.5  # processes that run besides us, for each core
TIMEOUT = 300

# What a session of the case gets besides.
SESSIONS = {"unsandboxed": {"sandbox": False}, "gvisor": {"sandbox": {"launcher": "gvisor"}},
            "image": {"sandbox": {"image": "bench"}}}

# Where the loop's turns are watched: all work, but not what is so short that loading the watch would count.
WATCHED = ["cold stock", "cold", "execute", "fake", "flood", "picture", "tool", "unread"]


class BenchWorkspace:
    """The folders, files and commands of all cases."""

    def __init__(self, programs, cellgate, quick):
        self.programs = programs
        self.cellgate = cellgate
        self.quick = quick
        self.podman = None
        self.base = Path(tempfile.mkdtemp(prefix="cgb", dir="/tmp"))
        self.path = self.base / "w"
        self.home = self.base / "h"
        self.turns = self.base / "turns"  # a file for each group
        self.session = self.base / "s"
        for folder in (self.path, self.home, self.base / "r", self.session, self.turns):
            folder.mkdir(mode=0o700)
        self.srt_settings = self.cell("srt.json", json.dumps(SRT_SETTINGS))
        self.kernelspec("stock", [PYTHON, "-mipykernel_launcher", "-f", "{connection_file}"])
        self.kernelspec("deno", [str(DENO), "jupyter", "--kernel", "--conn", "{connection_file}"], "typescript")
        # Inside the sandbox there is the kernelspec's folder, and not the build.
        fake = self.home / ".local/share/jupyter/kernels/fake"
        self.kernelspec("fake", [str(fake / "fake_kernel"), "{connection_file}"])
        shutil.copy(programs / "fake_kernel", fake)
        pieces = 16 if quick else 1600
        self.flood = self.cell("flood.py", PRINT.format(pieces=pieces, size=FLOOD_PIECE, after="sys.stdout.flush()"))
        self.flood_hash = printed(pieces)
        pieces = 160 if quick else 15259
        self.mark = self.path / "done"
        end = f"\nsys.stdout.flush()\nopen({str(self.mark)!r}, 'w').close()\n"
        self.unread = self.cell("unread.py", PRINT.format(pieces=pieces, size=FLOOD_PIECE, after="pass") + end)
        self.unread_hash = printed(pieces)
        self.picture = self.cell("picture.py", SHOW)
        self.picture_hash = hashlib.sha256(PICTURE.encode()).hexdigest()

    def kernelspec(self, name, argv, language="python"):
        folder = self.home / ".local/share/jupyter/kernels" / name
        folder.mkdir(parents=True)
        spec = {"argv": argv, "display_name": name, "language": language}
        (folder / "kernel.json").write_text(json.dumps(spec))

    def cell(self, name, code):
        path = self.base / name
        path.write_text(code)
        return path

    def environment(self, case, group):
        names = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": str(self.home),
                 "XDG_RUNTIME_DIR": str(self.base / "r"), "XDG_DATA_HOME": str(self.home / ".local/share")}
        if case in SESSIONS:
            names["BENCH_SESSION"] = json.dumps(SESSIONS[case])
        if case == "image":
            names |= self.image()
        if case in ("shipped", "bwrap", "gvisor", "image") and group in ("tool", "tool launchers", "remote tool"):
            names["BENCH_OPTIONS"] = json.dumps({
                "mcpServers": {"everything": {"command": "taskset",
                                              "args": ["-c", SERVER, "node", str(EVERYTHING), "stdio"]}},
            })
        if case == "shipped" and group == "http tool":
            names["BENCH_OPTIONS"] = json.dumps({"mcpServers": {"everything": {"url": "{url}"}}})
        if group in WATCHED and case in ("shipped", "stock", "fake"):
            names["LD_PRELOAD"] = str(self.programs / "turns.so")
            names["BENCH_TURNS"] = str(self.turns / group)
        return names

    def image(self):
        """Makes the image once; the environment for a podman that has it."""
        if not self.podman:
            self.podman = image_testing.Podman()
            image_testing.make_root(self.podman.root)
            self.podman.import_root("bench")
        return self.podman.environment

    @staticmethod
    def launcher_commands(client, tool):
        commands = {}
        for case, needs in (("bwrap", []), ("gvisor", ["runsc"]), ("image", ["podman"])):
            commands["launchers", case] = [*client, "cold", "default"], needs
            commands["execute launchers", case] = [*client, "execute", "default", "1"], needs
            commands["tool launchers", case] = [*client, "cell", tool], [EVERYTHING, *needs]
        return commands

    @staticmethod
    def remote_commands(client, server, tool):
        execute, need = [*client, "execute", "default", "1"], "jupyter_server"
        return {
            ("remote", "shipped"): ([*server, "beside", *execute], need),
            ("remote", "gateway"): ([*server, "gateway", "1"], need),
            ("remote nodelay", "shipped"): ([*server, "--nodelay", "beside", *execute], need),
            ("remote nodelay", "gateway"): ([*server, "--nodelay", "gateway", "1"], need),
            ("remote start", "shipped"): ([*server, "beside", *client, "cold", "default"], need),
            ("remote tool", "shipped"): ([*server, "beside", *client, "cell", tool], [EVERYTHING]),
        }

    def commands(self):
        """The command of each case, by group and case, and what it needs (`missing`)."""
        floor = [self.programs / "floor"]
        client = [self.programs / "client", self.cellgate, self.path]
        jupyter = [PYTHON, "-B", HERE / "peer_jupyter.py"]
        server = [PYTHON, "-B", HERE / "peer_server.py"]
        beside = [PYTHON, "-B", HERE / "beside_http_server.py", SERVER, EVERYTHING]
        secure = [PYTHON, "-B", HERE / "beside_https_server.py", SERVER]
        request, tool = self.cell("request.py", REQUEST_CELL), self.cell("tool.py", TOOL_CELL)
        rule = json.dumps({"effect": "allow", "kind": "request", "host": "localhost:{port}"})
        picture = [self.picture, self.picture_hash]
        return self.remote_commands(client, server, tool) | self.launcher_commands(client, tool) | {
            ("cold stock", "floor"): ([*floor, "cold", *LAUNCHER], None),
            ("cold stock", "stock"): ([*client, "cold", "stock"], None),
            ("cold", "shipped"): ([*client, "cold", "default"], None),
            ("cold", "spare"): ([*client, "spare"], None),
            ("cold", "jupyter"): ([*jupyter, "cold", "python3"], "jupyter_client"),
            ("cold", "server"): ([*server, "cold"], "jupyter_server"),
            ("cold deno", "shipped"): ([*client, "cold", "deno"], [DENO]),
            ("cold deno", "jupyter"): ([*jupyter, "cold", "deno"], "jupyter_client"),
            ("ready", "sandboxed"): ([*client, "ready"], None),
            ("ready", "unsandboxed"): ([*client, "ready"], None),
            ("execute", "floor"): ([*floor, "execute", "1", *LAUNCHER], None),
            ("execute", "stock"): ([*client, "execute", "stock", "1"], None),
            ("execute", "shipped"): ([*client, "execute", "default", "1"], None),
            ("execute", "jupyter"): ([*jupyter, "execute", "python3", "1"], "jupyter_client"),
            ("execute", "server"): ([*server, "execute", "1"], "jupyter_server"),
            ("execute", "nodelay"): ([*server, "--nodelay", "execute", "1"], "jupyter_server"),
            ("fake", "fake"): ([*client, "execute", "fake", "1"], None),
            ("fake", "jupyter"): ([*jupyter, "execute", "fake", "1"], "jupyter_client"),
            ("flood", "shipped"): ([*client, "output", self.flood, self.flood_hash], None),
            ("flood", "jupyter"): ([*jupyter, "output", self.flood, self.flood_hash], "jupyter_client"),
            ("picture", "shipped"): ([*client, "output", *picture], None),
            ("picture", "jupyter"): ([*jupyter, "output", *picture], "jupyter_client"),
            ("tool", "shipped"): ([*client, "cell", tool], [EVERYTHING]),
            ("tool", "http"): ([*jupyter, "cell", self.cell("http.py", HTTP_CELL), HERE / "peer_http.py", SERVER],
                               "fastapi"),
            ("tool", "direct"): (["taskset", "-c", CALLER, self.programs / "direct_mcp",
                                  json.dumps({"message": MESSAGE}), "taskset", "-c", SERVER, "node", EVERYTHING,
                                  "stdio"], [EVERYTHING]),
            ("http tool", "shipped"): ([*beside, *client, "cell", self.cell("http_tool.py", TOOL_CELL)], [EVERYTHING]),
            ("http tool", "curl"): ([*beside, "taskset", "-c", CALLER, self.programs / "direct_http",
                                     json.dumps({"message": MESSAGE}), "{url}"], [EVERYTHING]),
            ("request", "shipped"): ([*secure, "-", request, *client, "cell", "{code}", rule], ["node", "openssl"]),
            ("request", "two"): ([*secure, self.programs / "tls_relay", request, PYTHON, "-B",
                                  HERE / "peer_requests.py", "{code}"], ["node", "openssl"]),
            ("launch", "bare"): ([self.programs / "launch", "-", "-", "/bin/true"], None),
            ("launch", "sandbox"): ([self.programs / "launch", self.path, self.session, "/bin/true"], None),
            ("launch", "srt"): ([self.programs / "launch", "-", "-", SRT_NODE, SRT, "--settings", self.srt_settings,
                                 "/bin/true"], [SRT, SRT_NODE, "bwrap", "socat", "rg"]),
            ("snapshot", "ours"): ([self.programs / "snapshot", self.base / "snapshots", "ours"], ["git"]),
            ("snapshot", "git"): ([self.programs / "snapshot", self.base / "tracked", "git"], ["git"]),
            ("start", "shipped"): ([*client, "start"], None),
            ("relay", "shipped"): ([*client, "relay"], None),
            ("idle", "shipped"): ([*client, "idle"], None),
            ("idle", "server"): ([*server, "idle"], "jupyter_server"),
            ("unread", "shipped"): ([*client, "unread", self.unread, self.unread_hash, self.mark], None),
            ("stalls", "shipped"): ([self.programs / "stalls"], None),
            ("editor", "vscode"): (["node", HERE / "editor.mjs"], [EDITOR, EDITOR_DRIVER, VSIX, "chromium"]),
        }

    def remove(self):
        if self.podman:
            self.podman.remove()
        shutil.rmtree(self.base, ignore_errors=True)


# --- measuring --------------------------------------------------------------------------------------------------------


class Failed(Exception):
    """A case could not be measured."""


class Worker:
    def __init__(self, command, environment, cwd):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([str(part) for part in command], env=environment, cwd=cwd, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    def line(self):
        text = self.process.stdout.readline() if self.selector.select(TIMEOUT) else ""
        if not text:
            self.log.seek(0)
            words = self.log.read().decode(errors="replace")[-2000:]
            command = " ".join(self.process.args)[:300]
            raise Failed(f"{command}\nended or was silent. Its last words:\n{words}")
        return text

    def ready(self):
        while self.line() != "ready\n":
            pass

    def take(self, count):
        try:
            self.process.stdin.write(f"{count}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # line() tells why
        return json.loads(self.line())

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.selector.close()
        self.log.close()


def missing(need):
    """Why a case cannot be measured here, or nothing. `need`: a Python module, or a list of files and programs."""
    if isinstance(need, str) and not find_spec(need):
        return f"{need} is not installed"
    for each in need if isinstance(need, list) else []:
        if not (each.exists() if isinstance(each, Path) else shutil.which(each)):
            if each in (EDITOR, EDITOR_DRIVER, VSIX):
                return NO_EDITOR
            return f"{each.parent.parent.name if isinstance(each, Path) else each} is not installed"
    return None


def measure(group, cases, workspace, commands):
    """All samples of each case of the group. A case that fails has its reason instead."""
    samples, workers = {}, {}
    with contextlib.ExitStack() as stack:
        def attempt(case, action):
            try:
                return action()
            except Failed as failure:
                samples[case] = str(failure)
                workers.pop(case, None)

        for case in cases:
            command, need = commands[group.name, case]
            samples[case] = missing(need) or []
            if not samples[case]:
                workers[case] = Worker(command, workspace.environment(case, group.name), workspace.path)
                stack.callback(workers[case].close)
                attempt(case, workers[case].ready)
        for case in list(workers):
            if group.warm_up and not workspace.quick:
                attempt(case, lambda case=case: workers[case].take(group.warm_up))
        for turn in range(1 if workspace.quick else group.rounds):
            # What a sample leaves behind (a kernel that ends, a namespace that is taken down) falls on the next one.
            order = random.Random(f"{group.name} {turn}").sample(list(workers), len(workers))
            for case in order:
                if not workspace.quick:
                    time.sleep(group.settle)
                count = min(2, group.samples(case)) if workspace.quick else group.samples(case)
                taken = attempt(case, lambda case=case, count=count: workers[case].take(count))
                if taken is not None:
                    samples[case] += taken
    return samples


def read_turns(folder):
    """By group: (how many turns, how many long ones, the longest in seconds)."""
    found = {}
    for path in folder.iterdir():
        turns = [line.split() for line in path.read_text().splitlines()]
        found[path.name] = (sum(int(t[0]) for t in turns), sum(int(t[1]) for t in turns),
                            max(float(t[2]) for t in turns))
    return found


# --- telling ----------------------------------------------------------------------------------------------------------


def shown(value, unit):
    if unit == "B":
        return f"{value / 1e6:.1f} MB"
    if unit == "":
        return f"{value:g}"
    if value >= 1:
        return f"{value:.2f} s"
    return f"{value * 1e3:.1f} ms" if value >= 0.01 else f"{value * 1e6:.0f} µs"


def percentile(samples, percent):
    if percent == 50 or len(samples) == 1:
        return statistics.median(samples)
    return statistics.quantiles(samples, n=100, method="inclusive")[percent - 1]


def judged(line, results, workspace):
    """A line of the table, and of the JSON."""
    record = {"line": line.name(), "work": line.work, "against": PEERS.get(line.peer), "unit": line.unit,
              "atMost": line.at_most, "met": None}
    if line.group == "turns":
        groups = read_turns(workspace.turns)
        if not groups:
            return record | {"problem": "no turn was watched"}
        long_ones = sum(group[1] for group in groups.values())
        slowest = max(groups, key=lambda name: groups[name][2])
        return record | {"value": long_ones, "met": long_ones == 0, "turns": sum(g[0] for g in groups.values()),
                         "longestSeconds": groups[slowest][2], "slowestGroup": slowest,
                         "groups": {name: {"turns": g[0], "long": g[1], "longestSeconds": g[2]}
                                    for name, g in groups.items()}}
    samples = results[line.group]
    for case in filter(None, (line.case, line.peer, line.bare)):
        if isinstance(samples[case], str):
            return record | {"problem": samples[case]}
    if line.group == "stalls":
        record["value"] = sum(samples[line.case])
    else:
        record["value"] = percentile(samples[line.case], line.percent)
    if line.bare:
        record["value"] -= statistics.median(samples[line.bare])
    compared = record["value"]
    if line.peer:
        record["peerValue"] = statistics.median(samples[line.peer])
        compared = record["ratio"] = record["value"] / record["peerValue"]
    record["met"] = line.at_most is None or compared <= line.at_most
    return record


def row(record):
    """Work, cellgate, against, ratio, at most, verdict."""
    peer = record["against"] or "–"
    if "problem" in record:
        return [record["work"], "", peer, "", "", "not measured: " + record["problem"].splitlines()[0][:60]]
    unit = record["unit"]
    ratio, goal = "", "" if record["atMost"] is None else shown(record["atMost"], unit)
    if "ratio" in record:
        peer += " " + shown(record["peerValue"], unit)
        ratio, goal = f"{record['ratio']:.2f}", "" if record["atMost"] is None else f"{record['atMost']:g}"
    verdict = "" if record["atMost"] is None else "met" if record["met"] else "MISSED"
    if "longestSeconds" in record:
        peer = f"longest of {record['turns']}: {shown(record['longestSeconds'], 's')} ({record['slowestGroup']})"
    return [record["work"], shown(record["value"], unit), peer, ratio, goal, verdict]


def print_table(records):
    rows = [["work", "cellgate", "against", "ratio", "at most", ""]] + [row(record) for record in records]
    widths = [max(len(cells[i]) for cells in rows) for i in range(len(rows[0]))]
    for cells in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip())


def selected_lines(text):
    pattern = re.compile(text)
    lines = [line for line in LINES if pattern.search(line.name())]
    if not lines:
        sys.exit("FILTER matches none of these lines:\n  " + "\n  ".join(line.name() for line in LINES))
    return lines


def cases_for(lines):
    """The cases that the lines need, by group."""
    cases = {}
    for line in lines:
        if line.group == "turns":
            for other in LINES:
                if other.group in WATCHED:
                    cases.setdefault(other.group, {})[other.case] = None
        else:
            cases.setdefault(line.group, {}).update({case: None for case in (line.case, line.peer, line.bare) if case})
    return cases


def main():
    parser = argparse.ArgumentParser(description="cellgate beside its peers")
    parser.add_argument("--build", type=Path, required=True, help="the build directory")
    parser.add_argument("--quick", action="store_true", help="a few samples, to see that it works")
    parser.add_argument("--json", type=Path, help="write everything that was measured to this file")
    parser.add_argument("filter", metavar="FILTER=REGEX", nargs="?", default=os.environ.get("FILTER", ""),
                        help="only the lines whose names match")
    options = parser.parse_args()
    lines = selected_lines(options.filter.removeprefix("FILTER="))
    cases = cases_for(lines)
    load = os.getloadavg()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}; "
          f"load average {load[0]:.2f} {load[1]:.2f} {load[2]:.2f}")
    busy = load[0] > BUSY * os.cpu_count()
    if busy:
        print("WARNING: other programs keep this machine busy: ratios say less than they should, times say nothing")
    workspace = BenchWorkspace(options.build.resolve() / "bench", options.build.resolve() / "cellgate", options.quick)
    results = {}
    begun = time.monotonic()
    try:
        commands = workspace.commands()
        for group in GROUPS:
            if group.name in cases:
                print(f"  {group.name} … ", end="", flush=True)
                start = time.monotonic()
                results[group.name] = measure(group, cases[group.name], workspace, commands)
                print(f"{time.monotonic() - start:.0f} s")
        records = [judged(line, results, workspace) for line in lines]
    finally:
        workspace.remove()
    print()
    print_table(records)
    problems = {record["problem"] for record in records if "problem" in record}
    for problem in sorted(problems):
        print(f"\nnot measured: {problem}")
    print(f"\n{sum(bool(r['met']) for r in records)} of {len(records)} lines met in {time.monotonic() - begun:.0f} s"
          + (", but with --quick the figures mean nothing" if options.quick else ""))
    if options.json:
        options.json.write_text(json.dumps({
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": {"architecture": platform.machine(), "cores": os.cpu_count(), "kernel": platform.release()},
            "loadAverage": load, "busy": busy, "quick": options.quick, "lines": records, "samples": results,
        }, indent=1) + "\n")
    return 1 if problems - {NO_EDITOR} and not options.quick else 0


if __name__ == "__main__":
    sys.exit(main())
