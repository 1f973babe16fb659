"""Only sidecar/sandbox compares kinds of sandboxes; the others ask a kind's traits, so that a launcher can be added in one
module."""

import re

from cpp_text import line_of, without_comments_and_literals

KIND = r"(?:\w+::)*(?:Isolation|SandboxKind|SandboxLauncher)::\w+"
COMPARED = re.compile(rf"[=!]=\s*{KIND}|{KIND}\s*[=!]=|\bcase\s+{KIND}")


def faults(path, text):
    """Yields (line, what)."""
    if not path.startswith("sidecar/") or path.startswith("sidecar/sandbox/"):
        return
    code = without_comments_and_literals(text)
    for match in COMPARED.finditer(code):
        yield line_of(code, match.start()), "a kind of sandbox is compared; ask sandbox::traits_of() what it offers"
