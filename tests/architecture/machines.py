"""No file names the machine that it was written on, or a package registry."""

import re

from cpp_text import line_of

# Brackets keep these patterns from finding themselves.
MACHINE_PATH = re.compile(r"(?<![\w./$}-])/(?:wor[k]|tm[p]/w)(?![-\w]|\.\w)")
REGISTRY_HOST = re.compile(
    r"\b(?:registry\.npm[j]s\.org|registry\.yarn[p]kg\.com|(?:deb|security|ftp)\.debia[n]\.org|"
    r"(?:archive|security|ports)\.ubunt[u]\.com|(?:files\.)?pyp[i]\.org|files\.pythonhoste[d]\.org)\b"
)


def faults(_path, text):
    """Yields (line, what)."""
    for pattern, what in ((MACHINE_PATH, "a path of one machine"), (REGISTRY_HOST, "the host of a package registry")):
        for match in pattern.finditer(text):
            yield line_of(text, match.start()), f"{what}: {match.group()}"
