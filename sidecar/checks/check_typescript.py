"""Looks at TypeScript and JavaScript by Deno: syntax, eval, imports, types. Deno runs nothing of it, and has no network."""

import os
import re

from findings import Programs, code_points, finding

ERROR = re.compile(r"^(TS\d+) \[ERROR\]: (.*)$")
PLACE = re.compile(r"^\s+at file://\S*/(cell\.\w+):(\d+):(\d+)$")
UNDERLINE = re.compile(r"^\s*([~^]+)\s*$")
# A cell may declare again what an earlier one declared.
OF_CELLS = frozenset("TS2451 TS2300 TS2393".split())
NEW_FUNCTION = re.compile(r"\bnew\s+Function\s*\(")


class Cell:
    """The code behind that of the earlier cells, in one file: their names are known, and only its own lines count."""

    def __init__(self, asked):
        before = "".join(text + "\n" for text in asked["context"])
        self.name = "cell.js" if asked["language"] == "javascript" else "cell.ts"
        self.text = before + asked["code"]
        self.first = before.count("\n")
        self._lines = self.text.split("\n")

    def place(self, line, units, length=1):
        """Of a line and UTF-16 unit of the file, from 0; None outside the cell."""
        if line < self.first or line >= len(self._lines):
            return None
        column = code_points(self._lines[line], units)
        return line - self.first, column, line - self.first, column + max(1, length)


def check(asked, result):
    programs = Programs(asked)
    if not programs.has("deno"):
        result["missing"].append("deno: npm install deno")
        return
    cell = Cell(asked)
    # What the workspace has beside it, a module in a file of its own finds by the same specifiers.
    programs.write_json("imports.json", {"imports": {"./": "file://" + asked["workspace"] + "/"}})
    programs.write(cell.name, cell.text + "\nexport {};\n")
    danger = "error" if asked["profile"] else "warning"
    linted = programs.read_json(
        programs.run("deno", "lint", "--json", "--rules-tags=", "--rules-include=no-eval", cell.name))
    if not linted:
        result["missing"].append("deno lint, which could not read this code")
        return
    result["checkers"].append("deno lint")
    if add_syntax_errors(linted, cell, result):
        return
    for each in linted.get("diagnostics", []):
        start, end = each["range"]["start"], each["range"]["end"]
        add(result, cell.place(start["line"] - 1, start["col"], end["col"] - start["col"]), danger, "builtin.forbidden",
            each["message"])
    for number, line in enumerate(asked["code"].split("\n")):
        found = NEW_FUNCTION.search(line)
        if found:
            result["diagnostics"].append(finding((number, found.start(), number, found.end()), danger, "builtin.forbidden",
                                                 "new Function() runs text as code"))
    if add_imports(programs, cell, result):
        add_types(programs, cell, result)


def add(result, place, severity, rule, message, **more):
    if place:
        result["diagnostics"].append(finding(place, severity, rule, message, **more))


def add_syntax_errors(linted, cell, result):
    for each in linted.get("errors", []):
        lines = each.get("message", "").split("\n")
        at = next((PLACE.match(line) for line in lines if PLACE.match(line)), None)
        place = cell.place(int(at.group(2)) - 1, int(at.group(3)) - 1) if at else None
        add(result, place or (0, 0, 0, 1), "error", "syntax", lines[0].replace("SyntaxError: ", ""))
    return bool(linted.get("errors"))


def add_imports(programs, cell, result):
    """Whether all of them are there."""
    # By its name: the map would apply to an absolute path.
    graph = programs.read_json(programs.run("deno", "info", "--json", "--no-remote", "--no-npm", "--import-map=imports.json",
                                            cell.name))
    complete = True
    for module in graph.get("modules", []):
        if not module.get("specifier", "").endswith("/" + cell.name):
            continue
        for each in module.get("dependencies", []):
            code = each.get("code") or each.get("type") or {}
            problem = problem_of(each.get("specifier", ""), code)
            if problem:
                start, end = code["span"]["start"], code["span"]["end"]
                severity, rule, message, more = problem
                complete = False
                add(result, cell.place(start["line"], start["character"], end["character"] - start["character"]), severity,
                    rule, message, **more)
    return complete


def problem_of(specifier, code):
    """Why an import will not do by itself: severity, rule, message, more; or None."""
    if re.match(r"^[a-z@][\w@./-]*$", specifier) and "error" in code:
        parts = specifier.split("/")
        package = "/".join(parts[:2 if specifier.startswith("@") else 1])
        return ("warning", "import.not_found", "there is no module %s; a package of npm is imported as npm:%s"
                % (package, package), {"install": ["npm:" + package]})
    if specifier.startswith("npm:"):
        name = re.match(r"^npm:/?((?:@[^/]+/)?[^@/]+(?:@[^/]+)?)", specifier)
        if not name or is_installed(name.group(1)):
            return None
        return ("warning", "import.not_found", "%s is not installed: the import would fetch it" % specifier,
                {"install": ["npm:" + name.group(1)]})
    if specifier.startswith(("jsr:", "https:", "http:")):
        return "info", "import.remote", "%s is fetched when the cell runs, which is asked about" % specifier, {}
    local = code.get("specifier", "")
    if local.startswith("file://") and not os.path.exists(local[len("file://"):]):
        hint = ": generate the wrappers of that server" if "/mcptools/" in local else ""
        return "warning", "import.not_found", "there is no file %s%s" % (specifier, hint), {}
    return None


def is_installed(name):
    package = re.sub(r"(?<=.)@.*$", "", name)
    return os.path.isdir(os.path.join("/node_modules", package))


def add_types(programs, cell, result):
    printed = programs.run("deno", "check", "--cached-only", "--import-map=imports.json", cell.name, errors=True)
    if printed is None:
        result["missing"].append("deno check, which took too long for this code")
        return
    printed = printed.split("\n")
    result["checkers"].append("deno check")
    for number, line in enumerate(printed):
        error = ERROR.match(line)
        if not error or error.group(1) in OF_CELLS:
            continue
        length = 1
        for after in printed[number + 1:number + 12]:
            if UNDERLINE.match(after):
                length = len(UNDERLINE.match(after).group(1))
            at = PLACE.match(after)
            if at:
                if at.group(1) == cell.name:
                    add(result, cell.place(int(at.group(2)) - 1, int(at.group(3)) - 1, length), "warning", error.group(1),
                        error.group(2))
                break
