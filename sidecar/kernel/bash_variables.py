"""The variables of the kernel for bash: `Variables` lists them, and writes and reads one as JSON.

Answers are as those of transfer.py. Bash itself writes values to a file, a NUL behind each, and reads a script.
"""

import json
import os
import re
import shlex

import transfer

MAX_VARIABLES = 500
MAX_TEXT = 200
# What bash changes by itself.
VOLATILE = set(
    "_ BASHPID BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_COMMAND BASH_LINENO BASH_SOURCE BASH_SUBSHELL COLUMNS "
    "COMP_WORDBREAKS DIRSTACK EPOCHREALTIME EPOCHSECONDS FUNCNAME HISTCMD LINENO LINES OLDPWD PIPESTATUS PWD RANDOM "
    "SECONDS SRANDOM".split()
)
HIDDEN = "__cellgate"
# In a subshell, whose own names begin with HIDDEN.
PRELUDE = """set +eu; unset -f printf declare compgen set unset
declare -n __cellgate_r
"""
# Each name with its values.
ALL = """compgen -v | while IFS= builtin read -r __cellgate_n; do
declare -n __cellgate_r=$__cellgate_n
printf '%s\\0' "$__cellgate_n"
printf '%s\\1' "${__cellgate_r[@]}"
printf '\\0'
done"""
# How it was declared, and the number of its elements.
DECLARED = """for __cellgate_n in %s; do
declare -n __cellgate_r=$__cellgate_n
printf '%%s\\0' "$(declare -p -- "$__cellgate_n")" "${#__cellgate_r[@]}" "${#__cellgate_r}"
done"""
# As DECLARED, and the keys, and the elements.
ONE = DECLARED.replace("\ndone", """
[ ${#__cellgate_r[@]} = 0 ] || printf '%%s\\0' "${!__cellgate_r[@]}" "${__cellgate_r[@]}"
done""")


def text_of(value):
    """Of a scalar, as a variable has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if "\0" in value:
        raise transfer.Problem("the text has a NUL, which a variable of bash cannot hold")
    return value


def flags_of(declared):
    """The attributes' letters: `declare -ax NAME=…`."""
    return re.match(r"declare -(\S+)", declared).group(1)


def type_of(flags):
    kind = "array" if "a" in flags else "associative array" if "A" in flags else "integer" if "i" in flags else "string"
    return ", ".join([kind] + [word for flag, word in (("x", "exported"), ("r", "readonly")) if flag in flags])


def assignment(name, text):
    """The script that gives the variable a value. `text` is JSON."""
    value = json.loads(text, parse_int=str, parse_float=str)  # numbers as they are written
    if isinstance(value, (list, dict)):
        if any(isinstance(each, (list, dict)) for each in (value.values() if isinstance(value, dict) else value)):
            value = text.strip()
    if isinstance(value, list):
        words = " ".join(shlex.quote(text_of(each)) for each in value)
        return "declare -ga %s=(%s)" % (name, words)
    if isinstance(value, dict):
        if "" in value:
            raise transfer.Problem("the value has an empty key, which an array of bash cannot have")
        words = " ".join("[%s]=%s" % (quoted(text_of(k)), shlex.quote(text_of(v))) for k, v in value.items())
        return "declare -gA %s=(%s)" % (name, words)
    return "%s=%s" % (name, shlex.quote(text_of(value)))


def quoted(key):
    """Always between quotes: an @ is a key then."""
    return "'" + key.replace("'", "'\\''") + "'"


class Variables:
    def __init__(self, bash):
        self._bash = bash
        self._folder = os.path.dirname(os.path.abspath(__file__))
        self._first = self._all()

    def answer(self, request):
        """The value of an expression: what to do, and with what."""
        what, *given = json.loads(request)
        return {"variables": self._list, "export": self._export, "import": self._import}[what](*given)

    def _words(self, script):
        path = os.path.join(self._folder, "words")
        self._bash.run_hidden("( %s%s\n) >|%s 2>/dev/null" % (PRELUDE, script, shlex.quote(path)))
        try:
            with open(path, "rb") as file:
                return file.read().split(b"\0")[:-1]
        finally:
            os.unlink(path)

    def _all(self):
        words = iter(self._words(ALL))
        found = {name.decode(): value for name, value in zip(words, words)}
        return {k: v for k, v in found.items() if k not in VOLATILE and not k.startswith(HIDDEN)}

    def _list(self):
        names = [name for name, value in self._all().items() if self._first.get(name) != value]
        shown = names[:MAX_VARIABLES]
        words = iter(each.decode("utf-8", "replace") for each in self._words(DECLARED % " ".join(shown)))
        described = [describe(name, *each) for name, each in zip(shown, zip(words, words, words))]
        return {"variables": described, "truncated": len(names) > len(shown)}

    def _export(self, name, path):
        declared, *rest = self._words(ONE % name) or [b""]
        if not declared or name.startswith(HIDDEN):
            return transfer.write_answer(path, {"missing": True})
        flags = flags_of(declared.decode("utf-8", "replace"))
        try:
            words = [each.decode() for each in rest[2:]]
            keys, values = words[: len(words) // 2], words[len(words) // 2 :]
        except UnicodeDecodeError:
            return transfer.write_answer(path, {"problem": "%s has bytes that are not UTF-8" % name})
        value = dict(zip(keys, values)) if "A" in flags else values if "a" in flags else "".join(values)
        return transfer.write_answer(path, {"type": type_of(flags), "value": value})

    def _import(self, name, source, path):
        with open(source, encoding="utf-8", newline="") as file:
            text = file.read()
        try:
            script = assignment(name, text)
        except transfer.Problem as problem:
            return transfer.write_answer(path, {"problem": str(problem)})
        with open(path + ".sh", "x", encoding="utf-8", newline="") as file:
            file.write("unset -v %s && %s\n" % (name, script))
        try:
            failed = self._bash.run_hidden("builtin source %s" % shlex.quote(path + ".sh"))
        finally:
            os.unlink(path + ".sh")
        problem = {"problem": "bash cannot set %s: it is readonly, or has another use" % name}
        return transfer.write_answer(path, problem if failed else {})


def describe(name, declared, elements, length):
    flags = flags_of(declared)
    size = elements if "a" in flags or "A" in flags else length
    return {"name": name, "type": type_of(flags), "value": declared.partition("=")[2][:MAX_TEXT], "size": size}
