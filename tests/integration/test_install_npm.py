"""Installing packages of npm for Deno's kernels: who is asked, what runs where, what cells import afterwards. The
packages come from a registry of this test."""

import json
import shutil
import unittest

from cellgate_client import WorkspaceTest
from cli_testing import CliTest, Terminal
from executions import RpcError
from language_testing import DENO
from npm_registry import NpmRegistry
from processes import assert_no_orphans, wait_until
from workspaces import SYSTEM_PATH

COMMAND = ["cache", "--config", "/cellgate/packages/deno.json", "--node-modules-dir=auto"]
REFUSED = ["npm:", "npm:../x", "npm:/x", "npm:x@https://example.org/", "npm:x@file:../x", "npm:Upper", "npm:x@^1 || ^2",
           "npm:@scope", "npm:@/x", "npm:x@", "npm:x@>=1", "npm:x\u202e", "npm:x --allow-scripts", "npm:x/sub",
           "npm:" + "x" * 300]
# Of a script that looks around, plants things, tells who listens that it ran, and writes down what it found.
SCRIPT = """
const fs = require("fs");
const attempt = (what) => { try { return what(); } catch (error) { return error.code; } };
const found = {
  secret: attempt(() => fs.readFileSync(%(secret)s, "utf8")), workspace: attempt(() => fs.readFileSync(%(notes)s, "utf8")),
  environment: process.env.CLOUD_TOKEN ?? null, planted: attempt(() => fs.writeFileSync(%(planted)s, "x")),
};
fetch(%(ran)s).then(() => fs.writeFileSync("found.json", JSON.stringify(found)));
"""


class NpmTest(WorkspaceTest):
    def setUp(self):
        super().setUp()
        if not DENO.exists():
            self.skipTest("npm's packages are not installed")
        self.registry = NpmRegistry()
        self.addCleanup(self.registry.close)
        add = self.registry.add
        add("tiny", "1.0.0", "exports.size = 'tiny ' + require('inner').name;", {"inner": "^2.0.0"})
        add("inner", "2.0.0", "exports.name = 'inner';")
        add("other", "3.0.0", "exports.size = 'other';")
        add("@scope/one", "0.1.0", "exports.size = 'scoped';")
        (self.workspace.home / "secret.txt").write_text("PRIVATE KEY")
        self.workspace.write("notes.txt", "the notes")
        self.data = self.workspace.home / ".local/share/cellgate"
        places = {"secret": self.workspace.home / "secret.txt", "notes": self.workspace.path / "notes.txt",
                  "planted": self.workspace.path / "planted.txt", "ran": self.registry.url + "/ran"}
        script = SCRIPT % {name: json.dumps(str(place)) for name, place in places.items()}
        add("scripted", "1.0.0", "exports.found = require('fs').existsSync(__dirname + '/found.json') && "
                                 "require('./found.json');",
            scripts={"postinstall": "node look.cjs"}, files={"look.cjs": script})

    def environment(self, **more):
        return self.workspace.environment(**{"NPM_CONFIG_REGISTRY": self.registry.url, "CLOUD_TOKEN": "s3cret",
                                             "PATH": f"{DENO.parent}:{SYSTEM_PATH}", **more})

    def user(self, **more):
        return self.sidecar(environment=self.environment(**more))

    @staticmethod
    def start(client, *packages, **more):
        return client.start("packages/install", {"packages": list(packages), **more})

    def install(self, client, *packages, **more):
        """With a user's yes."""
        pending = self.start(client, *packages, **more)
        client.allow(client.approval())
        return pending.result()

    def failed(self, pending, code):
        with self.assertRaises(RpcError) as caught:
            pending.result()
        self.assertEqual(caught.exception.code, code, caught.exception)
        return caught.exception

    @staticmethod
    def value(client, code, session="ts"):
        """What is printed of it, or the text of the error."""
        execution = client.run(f"console.log(JSON.stringify(({code}) ?? null))", sessionId=session)
        result = execution.result()
        return result["error"]["evalue"] if result["status"] == "error" else json.loads(execution.text())

    def size(self, client, specifier, session="ts"):
        return self.value(client, f"(await import({specifier!r})).default.size", session)

    def tree(self):
        """Of all that was installed."""
        folder = self.data / "packages"
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


class Asking(NpmTest):
    def test_a_no_installs_nothing_and_downloads_nothing(self):
        user = self.user()
        pending = self.start(user, "npm:tiny")
        user.deny(user.approval(), reason="not today")
        self.assertIn("a user said no: not today", self.failed(pending, 1014).message)
        self.assertEqual(self.registry.asked, [])

    def test_what_is_shown_is_denos_whole_command(self):
        user = self.user()
        pending = self.start(user, "npm:tiny@^1", "npm:@scope/one", allowSourceBuilds=True)
        asked = user.approval()
        self.assertEqual(asked["action"], {
            "kind": "install", "environmentNames": ["NPM_CONFIG_REGISTRY"],
            "command": [str(DENO), *COMMAND, "--allow-scripts", "npm:tiny@^1", "npm:@scope/one"]})
        user.deny(asked)
        self.failed(pending, 1014)
        self.assertEqual(user.request("session/list")["sessions"], [])  # no kernel was started for it

    def test_what_is_no_package_of_npm_is_refused_before_anybody_is_asked(self):
        user = self.user()
        for text in REFUSED:
            for allowed in (False, True):
                with self.subTest(text, allowed=allowed):
                    refused = self.failed(self.start(user, text, allowSourceBuilds=allowed), -32602)
                    self.assertIn("params.packages[0]: expected a package of npm", refused.message)
        refused = self.failed(self.start(user, "npm:tiny", "requests"), 1025)
        self.assertIn("of one kind", refused.message)
        self.assertEqual((user.asked(), self.registry.asked), (0, []))

    def test_without_deno_the_error_says_how_to_install_it(self):
        user = self.user(PATH=SYSTEM_PATH)
        error = self.failed(self.start(user, "npm:tiny"), 1021)
        self.assertIn("npm install deno", error.hint)
        self.assertEqual(user.asked(), 0)

    def test_the_workspaces_own_deno_installs_too(self):
        folder = self.workspace.path / "node_modules/.bin"
        folder.mkdir(parents=True)
        shutil.copy(DENO, folder / "deno")
        user = self.user(PATH=SYSTEM_PATH)
        pending = self.start(user, "npm:tiny")
        asked = user.approval()
        self.assertEqual(asked["action"]["command"][0], str(folder / "deno"))
        user.allow(asked)
        self.assertEqual(pending.result()["status"], "ok", pending.result())


class Installed(NpmTest):
    def test_a_running_kernel_imports_it_at_once_without_a_question(self):
        user = self.user()
        user.session("ts", language="typescript")
        self.assertIn("Could not find a matching package", self.size(user, "npm:tiny"))
        pending = self.start(user, "npm:tiny", workDoneToken="w")
        user.allow(user.approval())
        result = pending.result()
        self.assertEqual((result["status"], result["installed"]), (
            "ok", [{"name": "inner", "version": "2.0.0"}, {"name": "tiny", "version": "1.0.0"}]), result)
        self.assertIn("bwrap", result["layers"])
        reports = [p["value"].get("message", "") for p in user.received("$/progress") if p["token"] == "w"]
        self.assertTrue([text for text in reports if "Download" in text], reports)
        self.registry.close()
        for specifier in ("npm:tiny", "npm:tiny@^1", "npm:tiny@1.0.0"):
            self.assertEqual(self.size(user, specifier), "tiny inner")
        self.assertIn("Could not find a matching package", self.size(user, "npm:tiny@^2"))
        user.session("js", language="javascript")
        for specifier in ("npm:tiny@^1", "tiny"):
            self.assertEqual(self.size(user, specifier, "js"), "tiny inner")
        self.assertEqual(user.asked(), 1)  # about the install

    def test_installs_add_up_and_the_newest_version_goes_first(self):
        user = self.user()
        self.install(user, "npm:tiny")
        self.registry.add("tiny", "1.1.0", "exports.size = 'small';")
        self.install(user, "npm:@scope/one", "npm:tiny@^1.1")
        user.session("ts", language="typescript")
        self.assertEqual(self.size(user, "npm:tiny"), "small")
        self.assertEqual(self.size(user, "npm:@scope/one@0.1"), "scoped")
        self.assertEqual(self.size(user, "npm:tiny@1.0.0"), "tiny inner")
        [lock] = self.data.glob("packages/*/npm/deno.lock")
        self.assertIn("npm:@scope/one", lock.read_text())

    def test_a_workspace_with_a_package_json_has_them_beside_its_own(self):
        own = self.workspace.path / "node_modules/own"
        own.mkdir(parents=True)
        (own / "package.json").write_text('{"name": "own", "version": "1.0.0", "main": "index.js"}')
        (own / "index.js").write_text("exports.size = 'own';")
        self.workspace.write("package.json", '{"dependencies": {"own": "1"}}')
        user = self.user()
        self.install(user, "npm:tiny")
        user.session("ts", language="typescript")
        for specifier, size in (("own", "own"), ("npm:tiny@^1", "tiny inner"), ("tiny", "tiny inner")):
            self.assertEqual(self.size(user, specifier), size)

    def test_a_cell_cannot_change_what_is_installed(self):
        user = self.user()
        self.install(user, "npm:tiny")
        user.session("ts", language="typescript")
        for attempt in ("Deno.writeTextFileSync('/node_modules/tiny/index.js', 'x')",
                        "Deno.mkdirSync('/node_modules/new')", "Deno.removeSync('/node_modules/tiny')",
                        "Deno.renameSync('/node_modules', '/moved')", "Deno.writeTextFileSync('/package.json', 'x')"):
            outcome = self.value(user, f"(() => {{ try {{ {attempt}; return 'done' }} catch {{ return 'refused' }} }})()")
            self.assertEqual(outcome, "refused", attempt)
        # The control.
        self.assertEqual(self.value(user, "(() => { Deno.writeTextFileSync('x.js', 'x'); return 'done' })()"), "done")

    def test_a_package_that_is_not_there_fails_in_denos_words_and_leaves_all_as_it_was(self):
        user = self.user()
        self.install(user, "npm:tiny")
        before = self.tree()
        result = self.install(user, "npm:other", "npm:missing")
        self.assertEqual((result["status"], result["installed"]), ("failed", []))
        self.assertIn("npm package 'missing' does not exist", result["reason"])
        self.assertIn("npm package 'missing' does not exist", result["output"])
        self.assertEqual(self.tree(), before)

    def test_an_install_that_is_cancelled_changes_nothing(self):
        user = self.user()
        self.install(user, "npm:tiny")
        before = self.tree()
        self.registry.hold = {"other"}
        pending = self.start(user, "npm:other")
        user.allow(user.approval())
        wait_until(lambda: any(path.startswith("files/other") for path in self.registry.asked), "Deno's download")
        self.assertNotEqual(self.tree(), before)
        user.notify("$/cancelRequest", {"id": pending.id})
        self.failed(pending, -32800)
        self.assertEqual(self.tree(), before)
        self.registry.released.set()
        self.assertEqual(self.install(user, "npm:other")["status"], "ok")


class Scripts(NpmTest):
    def found(self, user):
        return self.value(user, "(await import('npm:scripted')).default.found")

    def test_without_a_word_about_them_no_script_runs_and_with_it_they_are_shut_in(self):
        user = self.user()
        user.session("ts", language="typescript")
        result = self.install(user, "npm:scripted")
        self.assertEqual(result["status"], "ok", result)
        self.assertIn("Ignored build scripts", result["output"])
        self.assertEqual((self.found(user), self.registry.ran()), (False, 0))
        # The control: a user can allow it, and then the version that it made replaces the one without.
        result = self.install(user, "npm:scripted", allowSourceBuilds=True)
        self.assertEqual((result["status"], self.registry.ran()), ("ok", 1), result)
        user.request("session/restart", {"sessionId": "ts"})
        self.assertEqual(self.found(user), {"secret": "ENOENT", "workspace": "ENOENT", "environment": None,
                                            "planted": "ENOENT"})
        self.assertEqual(self.workspace.files(), ["notes.txt"])
        self.install(user, "npm:scripted")  # leaves it as it is
        self.assertNotEqual(self.found(user), False)


class AtATerminal(NpmTest, CliTest):
    def test_a_yes_installs_for_the_cells_of_the_workspace(self):
        self.addCleanup(assert_no_orphans)
        terminal = Terminal(self.arguments("install", "npm:tiny"), cwd=self.workspace.path,
                            env=self.environment(TERM="xterm"))
        self.assertIn('argument: "npm:tiny"', terminal.expect("your answer: "))
        terminal.type("1")
        terminal.expect("tiny 1.0.0\r\n")
        self.assertEqual(terminal.wait_end(), 0)
        ended = self.cli("run", self.script("import t from 'npm:tiny@^1'\nconsole.log(t.size)", "x.ts"),
                         variables={"PATH": f"{DENO.parent}:{SYSTEM_PATH}"})
        self.assertEqual(ended.stdout, "tiny inner\n", ended.stderr)
        self.assertIn("npm:lodash", self.cli("install", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
