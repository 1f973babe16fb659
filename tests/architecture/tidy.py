"""clang-tidy over the product's sources: `tidy.py BUILD CLANG_TIDY`, with the compile commands of that build, which joins
several files (CMake's unity build). What passed, in whichever clone of this user's, is not looked at again until it, a
header of the project that it includes, or the checks have changed."""

import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE_ROOT = re.compile(r" -I(\S+)")
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def digest(source, command, settings):
    """Of all that the outcome depends on, but for the system's headers. The same in every clone."""
    sums = {}
    waiting = [source]
    roots = [Path(root) for root in INCLUDE_ROOT.findall(command)]
    while waiting:
        path = waiting.pop()
        if path in sums:
            continue
        text = path.read_bytes()
        sums[path] = hashlib.sha256(text.replace(str(ROOT).encode(), b"")).hexdigest()
        for name in INCLUDE.findall(text):
            candidates = [root / name.decode() for root in [path.parent, *roots]]
            waiting += [candidate for candidate in candidates if candidate.is_file()]
    whole = [*settings, command.replace(str(ROOT), ""), *sorted(f"{path.name} {each}" for path, each in sums.items())]
    return hashlib.sha256("\n".join(whole).encode()).hexdigest()


def main(build, clang_tidy):
    version = subprocess.run([clang_tidy, "--version"], check=True, capture_output=True, text=True).stdout
    checks = (ROOT / ".clang-tidy").read_text()
    passed = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "cellgate-tidy")
    passed.mkdir(parents=True, exist_ok=True)
    waiting = []
    commands = json.loads((build / "compile_commands.json").read_text())
    for entry in commands:
        source = Path(entry["file"])
        of_the_product = source.is_relative_to(ROOT / "sidecar") or source.is_relative_to(ROOT / "protocol")
        if of_the_product or source.parent.name == "Unity":
            mark = passed / digest(source, entry["command"], [version, checks])
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
