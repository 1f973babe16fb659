"""Looks at bash code: syntax by bash -n, the rest by shellcheck, and a few commands that destroy."""

import re

from findings import Programs, finding

SYNTAX = re.compile(r"^.*?: line (\d+): (.*)$")
# In a cell there is no #! line, and variables come from other cells.
OF_CELLS = "SC2148,SC2154,SC2034,SC1090,SC1091,SC2164"
LEVELS = {"error": "warning", "warning": "warning"}
DANGERS = (
    ("rm.everything", re.compile(r"\brm\s+(?:-\S+\s+)*(?:/|/\*|~/?|\"?\$HOME\"?/?)(?=\s|$|;|&)"),
     "this removes everything that the sandbox lets it remove"),
    ("shell.pipe_to_shell", re.compile(r"\b(?:curl|wget)\b[^|;&\n]*\|\s*(?:sudo\s+)?(?:ba|da|z)?sh\b"),
     "this runs what a web server sends"),
    ("shell.fork_bomb", re.compile(r":\s*\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}"), "this starts processes without end"),
    ("disk.write", re.compile(r"\bdd\b[^\n]*\bof=/dev/|\bmkfs(?:\.\w+)?\s|>\s*/dev/(?:sd|nvme|vd)"), "this writes to a disk"),
    ("shell.eval", re.compile(r"(?:^|[;&|(]|\bthen|\bdo)\s*(eval)\s"), "eval runs text as code"),
)


def check(asked, result):
    programs = Programs(asked)
    path = programs.write("cell.sh", asked["code"])
    printed = programs.run("bash", "-n", path, errors=True)
    if printed is None:
        result["missing"].append("bash -n, which took too long for this code")
        return
    result["checkers"].append("bash -n")
    lines = asked["code"].split("\n")
    failed = [SYNTAX.match(line) for line in printed.split("\n")]
    for each in [match for match in failed if match and not match.group(2).startswith("`")]:
        number = min(int(each.group(1)), len(lines)) - 1
        result["diagnostics"].append(finding((number, 0, number, max(1, len(lines[number]))), "error", "syntax", each.group(2)))
    danger = "error" if asked["profile"] else "warning"
    for number, line in enumerate(lines):
        for rule, pattern, message in DANGERS:
            found = None if line.lstrip().startswith("#") else pattern.search(line)
            if found:
                result["diagnostics"].append(finding((number, found.start(), number, found.end()), danger, rule, message))
    if not programs.has("shellcheck"):
        result["missing"].append("shellcheck: sudo apt install shellcheck")
    elif not any(each["rule"] == "syntax" for each in result["diagnostics"]):
        add_shellcheck(programs, path, result)


def add_shellcheck(programs, path, result):
    result["checkers"].append("shellcheck")
    printed = programs.read_json(programs.run("shellcheck", "--format=json1", "--shell=bash", "--exclude=" + OF_CELLS, path))
    for each in printed.get("comments", []):
        place = each["line"] - 1, each["column"] - 1, each["endLine"] - 1, each["endColumn"] - 1
        more = {}
        if each.get("fix"):
            more["edits"] = [{"line": edit["line"] - 1, "column": edit["column"] - 1, "endLine": edit["endLine"] - 1,
                              "endColumn": edit["endColumn"] - 1, "newText": edit["replacement"]}
                             for edit in each["fix"]["replacements"]]
        result["diagnostics"].append(finding(place, LEVELS.get(each["level"], "info"), "SC%d" % each["code"],
                                             each["message"], **more))
