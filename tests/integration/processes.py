"""Processes that tests start: which there are, and that none stays."""

import collections
import contextlib
import ctypes
import os
import signal
import subprocess
import time
from pathlib import Path

# For what has to happen soon on a busy machine; a test that runs into it has failed.
TIMEOUT = 60

# Orphans of everything that is started here become children of this process, however they tried to get away.
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

OWN = set()  # processes that this one started and waits for by itself


def start_process(arguments, **options):
    process = subprocess.Popen(arguments, **options)
    OWN.add(process.pid)
    return process


def wait_process(process, timeout=TIMEOUT):
    """Waits for the end of one that start_process started. One that does not end is killed, and an error."""
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
    finally:
        OWN.discard(process.pid)


def stat_of(pid):
    """State and parent of a process, or None."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent = text[text.rindex(")") + 2 :].split()[:2]
    return state, int(parent)


def living(pids):
    """Those that have not ended. Each is looked at once: it may end between two looks."""
    return [pid for pid in pids if (stat_of(pid) or "Z")[0] != "Z"]


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except (FileNotFoundError, ProcessLookupError):
        return "?"


def descendants(root):
    """Living processes below `root`, by pid, in no order."""
    children = collections.defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit():
            found = stat_of(name)
            if found and found[0] != "Z":
                children[found[1]].append(int(name))
    below, todo = set(), [root]
    while todo:
        for pid in children[todo.pop()]:
            below.add(pid)
            todo.append(pid)
    return below


def orphans():
    """Processes that came from here and that have no owner any more."""
    own = set(OWN)
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in own:
            found = stat_of(name)
            if found and found[1] == os.getpid() and found[0] == "Z":
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(int(name), os.WNOHANG)
    left = descendants(os.getpid()) - own
    for pid in own:
        left -= descendants(pid)
    return left


def wait_until(condition, what, timeout=TIMEOUT):
    """For what lives outside this process and cannot call back."""
    end = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"waited {timeout} s for {what() if callable(what) else what}")
        time.sleep(0.01)


def assert_no_orphans(timeout=15):
    def describe():
        return "the end of " + "; ".join(f"{pid} ({command_of(pid)})" for pid in sorted(orphans()))

    try:
        wait_until(lambda: not orphans(), describe, timeout)
    except AssertionError:
        for pid in orphans():  # or every later test fails too
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        raise


def processes_with(text):
    """Processes whose command line holds `text`: a mark that a test made up."""
    return {pid for pid in descendants(os.getpid()) if text in command_of(pid)}


def workspace_sidecars(workspace):
    """The processes that are, or are about to be, the sidecar of the workspace."""
    command = f"cellgate workspace-sidecar --root {workspace.path}"
    return {pid for pid in descendants(os.getpid()) if command in command_of(pid)}


def workspace_sidecar(workspace):
    """The one that is. Where machines are slow, `connect` may have started another, which ends by itself, and a child that
    is about to execute something else still has the sidecar's name."""

    def only():
        pids = workspace_sidecars(workspace)
        return len(pids) == 1 and pids.pop()

    return wait_until(only, "one sidecar of the workspace")
