"""A source file divided into its code and its prose. Both have the file's lines and columns; what belongs to the other
half is blank. Prose is comments and literals (messages to users are literals), and all of a document."""

import io
import re
import tokenize

import cpp_text

LUA_COMMENT_OR_LITERAL = re.compile(
    r"""
    (?P<comment> --\[(?P<level>=*)\[.*?\](?P=level)\] | --[^\n]* )
  | (?P<literal> \[(?P<fence>=*)\[.*?\](?P=fence)\] | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
    """,
    re.VERBOSE | re.DOTALL,
)
# A slash that follows one of these begins a regular expression and does not divide.
TYPESCRIPT_COMMENT_OR_LITERAL = re.compile(
    r"""
    (?P<comment> //[^\n]* | /\*.*?\*/ )
  | (?P<literal> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | `(?:[^`\\]|\\.)*` )
  | (?P<regex>   [(,=:\[!&|?{};]\s*/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]* )
    """,
    re.VERBOSE | re.DOTALL,
)
CPP_MARK = re.compile(r"^[ \t]*(?://+|/\*+|\*+/?)", re.MULTILINE)
HASH_MARK = re.compile(r"^[ \t]*#+", re.MULTILINE)
LUA_MARK = re.compile(r"^[ \t]*--+(?:@\w+)?", re.MULTILINE)


def is_cpp(path):
    return path.endswith((".cpp", ".hpp", ".cpp.in"))


def is_typescript(path):
    return path.endswith((".ts", ".mjs", ".js"))


def is_lua(path):
    return path.endswith(".lua")


def is_python(path):
    return path.endswith(".py")


def is_source(path):
    return is_cpp(path) or is_typescript(path) or is_lua(path) or is_python(path)


def is_document(path):
    return path.endswith(".md") or (path.startswith("schemas/") and path.endswith(".json"))


def divided(text, pieces):
    """(code, prose) where `pieces` yields (begin, end, is_prose) of what is not code, in order."""
    code, prose, at = [], [], 0
    for begin, end, is_prose in pieces:
        between, piece = text[at:begin], text[begin:end]
        code += [between, cpp_text.blank(piece)]
        prose += [cpp_text.blank(between), piece if is_prose else cpp_text.blank(piece)]
        at = end
    code.append(text[at:])
    prose.append(cpp_text.blank(text[at:]))
    return "".join(code), "".join(prose)


def without_marks(prose, mark):
    """Comments of several lines read as one text."""
    return mark.sub(lambda match: cpp_text.blank(match.group()), prose)


def regex_pieces(text, pattern):
    for match in pattern.finditer(text):
        groups = match.groupdict()
        yield match.start(), match.end(), groups.get("regex") is None


def python_pieces(text):
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            yield lines[token.start[0] - 1] + token.start[1], lines[token.end[0] - 1] + token.end[1], True


def cpp_pieces(text):
    for match in cpp_text.COMMENT_OR_LITERAL.finditer(text):
        if not match["number"]:
            yield match.start(), match.end(), not match["char"]


def split(path, text):
    """(code, prose)."""
    if is_cpp(path):
        _, prose = divided(text, cpp_pieces(text))
        return cpp_text.without_comments_and_literals(text), without_marks(prose, CPP_MARK)
    if is_typescript(path):
        code, prose = divided(text, regex_pieces(text, TYPESCRIPT_COMMENT_OR_LITERAL))
        return code, without_marks(prose, CPP_MARK)
    if is_lua(path):
        code, prose = divided(text, regex_pieces(text, LUA_COMMENT_OR_LITERAL))
        return code, without_marks(prose, LUA_MARK)
    if is_python(path):
        code, prose = divided(text, python_pieces(text))
        return code, without_marks(prose, HASH_MARK)
    if is_document(path):
        return cpp_text.blank(text), text
    return cpp_text.blank(text), cpp_text.blank(text)
