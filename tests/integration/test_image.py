"""Sessions in an image: its Python and its files, with the sandbox, the gate and the workspace of every other session."""

import json
import os
import shutil
import signal
import subprocess
import unittest

import own_network
import sandboxed_session
from cellgate_client import CELLGATE, WorkspaceSidecarTest, WorkspaceTest
from executions import RpcError
from image_testing import TO_HAVE, WITHOUT, Podman, make_root
from processes import descendants, living, wait_until
from spare_testing import KEPT, LOGGED, SpareTest

CONFIG_INVALID, KERNEL_NOT_FOUND, UNSUPPORTED = 1021, 1008, 1025
CONTAINERFILE = """FROM localhost/base
COPY marker /etc/marker
COPY only_here.py /usr/lib/python3/dist-packages/only_here.py
ENV LANG=C.UTF-8 SECRET_OF_THE_IMAGE=no PATH=/usr/bin:/bin
"""
podman = None


def setUpModule():
    """`base`, and `work`, which cellgate builds from it; `bare` has no ipykernel."""
    global podman
    if WITHOUT:
        return
    podman = Podman()
    unittest.addModuleCleanup(podman.remove)
    make_root(podman.root)
    setuid = podman.root / "usr/bin/setuid"
    setuid.write_text("")
    setuid.chmod(0o4755)
    podman.import_root("base")
    podman.import_root("bare", "./usr/lib/python3/dist-packages")
    folder = podman.folder / "work"
    folder.mkdir()
    (folder / "Containerfile").write_text(CONTAINERFILE)
    (folder / "marker").write_text("of the image")
    (folder / "only_here.py").write_text("word = 'from the image'\n")
    built = cellgate("image", "build", str(folder), "--tag", "work")
    if built.returncode != 0:
        raise AssertionError(built.stdout + built.stderr)


def cellgate(*words, environment=None, under=(), **options):
    """cellgate at the command line, with the storage of the tests. `under`: a command that becomes it."""
    return subprocess.run([*under, CELLGATE, *words], capture_output=True, text=True, env={
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(podman.folder), **podman.environment, **(environment or {}),
    }, **options)


class InAnImage(sandboxed_session.SandboxedSession):
    sandbox = {"image": "work"}

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.environment = podman.environment

    @classmethod
    def setUpClass(cls):
        if WITHOUT:
            raise unittest.SkipTest(TO_HAVE)
        super().setUpClass()

    def test_it_says_what_it_is(self):
        identity = podman("image", "inspect", "--format", "{{.Id}}", "work").strip()
        self.assertEqual(self.info["image"], {"name": "work", "id": identity})
        self.assertEqual(self.info["kernel"]["interpreter"], "/usr/bin/python3")
        self.assertEqual(self.info["sandbox"], self.sandbox.get("launcher", "bwrap"))
        self.assertLessEqual({"bwrap", "network-namespace", "protected-files", "network-proxy", "private-home"},
                             set(self.info["layers"]))

    def test_its_files_and_packages_are_there_and_the_machines_are_not(self):
        self.assertEqual(self.run_code("import only_here; print(only_here.word, open('/etc/marker').read())"),
                         "from the image of the image\n")
        self.assertEqual(self.error_of("import requests"), "ModuleNotFoundError")
        for path in ("/usr/bin/env", "/bin/sh", "/usr/share/doc", "/etc/debian_version", str(podman.folder)):
            with self.subTest(path):
                self.assertTrue(os.path.exists(path))
                self.assertEqual(self.run_code(f"import os; print(os.path.exists({path!r}))"), "False\n")

    def test_of_its_environment_only_the_ways_to_programs_are_there(self):
        self.assertEqual(self.run_code("import os; print(os.environ['PATH'], os.environ.get('SECRET_OF_THE_IMAGE'))"),
                         "/usr/bin:/bin None\n")

    def test_nothing_of_it_can_be_written_and_nothing_has_the_rights_of_others(self):
        for path in ("/etc/marker", "/usr/made", "/made", "/opt/made"):
            with self.subTest(path):
                self.assertEqual(self.error_of(f"open({path!r}, 'w')"), "OSError")
        self.assertEqual(self.run_code("import os; print(oct(os.stat('/usr/bin/setuid').st_mode & 0o7777))"), "0o755\n")

    def test_packages_belong_into_the_image(self):
        error = self.assert_error(UNSUPPORTED, self.cellgate.request, "packages/install",
                                  {"packages": ["requests"], "sessionId": "sandboxed"})
        self.assertIn("cellgate image build", error.data["hint"])
        notes = self.cellgate.run("import requests", sessionId="sandboxed").result()["notes"]
        self.assertIn("RUN /usr/bin/python3 -m pip install requests", notes[0]["remedy"])
        self.assertNotIn("install", notes[0])

    def test_code_is_checked_by_its_python(self):
        def missing(code):
            found = self.cellgate.request("validate", {"code": code, "sessionId": "sandboxed"})["diagnostics"]
            return [each["rule"] for each in found]

        self.assertNotIn("import.not_found", missing("import only_here"))
        self.assertIn("import.not_found", missing("import requests"))


@unittest.skipIf(WITHOUT, TO_HAVE)
class SpareKernel(SpareTest, WorkspaceTest):
    def test_code_cannot_tell_it_from_a_new_one(self):
        self.cellgate = self.sidecar(options=KEPT, arguments=LOGGED,
                                     environment=self.workspace.environment(**podman.environment))
        self.assert_code_cannot_tell(sandbox={"image": "work"})


@unittest.skipIf(WITHOUT, TO_HAVE)
class OnTheCommandLine(unittest.TestCase):
    def test_each_attempt_to_get_out_is_held_as_without_it(self):
        def outcomes(*options):
            report = json.loads(cellgate("sandbox", "test", "--json", *options).stdout)
            return {each["id"]: each["inSandbox"]["outcome"] for each in report["attempts"]}, report

        inside, report = outcomes("--image", "work")
        self.assertTrue(report["held"])
        self.assertEqual(inside, outcomes()[0])

    def test_explain_says_what_its_root_shows(self):
        for path, words in (("/etc/marker", "can be read, not written"), ("/usr/bin/env", "is not there")):
            with self.subTest(path):
                said = cellgate("sandbox", "explain", path, "--image", "work", "--root", str(podman.folder / "work"))
                self.assertIn(words, said.stdout, said.stderr)

    def test_one_that_podman_does_not_have_is_named(self):
        for command in (["test"], ["explain", "/etc/marker"]):
            ended = cellgate("sandbox", *command, "--image", "missing")
            self.assertEqual(ended.returncode, 1)
            self.assertIn("missing", ended.stderr)


@unittest.skipIf(shutil.which("runsc") is None, "gVisor is not installed (apt install runsc)")
class InGvisor(InAnImage):
    sandbox = {"image": "work", "launcher": "gvisor"}

    def test_the_kernel_of_the_machine_is_another_one(self):
        self.assertNotEqual(self.run_code("import os; print(os.uname().release)").strip(), os.uname().release)


@unittest.skipIf(WITHOUT, TO_HAVE)
class NetworkOfAnImage(sandboxed_session.SandboxedNetwork):
    sandbox = {"image": "work"}

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.environment = podman.environment


@unittest.skipIf(WITHOUT, TO_HAVE)
class WhatIsRefused(WorkspaceTest):
    def refusal(self, code, cellgate, **params):
        with self.assertRaises(RpcError) as caught:
            cellgate.session("refused", **params)
        self.assertEqual(caught.exception.code, code, caught.exception)
        return caught.exception

    def setUp(self):
        super().setUp()
        self.cellgate = self.sidecar(environment=self.workspace.environment(**podman.environment))

    def test_an_image_that_is_not_here_is_not_fetched(self):
        error = self.refusal(CONFIG_INVALID, self.cellgate, sandbox={"image": "registry.example/none:1"})
        self.assertIn("podman pull registry.example/none:1", error.data["hint"])

    def test_an_image_without_ipykernel_says_how_to_add_it(self):
        error = self.refusal(KERNEL_NOT_FOUND, self.cellgate, sandbox={"image": "bare"})
        self.assertIn("RUN /usr/bin/python3 -m pip install ipykernel", error.data["hint"])

    def test_kernels_of_the_machine_are_not_in_it(self):
        self.refusal(KERNEL_NOT_FOUND, self.cellgate, language="bash", sandbox={"image": "work"})
        self.refusal(KERNEL_NOT_FOUND, self.cellgate, kernel={"name": "ir"}, sandbox={"image": "work"})
        self.refusal(KERNEL_NOT_FOUND, self.cellgate, kernel={"interpreter": "/usr/bin/env"}, sandbox={"image": "work"})

    def test_a_launcher_that_mounts_nothing_has_none(self):
        self.refusal(CONFIG_INVALID, self.cellgate, sandbox={"launcher": "landlock", "image": "work"})

    def test_without_podman_the_error_names_its_package(self):
        (self.workspace.base / "bin").mkdir()
        (self.workspace.base / "bin/bwrap").symlink_to("/usr/bin/bwrap")
        environment = self.workspace.environment(PATH=str(self.workspace.base / "bin"))
        error = self.refusal(CONFIG_INVALID, self.sidecar(environment=environment), sandbox={"image": "work"})
        self.assertIn("apt install podman", error.data["hint"])


@unittest.skipIf(WITHOUT, TO_HAVE)
class Ends(WorkspaceSidecarTest):
    def editor_with_images(self):
        return self.editor(environment=self.workspace.environment(**podman.environment))

    def images(self):
        folder = self.workspace.home / ".local/share/cellgate/images"
        return sorted(path.name for path in folder.iterdir())

    def test_nothing_runs_after_the_sidecar_was_killed(self):
        user = self.editor_with_images()
        user.session("image", sandbox={"image": "work"})
        user.execute("print('go', flush=True)\nwhile True: pass", sessionId="image").wait_for_text("go")
        sidecar = self.sidecar_pid()
        all_of_it = descendants(sidecar)
        os.kill(sidecar, signal.SIGKILL)
        wait_until(lambda: not living(all_of_it), "all of its processes have ended")
        self.assertEqual(podman("ps", "--all", "--quiet"), "")
        self.assertEqual(len(self.images()), 1)

    def test_a_restart_takes_the_image_that_has_the_name_by_then(self):
        podman("tag", "work", "moving")
        user = self.editor_with_images()
        before = user.session("image", sandbox={"image": "moving"})["image"]["id"]
        self.assertEqual(user.run("import only_here", sessionId="image").result()["status"], "ok")
        podman("tag", "base", "moving")
        after = user.request("session/restart", {"sessionId": "image"})["image"]["id"]
        self.assertNotEqual(after, before)
        self.assertEqual(user.run("import only_here", sessionId="image").result()["status"], "error")

    def test_the_unpacked_files_are_removed_once_nothing_uses_them(self):
        environment = self.workspace.environment(**podman.environment)
        user = self.editor_with_images()
        user.session("image", sandbox={"image": "work"})
        refused = cellgate("image", "remove", "work", environment=environment)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("in use", refused.stderr)
        user.request("session/close", {"sessionId": "image"})
        self.assertIn("unpacked", cellgate("image", "list", environment=environment).stdout)
        # A kernel that is kept ready has the image, too.
        user.request("shutdown")
        user.notify("exit")
        subprocess.run([CELLGATE, "stop", "--root", self.workspace.path], env=environment, check=True, capture_output=True)
        removed = cellgate("image", "remove", "work", "--json", environment=environment)
        self.assertEqual((removed.returncode, removed.stdout, self.images()), (0, "{}\n", []), removed.stderr)
        listed = [json.loads(line) for line in cellgate("image", "list", "--json", environment=environment).stdout.splitlines()]
        self.assertIn(("localhost/work:latest", False), [(image["name"], image["unpacked"]) for image in listed])

    def test_an_agent_runs_code_where_a_user_chose_it_and_names_no_image(self):
        user = self.editor_with_images()
        agent = self.agent(environment=self.workspace.environment(**podman.environment))
        user.session("image", sandbox={"image": "work"})
        self.assertEqual(agent.run("import only_here; print(1)", sessionId="image").text(), "1\n")
        with self.assertRaises(RpcError) as caught:
            agent.session("agent-1", sandbox={"image": "work"})
        self.assertEqual(caught.exception.data["kind"], "forbidden")


@unittest.skipIf(WITHOUT, TO_HAVE)
class ByTheCommandLine(WorkspaceTest):
    def test_a_run_names_its_image(self):
        (self.workspace.path / "first.py").write_text("import only_here\nprint(only_here.word)")
        ended = cellgate("run", "--image", "work", "first.py", cwd=self.workspace.path,
                         environment=self.workspace.environment())
        self.assertEqual((ended.returncode, ended.stdout), (0, "from the image\n"), ended.stderr)

    def test_a_build_that_fails_has_podmans_words_and_exit_code(self):
        (self.workspace.path / "Containerfile").write_text("FROM localhost/base\nCOPY nothing /\n")
        ended = cellgate("image", "build", str(self.workspace.path / "Containerfile"), "--tag", "fails",
                         environment=self.workspace.environment())
        self.assertEqual(ended.returncode, 125)
        self.assertIn("nothing", ended.stdout)
        ended = cellgate("image", "build", ".", "--tag", "fails", "--json", cwd=self.workspace.path,
                         environment=self.workspace.environment())
        self.assertEqual(json.loads(ended.stdout), {"name": "fails", "exitCode": 125})
        self.assertIn("nothing", ended.stderr)

    def test_a_line_of_a_build_runs_without_a_network(self):
        # crun refuses machines that have both versions of control groups; in a mount namespace they have one.
        under = ["unshare", "--mount", "/bin/sh", "-c", 'umount /sys/fs/cgroup/unified 2>/dev/null; exec "$0" "$@"']
        code = ("import socket; open('/usr/lib/python3/dist-packages/made.py', 'w')"
                ".write(f'seen = {[name for _, name in socket.if_nameindex()]}')")
        (self.workspace.path / "Containerfile").write_text(
            f"FROM localhost/base\nRUN {json.dumps(['/usr/bin/python3', '-c', code])}\n")
        built = cellgate("image", "build", str(self.workspace.path), "--tag", "ran", under=under,
                         environment=self.workspace.environment())
        if "cgroups in hybrid mode" in built.stdout:
            self.skipTest("crun runs no line of a build on this machine")
        self.assertEqual(built.returncode, 0, built.stdout)
        (self.workspace.path / "first.py").write_text("import made\nprint(made.seen)")
        ended = cellgate("run", "--image", "ran", "first.py", cwd=self.workspace.path,
                         environment=self.workspace.environment())
        self.assertEqual((ended.returncode, ended.stdout), (0, "['lo']\n"), ended.stderr)

    def test_a_build_fetches_nothing(self):
        (self.workspace.path / "Containerfile").write_text("FROM registry.example/none:1\n")
        ended = cellgate("image", "build", str(self.workspace.path), "--tag", "fetched",
                         environment=self.workspace.environment())
        self.assertNotEqual(ended.returncode, 0)
        self.assertNotIn("rying to pull", ended.stdout)

    def test_a_name_that_is_an_option_is_refused(self):
        ended = cellgate("image", "build", str(self.workspace.path), "--tag=--all", environment=self.workspace.environment())
        self.assertEqual(ended.returncode, 1)
        self.assertIn("expected a name for the image", ended.stderr)


if __name__ == "__main__":
    own_network.enter()
    unittest.main()
