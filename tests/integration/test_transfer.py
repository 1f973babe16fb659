"""Variables that are copied from one session to another, by their values as JSON."""

import json
import subprocess
import unittest
from pathlib import Path

import test_review
from cellgate_client import CELLGATE, SharedSidecarTest, WorkspaceSidecarTest
from executions import RpcError
from language_testing import DENO
from workspaces import SYSTEM_PATH

PARAMS, NO_SESSION, BUSY, FORBIDDEN, DENIED, LIMIT, UNSUPPORTED = -32602, 1001, 1009, 1013, 1014, 1024, 1025
HAS_PANDAS = subprocess.run(["/usr/bin/python3", "-c", "import pandas"], capture_output=True).returncode == 0
LANGUAGES = {"py": "python", "ts": "typescript", "sh": "bash"}
# A value, and the code that gives it to `v`; bash has those of text only.
VALUES = {
    "nothing": (None, {"py": "v = None", "ts": "let v = null"}),
    "a boolean": (True, {"py": "v = True", "ts": "let v = true"}),
    "a number": (0.1, {"py": "v = 0.1", "ts": "let v = 0.1"}),
    "a large number": (2**53, {"py": "v = 2**53", "ts": "let v = 2**53"}),
    "text": ("é\n\"'\\ \t$HOME `x` \U0001f600 ", {
        "py": "v = 'é\\n\"\\'\\\\ \\t$HOME `x` \\U0001f600 '", "ts": "let v = 'é\\n\"\\'\\\\ \\t$HOME `x` \\u{1f600} '",
        "sh": "v=$'é\\n\"\\'\\\\ \\t$HOME `x` \\U0001f600 '"}),
    "a list": (["a b", "", "*"], {"py": "v = ('a b', '', '*')", "ts": "let v = ['a b', '', '*']",
                                  "sh": "v=('a b' '' '*')"}),
    "an empty list": ([], {"py": "v = []", "ts": "let v = []", "sh": "declare -a v=()"}),
    "a dict": ({"a": "1", "@": "2", "it's": "]"}, {"py": "v = {'a': '1', '@': '2', \"it's\": ']'}",
                                                   "ts": "let v = {a: '1', '@': '2', \"it's\": ']'}",
                                                   "sh": "declare -A v=([a]=1 ['@']=2 [\"it's\"]=']')"}),
    "what is nested": ([{"a": [1, {"b": None}]}, True], {"py": "v = [{'a': [1, {'b': None}]}, True]",
                                                         "ts": "let v = [{a: [1, {b: null}]}, true]"}),
}
# What each prints of `v`, as JSON.
SHOWN = {"py": "import json; print(json.dumps(v))", "ts": "console.log(JSON.stringify(v))"}
IN_BASH = {  # what `declare -p v` says
    "nothing": "declare -- v=\"\"", "a boolean": "declare -- v=\"true\"", "a number": "declare -- v=\"0.1\"",
    "a large number": "declare -- v=\"9007199254740992\"", "an empty list": "declare -a v=()",
    "a list": "declare -a v=([0]=\"a b\" [1]=\"\" [2]=\"*\")",
}


class TransferTest(SharedSidecarTest):
    """A session of each language, "py" the first."""

    environment = {"PATH": f"{DENO.parent}:{SYSTEM_PATH}"}
    languages = LANGUAGES

    @classmethod
    def setUpClass(cls):
        if not DENO.exists():
            raise unittest.SkipTest("npm's packages are not installed")
        super().setUpClass()
        for session, language in cls.languages.items():
            cls.cellgate.session(session, language=language)

    def transfer(self, source, target, name="v", **more):
        return self.cellgate.request("session/transfer", {"from": source, "to": target, "name": name, **more})

    def run_in(self, session, code):
        return self.run_ok(code, sessionId=session)

    def clear(self, session):
        """The variable is new there."""
        if session == "ts":
            self.run_in("ts", "v = undefined")
        else:
            self.run_in(session, "v = None" if session == "py" else "unset v")

    def problem(self, source, target, name="v", code=UNSUPPORTED, **more):
        return self.assert_error(code, self.transfer, source, target, name, **more).message


class Values(TransferTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cellgate.run("let v", sessionId="ts").result()

    def test_each_value_arrives_in_each_language(self):
        for what, (value, codes) in VALUES.items():
            for source, code in codes.items():
                self.run_in(source, code.replace("let v", "v") + "; undefined" if source == "ts" else "unset v; " * (source == "sh") + code)
                for target in LANGUAGES:
                    with self.subTest(what, source=source, target=target):
                        copied = self.transfer(source, target, **{"as": "w"})
                        self.assertEqual(json.loads(json.dumps(value)), self.value_in(target, value, what))
                        self.assertGreater(copied["bytes"], 1)

    def value_in(self, session, value, what):
        if session != "sh":
            return json.loads(self.run_in(session, SHOWN[session].replace("v)", "w)")).text())
        if what in IN_BASH:
            self.assertEqual(self.run_in("sh", "declare -p w").text().strip().replace(" w=", " v="), IN_BASH[what])
            return value
        if isinstance(value, str):
            return self.run_in("sh", "printf %s \"$w\"").text()
        if what == "a dict":
            printed = self.run_in("sh", "printf '%s\\n' \"${!w[@]}\" \"${w[@]}\"").text().splitlines()
            return dict(zip(printed[:3], printed[3:]))
        return json.loads(self.run_in("sh", "printf %s \"$w\"").text())  # its JSON, for jq

    def test_a_round_through_all_languages(self):
        self.run_in("py", "start = {'days': ['mon', 'tue'], 'n': '3'}")
        self.transfer("py", "ts", "start")
        self.transfer("ts", "sh", "start", **{"as": "text"})
        self.run_in("sh", "jq_input=$text")
        self.transfer("sh", "py", "jq_input", **{"as": "back"})
        self.assertEqual(self.run_in("py", "json_back = __import__('json').loads(back)\njson_back == start")
                         .data()["text/plain"], "True")

    def test_numbers_of_bash_are_text(self):
        self.run_in("sh", "n=42; declare -i m=7; declare -x e=out")
        for name, value, kind in (("n", "42", "string"), ("m", "7", "integer"), ("e", "out", "string, exported")):
            self.assertEqual(self.transfer("sh", "py", name)["type"], kind)
            self.assertEqual(self.run_in("py", name).data()["text/plain"], repr(value))

    def test_arrays_go_as_lists(self):
        self.run_in("py", "import numpy\ngrid = numpy.arange(4.0).reshape(2, 2); one = numpy.int64(5)")
        self.assertEqual(self.transfer("py", "ts", "grid")["type"], "ndarray")
        self.transfer("py", "ts", "one")
        self.assertEqual(self.run_in("ts", "console.log(JSON.stringify([grid, one]))").text(), "[[[0,1],[2,3]],5]\n")
        self.run_in("ts", "let typed = new Float32Array([1, 2])")
        self.transfer("ts", "py", "typed")
        self.assertEqual(self.run_in("py", "typed").data()["text/plain"], "[1, 2]")

    @unittest.skipUnless(HAS_PANDAS, "pandas is not installed")
    def test_tables_go_as_records(self):
        self.run_in("py", "import pandas\n"
                          "table = pandas.DataFrame({'day': ['mon', 'tue'], 'n': [1, 2], 'ok': [True, False]})")
        self.assertEqual(self.transfer("py", "ts", "table")["type"], "DataFrame")
        self.assertEqual(json.loads(self.run_in("ts", "console.log(JSON.stringify(table))").text()),
                         [{"day": "mon", "n": 1, "ok": True}, {"day": "tue", "n": 2, "ok": False}])

    def test_a_variable_that_is_there_gets_the_value_whatever_declared_it(self):
        self.run_in("py", "new = [1]")
        self.run_in("ts", "let a1 = 0; const a2 = 0; var a3 = 0; class A4 {}; function a5() {}")
        for name in ("a1", "a2", "a3", "A4", "a5", "a6", "name"):
            with self.subTest(name):
                self.transfer("py", "ts", "new", **{"as": name})
                self.assertEqual(self.run_in("ts", f"console.log(JSON.stringify({name}))").text(), "[1]\n")
        self.run_in("sh", "declare -i b=3")
        self.transfer("py", "sh", "new", **{"as": "b"})
        self.assertEqual(self.run_in("sh", "declare -p b").text(), "declare -a b=([0]=\"1\")\n")

    def test_it_leaves_no_trace_in_a_session(self):
        self.run_in("py", "trace = 'x'")
        before = [self.cellgate.execute("1", sessionId=s) for s in ("py", "ts", "sh") if s != "sh"]
        counts = {each.result()["executionId"]: each.result()["executionCount"] for each in before}
        known = len(self.cellgate.received("execute/output"))
        self.transfer("py", "ts", "trace")
        self.transfer("ts", "py", "trace")
        after = [self.cellgate.execute("1", sessionId=s) for s in ("py", "ts")]
        self.assertEqual([each.result()["executionCount"] for each in after], [count + 1 for count in counts.values()])
        outputs = self.cellgate.received("execute/output")[known:]
        self.assertEqual({each["executionId"] for each in outputs} - {each.id for each in after}, set())
        entries = self.cellgate.request("record/query", {"limit": 1000})["entries"]
        self.assertNotIn("export_variable", json.dumps(entries))
        for session in ("py", "sh"):
            self.assertEqual(self.leftovers(session), "")

    def leftovers(self, session):
        script = "ls \"$(dirname \"$CELLGATE_CHANNEL\")\" | grep -E '^(value|words)' || true"
        if session == "sh":
            return self.run_in("sh", script).text()
        return self.run_in("py", f"import subprocess; print(subprocess.run({script!r}, shell=True, text=True, "
                                 "capture_output=True).stdout, end='')").text()


class Refused(TransferTest):
    def test_what_json_does_not_have(self):
        cases = {
            "py": {
                "v = [{'when': 1}, {'when': __import__('datetime').datetime(2026, 1, 2)}]":
                    "v[1].when is a datetime; convert it first, e.g. str(...)",
                "v = {'a b': float('nan')}": 'v["a b"] is nan, which JSON does not have',
                "v = [1e999]": "v[0] is inf, which JSON does not have",
                "v = {1: 2}": "v has the key 1, which is no string",
                "v = [b'x']": "v[0] is a bytes; convert it first, e.g. .decode()",
                "v = len": "v is a builtin_function_or_method; convert it first",
                "v = []; v.append(v)": "v[0] contains itself",
                "v = '\\ud800'": "v has half of a character, a lone surrogate",
                "v = {1, 2}": "v is a set; convert it first, e.g. list(...)",
                "v = []\nfor _ in range(300): v = [v]": "is nested deeper than 200",
                "import numpy; v = numpy.array(['2026-01-01'], dtype='datetime64[D]')":
                    "v is an array of datetime64[D]; convert it first",
            },
            "ts": {
                "v = {when: new Date(0)}": "v.when is a Date; convert it first, e.g. .toISOString()",
                "v = [NaN]": "v[0] is NaN, which JSON does not have",
                "v = undefined": "v is undefined",
                "v = {a: [undefined]}": "v.a[0] is undefined",
                "v = new Map()": "v is a Map; convert it first, e.g. Object.fromEntries(...)",
                "v = new Set()": "v is a Set; convert it first, e.g. Array.from(...)",
                "v = 10n": "v is a BigInt; convert it first, e.g. Number(...)",
                "v = () => 1": "v is a function; convert it first",
                "v = {}; v.v = v; undefined": "v.v contains itself",
                "v = Symbol('x')": "v is a symbol; convert it first",
                "v = {get x() { throw new TypeError('no') }}": "v failed with TypeError",
            },
            "sh": {"v=$'\\xff'": "v has bytes that are not UTF-8"},
        }
        self.cellgate.run("let v", sessionId="ts").result()
        for source, codes in cases.items():
            for code, message in codes.items():
                with self.subTest(code):
                    self.run_in(source, code)
                    self.assertIn(message, self.problem(source, "py" if source != "py" else "sh"))

    @unittest.skipUnless(HAS_PANDAS, "pandas is not installed")
    def test_tables_with_what_json_does_not_have(self):
        for code, message in (
            ("{'n': [1.5, None]}", "v[1].n is nan, which JSON does not have"),
            ("{'t': [pandas.Timestamp(0)]}", "v[0].t is a Timestamp; convert it first"),
            ("[[1]]", "v has the column 0, whose name is no string"),
        ):
            with self.subTest(code):
                self.run_in("py", f"import pandas\nv = pandas.DataFrame({code})")
                self.assertIn(message, self.problem("py", "ts"))

    def test_numbers_that_would_be_rounded(self):
        self.run_in("py", "v = {'id': 2**53 + 1}")
        self.assertEqual(self.problem("py", "ts"), "v.id is 9007199254740993, which TypeScript would round")
        self.transfer("py", "sh")
        self.assertEqual(self.run_in("sh", "echo ${v[id]}").text(), "9007199254740993\n")

    def test_what_bash_cannot_hold(self):
        self.run_in("py", "v = 'a\\0b'; w = {'': 1}; x = 1")
        self.assertIn("NUL", self.problem("py", "sh", "v"))
        self.assertIn("empty key", self.problem("py", "sh", "w"))
        self.assertIn("readonly", self.problem("py", "sh", "x", **{"as": "UID"}))
        self.assertEqual(self.run_in("sh", "echo $((UID >= 0))").text(), "1\n")

    def test_names(self):
        self.run_in("py", "v = 1")
        for target, word, language in (("ts", "class", "TypeScript"), ("ts", "let", "TypeScript"),
                                       ("py", "lambda", "Python"), ("sh", "if", "bash")):
            with self.subTest(target, word=word):
                self.assertEqual(self.problem("py", target, **{"as": word}), f"{word} is a reserved word of {language}")
        for name in ("_cellgate_kernel", "__cellgate_lines"):
            self.assertIn("a name of cellgate's own", self.problem("sh", "py", name))
            self.assertIn("a name of cellgate's own", self.problem("py", "sh", **{"as": name}))
        for name in ("a.b", "a[0]", "1a", "a; b", "ü", "", "a" * 129):
            with self.subTest(name):
                self.problem("py", "ts", name, code=PARAMS)
        for session in LANGUAGES:
            with self.subTest(session):
                self.assertEqual(self.problem(session, "py", "nothing_here"),
                                 f'the session "{session}" has no variable nothing_here')

    def test_sessions_that_are_not_there_or_have_something_to_run(self):
        self.assert_error(NO_SESSION, self.transfer, "py", "nowhere")
        self.assert_error(NO_SESSION, self.transfer, "nowhere", "py")
        self.run_in("sh", "v=1")
        cell = self.cellgate.execute("input()", sessionId="py")
        cell.wait_running()
        self.assert_error(BUSY, self.transfer, "py", "sh")
        self.assert_error(BUSY, self.transfer, "sh", "py")
        self.cellgate.request("session/interrupt", {"sessionId": "py"})
        cell.result()
        self.transfer("sh", "py")

    def test_a_value_that_is_too_large(self):
        self.run_in("py", "v = 'x' * (70 << 20)")
        self.assertRegex(self.problem("py", "sh", code=LIMIT), r"the value has 734\d+ bytes as JSON; at most 67108864")
        self.run_in("py", "v = 'x' * (8 << 20)")
        self.assertEqual(self.transfer("py", "ts")["bytes"], (8 << 20) + 2)
        self.assertEqual(self.run_in("ts", "console.log(v.length)").text(), f"{8 << 20}\n")
        self.run_in("py", "v = 1")
        self.clear("ts")


# In place of cellgate's own, which writes {"type", "value"} to `path`.
INSTEAD = """
import os
folder = os.path.dirname(os.environ['CELLGATE_CHANNEL'])
open(folder + '/transfer.py', 'w').write('''
import os
def export_variable(variables, name, path):
    {}
''')
print(folder)
"""


class Hostile(TransferTest):
    """The kernel writes what it likes in place of the file."""

    languages = {"py": "python", "sh": "bash"}

    def setUp(self):
        self.secret = self.workspace.home / "secret.json"
        self.secret.write_text('{"type": "str", "value": "the secret"}')

    def instead(self, code):
        return Path(self.run_in("py", INSTEAD.format(code)).text().strip())

    def test_a_link_is_not_followed(self):
        execution = self.cellgate.execute(f"open({str(self.secret)!r})", sessionId="py")
        self.assertEqual(execution.result()["error"]["ename"], "FileNotFoundError")  # it is hidden from the kernel
        folder = self.instead(f"os.symlink({str(self.secret)!r}, path)")
        self.assertIn("not in a regular file", self.problem("py", "sh", code=UNSUPPORTED))
        # The control: the sidecar would read the secret through such a link, and take such an answer.
        self.run_in("py", f"os.symlink({str(self.secret)!r}, folder + '/link')")
        self.assertIn("the secret", (folder / "link").read_text())
        self.instead(f"open(path, 'w').write({self.secret.read_text()!r})")
        self.assertEqual(self.transfer("py", "sh"), {"type": "str", "bytes": 12})

    def test_what_is_no_file_and_what_is_no_answer(self):
        for code, error, words in (
            ("os.mkfifo(path)", UNSUPPORTED, "not in a regular file"),
            ("os.mkdir(path)", UNSUPPORTED, "not in a regular file"),
            ("os.symlink('/dev/zero', path)", UNSUPPORTED, "not in a regular file"),
            ("pass", UNSUPPORTED, "failed to answer"),
            ("raise KeyboardInterrupt", UNSUPPORTED, "failed to answer"),
            ("open(path, 'w').truncate(100 << 20)", LIMIT, "the value has 104857600 bytes as JSON; at most 67108864"),
            ("open(path, 'w').write('not JSON')", UNSUPPORTED, "answer is none"),
            ("open(path, 'w').write('[' * 100000)", UNSUPPORTED, "answer is none"),
            ("open(path, 'w').write('{\"type\": \"a\", \"type\": \"b\", \"value\": 1}')", UNSUPPORTED, "answer is none"),
            ("open(path, 'w').write('{\"value\": 1}')", UNSUPPORTED, "neither a value nor a reason"),
            ("open(path, 'w').write('{\"type\": 1, \"value\": 1}')", UNSUPPORTED, "answer.type: expected a string"),
            ("open(path, 'w').write('{\"problem\": \"\\\\\\\\u001b[2J\\\\\\\\u202e\"}')", UNSUPPORTED, "\\x1b[2J\\u{202e}"),
        ):
            with self.subTest(code):
                folder = self.instead(code)
                self.assertIn(words, self.problem("py", "sh", code=error))
                self.assertEqual([each for each in folder.glob("value-*") if not each.is_dir()], [])

    def test_a_type_is_text_that_is_safe_to_show(self):
        self.instead("open(path, 'w').write('{\"type\": \"\\\\\\\\u001b[2J\\\\\\\\n\", \"value\": 1}')")
        self.assertEqual(self.transfer("py", "sh")["type"], "\\x1b[2J\\n")


class Roles(WorkspaceSidecarTest):
    def transfer(self, client, source, target):
        return client.request("session/transfer", {"from": source, "to": target, "name": "v"})

    def test_an_agent_copies_between_its_own_sessions_only(self):
        user, agent, other = self.editor(), self.agent(), self.agent()
        for client, session in ((user, "mine"), (agent, "agent-1"), (agent, "agent-2"), (other, "agent-3")):
            client.session(session)
            self.assertEqual(client.run("v = 1", sessionId=session).result()["status"], "ok")
        self.transfer(agent, "agent-1", "agent-2")
        for source, target in (("agent-1", "mine"), ("mine", "agent-1"), ("agent-1", "agent-3"), ("agent-3", "agent-1")):
            with self.subTest(source, to=target), self.assertRaises(RpcError) as caught:
                self.transfer(agent, source, target)
            self.assertEqual(caught.exception.code, FORBIDDEN)
            self.transfer(user, source, target)


class Reviewed(test_review.ReviewTest):
    """A copy is no way around the review of a tool's results."""

    def test_a_session_that_gets_a_result_is_reviewed_as_well(self):
        agent = self.listener()
        for session in ("agent-1", "agent-2"):
            agent.session(session)
        cell = agent.execute(test_review.READ, sessionId="agent-1")
        self.assertEqual(cell.result()["status"], "ok")
        request = {"from": "agent-1", "to": "agent-2", "name": "phrase"}
        self.assertEqual(self.error_of(agent, "session/transfer", request).code, DENIED)
        self.user.request("session/transfer", request)
        cell = agent.execute("print(phrase)", sessionId="agent-2")
        self.assert_withheld(agent, self.deny_output(cell))
        # The control: without a copy, that session's output is the agent's.
        agent.session("agent-4")
        self.assertEqual(agent.run("print('free')", sessionId="agent-4").text(), "free\n")


def has_r():
    found = subprocess.run(["/usr/bin/python3", "-c", "import jupyter_client.kernelspec as k; k.get_kernel_spec('ir')"],
                           capture_output=True)
    return found.returncode == 0


@unittest.skipUnless(has_r(), "IRkernel is not installed")
class R(TransferTest):
    languages = {"py": "python", "r": "R"}

    def test_values_both_ways(self):
        for code, there, back in (
            ("v = None", " NULL", None), ("v = True", " logi TRUE", True), ("v = 0.1 + 0.2", " num 0.3", 0.1 + 0.2),
            ("v = 'é\"\\n'", " chr \"é\\\"\\n\"", "é\"\n"), ("v = [1, 2]", " int [1:2] 1 2", [1, 2]),
            ("v = ['a', 1]", "List of 2\n $ : chr \"a\"\n $ : int 1", ["a", 1]),
            ("v = {'a': {'b': None}}", "List of 1\n $ a:List of 1\n  ..$ b: NULL", {"a": {"b": None}}),
            ("v = [{'a': 1, 'b': 'x'}, {'a': 2, 'b': None}]",
             "'data.frame':\t2 obs. of  2 variables:\n $ a: int  1 2\n $ b: chr  \"x\" NA",
             [{"a": 1, "b": "x"}, {"a": 2, "b": None}]),
        ):
            with self.subTest(code):
                self.run_in("py", code)
                self.transfer("py", "r")
                self.assertEqual(self.run_in("r", "str(v)").text().rstrip("\n"), there)
                self.transfer("r", "py", **{"as": "w"})
                self.assertEqual(json.loads(self.run_in("py", "import json; print(json.dumps(w))").text()), back)

    def test_what_is_refused(self):
        self.run_in("r", "f <- function() 1; n <- c(1, NaN); d <- data.frame(day = Sys.Date()); m <- matrix(1:4, 2)")
        self.assertIn("f is a function", self.problem("r", "py", "f"))
        self.assertIn("n[[2]] is NaN", self.problem("r", "py", "n"))
        self.assertIn("d$day is a Date; convert it first, e.g. as.character(...)", self.problem("r", "py", "d"))
        self.assertIn("m is a matrix", self.problem("r", "py", "m"))
        self.assertIn('the session "r" has no variable zz', self.problem("r", "py", "zz"))
        self.run_in("py", "v = 2**53 + 1")
        self.assertIn("which R would round", self.problem("py", "r"))
        self.assertIn("a reserved word of R", self.problem("py", "r", **{"as": "TRUE"}))
        self.assertIn("does not begin with _", self.problem("py", "r", **{"as": "_x"}))


class Command(WorkspaceSidecarTest):
    """`cellgate transfer`."""

    def cli(self, *arguments):
        return subprocess.run([CELLGATE, "transfer", *arguments], cwd=self.workspace.path, text=True,
                              capture_output=True, env=self.workspace.environment())

    def test_it_copies_in_the_sidecar_that_runs(self):
        ended = self.cli("a", "b", "v")
        self.assertEqual((ended.returncode, "no sidecar runs" in ended.stderr), (1, True))
        user = self.editor()
        for session in ("a", "b"):
            user.session(session)
        user.run("v = [1]", sessionId="a").result()
        self.assertEqual(self.cli("a", "b", "v").stdout, "list, 3 bytes as JSON\n")
        self.assertEqual(json.loads(self.cli("a", "b", "v", "--as", "w", "--json").stdout), {"type": "list", "bytes": 3})
        self.assertEqual(user.run("v + w", sessionId="b").data()["text/plain"], "[1, 1]")
        ended = self.cli("a", "b", "v", "--as", "class")
        self.assertEqual((ended.returncode, "class is a reserved word of Python" in ended.stderr), (1, True))


if __name__ == "__main__":
    unittest.main()
