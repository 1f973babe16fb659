"""C++ source as the rules look at it: the same text, line for line, without what is in comments and literals."""

import re

COMMENT_OR_LITERAL = re.compile(
    r"""
    (?P<comment>  //[^\n]*(?:\\\n[^\n]*)* | /\*.*?\*/ )
  | (?P<raw>      (?:u8|[uUL])?R"(?P<fence>[^()\s\\]{0,16})\(.*?\)(?P=fence)" )
  | (?P<string>   " (?: [^"\\\n] | \\. )* " )
  | (?P<number>   (?<![\w']) \.?\d (?: ['](?=\w) | [\w.] )* )
  | (?P<char>     ' (?: [^'\\\n] | \\. )+ ' )
    """,
    re.VERBOSE | re.DOTALL,
)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments_and_literals(text):
    def replacement(match):
        found = match.group()
        if match["number"]:
            # Matched only so that the ' between digits does not open a character.
            return found.replace("'", "0")
        if match["comment"]:
            return blank(found)
        # The quotes stay: a literal is still an operand.
        return '"' + blank(found[1:-1]) + '"'

    return COMMENT_OR_LITERAL.sub(replacement, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
