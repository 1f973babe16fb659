"""The rules of the house that a compiler does not know, over the files that git knows. Prints what breaks them and
exits 1 when something does."""

import re
import subprocess
import sys
from pathlib import Path

import co_await
from cpp_text import line_of, without_comments_and_literals

ROOT = Path(__file__).resolve().parents[2]

# An outside library is one room's own; the others use what that room offers. No room's is what only tests need.
LIBRARY_HOME = {
    "uv.h": "async",
    "zmq": None,
    "nettle/": "base",
    "simdjson": "base",
    "nlohmann/": "base",
    "sqlite3.h": "store",
    "CLI/": "cli",
    "seccomp.h": "sandbox",
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
# Brackets keep these patterns from finding themselves.
MACHINE_PATH = re.compile(r"(?<![\w./$}-])/(?:wor[k]|tm[p]/w)(?![-\w]|\.\w)")
REGISTRY_HOST = re.compile(
    r"\b(?:registry\.npm[j]s\.org|registry\.yarn[p]kg\.com|(?:deb|security|ftp)\.debia[n]\.org|"
    r"(?:archive|security|ports)\.ubunt[u]\.com|(?:files\.)?pyp[i]\.org|files\.pythonhoste[d]\.org)\b"
)


def room_of(path):
    parts = path.split("/")
    if parts[0] == "sidecar" and len(parts) > 2:
        return parts[1]
    return "protocol" if parts[0] == "protocol" else None


def include_faults(path, text):
    room = room_of(path)
    if room is None:
        return
    for match in INCLUDE.finditer(text):
        quote, name = match.groups()
        line = line_of(text, match.start(2))
        for library, home in LIBRARY_HOME.items():
            if name.startswith(library) and room != home:
                owner = f"the room {home}" if home else "tests and the bench"
                yield line, f"<{name}> belongs to {owner}; use what a room offers"
        if quote == '"' and (".." in name.split("/") or name.startswith("/")):
            yield line, f'"{name}" goes around the include roots; write "<room>/<header>"'


def async_header_faults(path, text):
    """Invariant 2: no callback and no libuv type leaves the room."""
    if not path.startswith("sidecar/async/include/"):
        return
    code = without_comments_and_literals(text)
    for match in INCLUDE.finditer(text):
        if match[2].startswith("uv.h"):
            yield line_of(text, match.start(2)), f"<{match[2]}> in a public header shows libuv to every room"
    for match in re.finditer(r"\b(?:uv|UV)_\w+", code):
        if match.group() != "uv_loop_s":
            yield line_of(code, match.start()), f"{match.group()} is the room's own matter"
    for match in re.finditer(r"std::(?:move_only_)?function<[^()<>]*\((?!\s*\))", code):
        yield line_of(code, match.start()), "a callback leaves the room: return a Task, and let the caller await it"


def header_faults(path, text):
    if not path.endswith(".hpp"):
        return
    opening = [line for line in text.split("\n") if line.strip()][:2]
    if "#pragma once" not in opening:
        yield 1, "a header begins with #pragma once"
    if not any(line.startswith("//") for line in opening):
        yield 1, "a header opens with a paragraph: what the thing is, what it guarantees, who owns it"


def place_faults(_path, text):
    for pattern, what in ((MACHINE_PATH, "a path of one machine"), (REGISTRY_HOST, "the host of a package registry")):
        for match in pattern.finditer(text):
            yield line_of(text, match.start()), f"{what}: {match.group()}"


def is_cpp(path):
    return path.endswith((".cpp", ".hpp", ".cpp.in"))


def faults(files):
    """Yields 'path:line: what' for {path: text}."""
    aggregates = co_await.aggregates(text for path, text in files.items() if is_cpp(path))
    for path, text in sorted(files.items()):
        found = list(place_faults(path, text))
        if is_cpp(path):
            for rule in (include_faults, async_header_faults, header_faults):
                found += rule(path, text)
            for line, what in co_await.faults(text, aggregates):
                found.append((line, f"{what} around a co_await (g++ 12 miscompiles it): see tests/architecture/co_await.py"))
        for line, what in sorted(found):
            yield f"{path}:{line}: {what}"


def project_files():
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split("\0")
    for name in filter(None, names):
        path = ROOT / name
        if path.is_file():
            try:
                yield name, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                pass  # not text: none of the rules is about it


def main():
    files = dict(project_files())
    found = list(faults(files))
    for fault in found:
        print(fault)
    print(f"{len(files)} files, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
