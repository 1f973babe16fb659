"""The functions of a source file with their lines: [(name, first line, last line)], from the first line of the
signature to the closing brace or `end`. What is defined inside a function belongs to it."""

import ast
import re

import source_text
from cpp_text import blank, line_of

DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
ACCESS = re.compile(r"\s*(?:public|protected|private)\s*:")
TEMPLATE = re.compile(r"\s*template\s*<")
TYPE = re.compile(r"\s*(?:typedef\s+|static\s+|inline\s+|constexpr\s+|const\s+)*(?:class|struct|union)\b")
SCOPE = re.compile(r'\s*(?:(?:inline\s+)?namespace\b|extern\s*"[^"]*"\s*$)')
OPERATOR = re.compile(r"\boperator\s*(?:\(\s*\)|\[\s*\]|[^\s\w(]+)")
LAMBDA_VALUE = re.compile(r"=\s*\[[^\]]*\]\s*(?:\(|$|mutable|noexcept|->)")
# `struct A f() const {` is no type.
RETURNS_TYPE = re.compile(r"\)(?:\s*(?:const|noexcept|override|final))*\s*$")
# What may be between a function's parameters and its body.
BODY_FOLLOWS = re.compile(r"(?:\)|\b(?:const|noexcept|override|final|mutable|try|volatile)|&)\s*$")
INITIALIZERS = re.compile(r"\)\s*(?:noexcept\s*(?:\(\s*\))?\s*)?:(?!:)")
TEST_TITLE = re.compile(r'^\s*(?:TEST_CASE|TEST_CASE_FIXTURE|SCENARIO)\w*\([^"]*("(?:[^"\\\n]|\\.)*")')
FUNCTION_NAME = re.compile(r"([~\w:]+)\s*(?:=\s*\[[^\]]*\]\s*)?$")
LUA_BLOCK = re.compile(r"\b(?:function|if|do|repeat|end|until)\b")


def closing_brace(code, offset):
    """The offset of the brace that closes the one at `offset`."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, offset):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.start()
    return len(code) - 1


def flat(head):
    """The head of a statement without what is in its parentheses."""
    kept, depth = [], 0
    for character in head:
        depth -= character == ")"
        kept.append(character if depth == 0 else " ")
        depth += character == "("
    return "".join(kept)


def without_template(head):
    """The head after `template <…>`, which may hold `class` and `=`."""
    while match := TEMPLATE.match(head):
        depth, at = 0, match.end() - 1
        while at < len(head):
            depth += {"<": 1, ">": -1}.get(head[at], 0)
            at += 1
            if depth == 0:
                break
        head = head[at:]
    return head


def brace_kind(head):
    """What a brace after `head` opens outside of functions: "scope", "function", "initializer", or "value"."""
    head = without_template(head)
    plain = flat(OPERATOR.sub("operator", head))
    if SCOPE.match(head) or (TYPE.match(head) and not RETURNS_TYPE.search(plain)):
        return "scope"
    if "=" in plain:
        return "function" if LAMBDA_VALUE.search(plain) else "value"
    if "(" not in plain:
        return "value"
    if INITIALIZERS.search(plain):
        return "function" if plain.rstrip()[-1] in ")}" else "initializer"
    if BODY_FOLLOWS.search(plain) or re.search(r"->|\brequires\b", plain):
        return "function"
    return "value"


def name_of(head):
    """`Gate::decide`; of a test case what it is about."""
    if title := TEST_TITLE.search(head):
        return title[1]
    plain = flat(OPERATOR.sub(lambda match: "operator" + "_" * (len(match.group()) - 8), without_template(head)))
    found = FUNCTION_NAME.search(plain[: plain.find("(")])
    return found[1].rstrip("_") if found else "a function"


def cpp_functions(text):
    code, _ = source_text.split("a.cpp", text)
    code = DIRECTIVE.sub(lambda match: blank(match.group()), code)
    found = []
    at = head_start = parentheses = 0
    while at < len(code):
        character = code[at]
        if character in "()[]":
            parentheses += 1 if character in "([" else -1
        elif parentheses == 0 and character in ";}":
            head_start = at + 1
        elif parentheses == 0 and character == ":" and ACCESS.fullmatch(code, head_start, at + 1):
            head_start = at + 1
        elif character == "{":
            head = code[head_start:at]
            kind = brace_kind(head) if parentheses == 0 else "value"
            if kind == "scope":
                head_start = at + 1
            else:
                end = closing_brace(code, at)
                if kind == "function":
                    begin = at - len(head.lstrip())
                    found.append((name_of(text[begin:at]), line_of(code, begin), line_of(code, end)))
                    head_start = end + 1
                elif kind == "initializer":
                    # A member's; as if it had parentheses. The constructor's body is still to come.
                    code = f"{code[:at]}({blank(code[at + 1 : end])}){code[end + 1 :]}"
                at = end
        at += 1
    return found


def lua_functions(text):
    code, _ = source_text.split("a.lua", text)
    found, open_blocks = [], []
    for match in LUA_BLOCK.finditer(code):
        word = match.group()
        if word not in ("end", "until"):
            open_blocks.append((word, match.start()))
        elif open_blocks:
            opener, begin = open_blocks.pop()
            if opener == "function" and not any(block == "function" for block, _ in open_blocks):
                name = re.match(r"function\s*([\w.:]*)", code[begin:])[1]
                line = code[code.rfind("\n", 0, begin) + 1 : begin].strip()
                found.append((name or line or "function", line_of(code, begin), line_of(code, match.start())))
    return found


def python_functions(text):
    found = []

    def visit(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.append((child.name, child.lineno, child.end_lineno))
            else:
                visit(child)

    visit(ast.parse(text))
    return found


def functions_of(path, text):
    if source_text.is_cpp(path):
        return cpp_functions(text)
    if source_text.is_lua(path):
        return lua_functions(text)
    if source_text.is_python(path):
        return python_functions(text)
    return []  # eslint knows TypeScript's
