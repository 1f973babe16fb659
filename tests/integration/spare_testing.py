"""What tests of a spare kernel share: when a session has it, and what code finds out about its kernel."""

import json
import re

from processes import command_of, descendants, wait_until

KEPT = {"spareKernel": True}
LOGGED = ("--log-level", "info")
USED = "has the spare kernel"

# What code can find out about its kernel. What is random, or counted by the machine, is left out.
LOOK = r"""
import json as _json, os as _os, re as _re, resource as _resource, signal as _signal
import sys as _sys, threading as _threading, time as _time

def _targets():
    found = []
    for name in sorted(_os.listdir("/proc/self/fd"), key=int):
        try:
            found.append(_re.sub(r"\d{3,}|\[\d+\]", "N", _os.readlink("/proc/self/fd/" + name)))
        except OSError:
            pass
    return sorted(found)

def _processes():
    found = []
    for pid in _os.listdir("/proc"):
        if pid.isdigit():
            with open(f"/proc/{pid}/stat") as stat:
                text = stat.read()
            found.append((int(pid), text[text.index("("):text.rindex(")") + 1], text[text.rindex(")") + 2:].split()[1]))
    return sorted(found)

def _mounts():
    with open("/proc/self/mountinfo") as lines:
        return [" ".join(line.split()[3:6]) + " " + line.split(" - ")[1] for line in lines]

def _below(folder):
    return sorted(_os.path.join(path, name) for path, folders, files in _os.walk(folder) for name in folders + files)

def _own_status():
    with open("/proc/self/status") as lines:
        return [line for line in lines if line.split(":")[0] in (
            "Name", "Umask", "Uid", "Gid", "Groups", "NoNewPrivs", "Seccomp", "Seccomp_filters", "CapInh", "CapPrm",
            "CapEff", "CapBnd", "CapAmb", "SigBlk", "SigIgn", "SigCgt", "Threads", "NSpid")]

print(_json.dumps({
    "variables": sorted(name for name in globals() if not name.startswith("_")),
    "environment": dict(_os.environ), "cwd": _os.getcwd(), "path": _sys.path, "modules": sorted(_sys.modules),
    "descriptors": _targets(), "processes": _processes(), "mounts": _mounts(), "status": _own_status(),
    "files": [_below(folder) for folder in (
        "/tmp", _os.environ["HOME"], _os.path.dirname(_os.environ["CELLGATE_CHANNEL"]), ".")],
    "limits": {name: _resource.getrlimit(getattr(_resource, name))
               for name in dir(_resource) if name.startswith("RLIMIT_")},
    "signals": {str(each): str(_signal.getsignal(each)).split(" at ")[0] for each in _signal.valid_signals()},
    "threads": sorted(each.name for each in _threading.enumerate()), "zone": [_time.tzname, _time.timezone],
    "flags": list(_sys.flags), "arguments": _sys.argv, "history": In, "umask": _os.umask(0o22),
    "priority": _os.nice(0)}))
"""

# The same of Deno's kernel.
LOOK_BY_DENO = r"""
console.log(JSON.stringify((() => {
  const text = (path: string) => Deno.readTextFileSync(path);
  const names = (folder: string) => [...Deno.readDirSync(folder)].map((entry) => entry.name);
  const below = (folder: string): string[] => [...Deno.readDirSync(folder)].flatMap((entry) =>
    [`${folder}/${entry.name}`, ...(entry.isDirectory ? below(`${folder}/${entry.name}`) : [])]).sort();
  const targets = names("/proc/self/fd").flatMap((name) => {
    try {
      return [Deno.readLinkSync(`/proc/self/fd/${name}`).replace(/\d{3,}|\[\d+\]/, "N")];
    } catch {
      return [];
    }
  });
  const processes = names("/proc").filter((name) => /^\d+$/.test(name)).map((pid) => {
    const stat = text(`/proc/${pid}/stat`);
    const end = stat.lastIndexOf(")");
    return `${pid} ${stat.slice(stat.indexOf("("), end + 1)} ${stat.slice(end + 2).split(" ")[1]}`;
  });
  const status = text("/proc/self/status").split("\n").filter((line) =>
    /^(Name|Umask|Uid|Gid|Groups|NoNewPrivs|Seccomp|Cap...|Sig(Blk|Ign|Cgt)|NSpid)/.test(line));
  const channel = Deno.env.get("CELLGATE_CHANNEL")!;
  return {
    environment: Deno.env.toObject(), cwd: Deno.cwd(), globals: Object.getOwnPropertyNames(globalThis).sort(),
    arguments: Deno.args, program: [Deno.execPath(), Deno.mainModule], descriptors: targets.sort(),
    processes: processes.sort(), mounts: text("/proc/self/mountinfo").split("\n").map((line) =>
      line.split(" ").slice(3, 6).join(" ") + line.split(" - ")[1]), status, limits: text("/proc/self/limits"),
    files: ["/tmp", Deno.env.get("HOME")!, channel.slice(0, channel.lastIndexOf("/")), "."].map(below),
    zone: new Date(0).toString() };
})()));
"""


class SpareTest:
    """`self.cellgate` keeps a spare kernel."""

    def until_ready(self):
        wait_until(lambda: "spareKernel" in self.cellgate.request("stats", {}), "a spare kernel")

    def times_used(self):
        return self.cellgate.log_path.read_text().count(USED)

    def create(self, session_id, **params):
        """Returns whether it got the spare kernel."""
        before = self.times_used()
        self.cellgate.session(session_id, **params)
        return self.times_used() > before

    def printed(self, session_id, code):
        return self.cellgate.run(code, sessionId=session_id).text()

    def look(self, session_id, code=LOOK):
        """What code finds out about its kernel."""
        said = re.sub(r"/k-\w{6}", "/k-…", self.printed(session_id, code))
        return json.loads(re.sub(r"bindfile\w{6}", "bindfile…", said))  # bubblewrap's, of an image

    def assert_same(self, cold, other):
        self.assertEqual(sorted(cold), sorted(other))
        for name in cold:
            self.assertEqual(cold[name], other[name], name)

    def kernels(self):
        """The processes of Python that kernels are, inside of their sandboxes."""
        return {pid for pid in descendants(self.cellgate.process.pid)
                if "/bootstrap.py" in command_of(pid) and command_of(pid).split()[0].endswith(("python3", "python"))}

    def assert_code_cannot_tell(self, **settings):
        """A spare kernel from a new one, in sessions of these settings."""
        self.workspace.write("a.txt", "")
        layers = self.cellgate.session("cold", **settings)["layers"]
        cold = self.look("cold")
        self.until_ready()
        before = self.times_used()
        self.assertEqual(self.cellgate.session("spare", **settings)["layers"], layers)
        self.assertEqual(self.times_used(), before + 1, self.cellgate.log_path.read_text()[-4000:])
        self.assert_same(cold, self.look("spare"))
