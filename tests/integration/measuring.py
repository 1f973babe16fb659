"""What a process takes of the memory."""

import functools
from pathlib import Path

from cellgate_client import CELLGATE


def memory(pid, field="VmRSS"):
    """In bytes: VmRSS, what it takes now; VmHWM, the most since `forget_peak`."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    [line] = [line for line in lines if line.startswith(field + ":")]
    return int(line.split()[1]) * 1024


def forget_peak(pid):
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


@functools.cache
def sanitized():
    """Whether this cellgate was built with a sanitizer, which keeps what was freed: then nothing can be said."""
    return b"__asan_init" in Path(CELLGATE).read_bytes()
