"""A kernel that is kept ready: which sessions get it, which do not, and that code cannot tell it from a new one."""

import os
import signal
import subprocess
import unittest

from cellgate_client import Sidecar, WorkspaceSidecarTest, WorkspaceTest
from install_testing import InstallTest
from language_testing import DENO
from processes import assert_no_orphans, descendants, living, wait_until
from spare_testing import KEPT, LOGGED, LOOK_BY_DENO, SpareTest
from workspaces import SYSTEM_PATH


class Spare(SpareTest, WorkspaceTest):
    def setUp(self):
        super().setUp()
        self.cellgate = self.sidecar(options=KEPT, arguments=LOGGED)

    def test_the_next_session_has_it_and_the_one_after_that_has_not(self):
        self.assertFalse(self.create("first"))
        self.until_ready()
        before = self.kernels()
        self.assertTrue(self.create("second"))
        self.assertEqual(self.kernels(), before)
        self.assertFalse(self.create("third"))  # there was one
        self.assertEqual(self.printed("second", "x = 1; print(x)"), "1\n")
        self.assertEqual(self.cellgate.run("x", sessionId="third").result()["error"]["ename"], "NameError")
        self.assertEqual(self.cellgate.run("1+1", sessionId="second").result()["executionCount"], 2)

    def test_a_restart_has_it(self):
        self.cellgate.session("s")
        self.printed("s", "x = 1")
        self.until_ready()
        before = self.times_used()
        self.cellgate.request("session/restart", {"sessionId": "s"})
        self.assertEqual(self.times_used(), before + 1)
        self.assertEqual(self.cellgate.run("x", sessionId="s").result()["error"]["ename"], "NameError")

    def test_its_memory_is_in_the_figures(self):
        self.cellgate.session("s")
        self.until_ready()
        stats = self.cellgate.request("stats", {})
        self.assertGreater(stats["spareKernel"]["memoryBytes"], 10_000_000)
        self.assertEqual([each["sessionId"] for each in stats["sessions"]], ["s"])
        self.assertEqual([each["sessionId"] for each in self.cellgate.request("session/list")["sessions"]], ["s"])

    def test_a_secret_that_was_made_since_is_hidden(self):
        self.cellgate.session("old")
        self.until_ready()
        [spare] = self.kernels() - self.kernels_of("old")
        self.workspace.write(".env", "TOKEN=hidden")
        # The control: in the sandbox of the spare kernel, and of the session that is as old, the file can be read.
        with open(f"/proc/{spare}/root{self.workspace.path}/.env") as file:
            self.assertEqual(file.read(), "TOKEN=hidden")
        self.assertFalse(self.create("new"))
        self.assertIn("what its sandbox shows, hides or protects has changed", self.cellgate.log())
        self.assertEqual(self.cellgate.run("open('.env').read()", sessionId="new").result()["error"]["ename"],
                         "PermissionError")
        wait_until(lambda: not living([spare]), "the end of the spare kernel")

    def kernels_of(self, session_id):
        """Its kernel, by a file that it has open."""
        self.printed(session_id, "mark = open('mark-of-a-session', 'w')")
        return {pid for pid in self.kernels() if any(
            os.readlink(f"/proc/{pid}/fd/{fd}").endswith("mark-of-a-session") for fd in os.listdir(f"/proc/{pid}/fd"))}

    def test_a_hidden_file_that_was_replaced_since_is_hidden(self):
        self.workspace.write(".env", "TOKEN=first")
        self.cellgate.session("old")
        self.until_ready()
        self.workspace.write(".env.new", "TOKEN=second")
        os.replace(self.workspace.path / ".env.new", self.workspace.path / ".env")
        self.assertFalse(self.create("new"))
        self.assertEqual(self.cellgate.run("open('.env').read()", sessionId="new").result()["error"]["ename"],
                         "PermissionError")

    def test_other_settings_have_a_kernel_of_their_own(self):
        others = [{"env": {"MARK": "1"}}, {"limits": {"openFiles": 200}}, {"cwd": "sub"}, {"sandbox": False},
                  {"limits": {"memoryBytes": 2_000_000_000}}]
        self.workspace.write("sub/x.txt", "")
        for number, other in enumerate(others):
            with self.subTest(other):
                self.cellgate.session(f"usual{number}")
                self.until_ready()
                self.assertFalse(self.create(f"other{number}", **other))
                for name in (f"usual{number}", f"other{number}"):
                    self.cellgate.request("session/close", {"sessionId": name})

    def test_the_same_settings_get_it(self):
        same = {"env": {"MARK": "1"}, "limits": {"openFiles": 300, "wallSeconds": 100}}
        self.cellgate.session("first", **same)
        self.until_ready()
        self.assertTrue(self.create("second", **same))
        self.assertEqual(self.printed("second", "import os, resource; print(os.environ['MARK'], "
                                                "resource.getrlimit(resource.RLIMIT_NOFILE)[0])"), "1 300\n")

    def test_a_secret_of_a_rule_is_in_the_session_and_its_session_has_a_kernel_of_its_own(self):
        self.cellgate.session("usual")
        self.until_ready()
        self.cellgate.request("policy/add", {"scope": "always", "rule": {
            "kind": "request", "effect": "inspect", "host": "api.example",
            "inject": {"as": "bearer", "value": "${secret:API_TOKEN}", "variable": "API_TOKEN"}}})
        self.assertFalse(self.create("new"))
        self.assertIn("cellgate-secret-", self.printed("new", "import os; print(os.environ['API_TOKEN'])"))
        self.assertFalse(self.create("newer"))

    def test_one_that_was_killed_is_not_given_to_a_session(self):
        self.cellgate.session("first")
        first = self.kernels()
        self.until_ready()
        [spare] = self.kernels() - first
        os.kill(spare, signal.SIGKILL)
        wait_until(lambda: "spareKernel" not in self.cellgate.request("stats", {}), "the end of the spare kernel")
        self.assertFalse(self.create("second"))
        self.assertEqual(self.printed("second", "print(1)"), "1\n")

    def test_it_calls_tools_as_its_session(self):
        self.cellgate.request("wrappers/generate", {"server": "host"})
        self.workspace.write("notes.txt", "é")
        self.cellgate.session("first")
        self.until_ready()
        self.assertTrue(self.create("second"))
        execution = self.cellgate.execute("from mcptools.host import read_file\n"
                                          "print(read_file.run(read_file.Params(path='notes.txt')).content)",
                                          sessionId="second")
        approval = self.cellgate.approval()
        self.assertEqual((approval["sessionId"], approval["origin"]["line"]), ("second", 1))
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(execution.text(), "é\n")

    def test_it_connects_as_its_session(self):
        self.cellgate.session("first")
        self.until_ready()
        self.assertTrue(self.create("second"))
        execution = self.cellgate.execute("import urllib.request\n"
                                          "urllib.request.urlopen('http://a.example/')", sessionId="second")
        approval = self.cellgate.approval()
        self.assertEqual((approval["sessionId"], approval["action"]["host"], approval["origin"]["line"]),
                         ("second", "a.example", 1))
        self.cellgate.deny(approval)
        self.assertEqual(execution.result()["status"], "error")

    def test_code_cannot_tell_it_from_a_new_one(self):
        self.assert_code_cannot_tell()

    def test_nor_can_code_after_a_restart(self):
        self.workspace.write("a.txt", "")
        layers = self.cellgate.session("s")["layers"]
        cold = self.look("s")
        self.printed("s", "x = 1; open('/tmp/of-the-first', 'w').write('x')")
        self.until_ready()
        before = self.times_used()
        self.assertEqual(self.cellgate.request("session/restart", {"sessionId": "s"})["layers"], layers)
        self.assertEqual(self.times_used(), before + 1)
        self.assert_same(cold, self.look("s"))

    def test_two_have_random_numbers_of_their_own(self):
        draw = "import random, os; print(random.random(), hash('a'), os.urandom(4).hex())"
        drawn = []
        self.cellgate.session("first")
        for name in ("second", "third"):
            self.until_ready()
            self.assertTrue(self.create(name))
            drawn.append(self.printed(name, draw).split())
        for one, other in zip(*drawn):
            self.assertNotEqual(one, other)


class Off(SpareTest, WorkspaceTest):
    def test_none_is_kept_unless_it_is_asked_for(self):
        self.cellgate = self.sidecar(arguments=LOGGED)
        self.cellgate.session("first")
        self.assertNotIn("spareKernel", self.cellgate.request("stats", {}))
        self.assertFalse(self.create("second"))
        self.assertNotIn("a spare kernel", self.cellgate.log())

    def test_switched_off_it_ends(self):
        workspace = self.workspace
        with Sidecar(workspace, options=KEPT) as self.cellgate:
            self.cellgate.session("first")
            first = self.kernels()
            self.until_ready()
            [spare] = self.kernels() - first
            # A client says so once, so the end of this one's spare kernel is that of its sidecar.
        self.assertEqual(living([spare]), [])
        assert_no_orphans()


class Workspaces(SpareTest, WorkspaceSidecarTest):
    def test_agents_sessions_have_it_too_and_it_ends_with_a_setting(self):
        self.cellgate = self.editor(options=KEPT)
        agent = self.agent()
        agent.session("agent-first")
        self.until_ready()
        agent.session("agent-second")
        self.assertIn("session agent-second: has the spare kernel", self.log_of_the_sidecar())
        self.assertEqual(agent.run("print(1)", sessionId="agent-second").text(), "1\n")
        self.until_ready()
        other = self.editor(options={"spareKernel": False})
        self.assertNotIn("spareKernel", other.request("stats", {}))
        agent.session("agent-third")
        self.assertNotIn("agent-third: has the spare kernel", self.log_of_the_sidecar())

    def test_a_killed_sidecar_leaves_nothing_of_it(self):
        self.cellgate = self.editor(options=KEPT)
        self.cellgate.session("first")
        self.until_ready()
        pid = self.sidecar_pid()
        below = descendants(pid)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not living(below), "the end of what it started")
        wait_until(lambda: not list((self.workspace.runtime / "cellgate").glob("k-*")), "the end of their directories")


class Packages(SpareTest, InstallTest):
    def test_a_package_that_was_installed_since_can_be_imported(self):
        self.cellgate = self.user(options=KEPT, arguments=LOGGED)
        self.cellgate.session("first")
        self.until_ready()
        self.assertEqual(self.install(self.cellgate, "tiny", sessionId="first")["status"], "ok")
        self.assertTrue(self.create("second"))
        self.assertEqual(self.value(self.cellgate, "import tiny; tiny.SIZE", sessionId="second"), "'tiny'")

    def test_what_was_added_to_the_interpreter_since_is_there(self):
        environment = self.workspace.base / "v"
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", "--system-site-packages", environment],
                       check=True)
        [packages] = environment.glob("lib/python3*/site-packages")
        kernel = {"interpreter": str(environment / "bin/python3")}
        self.cellgate = self.user(options=KEPT, arguments=LOGGED)
        self.cellgate.session("first", kernel=kernel)
        self.until_ready()
        (packages / "more.pth").write_text(str(packages / "more"))  # as an editable install does
        (packages / "more").mkdir()
        self.assertFalse(self.create("second", kernel=kernel))
        self.assertIn("its interpreter or its packages have changed", self.cellgate.log())
        self.assertEqual(self.printed("second", "import sys; print(sum(p.endswith('/more') for p in sys.path))"), "1\n")


class WorkspaceKernel(SpareTest, WorkspaceTest):
    def test_there_is_none_of_a_kernel_from_the_workspace(self):
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", "--system-site-packages",
                        self.workspace.path / ".venv"], check=True)
        self.cellgate = self.sidecar(options=KEPT, arguments=LOGGED)
        first = self.cellgate.start("session/create", {"sessionId": "first"})
        self.cellgate.allow(self.cellgate.approval())
        first.result()
        # One that may have a spare kernel, which is started after all that was wanted before.
        self.cellgate.session("second", kernel={"interpreter": "/usr/bin/python3"})
        self.until_ready()
        self.assertEqual(self.cellgate.log_path.read_text().count("a spare kernel is ready"), 1)
        self.assertEqual(len(self.cellgate.notifications["approval/requested"]), 1)


@unittest.skipUnless(DENO.exists(), "npm's packages are not installed")
class TypeScript(SpareTest, WorkspaceTest):
    def setUp(self):
        super().setUp()
        self.cellgate = self.sidecar(options=KEPT, arguments=LOGGED, environment=self.workspace.environment(
            PATH=f"{DENO.parent}:{SYSTEM_PATH}"))

    def test_a_session_of_typescript_has_it(self):
        self.cellgate.session("first", language="typescript")
        self.until_ready()
        self.assertTrue(self.create("second", language="typescript"))
        self.assertIn("2", self.cellgate.run("const x: number = 1; x + 1", sessionId="second").data()["text/plain"])
        variables = self.cellgate.request("kernel/variables", {"sessionId": "second"})["variables"]
        self.assertEqual([each["name"] for each in variables], ["x"])

    def test_code_cannot_tell_it_from_a_new_one(self):
        self.workspace.write("a.txt", "")
        self.cellgate.session("cold", language="typescript")
        cold = self.look("cold", LOOK_BY_DENO)
        self.until_ready()
        self.assertTrue(self.create("spare", language="typescript"))
        self.assert_same(cold, self.look("spare", LOOK_BY_DENO))
        self.until_ready()
        before = self.times_used()
        self.cellgate.request("session/restart", {"sessionId": "spare"})
        self.assertEqual(self.times_used(), before + 1)
        self.assert_same(cold, self.look("spare", LOOK_BY_DENO))


if __name__ == "__main__":
    unittest.main()
