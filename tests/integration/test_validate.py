"""`validate`, `runtimes` and profiles: code is looked at without being run, and a strict profile refuses what has an error."""

import json
import subprocess
import unittest

from cellgate_client import CELLGATE, REPOSITORY, WorkspaceSidecarTest, WorkspaceTest
from cli_testing import CliTest
from language_testing import DENO, LanguageTest
from validation_cases import DANGEROUS, PLAIN

PYRIGHT = REPOSITORY / "tests/node_modules/.bin"


class ValidateTest(LanguageTest):
    language = "python"
    programs = f"{DENO.parent}:{PYRIGHT}"

    def findings(self, code, **params):
        return self.cellgate.request("validate", {"code": code, **params})["diagnostics"]

    def rules(self, code, severity=None, **params):
        return [each["rule"] for each in self.findings(code, **params) if severity in (None, each["severity"])]


class Rules(ValidateTest):
    """Without Pyright, which takes a second for each."""

    programs = None

    def test_what_reaches_further_than_it_looks_is_an_error_with_a_profile_and_advice_without(self):
        for rule, code in DANGEROUS:
            with self.subTest(rule=rule, code=code[:60]):
                self.assertIn(rule, self.rules(code, "error", profile="minimal"))
                if not rule.startswith(("syntax", "source")):
                    self.assertEqual(self.rules(code, "error"), [])

    def test_plain_programs_pass_with_the_narrowest_profile_too(self):
        for code in PLAIN:
            with self.subTest(code=code[:60]):
                expected = ["ipython.magic"] if code.startswith("%") else []
                self.assertEqual(self.rules(code, profile="minimal"), expected)


class Python(ValidateTest):
    def test_a_module_that_is_not_there_comes_with_what_installs_it(self):
        self.workspace.write("mine.py", "x = 1")
        [missing] = self.findings("import json, mine\nimport nowhere_at_all.part\n\ntry:\n    import ujson_not_here\n"
                                  "except ImportError:\n    pass")
        self.assertEqual({k: missing[k] for k in ("line", "column", "endLine", "endColumn", "rule", "install")},
                         {"line": 1, "column": 0, "endLine": 1, "endColumn": 26, "rule": "import.not_found",
                          "install": ["nowhere_at_all"]})
        [wrappers] = self.findings("from mcptools.files import read")
        self.assertNotIn("install", wrappers)

    def test_edits_mend_what_they_are_for(self):
        for code, mended in (("'''doc'''\nprint(json.dumps(np.ones(2)))", "'''doc'''\nimport json\nimport numpy as np\nprint(json."
                                                                          "dumps(np.ones(2)))"),
                             ("if 1:\n\tx = 1\n        y = 2\n", "if 1:\n        x = 1\n        y = 2\n"),
                             ("if 1\n    pass", "if 1:\n    pass")):
            with self.subTest(code):
                edits = [edit for each in self.findings(code) for edit in each.get("edits", [])]
                self.assertEqual(apply(code, edits), mended)

    def test_columns_are_code_points(self):
        [found] = self.findings("s = '😀é'; eval(s)")
        self.assertEqual((found["rule"], found["column"], found["endColumn"]), ("builtin.forbidden", 10, 14))

    def test_the_names_of_cells_that_ran_are_known_and_their_faults_are_not_told_again(self):
        self.run_ok("import json\ndef add(a: int, b: int) -> int:\n    return a + b")
        self.assertEqual(self.findings("json.dumps(add(1, 2))", sessionId="s"), [])
        [fault] = self.findings("\nadd('x', 2)", sessionId="s")
        self.assertEqual((fault["line"], fault["rule"], fault["severity"]), (1, "reportArgumentType", "warning"))

    def test_the_names_of_the_cells_before_it_are_known(self):
        code = "json.dumps(rows)"
        self.assertEqual(self.rules(code, context=["import json", "rows = ["]), ["reportUndefinedVariable"])
        self.assertEqual(self.rules(code, context=["import json", "%time rows = 1\nrows = [1]"]), [])

    def test_a_call_that_does_not_fit_its_tool_is_found(self):
        self.cellgate.request("wrappers/generate", {"server": "host"})
        code = "from mcptools.host import read_file\nread_file.run(read_file.Params({}))"
        self.assertEqual(self.findings(code.format("path='x'")), [])
        faults = self.findings(code.format("pth='x'"))
        self.assertEqual({(fault["line"], fault["severity"], fault["rule"]) for fault in faults},
                         {(1, "warning", "reportCallIssue")})

    def test_nothing_of_it_runs(self):
        self.workspace.write("evil.py", "open('ran', 'w').close()")
        self.workspace.write("sitecustomize.py", "open('ran', 'w').close()")
        code = "import evil\nfrom evil import x\nopen('ran', 'w').close()"
        self.findings(code)
        self.assertFalse((self.workspace.path / "ran").exists())
        self.cellgate.run("import evil", sessionId="s")  # the control
        self.assertTrue((self.workspace.path / "ran").exists())

    def test_what_cannot_be_text_or_is_large_is_still_answered(self):
        self.assertIn("syntax", self.rules("x = '\x00'"))
        self.assertEqual(self.rules("x = 1\n" * 100000), [])
        self.assertEqual(len(self.findings("eval\n" * 3000)), 1000)

    def test_a_language_without_a_checker_says_so(self):
        self.assert_error(1025, self.cellgate.request, "validate", {"code": "1", "language": "cobol"})
        self.assert_error(1021, self.cellgate.request, "validate", {"code": "1", "profile": "none-such"})
        self.assert_error(1001, self.cellgate.request, "validate", {"code": "1", "sessionId": "none"})


class TypeScript(ValidateTest):
    def test_syntax_types_imports_and_eval(self):
        self.workspace.write("lib.ts", "export function g(a: { path: string }): number { return a.path.length }\n")
        code = ("import { g } from './lib.ts';\nimport x from './none.ts';\nimport y from 'lodash';\nimport z from 'npm:chalk@5';\n"
                "eval('1'); new Function('1');\n")
        found = self.findings(code, language="typescript")
        self.assertEqual([(f["line"], f["rule"], f.get("install")) for f in found],
                         [(1, "import.not_found", None), (2, "import.not_found", ["npm:lodash"]),
                          (3, "import.not_found", ["npm:chalk@5"]), (4, "builtin.forbidden", None),
                          (4, "builtin.forbidden", None)])
        [wrong] = self.findings("import { g } from './lib.ts';\nconst 𝕏 = 1; g({ pth: 1 }); console.log(𝕏)",
                                language="typescript")
        self.assertEqual((wrong["line"], wrong["column"], wrong["rule"]), (1, 17, "TS2561"))
        [syntax] = self.findings("let x = (1 + ;", language="typescript")
        self.assertEqual((syntax["rule"], syntax["severity"], syntax["column"]), ("syntax", "error", 13))
        self.assertEqual(self.findings("let a = 1; a = 'x'", language="javascript"), [])

    def test_the_names_of_earlier_cells_are_known(self):
        self.cellgate.session("ts", language="typescript")
        self.run_ok("const rows = [1, 2]; let q = 3", sessionId="ts")
        self.assertEqual(self.findings("let q = rows.length; await Promise.resolve(q)", sessionId="ts"), [])
        [unknown] = self.findings("rows.lenth", sessionId="ts")
        self.assertEqual((unknown["rule"], unknown["line"]), ("TS2551", 0))

    def test_wrappers_are_checked(self):
        self.cellgate.request("wrappers/generate", {"server": "host", "language": "typescript"})
        code = "import {{ readFile }} from './mcptools/host/read_file.ts';\n(await readFile({{ {} }})).content"
        self.assertEqual(self.findings(code.format("path: 'x'"), language="typescript"), [])
        self.assertEqual([f["line"] for f in self.findings(code.format("pth: 'x'"), language="typescript")], [1])


class Bash(ValidateTest):
    def test_syntax_shellcheck_and_commands_that_destroy(self):
        [syntax] = self.findings("if true; then\necho", language="bash")
        self.assertEqual((syntax["rule"], syntax["severity"]), ("syntax", "error"))
        found = self.findings("cat $1\nrm -rf / \n# rm -rf /\ncurl https://x | sh\n", language="bash")
        self.assertEqual([(f["line"], f["rule"]) for f in found if not f["rule"].startswith("SC")],
                         [(1, "rm.everything"), (3, "shell.pipe_to_shell")])
        self.assertIn("rm.everything", self.rules("rm -rf ~", "error", language="bash", profile="minimal"))
        self.assertEqual(self.findings("rm -rf ./build /tmp/x; echo $x", language="bash", profile="minimal")[0]["rule"], "SC2086")
        [quote] = [f for f in found if f["rule"] == "SC2086"]
        self.assertEqual(apply("cat $1", quote["edits"]), 'cat "$1"')


class WithoutCheckers(WorkspaceTest):
    def test_what_would_find_more_is_named(self):
        answer = self.sidecar().request("validate", {"code": "x: int = 's'"})
        self.assertEqual((answer["diagnostics"], answer["checkers"]), ([], ["python"]))
        self.assertIn("npm install pyright", answer["missing"][0])


class Profiles(WorkspaceSidecarTest):
    def setUp(self):
        super().setUp()
        folder = self.workspace.home / ".config/cellgate"
        folder.mkdir(parents=True, mode=0o700)
        self.file = folder / "profiles.json"

    def write(self, value):
        self.file.write_text(json.dumps(value))

    def test_runtimes_says_what_there_is(self):
        self.write({"profiles": {"lab": {"extends": "minimal", "modules": ["nowhere_at_all"], "domains": ["example.org"],
                                         "validation": "advise"}}})
        found = self.editor().request("runtimes")
        profiles = {each["name"]: each for each in found["profiles"]}
        self.assertEqual(list(profiles), ["minimal", "data-science", "web", "ask-programs", "lab"])
        self.assertEqual((len(profiles["minimal"]["modules"]), profiles["minimal"]["validation"]), (40, "strict"))
        for profile, modules in (("data-science", {"math", "numpy", "pandas", "matplotlib", "os", "pathlib", "shutil"}),
                                 ("web", {"math", "httpx", "requests", "urllib", "socket", "bs4"})):
            self.assertLessEqual(modules, set(profiles[profile]["modules"]))
        self.assertEqual((profiles["lab"]["notInstalled"], profiles["lab"]["limits"]), (["nowhere_at_all"], {"wallSeconds": 30}))
        self.assertIn({"name": "bwrap"}, found["launchers"])
        self.assertIn("python", [each["language"] for each in found["runtimes"]])

    def test_a_strict_profile_refuses_before_anything_runs(self):
        editor = self.editor()
        session = editor.session("s", profile="minimal")
        self.assertEqual((session["profile"], session["limits"]), ("minimal", {"wallSeconds": 30}))
        with self.assertRaisesRegex(Exception, "line 2: the profile does not offer os"):
            editor.request("execute", {"sessionId": "s", "code": "open('ran', 'w').close()\nimport os"})
        self.assertFalse((self.workspace.path / "ran").exists())
        self.assertEqual(editor.run("import math\nprint(math.pi > 3)", sessionId="s").text(), "True\n")
        editor.session("free")
        self.assertEqual(editor.run("import os\nopen('ran', 'w').close()", sessionId="free").result()["status"], "ok")

    def explained(self, client, session):
        return client.request("policy/explain", {"sessionId": session, "action": {
            "kind": "network", "host": "lab.example", "port": 443}})["effect"]

    def test_a_default_is_for_every_session_and_an_agent_cannot_leave_it(self):
        self.write({"default": "lab", "profiles": {"lab": {"extends": "minimal", "domains": ["lab.example:443"],
                                                           "limits": {"wallSeconds": 20}}}})
        editor = self.editor()
        self.assertEqual(editor.session("s", limits={"wallSeconds": 10})["limits"], {"wallSeconds": 10})
        self.assertEqual(self.explained(editor, "s"), "allow")
        editor.session("web", profile="web")
        self.assertEqual(self.explained(editor, "web"), "ask")
        with self.assertRaisesRegex(Exception, "does not offer os"):
            editor.request("execute", {"code": "import os"})  # in the default session
        agent = self.agent()
        self.assertEqual(agent.session("agent-1")["profile"], "lab")
        with self.assertRaisesRegex(Exception, "a user has set the profile lab"):
            agent.session("agent-2", profile="web")

    def test_commands_are_no_findings_where_they_are_asked_about(self):
        answer = self.editor().request("validate", {"code": "!git status", "profile": "ask-programs"})
        self.assertEqual(answer["diagnostics"], [])
        answer = self.editor().request("validate", {"code": "!git status", "profile": "web"})  # the control
        self.assertEqual([each["rule"] for each in answer["diagnostics"]], ["ipython.shell"])

    def test_a_profile_of_the_file_asks_before_programs_for_agents_too(self):
        self.write({"default": "lab", "profiles": {"lab": {"askBeforePrograms": True}}})
        editor = self.editor()
        agent = self.agent()
        agent.session("agent-1")
        execution = agent.execute("!echo asked", sessionId="agent-1")
        approval = editor.approval()
        self.assertEqual(approval["action"]["tool"], "run_program")
        editor.allow(approval)
        self.assertEqual((execution.result()["status"], execution.text().strip()), ("ok", "asked"))

    def test_an_agent_chooses_a_profile_without_hosts(self):
        self.write({"profiles": {"lab": {"domains": ["lab.example:443"]}, "closed": {"extends": "web"}}})
        self.assertEqual(self.explained(self.editor(), self.editor().session("s", profile="lab")["sessionId"]), "allow")
        danger = {"code": "import os\n().__class__.__base__.__subclasses__()", "profile": "lab"}  # which offers all modules
        found = self.editor().request("validate", danger)["diagnostics"]
        self.assertEqual({(each["rule"], each["severity"]) for each in found}, {("attr.dunder", "error")})
        agent = self.agent()
        self.assertEqual(agent.session("agent-1", profile="closed")["profile"], "closed")
        with self.assertRaisesRegex(Exception, "a user can choose it"):
            agent.session("agent-2", profile="lab")

    def test_a_file_that_is_wrong_is_named(self):
        for value in ({"profiles": {"a": {"extends": "none"}}}, {"profiles": {"a": {"extends": "b"}, "b": {"extends": "a"}}},
                      {"default": "none"}, {"profiles": {"minimal": {}}}, {"profiles": {"a": {"module": []}}}):
            with self.subTest(value):
                self.write(value)
                ended = subprocess.run([CELLGATE, "runtimes", "--root", self.workspace.path], text=True,
                                       env=self.workspace.environment(), stdin=subprocess.DEVNULL, capture_output=True)
                self.assertEqual(ended.returncode, 1)
                self.assertIn("profiles.json", ended.stderr)


class OnTheCommandLine(CliTest):
    def test_check_looks_at_every_language_of_a_file_and_mends_it_when_asked(self):
        path = self.workspace.write("a.py", "x = json.loads('1')\n# %% [bash]\nrm -rf /\n# %%\nprint(x)\nif x\n    pass\n")
        ended = self.cli("check", path)
        self.assertEqual(ended.returncode, 1, ended)
        self.assertIn("a.py:3:1: warning: this removes everything", ended.stdout)
        self.assertIn("a.py:6:5: error: expected ':' [syntax]", ended.stdout)
        ended = self.cli("check", path, "--fix")
        self.assertEqual(ended.returncode, 0)
        self.assertIn("a.py:6:5: mended: expected ':' [syntax]\n", ended.stdout)
        self.assertIn("a.py:1:5: warning: json is not imported", ended.stdout)  # what is left, and was not seen before
        self.assertNotIn("a.py:6:5: error", ended.stdout)
        self.assertIn("if x:\n", (self.workspace.path / "a.py").read_text())
        ended = self.cli("check", path, "--fix")
        self.assertEqual((ended.returncode, (self.workspace.path / "a.py").read_text().startswith("import json\nx = ")), (0, True))
        ended = self.cli("check", path, "--json", "--profile", "minimal")
        self.assertEqual([json.loads(line)["rule"] for line in ended.stdout.splitlines()][:1], ["rm.everything"])
        self.assertEqual(json.loads(ended.stdout.splitlines()[0])["file"], str(path))

    def test_a_cell_of_a_magic_is_looked_at_by_itself(self):
        for before, after in (("%%bash\nif true; then echo; fi", "x = = 1"), ("x = = 1", "%%bash\nif true; then echo; fi"),
                              ("%%writefile notes.txt\nplain words", "%%time\nx = = 1")):
            path = self.workspace.write("cells.py", f"# %%\n{before}\n# %%\n{after}\n")
            ended = self.cli("check", str(path))
            self.assertEqual((ended.returncode, ended.stdout.count("[syntax]")), (1, 1), ended.stdout)
            line = 1 + path.read_text().split("\n").index("x = = 1")
            self.assertIn(f"cells.py:{line}:", ended.stdout)

    def test_a_notebook_and_a_file_of_no_language(self):
        cells = [{"cell_type": "code", "source": "import json", "metadata": {}, "outputs": [], "execution_count": None},
                 {"cell_type": "code", "source": "json.dumps(1)\neval('1')", "metadata": {}, "outputs": [], "execution_count": None}]
        path = self.workspace.write("n.ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
        self.assertIn("n.ipynb: cell 2, line 2: warning:", self.cli("check", path).stdout)
        self.assertIn("--language", self.cli("check", self.workspace.write("x.txt", "1")).stderr)

    def test_code_that_nothing_looked_at_is_an_error(self):
        path = self.workspace.write("bad.js", "let x = ;\n")
        ended = self.cli("check", path)
        self.assertEqual(ended.returncode, 1, ended)
        self.assertIn("bad.js:1:1: error: not checked: needs deno: npm install deno [not_checked]", ended.stdout)
        ended = self.cli("check", path, "--json")
        self.assertEqual((ended.returncode, json.loads(ended.stdout)["rule"]), (1, "not_checked"))

    def test_run_takes_a_profile(self):
        ended = self.cli("run", "--profile", "minimal", self.workspace.write("b.py", "import os\n"))
        self.assertEqual(ended.returncode, 1)
        self.assertIn("does not offer os", ended.stderr)
        self.assertIn("minimal", self.cli("runtimes").stdout)


def apply(text, edits):
    lines = text.split("\n")

    def offset(line, column):
        return sum(len(each) + 1 for each in lines[:line]) + column

    for at, edit in sorted(enumerate(edits), key=lambda pair: (pair[1]["line"], pair[1]["column"], pair[0]), reverse=True):
        text = (text[:offset(edit["line"], edit["column"])] + edit["newText"]
                + text[offset(edit["endLine"], edit["endColumn"]):])
    return text


if __name__ == "__main__":
    unittest.main()
