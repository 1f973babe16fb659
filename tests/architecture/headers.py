"""A header begins with #pragma once and a paragraph whose first sentence has a subject: the thing's name, or a noun,
and then a verb. "`Peer` is one JSON-RPC conversation: …", "`Mutex` and `Semaphore` are …"."""

import re

NAME = r"(?:`[^`]+`|(?:\w+::)*~?\w*(?:[a-z][A-Z]|_|[A-Z]{2})\w*(?:\(\))?|(?:\w+::)+\w+(?:\(\))?|\w+\(\))"
NAMES = rf"(?:(?:The|A|An|Each|Every)\s+)?{NAME}(?:(?:,|,?\s+(?:and|or))\s+(?:the\s+)?{NAME})*"
NOT_A_VERB = (
    r"(?!(?:as|with|for|of|in|on|at|from|to|that|which|who|by|over|and|or|what|without|under|per|between|beside)\b)"
)
# After a name in the code any word that can be a verb counts as one: `A` and `B` hold …
NAMED = re.compile(rf"{NAMES}(?:\s+\([^()]*\)|,[^,.:]*,)?\s+(?:(?:itself|only|never|also)\s+)?{NOT_A_VERB}[a-z]+\b")
PASCAL = re.compile(r"[A-Z][a-z]+(?:\s+and\s+[A-Z]\w+)?\s+(?:is|are)\b")
SUBORDINATE = r"(?:as|that|what|which|how|who|whose|why|where|when|if|whether|because|so|than)"
NOUN = re.compile(
    rf"(?!{SUBORDINATE}\b)(?:(?!{SUBORDINATE}\b)[\w`'()-]+\s+){{1,7}}?(?:is|are|has|have|can|does|do|must|may)\b",
    re.IGNORECASE,
)
MARK = re.compile(r"^//+ ?")


def opening(text):
    """(line, the first paragraph of the comment that a header opens with); no line without one."""
    kept, first = [], None
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("//") and MARK.sub("", line).strip():
            first = first or number
            kept.append(MARK.sub("", line))
        elif kept or (line.strip() and line.strip() != "#pragma once"):
            break
    return first, " ".join(kept)


def has_subject(paragraph):
    sentence = re.split(r"[.:;](?:\s|$)", paragraph, maxsplit=1)[0]
    return bool(NAMED.match(sentence) or PASCAL.match(sentence) or NOUN.match(sentence))


def faults(path, text):
    """Yields (line, what)."""
    if not path.endswith(".hpp"):
        return
    if "#pragma once" not in [line for line in text.split("\n") if line.strip()][:2]:
        yield 1, "a header begins with #pragma once"
    line, paragraph = opening(text)
    if line is None:
        yield 1, "a header opens with a paragraph: what the thing is, what it guarantees, who owns it"
    elif not has_subject(paragraph):
        yield line, f"a header opens with the thing's name and is: “{paragraph[:60]}…” has no subject with a verb"
