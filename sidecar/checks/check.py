"""Looks at code of a language without running it.

Reads one JSON object from stdin:
  language, code
  types      whether to look at types, too
  context    the code of earlier cells, whose names the code may use
  profile    whether there is one: what is dangerous is an error then
  modules    Python modules that it offers; missing: all
  workspace
  packages   the folder of installed Python packages, one folder for each install
  folder     where files may be written
  programs   paths of deno, pyright, node, bash and shellcheck, as far as they are there
Writes {"diagnostics": [...], "checkers": [...], "missing": [...]}, of Python also {"complexity": N}, as the result of
`validate`; `install` of a Python diagnostic has names of modules.
"""

import json
import os
import resource
import sys

import check_bash
import check_python
import check_typescript
from findings import MAX_FINDINGS

CHECKS = {"python": check_python.check, "typescript": check_typescript.check, "javascript": check_typescript.check,
          "bash": check_bash.check}
CPU_SECONDS = 30


def main():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    asked = {"modules": None, **json.load(sys.stdin)}
    installs = sorted(os.listdir(asked["packages"]), reverse=True) if os.path.isdir(asked["packages"]) else []
    asked["paths"] = [asked["workspace"]] + [os.path.join(asked["packages"], each) for each in installs]
    result = {"diagnostics": [], "checkers": [], "missing": []}
    CHECKS[asked["language"]](asked, result)
    seen = set()
    kept = []
    for each in sorted(result["diagnostics"], key=lambda one: (one["line"], one["column"])):
        key = (each["line"], each["column"], each["rule"], each["message"])
        if key not in seen and len(kept) < MAX_FINDINGS:
            seen.add(key)
            kept.append(each)
    json.dump(dict(result, diagnostics=kept), sys.stdout)


if __name__ == "__main__":
    main()
