"""Attempts to use more of the machine than is allowed."""

import os
import resource
import signal
import threading

from attempts import attempt, work


def fork_many():
    count = 0
    try:
        while count < 200:
            if os.fork() == 0:
                signal.pause()
            count += 1
    except OSError:
        pass
    return count == 200


attempt("res-forks", "process-limit", "start 200 processes where 64 are allowed", control=False,
        limits={"processes": 64})(fork_many)


@attempt("res-threads", "process-limit", "start 200 threads where 64 tasks are allowed", control=False,
         limits={"processes": 64})
def start_threads():
    end = threading.Event()
    try:
        for _ in range(200):
            threading.Thread(target=end.wait, daemon=True).start()
    except RuntimeError as error:
        raise OSError(str(error)) from None
    return True


@attempt("res-cpu", "cpu-limit", "compute for longer than a second where that is allowed", control=False,
         limits={"seconds": 1}, ends=True)
def compute():
    while resource.getrusage(resource.RUSAGE_SELF).ru_utime < 3:
        pass
    return True


@attempt("res-memory", "memory-limit", "use 1 GiB of memory where 256 MiB are allowed", control=False,
         limits={"memory": 256 << 20}, ends=True)
def use_memory():
    return bool(bytearray(1 << 30))


@attempt("res-disk-tmp", "private-scratch", "fill /tmp beyond 8 MiB where that is allowed", control=False,
         limits={"disk": 8 << 20})
def fill_scratch():
    with open("/tmp/cellgate-test", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 64 << 20)
    return True


@attempt("res-disk-cwd", "file-size-limit", "write a file of 8 MiB where 1 MiB is allowed", control=False,
         limits={"file": 1 << 20}, ends=True)
def write_large():
    with open(work("large"), "wb") as file:
        file.write(bytes(8 << 20))
    return True


@attempt("res-core", "limits", "leave a core dump")
def leave_core():
    return resource.getrlimit(resource.RLIMIT_CORE)[1] != 0
