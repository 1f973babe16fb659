"""SIGKILL at random moments, seeded, to each of the processes that cellgate consists of: no process, socket, mount,
control group or file is left, without anybody who clears up later. CELLGATE_KILLS says how many (100)."""

import collections
import concurrent.futures
import contextlib
import multiprocessing
import os
import random
import signal
import subprocess
import time
import unittest
from pathlib import Path

from cellgate_client import CELLGATE, Sidecar
from processes import OWN, assert_no_orphans, command_of, descendants, living, start_process, wait_until
from workspaces import TestWorkspace

KILLS = int(os.environ.get("CELLGATE_KILLS", "100"))
AT_A_TIME = 4  # most of a round is waiting

# By what a process is known.
VICTIMS = {
    "serve": "cellgate serve",
    "run": "cellgate run",
    "supervisor": "cellgate supervise",
    "supervisor at once": "cellgate supervise",  # while it and bwrap set up the sandbox
    "launcher": "bwrap",
    "bridge": "cellgate-bridge",
    "janitor": "cellgate janitor",
}
SIDECARS = ("serve", "run")
PROBE = "can-guard"  # the check whether bwrap works here, of 20 ms; sessions come later
CELL = "open('cell.txt', 'w').write('x')\nimport time\ntime.sleep(1000)\n"


class Groups:
    """Control groups of a round's own, in which cellgate makes its groups, so that those of others are not mistaken for
    them. None where this user can make none."""

    def __init__(self, seed):
        top = Path("/sys/fs/cgroup")
        name = f"kills-{os.getpid()}-{seed}"  # not as cellgate names its own, which the next start clears away
        self.folders = []
        for hierarchy in (top / "memory", top / "pids", top / "cpu", top):
            with contextlib.suppress(OSError):
                if (hierarchy / "cgroup.procs").exists():
                    (hierarchy / name).mkdir()
                    self.folders.append(hierarchy / name)

    def under(self):
        """What starts a command in them."""
        joins = "".join(f"echo $$ > {folder}/cgroup.procs; " for folder in self.folders)
        return ["/bin/sh", "-c", joins + 'exec "$@"', "sh"]

    def inner(self):
        """Those that cellgate made."""
        return [str(path) for folder in self.folders for path in folder.iterdir()
                if path.is_dir() and path.name != "cellgate.own"]

    def remove(self):
        for folder in self.folders:
            for path in [*(each for each in folder.iterdir() if each.is_dir()), folder]:
                path.rmdir()


def mounts_of(workspace):
    """Processes that see something of the workspace as a mount."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if f" {workspace.base}" in (entry / "mountinfo").read_text():
                    found.append(f"a mount in process {entry.name} ({command_of(entry.name)})")
    return found


def files_of(workspace):
    """Of the sidecar, and what it should not have made in the workspace."""
    runtime = workspace.runtime / "cellgate"
    # os.walk() takes it that a folder goes while it looks.
    return ([os.path.join(folder, name) for folder, folders, files in os.walk(runtime) for name in (*folders, *files)]
            + [name for name in workspace.files() if name not in ("cell.txt", "main.py")])


def names(pid):
    with contextlib.suppress(OSError):
        return command_of(pid) + " " + Path(f"/proc/{pid}/comm").read_text()
    return ""


def start(victim, workspace, groups, draw):
    """The process, and who talks to it (no client, of `cellgate run`)."""
    if victim == "run":
        workspace.write("main.py", CELL)
        process = start_process([*groups.under(), CELLGATE, "run", "--root", str(workspace.path), "main.py"],
                                cwd=workspace.path, env=workspace.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return process, None
    sidecar = Sidecar(workspace, under=groups.under())
    if draw.random() < 0.7:
        sidecar.execute(CELL)
    else:
        sidecar.start("session/create", {"sessionId": "default"})
    return sidecar.process, sidecar


def kill(victim, process, draw):
    """What was started so far, and whether one of it was killed."""

    def of_kind():
        found = descendants(process.pid) | {process.pid}
        matching = sorted(pid for pid in found if VICTIMS[victim] in names(pid))
        return matching if victim == "launcher" else [pid for pid in matching if PROBE not in names(pid)]

    if victim == "supervisor at once":
        chosen = wait_until(of_kind, "the supervisor")
        time.sleep(draw.random() * 0.02)  # a random moment
    else:
        time.sleep(draw.random() * 1.2)  # a random moment: nothing to wait for
        chosen = of_kind()
    started = {process.pid} | descendants(process.pid)
    for pid in chosen[:1]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return started, bool(chosen)


def one_round(seed):
    """What came of it: the victim, whether there was one, what was there just before, and what is left."""
    draw = random.Random(seed)
    victim = draw.choice(list(VICTIMS))
    workspace, groups = TestWorkspace(), Groups(seed)
    try:
        process, sidecar = start(victim, workspace, groups, draw)
        started, chosen = kill(victim, process, draw)
        there = {"mounts": bool(mounts_of(workspace)), "groups": bool(groups.inner()),
                 "files": bool(files_of(workspace))}
        if victim in SIDECARS:
            process.kill()  # if it was still the shell that becomes it
            process.wait(60)
        else:
            sidecar.request("session/list")  # it lives, and ends as usual
            sidecar.request("shutdown")
            sidecar.notify("exit")
            if sidecar.wait_end() != 0:
                raise AssertionError(f"seed {seed}: exit code {process.returncode}")
        OWN.discard(process.pid)
        # With the last of them, all of it is gone: no client comes later.
        wait_until(lambda: not living(started), lambda: f"the end of {[names(pid) for pid in living(started)]}")
        assert_no_orphans()
        left = mounts_of(workspace) + groups.inner() + files_of(workspace)
        return victim, chosen, there, left
    finally:
        workspace.remove()
        with contextlib.suppress(OSError):  # one that is not empty is among what is left, or there is another error
            groups.remove()


class Kills(unittest.TestCase):
    def test_whatever_is_killed_nothing_is_left(self):
        workers = concurrent.futures.ProcessPoolExecutor(AT_A_TIME, multiprocessing.get_context("spawn"))
        with workers:
            rounds = list(workers.map(one_round, range(KILLS)))
        left = [f"seed {seed}, {victim}: {thing}" for seed, (victim, _, _, things) in enumerate(rounds)
                for thing in things]
        self.assertFalse(left, "\n".join(left[:40]))
        killed = collections.Counter(victim for victim, chosen, _, _ in rounds if chosen)
        self.assertGreater(killed.total(), KILLS // 3, killed)
        # The control: what is looked for was there before.
        for what in ("mounts", "files", *(["groups"] if self.can_make_groups() else [])):
            self.assertTrue(any(there[what] for _, _, there, _ in rounds), what)
        if KILLS >= 100:
            self.assertEqual(set(killed), set(VICTIMS))

    @staticmethod
    def can_make_groups():
        groups = Groups("control")
        groups.remove()
        return bool(groups.folders)


if __name__ == "__main__":
    unittest.main()
