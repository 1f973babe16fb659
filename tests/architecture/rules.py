"""The rules of the codebase that a compiler does not know, over the files that git knows: `rules.py [--report FILE]`.
Prints what breaks them and exits 1 when something does. A report has the faults by folder, and counts of each rule."""

import collections
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import co_await
import headers
import includes
import isolation
import links
import machines
import names
import prose
import sizes
import source_text

ROOT = Path(__file__).resolve().parents[2]


class Fault(NamedTuple):
    path: str
    line: int
    rule: str
    what: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what}"


def rules_for(path, aggregates, known):
    """(name, rule) of those that this file has to keep; `known` is every path of the project."""
    yield "machines", machines.faults
    yield "names", names.faults
    yield "sizes", sizes.faults
    yield "prose", prose.faults
    yield "links", lambda path, text: links.faults(path, text, known)
    if source_text.is_cpp(path):
        yield "includes", includes.faults
        yield "isolation", isolation.faults
        yield "headers", headers.faults
        yield "co_await", lambda _path, text: co_await.explained_faults(text, aggregates)


def faults(files, others=()):
    """Yields the faults of {path: text}, by path and line; `others` are the project's paths without text."""
    aggregates = co_await.aggregates(text for path, text in files.items() if source_text.is_cpp(path))
    known = links.with_folders([*files, *others])
    for path, text in sorted(files.items()):
        found = [Fault(path, line, rule, what)
                 for rule, check in rules_for(path, aggregates, known) for line, what in check(path, text)]
        yield from sorted(found)


def project_files():
    """Yields (path, text); no text where it is not UTF-8."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split("\0")
    for name in filter(None, listed):
        path = ROOT / name
        if path.is_file():
            try:
                yield name, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                yield name, None


def report(found):
    """The faults by folder, below a table of how many there are of each rule in each top folder."""
    def top(fault):
        parts = fault.path.split("/")
        return "/".join(parts[: min(2, len(parts) - 1)]) or "."

    counts = collections.Counter((top(fault), fault.rule) for fault in found)
    columns = sorted({fault.rule for fault in found})
    lines = [f"{len(found)} faults", "", "".join(f"{cell:>10}" for cell in columns) + f"{'all':>10}  folder"]
    for folder in [*sorted({folder for folder, _ in counts}), None]:
        cells = [sum(count for (where, rule), count in counts.items() if folder in (where, None) and rule == column)
                 for column in columns]
        lines.append("".join(f"{cell or '·':>10}" for cell in [*cells, sum(cells)]) + f"  {folder or 'all'}")
    folder = None
    for fault in sorted(found, key=lambda fault: (fault.path.rpartition("/")[0], fault.path, fault.line)):
        if folder != (folder := fault.path.rpartition("/")[0]):
            lines += ["", f"== {folder or '.'}"]
        lines.append(f"{fault.path}:{fault.line}: [{fault.rule}] {fault.what}")
    return "\n".join(lines) + "\n"


def main(arguments):
    listed = dict(project_files())
    files = {path: text for path, text in listed.items() if text is not None}
    found = list(faults(files, listed))
    if arguments[:1] == ["--report"]:
        Path(arguments[1]).write_text(report(found), encoding="utf-8")
    else:
        for fault in found:
            print(fault)
    print(f"{len(files)} files, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
