"""docs/compared.md lists the features of three other systems and where cellgate has them, and compared.json which tests show
it: every feature is there once, every test that is named exists, and one of a row's tests has a word of its code spans.
(rules.py looks at the pages that are named.)
`compared.py` prints what is wrong, and what is not there yet."""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/compared.md"
TABLE = "tests/architecture/compared.json"
FEATURES = {"I": 37, "P": 31, "S": 106}
ROW = re.compile(r"(?m)^\| ([IPS]\d[^|]*?) \| (.+) \| (.+) \|$")
IDS = re.compile(r"([IPS])(\d+)(?:–\1(\d+))?")
TEST = re.compile(r"([./\w]+):(test_\w+)")
WORD = re.compile(r"\w{3,}")
# Rows whose tests do the thing without the word: by a helper, or in the words of cellgate.
OTHER_WORDS = {"I9", "I11", "S1"}


def expanded(ids):
    """S57–S58 is S57 and S58."""
    found = IDS.fullmatch(ids)
    if not found:
        return [ids]
    letter, first, last = found[1], int(found[2]), int(found[3] or found[2])
    return [f"{letter}{number}" for number in range(first, last + 1)]


def code_of(test, text_of):
    """Of `file:test_name`, or None; the file is below tests/integration."""
    named = TEST.fullmatch(test)
    text = named and text_of(f"tests/integration/{named[1]}.py")
    found = text and re.search(rf"(?ms)^( *)def {named[2]}\(self\).*?(?=^\1def |^class |\Z)", text)
    return found[0] if found else None


def words_of(row):
    """What its code spans name, in lower case."""
    spans = " ".join(re.findall(r"`([^`]+)`", row))
    return {word.lower() for word in WORD.findall(spans)} - {"cellgate"}


def faults(page, tests, text_of):
    """What is wrong with the page and its tests ({ids: [test]}). `text_of` gives the text of a file, or None."""
    rows = ROW.findall(page)
    named = [id_ for ids, _, _ in rows for id_ in expanded(ids)]
    wanted = [f"{letter}{number}" for letter, count in FEATURES.items() for number in range(1, count + 1)]
    yield from (f"{id_} is {named.count(id_)} times on the page, not once" for id_ in wanted if named.count(id_) != 1)
    yield from (f"{id_} is no feature" for id_ in named if id_ not in wanted)
    yield from (f"tests are named for {ids}, which is no row" for ids in tests if ids not in [row[0] for row in rows])
    for ids, there, here in rows:
        if here.startswith("not yet") == bool(tests.get(ids)):
            yield f"{ids}: expected tests, or the words \"not yet\", and not both"
        code = {test: code_of(test, text_of) for test in tests.get(ids, ())}
        yield from (f"{ids}: there is no test {test}" for test, text in code.items() if text is None)
        words, said = words_of(f"{there} {here}"), "\n".join(text.lower() for text in code.values() if text)
        if said and words and ids not in OTHER_WORDS and not any(word in said for word in words):
            yield f"{ids}: none of its tests has a word of {', '.join(sorted(words))}"


def not_yet(page):
    """What is not there yet, by id."""
    return [id_ for ids, _, here in ROW.findall(page) if here.startswith("not yet") for id_ in expanded(ids)]


def text_of(path):
    file = ROOT / path
    return file.read_text(encoding="utf-8") if file.is_file() else None


def main():
    page, tests = text_of(PAGE), json.loads(text_of(TABLE))
    found = list(faults(page, tests, text_of))
    for fault in found:
        print(f"{PAGE}: {fault}")
    missing = not_yet(page)
    print(f"{PAGE}: {sum(FEATURES.values())} features, not yet there: {len(missing)} ({', '.join(missing)})")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
