"""clang-tidy over the product's sources: `tidy.py BUILD CLANG_TIDY`, with the compile commands of that build. A source
that passed is not looked at again until it, a header of the project that it includes, or the checks have changed."""

import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def include_roots(build):
    """Those of the modules, and those of what the build makes for them."""
    return [path for top in (ROOT, build) for path in [*top.glob("sidecar/*/include"), top / "protocol" / "include"]]


def digest(source, settings, roots):
    """Of all that the outcome depends on, but for the system's headers."""
    sums = {}
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path in sums:
            continue
        text = path.read_bytes()
        sums[path] = hashlib.sha256(text).hexdigest()
        for name in INCLUDE.findall(text):
            candidates = [root / name.decode() for root in [path.parent, *roots]]
            waiting += [candidate for candidate in candidates if candidate.is_file()]
    whole = [*settings, *(f"{path.relative_to(ROOT)} {sums[path]}" for path in sorted(sums))]
    return hashlib.sha256("\n".join(whole).encode()).hexdigest()


def main(build, clang_tidy):
    version = subprocess.run([clang_tidy, "--version"], check=True, capture_output=True, text=True).stdout
    checks = (ROOT / ".clang-tidy").read_text()
    passed = build / "tidy"
    passed.mkdir(exist_ok=True)
    waiting = []
    roots = include_roots(build)
    commands = json.loads((build / "compile_commands.json").read_text())
    for entry in commands:
        source = Path(entry["file"])
        if source.is_relative_to(ROOT / "sidecar") or source.is_relative_to(ROOT / "protocol"):
            mark = passed / digest(source, [version, checks, entry["command"]], roots)
            if not mark.exists():
                waiting.append((source, mark))

    def check(job):
        source, mark = job
        result = subprocess.run(
            [clang_tidy, "-p", str(build), "--quiet", str(source)], capture_output=True, text=True
        )
        if result.returncode == 0:
            mark.touch()
        else:
            print(result.stdout + result.stderr, flush=True)
        return result.returncode == 0

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(check, waiting))
    print(f"{len(waiting)} sources looked at, {results.count(False)} with faults")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
