"""Looks at Python code without running it: syntax, imports, patterns that reach further than they look; types by Pyright.

Nothing of the code is imported: modules are found, and the source of those that it imports is read.
"""

import ast
import importlib.machinery
import os
import re
import sys

from findings import MAX_FINDINGS, Programs, code_points, one_line
from python_patterns import SYSTEM, Names, Patterns

# rule -> severity where a profile says what is offered, and without one. None: it is not mentioned.
SEVERITIES = {
    "syntax": ("error", "error"),
    "syntax.tabs": ("error", "error"),
    "source.encoding": ("error", "error"),
    "syntax.too_deep": ("error", "error"),
    "import.not_allowed": ("error", None),
    "import.not_found": ("error", "warning"),
    "import.relative": ("error", "warning"),
    "name.not_imported": ("warning", "warning"),
    "module.pivot": ("error", "warning"),
    "attr.dunder": ("error", "warning"),
    "attr.frame": ("error", "warning"),
    "attr.exc_obj": ("warning", None),
    "builtin.forbidden": ("error", "warning"),
    "eval.indirect": ("error", "warning"),
    "format.traversal": ("error", "warning"),
    "name.guard": ("error", "warning"),
    "data.unsafe_load": ("error", "warning"),
    "process.shell": ("error", "info"),
    "io.in_allowed_module": ("warning", None),
    "io.open": ("warning", None),
    "ipython.shell": ("error", None),
    "ipython.magic": ("warning", None),
}

# Names that are nearly always a module, and what imports them.
USUAL = {"np": "import numpy as np", "pd": "import pandas as pd", "plt": "import matplotlib.pyplot as plt",
         "sns": "import seaborn as sns", "tf": "import tensorflow as tf"}
USUAL_MODULES = frozenset(
    "argparse array asyncio base64 bisect calendar collections configparser contextlib copy csv dataclasses datetime decimal "
    "difflib enum fnmatch fractions functools glob gzip hashlib heapq html io itertools json logging math mimetypes os pathlib "
    "pickle platform pprint random re secrets shutil socket sqlite3 statistics string struct subprocess sys tempfile textwrap "
    "threading time traceback typing unicodedata urllib uuid zipfile".split())

SHELL_CELLS = frozenset("bash sh script system sx perl ruby".split())
OTHER_CELLS = frozenset("html javascript js latex markdown svg writefile".split())
SHELL_MAGICS = frozenset("system sx sc bash sh cd env pip conda mamba".split())
MAGIC = re.compile(r"^(\s*)(?:([A-Za-z_][\w.,\s\[\]]*=)\s*)?([%!])(.*)$")
HELP = re.compile(r"^\s*\??\??[A-Za-z_][\w.]*\?{1,2}\s*$|^\s*\?{1,2}[A-Za-z_]")
COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


class Report:
    """Findings, at places of the code."""

    def __init__(self, code, restricted):
        self.findings = []
        self._lines = code.split("\n")
        self._restricted = restricted

    def add(self, rule, message, place, **more):
        severity = SEVERITIES[rule][0 if self._restricted else 1]
        if severity is None or len(self.findings) >= MAX_FINDINGS:
            return
        line, column, end_line, end_column = place
        self.findings.append({"line": line, "column": column, "endLine": end_line, "endColumn": end_column,
                              "severity": severity, "rule": rule, "message": message, **more})

    def at(self, node, rule, message, **more):
        self.add(rule, message, self.place(node), **more)

    def place(self, node):
        first = node.lineno - 1
        last = (node.end_lineno or node.lineno) - 1
        return first, self._points(first, node.col_offset), last, self._points(last, node.end_col_offset or 0)

    def whole_line(self, number):
        number = max(0, min(number, len(self._lines) - 1))
        return number, 0, number, len(self._lines[number])

    def _points(self, line, offset):
        """Code points in the first `offset` bytes of a line."""
        text = self._lines[line] if line < len(self._lines) else ""
        return len(text.encode()[:offset].decode(errors="ignore"))


def without_ipython(code, report):
    """The code with magics, shell lines and questions as statements that do nothing, or None: it is not Python at all."""
    lines = code.split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is not None and lines[first].startswith("%%"):
        name = (lines[first][2:].split() or [""])[0]
        if name in SHELL_CELLS or lines[first].startswith("%%!"):
            report.add("ipython.shell", "the cell runs in a shell", report.whole_line(first))
            return None
        if name in OTHER_CELLS:
            return None
        lines[first] = ""
    for number, line in enumerate(lines):
        magic = MAGIC.match(line)
        if magic:
            lines[number] = _statement(magic, number, report)
        elif HELP.match(line):
            lines[number] = ""
    return "\n".join(lines)


def _statement(magic, number, report):
    indent, target, kind, rest = magic.groups()
    name = (rest.strip("!%").split() or [""])[0]
    if kind == "!" or name in SHELL_MAGICS:
        report.add("ipython.shell", "the line runs in a shell", report.whole_line(number))
    else:
        report.add("ipython.magic", "the line is a magic, which is not looked at", report.whole_line(number))
    return indent + (target + " None" if target else "pass")


def parse(code, report):
    """(tree, the code that was parsed), or (None, None)."""
    for number, line in enumerate(code.split("\n")[:2]):
        cookie = COOKIE.match(line)
        if cookie and cookie.group(1).lower().replace("_", "-") not in ("utf-8", "utf8", "ascii", "us-ascii"):
            report.add("source.encoding", "the code says that it is %s: what is read here is not what would run"
                       % cookie.group(1), report.whole_line(number))
    scratch = Report(code, False)
    tree = _tree(code, scratch)
    if tree is None:
        plain = without_ipython(code, report)
        if plain is None:
            return None, None
        if plain != code:
            code, scratch = plain, Report(code, False)
            tree = _tree(code, scratch)
    for each in scratch.findings:
        report.findings.append(each)
    return tree, code if tree is not None else None


def _tree(code, report):
    try:
        return ast.parse(code)
    except TabError as error:
        fixed = "\n".join(_expanded(line) for line in code.split("\n"))
        end = report.whole_line(code.count("\n"))
        report.add("syntax.tabs", "tabs and spaces are mixed in the indentation", report.whole_line((error.lineno or 1) - 1),
                   edits=[{"line": 0, "column": 0, "endLine": end[2], "endColumn": end[3], "newText": fixed}])
    except SyntaxError as error:
        _add_syntax_error(error, code, report)
    except (RecursionError, MemoryError):
        report.add("syntax.too_deep", "the code is nested too deeply to be read", report.whole_line(0))
    except ValueError as error:  # a null byte, or a lone surrogate
        report.add("syntax", str(error), report.whole_line(0))
    return None


def _add_syntax_error(error, code, report):
    line = (error.lineno or 1) - 1
    column = max(0, (error.offset or 1) - 1)
    end_line = (getattr(error, "end_lineno", None) or line + 1) - 1
    end_column = (getattr(error, "end_offset", None) or column + 2) - 1
    if (end_line, end_column) <= (line, column):
        end_line, end_column = line, column + 1
    rule = "syntax.too_deep" if "too many nested" in str(error.msg) else "syntax"
    more = {}
    if "expected ':'" in str(error.msg):
        more["edits"] = [{"line": line, "column": column, "endLine": line, "endColumn": column, "newText": ":"}]
    report.add(rule, str(error.msg), (line, column, end_line, end_column), **more)


def _expanded(line):
    body = line.lstrip(" \t")
    return line[:len(line) - len(body)].expandtabs(8) + body


class Modules:
    """What can be imported; nothing is."""

    def __init__(self, paths, offered):
        self.lists = offered is not None  # whether a profile says which there are
        self._path = paths + sys.path
        self._offered = offered
        self._specs = {}
        self._handed_out = {}

    def offers(self, name):
        return self._offered is None or any(name == each or name.startswith(each + ".") for each in self._offered)

    def may_pass(self, name):
        """Whether a part of `name` is offered: `import urllib` for urllib.parse."""
        return self.offers(name) or any(each.startswith(name + ".") for each in self._offered)

    def missing(self, name):
        """The shortest part of a dotted name that is not there, or None."""
        path = self._path
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            part = ".".join(parts[:count])
            spec = self._find(part, path)
            if spec is None:
                return part
            if spec is True or spec.submodule_search_locations is None:
                return None if count == len(parts) or spec is True else ".".join(parts[:count + 1])
            path = list(spec.submodule_search_locations)
        return None

    def _find(self, name, path):
        if name not in self._specs:
            try:
                if name in sys.builtin_module_names or name == "__main__":
                    self._specs[name] = True
                else:
                    found = importlib.machinery.PathFinder.find_spec(name, path)
                    self._specs[name] = found or importlib.machinery.FrozenImporter.find_spec(name)
            except (ImportError, ValueError, OSError):
                self._specs[name] = None
        return self._specs[name]

    def handed_out(self, module, attribute):
        """The system's module that `module` has imported under that name, or None."""
        if module in ("os", "mcptools") or self.missing(module):
            return None
        if module not in self._handed_out:
            self._handed_out[module] = self._imports_of(module)
        return self._handed_out[module].get(attribute)

    def _imports_of(self, module):
        spec = self._specs.get(module)
        origin = getattr(spec, "origin", None)
        found = {}
        if not origin or not origin.endswith(".py") or os.path.getsize(origin) > 1 << 20:
            return found
        try:
            with open(origin, "rb") as file:
                tree = ast.parse(file.read())
        except (OSError, SyntaxError, ValueError, RecursionError):
            return found
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    target = alias.name if alias.asname else alias.name.split(".")[0]
                    if target.split(".")[0] in SYSTEM or target.startswith("_"):
                        found[alias.asname or target] = target
        return found


def add_missing_imports(tree, report, modules, names):
    """Names that are used as a module and never bound: the line that would import them."""
    first = next((node.lineno - 1 for node in tree.body if not _is_preamble(node)), 0)
    seen = set()
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            continue
        name = node.value.id
        if name in names.bound or name in seen or not isinstance(node.value.ctx, ast.Load):
            continue
        line = USUAL.get(name) or ("import " + name if name in USUAL_MODULES else None)
        if line and (modules.offers(line.split()[1])):
            seen.add(name)
            report.at(node.value, "name.not_imported", "%s is not imported" % name,
                      edits=[{"line": first, "column": 0, "endLine": first, "endColumn": 0, "newText": line + "\n"}])


def _is_preamble(node):
    return (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) or (
        isinstance(node, ast.ImportFrom) and node.module == "__future__")


# A part of an expression or a statement at which the code goes on in one of two ways. `try` has its handlers, a chain of
# `and` or `or` its operands, a comprehension its `for` and each of its `if`s, `match` its cases.
DECISIONS = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert, ast.comprehension,
             ast.match_case)


def complexity(tree):
    """Its cyclomatic complexity (McCabe 1976): 1, and 1 for each decision."""
    count = 1
    for node in ast.walk(tree):
        count += isinstance(node, DECISIONS)
        if isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            count += len(node.ifs)
    return count


def check(asked, result):
    """`asked` and `result` as in check.py."""
    code, modules = asked["code"], asked["modules"]
    report = Report(code, asked["profile"])
    tree, plain = parse(code, report)
    earlier = [parse(each, Report(each, False)) for each in asked["context"]]
    earlier = [(each, text) for each, text in earlier if each is not None]
    result["checkers"].append("python")
    if tree is not None:
        result["complexity"] = complexity(tree)
        known = Modules(asked["paths"], modules)
        names = Names([each for each, _ in earlier] + [tree])
        Patterns(report, known, names, tree, asked["profile"]).check(tree)
        add_missing_imports(tree, report, known, names)
    result["diagnostics"] += report.findings
    if tree is not None and plain.strip():
        add_types([text for _, text in earlier], plain, asked, result)


# What Pyright finds that is said already, or that a notebook has. What has no rule is about syntax.
SAID = frozenset("reportMissingImports reportMissingModuleSource reportSelfClsParameterName".split())
CERTAIN = frozenset("reportCallIssue reportArgumentType reportUndefinedVariable".split())
OF_IPYTHON = re.compile(r'^"(?:display|get_ipython|In|Out|_+|_i+|_\d+|exit|quit|__file__)" is not defined')


def add_types(earlier, plain, asked, result):
    programs = Programs(asked)
    if not asked["types"]:
        return
    if not (programs.has("pyright") and programs.has("node")):
        result["missing"].append("pyright, for types: npm install pyright")
        return
    before = "".join(text + "\n" for text in earlier)
    programs.write("cell.py", before + plain)
    programs.write_json("pyrightconfig.json", {"include": ["cell.py"], "extraPaths": asked["paths"]})
    printed = programs.run("node", programs.file_of("pyright"), "--outputjson", "--pythonpath", sys.executable, "-p", programs.folder)
    if printed is None:
        result["missing"].append("pyright, which took too long for this code")
        return
    said = {(each["line"], each["column"]) for each in result["diagnostics"] if each["rule"] == "name.not_imported"}
    lines, first = (before + plain).split("\n"), before.count("\n")
    result["checkers"].append("pyright")
    for each in programs.read_json(printed).get("generalDiagnostics", []):
        start, end, rule = each["range"]["start"], each["range"]["end"], each.get("rule")
        line, last = start["line"] - first, end["line"] - first
        if line < 0 or rule is None or rule in SAID or OF_IPYTHON.match(each["message"]):
            continue
        column = code_points(lines[start["line"]], start["character"])
        if (line, column) in said:
            continue
        result["diagnostics"].append({
            "line": line, "column": column, "endLine": last, "endColumn": code_points(lines[end["line"]], end["character"]),
            "severity": "warning" if rule in CERTAIN else "info", "rule": rule, "message": one_line(each["message"])})
