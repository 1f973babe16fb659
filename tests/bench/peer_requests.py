"""Runs a cell's code that takes its own samples. Usage: peer_requests.py FILE"""

import contextlib
import io
import sys

from peer_worker import serve_many

scope = {}
with open(sys.argv[1]) as file:
    exec(compile(file.read(), sys.argv[1], "exec"), scope)


def take(count):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        scope["take"](count)
    return [float(line) for line in text.getvalue().split()]


serve_many(take)
