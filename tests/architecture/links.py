"""Documents name files that exist: a path in backticks that begins with one of the project's folders, and the target of
a link that is not an address. `<…>` is a placeholder and `*` any text."""

import fnmatch
import posixpath
import re

from cpp_text import line_of

TOPS = ("docs", "editors", "protocol", "schemas", "sidecar", "tests")
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(rf"(?<![\w./-])(?:{'|'.join(TOPS)})/[\w./$*<>-]*")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PLACEHOLDER = re.compile(r"<[^>]*>")
# Its old names are those of its time.
EXEMPT = {"CHANGELOG.md"}


def with_folders(files):
    """The files and every folder above one."""
    known = set(files)
    for path in files:
        while path := posixpath.dirname(path):
            known.add(path)
    return known


def exists(path, known):
    pattern = PLACEHOLDER.sub("*", path).rstrip("/.")
    return bool(fnmatch.filter(known, pattern)) if "*" in pattern else pattern in known


def named_paths(path, text):
    """Yields (offset, path from the top)."""
    for code in CODE.finditer(text):
        for match in PATH.finditer(code[1]):
            yield code.start(1) + match.start(), match.group()
    for link in LINK.finditer(text):
        target = link[1].partition("#")[0]
        if target and "://" not in target and not target.startswith("mailto:"):
            yield link.start(1), posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def faults(path, text, known):
    """Yields (line, what)."""
    if not path.endswith(".md") or path in EXEMPT:
        return
    for offset, named in named_paths(path, text):
        if not exists(named, known):
            yield line_of(text, offset), f"there is no {named}"
