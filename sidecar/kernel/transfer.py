"""Copies variables between sessions, as JSON: `export_variable` writes one to a file, `import_variable` reads one.

The kernel's user runs neither: the sidecar has them evaluated while nothing else runs. Both write their answer to a new
file, as JSON: {"type", "value", "wide"} or {"missing": true} after an export, {} after an import, and {"problem"} where
it cannot be done. `wide` names a whole number that other languages would round.
"""

import json
import math
import os

MAX_DEPTH = 200
MAX_EXACT = 2**53  # beyond it not every whole number is a double
HINTS = {
    "datetime": "str(...)",
    "date": "str(...)",
    "Timestamp": "str(...)",
    "Decimal": "float(...)",
    "bytes": ".decode()",
    "set": "list(...)",
    "frozenset": "list(...)",
    "Series": ".tolist()",
    "complex": "str(...)",
}


class Problem(Exception):
    pass


def place(path, key):
    """The path of a member: rows[3].when, rows["a b"]."""
    if isinstance(key, int):
        return "%s[%d]" % (path, key)
    return "%s.%s" % (path, key) if key.isidentifier() else "%s[%s]" % (path, json.dumps(key))


class Copy:
    """A value made of what JSON has, and of nothing else."""

    def __init__(self, name, value):
        self.wide = None
        self._open = set()  # the ids of the containers around a value
        self.value = self._plain(value, name)

    def _plain(self, value, path):
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value, path)
        if isinstance(value, int):
            return self._whole(int(value), path)
        if isinstance(value, float):
            if math.isfinite(value):
                return float(value)
            raise Problem("%s is %s, which JSON does not have" % (path, value))
        if isinstance(value, (list, tuple)):
            return self._within(value, path, lambda: [self._plain(v, place(path, i)) for i, v in enumerate(value)])
        if isinstance(value, dict):
            return self._within(value, path, lambda: self._members(value.items(), path))
        return self._of_library(value, path)

    def _text(self, value, path):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Problem("%s has half of a character, a lone surrogate" % path) from None
        return str(value)

    def _whole(self, value, path):
        if self.wide is None and abs(value) > MAX_EXACT:
            shown = str(value) if abs(value) < 10**40 else "a number of %d bits" % value.bit_length()
            self.wide = "%s is %s" % (path, shown)
        return value

    def _within(self, value, path, make):
        if id(value) in self._open:
            raise Problem("%s contains itself" % path)
        if len(self._open) == MAX_DEPTH:
            raise Problem("%s is nested deeper than %d" % (path, MAX_DEPTH))
        self._open.add(id(value))
        try:
            return make()
        finally:
            self._open.discard(id(value))

    def _members(self, items, path):
        made = {}
        for key, value in items:
            if not isinstance(key, str):
                raise Problem("%s has the key %.100r, which is no string" % (path, key))
            made[self._text(key, path)] = self._plain(value, place(path, key))
        return made

    def _of_library(self, value, path):
        """A table of pandas, an array or a scalar of numpy. The libraries are not loaded for it."""
        kind = type(value)
        library = kind.__module__.partition(".")[0]
        if library == "pandas" and kind.__name__ == "DataFrame":
            return self._rows(value, path)
        if library == "numpy" and hasattr(value, "dtype") and hasattr(value, "tolist"):
            if value.dtype.kind in "biufUO":
                plain = value.tolist()
                if type(plain) is not kind:  # as a longdouble is
                    return self._plain(plain, path)
            raise Problem("%s is an array of %s; convert it first, e.g. .astype(str)" % (path, value.dtype))
        article = "an" if kind.__name__[:1].lower() in "aeiou" else "a"
        hint = ", e.g. " + HINTS[kind.__name__] if kind.__name__ in HINTS else ""
        raise Problem("%s is %s %s; convert it first%s" % (path, article, kind.__name__, hint))

    def _rows(self, table, path):
        names = list(table.columns)
        for name in names:
            if not isinstance(name, str):
                raise Problem("%s has the column %.100r, whose name is no string" % (path, name))
        if len(set(names)) < len(names):
            raise Problem("%s has two columns of one name" % path)
        columns = [table.iloc[:, i].tolist() for i in range(len(names))]
        return [self._members(zip(names, row), place(path, i)) for i, row in enumerate(zip(*columns))]


def write_answer(path, answer):
    """The file is complete when the kernel has answered."""
    with open(path, "x", encoding="utf-8") as file:
        json.dump(answer, file, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def export_variable(variables, name, path):
    if name not in variables:
        return write_answer(path, {"missing": True})
    value = variables[name]
    try:
        made = Copy(name, value)
    except Problem as problem:
        return write_answer(path, {"problem": str(problem)})
    except Exception as error:  # of a class that pretends
        return write_answer(path, {"problem": "%s failed with %s" % (name, type(error).__name__)})
    answer = {"type": type(value).__name__, "value": made.value}
    if made.wide:
        answer["wide"] = made.wide
    try:
        write_answer(path, answer)
    except OSError as error:
        os.unlink(path)
        write_answer(path, {"problem": "%s could not be written: %s" % (name, error.strerror)})


def import_variable(variables, name, source, path):
    with open(source, encoding="utf-8") as file:
        variables[name] = json.load(file)
    write_answer(path, {})
