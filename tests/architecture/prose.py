"""Words that make a reader ask what is meant, in comments, documents and messages: each with what to write instead."""

import re

import source_text
from cpp_text import line_of
from names import EXEMPT

PHRASES = {
    r"(?:is|are|was|were|be|been|being) told(?! (?:apart|from))": "name the message: receives, is notified, reports",
    r"(?:says|say|said) of": "describes, reports",
    r"(?:goes|go|went|gone) by": "follows, decides by",
    r"(?:goes|go|went|gone) with": "is removed with, ends with, belongs to",
    r"(?:leads?|led) (?:to|nowhere)": "resolves to, connects to, does not resolve",
    r"nobody": "no client, no user, nothing",
    r"whoever": "any client that, the process that",
    r"anew": "again",
    r"(?:can|could|cannot|to) be had": "is available, exists",
    r"(?:lies|lie) (?:in|within|below|under|outside|beneath)": "is in",
    r"(?:stands|stand|stood) (?:in(?! for)|at|there|by|where|before|behind|around|beside|above|below|between|from|on)":
        "is in, is at",
}
# The account of that name is a word of the system.
SYSTEM_NAMES = re.compile(r"[\"'`]nobody[\"'`]|\bnobody:|user nobody")


def phrase_pattern(phrase):
    """A phrase goes over the end of a line too."""
    return re.compile(rf"\b(?:{phrase})\b".replace(" ", r"(?:[ \t]+|[ \t]*\n[ \t]*)"), re.IGNORECASE)


PATTERNS = [(phrase_pattern(phrase), instead) for phrase, instead in PHRASES.items()]


def faults(path, text):
    """Yields (line, what)."""
    if EXEMPT.fullmatch(path):
        return
    _, prose = source_text.split(path, text)
    prose = SYSTEM_NAMES.sub(lambda match: " " * len(match.group()), prose)
    for pattern, instead in PATTERNS:
        for match in pattern.finditer(prose):
            words = " ".join(match.group().split())
            yield line_of(prose, match.start()), f"“{words}” hides what happens; write {instead}"
