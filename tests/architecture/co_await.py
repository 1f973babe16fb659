"""Finds what g++ 12 miscompiles around co_await. It says nothing when it does: temporaries are destroyed twice, or the
coroutine's frame is laid out wrong and nothing of its body runs. The whole expression around a co_await is examined,
and these must not be in it:

- a braced list, or a temporary of an aggregate (`f({1})`, `f(Point{1})`, `f(Point(1))`, `Point p{co_await f()}`);
- a lambda that captures by value;
- the conditional operator;
- the bare condition of an if, while or switch (one that declares its variable is fine).

The cure is the same for all: give the value a name in a statement of its own, then move it in. Braces of the awaited
object itself (`co_await Sleep{clock, until}`) are fine; what is inside them is not. The body of a lambda is code of its
own.
"""

import re

from cpp_text import line_of, without_comments_and_literals

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = {close: open_ for open_, close in OPENING.items()}
STRUCT = re.compile(r"\bstruct\s+(\w+)\s*(?:final\s*)?(:[^;{}]*)?\{")
LAMBDA_HEAD = re.compile(r"\s*(?:<[^<>]*>\s*)?(?P<parameters>\()?")
LAMBDA_TAIL = re.compile(r"\s*(?:mutable\b|constexpr\b|noexcept\b|static\b|->\s*[\w:<>,&*\s]+?)*\s*(?=\{)")
BLOCK_BEFORE = re.compile(
    r"(?:[;{})]|\b(?:else|do|try|const|noexcept|mutable|override|final)|(?<!:):|\)\s*->\s*[\w:<>,&*\s]+)\s*$"
)
CONTROL = re.compile(r"\b(if|while|switch|for|catch)\s*(?:constexpr\s*)?$")
DECLARATION = re.compile(r"(?:^|;)\s*(?:const\s+)?[\w:]+(?:\s*<[^;=]*>)?[\s&*]+\w+\s*=(?!=)")
AWAITED_OBJECT = re.compile(r"\bco_await\s+[\w:]+(?:<[^<>;]*>)?\s*$")

LIST = "a braced list"
LAMBDA = "a lambda that captures by value"
CONDITIONAL = "a conditional operator"
CONDITION = "a bare condition"


def matching(text, offset):
    """The offset of the bracket that closes the one at `offset`."""
    depth = 0
    for at in range(offset, len(text)):
        if text[at] in OPENING:
            depth += 1
        elif text[at] in CLOSING:
            depth -= 1
            if depth == 0:
                return at
    return len(text)


def matching_back(text, offset):
    """The offset of the bracket that opens the one at `offset`."""
    depth = 0
    for at in range(offset, -1, -1):
        if text[at] in CLOSING:
            depth += 1
        elif text[at] in OPENING:
            depth -= 1
            if depth == 0:
                return at
    return 0


def aggregates(texts):
    """Names of the structs in these texts that have neither a base nor a constructor of their own."""
    found = set()
    for text in map(without_comments_and_literals, texts):
        for match in STRUCT.finditer(text):
            name, base = match.groups()
            body = text[match.end() : matching(text, match.end() - 1)]
            if base is None and not re.search(rf"(?<![\w~]){name}\s*\(", body):
                found.add(name)
    return found


def expression_around(text, offset):
    """(start, faults) of the expression around the co_await at `offset`."""
    found = []
    at = offset - 1
    while at >= 0:
        character = text[at]
        if character == ";":
            break
        if character in CLOSING:
            if character == "}" and re.match(r"\s*[\w*&(\[{:!~+-]", text[at + 1 :]):
                break  # the block before; after the end of a list there is a comma, a dot, a closing bracket …
            at = matching_back(text, at)
        elif character in OPENING:
            before = text[max(0, at - 200) : at]
            if character == "{":
                if BLOCK_BEFORE.search(before) or not before.strip():
                    break
                if not AWAITED_OBJECT.search(before):
                    found.append((at, LIST))
            control = CONTROL.search(before) if character == "(" else None
            if control:
                if control[1] in ("if", "while", "switch") and not DECLARATION.search(text[at + 1 : offset]):
                    found.append((at, CONDITION))
                break
        at -= 1
    return at + 1, found


def lambda_body(text, offset):
    """The offset of the body's brace when a lambda begins at the `[` at `offset`, else None."""
    before = text[max(0, offset - 50) : offset].rstrip()
    if re.search(r"[\w)\]\"]$", before) and not re.search(r"\b(?:co_await|co_return|co_yield|return)$", before):
        return None
    at = matching(text, offset) + 1
    head = LAMBDA_HEAD.match(text, at)
    at = head.end()
    if head["parameters"]:
        at = matching(text, at - 1) + 1
    tail = LAMBDA_TAIL.match(text, at)
    return tail.end() if tail else None


def captures_values(captures):
    return any(not re.match(r"\s*(?:&|this\b|$)", capture) for capture in captures.split(","))


def expression_faults(text, start, aggregate_names):
    """Yields (offset, what) in the expression that begins at `start`."""
    at = start
    depth = 0
    while at < len(text):
        character = text[at]
        if character == "[":
            body = lambda_body(text, at)
            if body is not None:
                if captures_values(text[at + 1 : matching(text, at)]):
                    yield at, LAMBDA
                at = matching(text, body) + 1
                continue
        if character == "{" and not AWAITED_OBJECT.search(text[max(0, at - 200) : at]):
            yield at, LIST
        if character == "(" and CONTROL.search(text[max(0, at - 20) : at]):
            at = matching(text, at) + 1  # another expression, before the statement that this one is in
            continue
        if character in OPENING:
            depth += 1
        elif character in CLOSING:
            depth -= 1
            if depth < 0:
                return
        elif character == ";" and depth == 0:
            return
        elif character == "?":
            yield at, CONDITIONAL
        elif character.isalpha() or character == "_":
            word = re.compile(r"\w+").match(text, at)
            if word.group() in aggregate_names and text[word.end() :].lstrip()[:1] == "(":
                yield at, f"a temporary of the aggregate {word.group()}"
            at = word.end()
            continue
        at += 1


def faults(source, aggregate_names=frozenset()):
    """[(line, what)] of one file."""
    text = without_comments_and_literals(source)
    found = set()
    for match in re.finditer(r"\bco_await\b", text):
        if re.search(r"\boperator\s*$", text[: match.start()]):
            continue
        start, around = expression_around(text, match.start())
        found.update(around)
        found.update(expression_faults(text, start, aggregate_names))
    return [(line_of(text, offset), what) for offset, what in sorted(found)]


def explained_faults(source, aggregate_names):
    for line, what in faults(source, aggregate_names):
        yield line, f"{what} around a co_await (g++ 12 miscompiles it): see tests/architecture/co_await.py"
