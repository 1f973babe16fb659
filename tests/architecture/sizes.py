"""No file has more than 500 lines and no function more than 60. There are no exceptions but files that a program makes
and tables of system calls. The length of TypeScript's functions is eslint's matter."""

import re

import source_text
from functions import functions_of

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
MADE_BY_A_PROGRAM = re.compile(
    r"\A(?:---@meta\n)?(?://|--|#|/\*) "
    r"(?:@?[Gg]enerated by |[^\n]*\b[Mm]ade from [^\n]*(?:do not edit|a change belongs there))"
)
TABLE = re.compile(r"sidecar/sandbox/filters/\w*rules\.cpp")


def faults(path, text):
    """Yields (line, what)."""
    if not source_text.is_source(path) or MADE_BY_A_PROGRAM.match(text) or TABLE.fullmatch(path):
        return
    lines = text.count("\n")
    if lines > MAX_FILE_LINES:
        yield 1, f"the file has {lines} lines, {MAX_FILE_LINES} are the most"
    for name, first, last in functions_of(path, text):
        lines = last - first + 1
        if lines > MAX_FUNCTION_LINES:
            yield first, f"{name} has {lines} lines, {MAX_FUNCTION_LINES} are the most"
