"""Installing packages: who is asked, what runs where, what kernels see afterwards. The packages are made here and come
from an index of this test; nothing is downloaded from elsewhere."""

import contextlib
import json
import os
import subprocess
import unittest
from pathlib import Path

from cellgate_client import Sidecar
from cli_testing import CliTest, Terminal
from executions import RpcError
from install_testing import BUILDING_PIP, BUILDS, LEAKY, PIP, WHEELS, WITHOUT_BUILDS, InstallTest, sdist, wheel
from mcp_testing import McpTest
from processes import TIMEOUT, assert_no_orphans, descendants, wait_until

LIMIT_EXCEEDED = 1024
REFUSED = ["pkg; id", "--index-url=http://127.0.0.1/", "-r file", "-rfile", "-e .", "-", "../x", "./x", "/tmp/x", "a b",
           "tiny\n", "ti\nny", "tiny\0", "ti\u202eny", "ti\u200bny", "\u0455ix", "", "tiny[", "tiny==", "tiny==1;id",
           "tiny.whl", "tiny-1.0.tar.gz", "TINY.ZIP", "tiny==1.0.whl", "tiny===1.0.Zip", "file:///tmp/x",
           "https://example.org/tiny.whl",
           "tiny @ https://example.org/tiny.whl", "tiny @ git+https://example.org/tiny", "a" * 501, "tiny --pre",
           "$(id)", "~/x", "tiny==1.0 idna"]
REFUSED_BUILDS = ["pkg; id", "--pre", "../x", "tiny @ http://example.org/x", "tiny @ file:///x",
                  "tiny @ git+ssh://example.org/x", "tiny @ https://example.org/x; id",
                  "tiny @ git+https://example.org/x@--upload-pack=id", "tiny @ https://example.org/\u202ex"]


class Asking(InstallTest):
    def test_a_no_installs_nothing_and_downloads_nothing(self):
        user = self.user()
        pending = self.start(user, "tiny")
        user.deny(user.approval(), reason="not today")
        denied = self.failed(pending, 1014)
        self.assertIn("a user said no: not today", denied.message)
        self.assertEqual(self.index.asked, [])
        self.assertEqual(self.value(user, "import tiny"), "ModuleNotFoundError")
        self.assertEqual(self.folders(), ["installed"])

    def test_what_is_shown_is_pips_whole_command(self):
        user = self.user()
        pending = self.start(user, "tiny", "other>=2, <3")
        asked = user.approval()
        session = user.request("session/list")["sessions"][0]
        command = [session["kernel"]["interpreter"], *PIP, *WHEELS, "tiny", "other>=2, <3"]
        self.assertEqual(asked["action"], {"kind": "install", "command": command, "environmentNames": ["PIP_INDEX_URL"]})
        self.assertEqual(asked["sessionId"], "default")
        self.assertEqual(asked["display"][0], 'install packages: tiny, "other>=2, <3"')
        shown = [asked["display"][1].replace("program: ", "argument: ")] + asked["display"][2:-1]
        code = PIP[-1].split("\n")
        self.assertEqual(shown, [line for part in command for line in (
            [f"argument: {len(code)} lines, no line break at the end", *("  | " + line for line in code)]
            if part == PIP[-1] else [f"argument: {json.dumps(part)}"])])
        self.assertEqual(asked["display"][-1], "with the variables: PIP_INDEX_URL")
        self.assertEqual([choice.get("rule") for choice in asked["choices"]], [None] * len(asked["choices"]))
        user.deny(asked)
        self.failed(pending, 1014)

    def test_a_yes_for_the_session_covers_the_same_packages_only(self):
        user = self.user()
        pending = self.start(user, "tiny")
        user.allow(user.approval(), scope="session")
        self.assertEqual(pending.result()["status"], "ok")
        self.assertEqual(self.start(user, "tiny").result()["status"], "ok")
        self.assertEqual(user.asked(), 1)
        pending = self.start(user, "tiny", "other")
        user.deny(user.approval())
        self.failed(pending, 1014)

    def test_no_rule_is_wide_enough_for_installs(self):
        user = self.user()
        with self.assertRaises(RpcError) as refused:
            user.request("policy/add", {"rule": {"effect": "allow", "kind": "install"}, "scope": "workspace"})
        self.assertEqual(refused.exception.code, 1015)
        user.request("policy/add", {"rule": {"effect": "deny", "kind": "install"}, "scope": "workspace"})
        self.assertIn("denied by rule", self.failed(self.start(user, "tiny"), 1014).message)
        self.assertEqual(user.asked(), 0)

    def test_what_pip_would_take_for_something_else_is_refused_before_anybody_is_asked(self):
        user = self.user()
        for text in REFUSED:
            with self.subTest(text):
                refused = self.failed(self.start(user, text), -32602)
                self.assertIn("params.packages[0]: expected a package as pip names it", refused.message)
        for text in REFUSED_BUILDS:
            with self.subTest(text, builds=True):
                self.failed(self.start(user, "tiny", text, allowSourceBuilds=True), -32602)
        self.assertEqual(user.asked(), 0)
        self.assertEqual(self.index.asked, [])
        self.assertEqual(user.request("session/list")["sessions"], [])  # no kernel was started for it
        self.assertEqual(self.install(user, "tiny == 1.*")["status"], "ok")  # the control
        self.assertEqual(len(user.request("session/list")["sessions"]), 1)


class Installed(InstallTest):
    def test_it_can_be_imported_at_once_and_after_a_restart_and_in_other_sessions(self):
        user = self.user()
        self.assertEqual(self.value(user, "import tiny; tiny.SIZE"), "ModuleNotFoundError")
        pending = self.start(user, "tiny", workDoneToken="w")
        user.allow(user.approval())
        result = pending.result()
        self.assertEqual((result["status"], result["installed"]), ("ok", [{"name": "tiny", "version": "1.0"}]))
        self.assertIn("Successfully installed tiny-1.0", result["output"])
        self.assertIn("bwrap", result["layers"])
        self.assertNotIn("network-namespace", result["layers"])
        told = [p["value"] for p in user.received("$/progress") if p["token"] == "w"]
        self.assertEqual((told[0]["kind"], told[-1]["kind"]), ("begin", "end"))
        self.assertIn("report", {value["kind"] for value in told})
        self.assertEqual(self.value(user, "import tiny; tiny.SIZE"), "'tiny'")
        self.assertEqual(self.value(user, "import importlib.metadata as m; m.version('tiny')"), "'1.0'")
        user.request("session/restart", {"sessionId": "default"})
        self.assertEqual(self.value(user, "import tiny; tiny.SIZE"), "'tiny'")
        user.session("second")
        self.assertEqual(self.value(user, "import tiny; tiny.SIZE", sessionId="second"), "'tiny'")

    def test_the_newest_goes_first_and_what_the_interpreter_has_goes_before_both(self):
        user = self.user()
        self.install(user, "tiny")
        self.index.add("tiny", wheel("tiny", "1.1", "SIZE = 'small'\n"))
        self.index.add("json", wheel("json", "9.0", "SIZE = 'planted'\n"))
        self.install(user, "tiny==1.1", "json")
        self.assertEqual(self.value(user, "import tiny; tiny.SIZE"), "'small'")
        self.assertEqual(self.value(user, "import importlib.metadata as m; m.version('tiny')"), "'1.1'")
        self.assertEqual(self.value(user, "import json; hasattr(json, 'SIZE')"), "False")
        self.assertEqual(self.folders(), ["installed", "installed/000001", "installed/000002"])

    def test_a_cell_cannot_change_what_is_installed(self):
        user = self.user()
        self.install(user, "tiny")
        user.session("open", sandbox=False)
        # The control comes last: it does change it.
        for session, outcome in (("default", "'OSError'"), ("open", "'changed'")):
            code = ("import tiny, os\n"
                    "def attempt(what):\n    try: what()\n    except OSError: return 'OSError'\n    return 'changed'\n"
                    "folder = os.path.dirname(tiny.__file__)\n"
                    "outcomes = {attempt(lambda: open(tiny.__file__, 'a')), attempt(lambda: os.chmod(folder, 0o755)),\n"
                    "            attempt(lambda: open(folder + '/json.py', 'w')),\n"
                    "            attempt(lambda: os.mkdir(folder + '/../999999'))}\n"
                    "outcomes.pop() if len(outcomes) == 1 else outcomes")
            self.assertEqual(self.value(user, code, sessionId=session), outcome)

    def test_a_package_that_is_not_there_fails_in_pips_words_and_leaves_all_as_it_was(self):
        user = self.user()
        self.install(user, "tiny")
        before = self.folders()
        result = self.install(user, "other", "missing")
        self.assertEqual((result["status"], result["installed"]), ("failed", []))
        self.assertIn("No matching distribution found for missing", result["reason"])
        self.assertIn("No matching distribution found for missing", result["output"])
        self.assertEqual(self.folders(), before)
        self.assertEqual(self.value(user, "import tiny; tiny.SIZE"), "'tiny'")
        self.assertEqual(self.value(user, "import other"), "ModuleNotFoundError")

    def test_an_interpreter_without_pip_is_served_by_the_systems(self):
        environment = self.workspace.base / "venv"
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", str(environment)], check=True)
        site = next(environment.glob("lib/python3*/site-packages"))
        for package in Path("/usr/lib/python3/dist-packages").iterdir():  # ipykernel and what it needs
            if not package.name.startswith("pip"):
                (site / package.name).symlink_to(package)
        user = self.user()
        user.session("venv", kernel={"interpreter": str(environment)})
        pending = self.start(user, "tiny", sessionId="venv")
        asked = user.approval()
        python = str(environment / "bin/python")
        self.assertEqual(asked["action"]["command"],
                         [python, "-I", "-c", WITHOUT_BUILDS + 'runpy.run_path(sys.argv.pop(1), run_name="__main__")',
                          "/usr/lib/python3/dist-packages/pip/__pip-runner__.py", *WHEELS, "tiny"])
        user.allow(asked)
        self.assertEqual(pending.result()["status"], "ok", pending.result())
        self.assertEqual(self.value(user, "import tiny; tiny.SIZE", sessionId="venv"), "'tiny'")
        self.index.add("sly", wheel("sly", "1.0", "", f"Requires-Dist: evil @ {self.index.url}/files/evil/evil-1.0.tar.gz"))
        result = self.install(user, "sly", sessionId="venv")
        self.assertIn("a package wanted to run code to be built", result["reason"])
        self.assertEqual(self.index.ran(), 0)
        pending = self.start(user, "evil", sessionId="venv", allowSourceBuilds=True)
        asked = user.approval()
        self.assertEqual(asked["action"]["command"],
                         ["/usr/bin/python3", *BUILDING_PIP, "--python", python, *BUILDS, "evil"])
        user.deny(asked)
        self.failed(pending, 1014)


class Missing(InstallTest):
    """A cell that imports what is not there."""

    def notes(self, user, code, **params):
        return user.run(code, **params).result().get("notes", [])

    def test_its_note_has_what_installs_it(self):
        user = self.user()
        [note] = self.notes(user, "import os, tiny")
        self.assertEqual(note, {"text": "there is no module tiny", "remedy": "cellgate install tiny",
                                "install": ["tiny"]})
        [note] = self.notes(user, "from sklearn.linear_model import Ridge")
        self.assertEqual(note["install"], ["scikit-learn"])
        [note] = self.notes(user, "%pip install --no-index -q 'tiny>=1'")
        self.assertNotIn("install", note)
        [note] = self.notes(user, "%pip install -q 'tiny>=1'", approvals="deny")[-1:]
        self.assertEqual(note["install"], ["tiny>=1"])
        self.assertEqual(self.install(user, *note["install"])["status"], "ok")
        self.assertEqual(self.value(user, "import tiny; tiny.SIZE"), "'tiny'")

    def test_what_no_package_would_help_has_none(self):
        self.workspace.write("sub/mine.py", "")
        self.workspace.write("own/x.py", "")
        user = self.user()
        self.install(user, "tiny")
        for code in ("import tiny.nope", "import json.nope", "import _nothing", "from json import nope",
                     "raise ModuleNotFoundError('No module named x y')", "1/0"):
            with self.subTest(code):
                self.assertEqual(self.notes(user, code), [])
        user.session("sub", cwd=str(self.workspace.path / "sub"))
        code = "import sys; sys.path.remove(''); sys.path = [p for p in sys.path if 'sub' not in p]\nimport mine"
        self.assertEqual(self.notes(user, code, sessionId="sub"), [])

    def test_where_installs_do_not_reach_the_note_is_the_interpreters_own_command(self):
        user = self.user()
        user.session("weaker", sandbox={"launcher": "landlock"})
        [note] = self.notes(user, "import tiny", sessionId="weaker")
        self.assertNotIn("install", note)
        self.assertRegex(note["remedy"], "python3 -m pip install tiny$")


class Cancelling(InstallTest):
    def waiting_for_a_download(self, user):
        self.index.hold = {"other"}
        pending = self.start(user, "other")
        asked = user.approval()
        user.allow(asked)
        wait_until(lambda: any(path.startswith("/files/other") for path in self.index.asked), "pip's download")
        return pending, asked["action"]["command"]

    @staticmethod
    def running(command):
        """Processes that run exactly this command."""
        wanted = "\0".join([*command, ""]).encode()
        found = set()
        for pid in descendants(os.getpid()):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/cmdline").read_bytes() == wanted:
                    found.add(pid)
        return found

    def test_what_was_shown_runs_and_ends_when_it_is_cancelled(self):
        user = self.user()
        self.install(user, "tiny")
        before = self.folders()
        pending, command = self.waiting_for_a_download(user)
        self.assertEqual(len(self.running(command)), 1)
        self.assertNotEqual(self.folders(), before)
        user.notify("$/cancelRequest", {"id": pending.id})
        self.failed(pending, -32800)
        self.assertEqual(self.running(command), set())
        self.assertEqual(self.folders(), before)
        self.assertEqual(self.value(user, "import tiny; tiny.SIZE"), "'tiny'")
        self.assertEqual(self.value(user, "import other"), "ModuleNotFoundError")
        self.index.released.set()
        self.assertEqual(self.install(user, "other")["status"], "ok")
        self.assertEqual(self.value(user, "import other; other.SIZE"), "'other'")

    def test_a_question_that_is_cancelled_is_taken_back(self):
        user = self.user()
        pending = self.start(user, "tiny")
        asked = user.approval()
        user.notify("$/cancelRequest", {"id": pending.id})
        self.failed(pending, -32800)
        self.assertEqual(user.resolved(asked)["by"], "cancelled")
        self.assertEqual(self.index.asked, [])

    def test_nothing_keeps_running_when_the_sidecar_is_killed_and_the_next_install_clears_up(self):
        user = Sidecar(self.workspace, environment=self.environment())
        _, command = self.waiting_for_a_download(user)
        self.assertEqual(len(self.running(command)), 1)
        user.kill()
        assert_no_orphans()
        self.assertEqual(len(self.folders()), 4)  # what kernels see, and what was broken off with its two folders
        self.index.released.set()
        user = self.user()
        self.assertEqual(self.value(user, "import other"), "ModuleNotFoundError")
        self.assertEqual(self.install(user, "tiny")["status"], "ok")
        self.assertEqual(self.folders(), ["installed", "installed/000001"])


class Many(InstallTest, McpTest):
    """One at a time; sixteen may wait."""

    def looks(self, interpreter):
        """Processes of it that look for pip, without those that watch over them and shut them in."""
        found = []
        for pid in descendants(self.sidecar_pid()):
            with contextlib.suppress(OSError):
                command = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
                if command[0] == interpreter and "find_spec('pip')" in command[3]:
                    found.append(pid)
        return found

    @staticmethod
    def the_one_too_many(client, waiting):
        client.wait(lambda: any(pending.done for pending in waiting), "the one that is too many", TIMEOUT)
        [refused] = [pending for pending in waiting if pending.done]
        return refused

    def test_an_agent_cannot_have_many_interpreters_looked_at_before_anybody_is_asked(self):
        prefix = self.workspace.base / "odd"
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", "--system-site-packages", str(prefix)],
                       check=True)
        site = next(prefix.glob("lib/python3*/site-packages"))
        # A search for pip with this interpreter takes long.
        (site / "odd.pth").write_text(
            """import sys, time; any("find_spec('pip')" in part for part in sys.orig_argv) and time.sleep(1000)\n""")
        python = str(prefix / "bin/python")
        editor = self.editor(environment=self.environment())
        editor.session("odd", kernel={"interpreter": str(prefix)})
        agent = self.agent()
        waiting = [self.start(agent, "tiny", sessionId="odd") for _ in range(18)]
        refused = self.the_one_too_many(agent, waiting)
        self.assertIn("at most 16 that wait", self.failed(refused, LIMIT_EXCEEDED).message)
        wait_until(lambda: self.looks(python), "the look at the interpreter")
        self.assertEqual(len(self.looks(python)), 1)
        self.assertEqual(editor.asked(), 0)
        for pending in waiting:
            agent.notify("$/cancelRequest", {"id": pending.id})
        for pending in waiting:
            if pending is not refused:
                self.failed(pending, -32800)
        self.assertEqual(self.looks(python), [])
        # The same agent is served where the interpreter answers.
        pending = self.start(agent, "tiny")
        editor.allow(editor.approval())
        self.assertEqual(pending.result()["status"], "ok")

    def test_one_pip_runs_at_a_time_and_who_waits_can_be_cancelled(self):
        user = self.user()
        self.index.hold = {"other"}
        first = self.start(user, "other")
        asked = user.approval()
        user.allow(asked, scope="session")
        wait_until(lambda: any(path.startswith("/files/other") for path in self.index.asked), "pip's download")
        waiting = [self.start(user, "other") for _ in range(17)]
        refused = self.the_one_too_many(user, waiting)
        self.failed(refused, LIMIT_EXCEEDED)
        self.assertEqual(len(Cancelling.running(asked["action"]["command"])), 1)
        rest = [pending for pending in waiting if pending is not refused]
        for pending in rest[1:]:
            user.notify("$/cancelRequest", {"id": pending.id})
            self.failed(pending, -32800)
        self.index.released.set()
        self.assertEqual([first.result()["status"], rest[0].result()["status"]], ["ok", "ok"])
        self.assertEqual(self.folders(), ["installed", "installed/000001", "installed/000002"])


class SourceBuilds(InstallTest):
    def test_without_a_word_about_them_no_code_of_a_package_runs(self):
        user = self.user()
        result = self.install(user, "evil")
        self.assertEqual(result["status"], "failed")
        self.assertIn("No matching distribution found for evil", result["reason"])
        self.assertEqual(self.index.ran(), 0)

    def test_a_wheel_that_names_a_source_package_by_its_url_has_none_built(self):
        place = f"{self.index.url}/files/evil/evil-1.0.tar.gz"
        self.index.add("sly", wheel("sly", "1.0", "SIZE = 'sly'\n", f"Requires-Dist: evil @ {place}"))
        user = self.user()
        result = self.install(user, "sly")
        self.assertEqual((result["status"], result["installed"]), ("failed", []))
        self.assertIn("a package wanted to run code to be built: only wheels are taken; a user can allow source builds",
                      result["reason"])
        self.assertEqual(self.index.ran(), 0)
        # The control: a user can allow it.
        self.assertEqual(self.install(user, "sly", allowSourceBuilds=True)["status"], "ok")
        self.assertGreater(self.index.ran(), 0)

    def test_the_password_of_an_index_is_not_in_what_is_told(self):
        self.index.add("leaky", sdist(LEAKY, "leaky"))
        user = self.sidecar(environment=self.environment(
            PIP_INDEX_URL=self.index.url.replace("//", "//me:p4ssword@") + "/simple/"))
        pending = self.start(user, "leaky", allowSourceBuilds=True, workDoneToken="w")
        user.allow(user.approval())
        result = pending.result()
        self.assertEqual(result["status"], "failed")
        self.assertIn("found http://****@127.0.0.1", result["output"])
        self.assertNotIn("p4ssword", json.dumps([result, *user.received("$/progress")]))

    def test_with_it_the_packages_code_runs_and_is_shut_in(self):
        user = self.user()
        self.install(user, "tiny")
        pending = self.start(user, "evil", allowSourceBuilds=True)
        asked = user.approval()
        self.assertEqual(asked["action"]["command"][1:], [*BUILDING_PIP, *BUILDS, "evil"])
        user.allow(asked)
        result = pending.result()
        self.assertEqual(result["status"], "ok", result)
        self.assertGreater(self.index.ran(), 0)
        found = self.value(user, "import evil, json; json.dumps(evil.FOUND)")
        self.assertEqual(json.loads(found.strip("'")), {
            "secret": "FileNotFoundError", "workspace": "FileNotFoundError", "environment": None,
            "outside": "planted", "planted": "FileNotFoundError", "installed": "FileNotFoundError"})
        # /tmp in there is not this one.
        self.assertFalse(self.outside.exists())
        self.assertEqual(self.workspace.files(), ["notes.txt"])

    def test_the_same_build_without_the_sandbox_reads_and_plants(self):
        """The control."""
        self.data.mkdir(parents=True)
        target = self.workspace.base / "target"
        subprocess.run(["/usr/bin/python3", *BUILDING_PIP, "install", "--target", str(target), "--no-input", "--no-cache-dir",
                        "--disable-pip-version-check", "--", "evil"], check=True, env=self.environment(),
                       cwd=self.workspace.base, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = {}
        exec((target / "evil.py").read_text(), found)
        self.assertEqual(found["FOUND"], {
            "secret": "PRIVATE KEY", "workspace": "the notes", "environment": "s3cret", "outside": "planted",
            "planted": "planted", "installed": []})
        self.assertTrue(self.outside.exists())


class AtATerminal(InstallTest, CliTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(assert_no_orphans)

    def test_without_one_nothing_is_installed(self):
        ended = self.cli("install", "tiny", variables={"PIP_INDEX_URL": self.index.url + "/simple/"})
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("nothing was installed", ended.stderr)
        self.assertIn("install packages", ended.stderr)
        self.assertEqual(self.index.asked, [])
        self.assertEqual(self.cli("install", "--", "--pre").returncode, 2)
        self.assertEqual(self.cli("install", "../tiny").returncode, 2)

    def test_a_yes_installs_for_the_cells_of_the_workspace(self):
        terminal = Terminal(self.arguments("install", "tiny", "evil", "--allow-source-builds"), cwd=self.workspace.path,
                            env=self.environment(TERM="xterm"))
        shown = terminal.expect("your answer: ")
        self.assertIn('argument: "evil"', shown)
        terminal.type("1")
        terminal.expect("evil 1.0\r\n")
        terminal.expect("tiny 1.0\r\n")
        self.assertEqual(terminal.wait_end(), 0)
        ended = self.cli("run", self.script("import tiny\nprint(tiny.SIZE)"))
        self.assertEqual(ended.stdout, "tiny\n", ended.stderr)


if __name__ == "__main__":
    unittest.main()
