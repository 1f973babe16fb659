"""./dev on machines that are not this one: its package tools are replaced by scripts that write down what they were
asked. A copy of ./dev runs in a folder of its own, with nothing on its PATH but these and the few tools it needs."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = "sh cat cp cmp date dirname env find mkdir mv nproc rm sed touch".split()

INSTALLED = "libuv1-dev cmake"
PLAN = """Reading package lists...
0 upgraded, 41 newly installed, 0 to remove and 7 not upgraded.
Need to get 53.1 MB/60 MB of archives.
After this operation, 284 MB of additional disk space will be used.
'uri' file 53080 sum
"""


class Machine:
    """Knows some packages as installed; `apt-get install` makes it know the rest."""

    def __init__(self, folder, root=True, sudo=False, apt=True):
        self.folder = Path(folder)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        (self.folder / "tree").mkdir()
        shutil.copy(ROOT / "dev", self.folder / "tree" / "dev")
        (self.folder / "tree/build/openssh-tests/usr").mkdir(parents=True)  # what is unpacked is there
        self.log = self.folder / "log"
        self.log.touch()
        self.state = self.folder / "installed"
        self.state.write_text(INSTALLED)
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.script("id", f"echo {0 if root else 1000}")
        self.script("cmake", "exit 0")
        if sudo:
            self.script("sudo", f'echo "sudo $*" >>{self.log}; exec "$@"')
        if apt:
            self.script("dpkg-query", f'echo "dpkg-query" >>{self.log}\n'
                        f"for name in $(cat {self.state}); do printf 'installed/%s ' $name; done; exit 1")
            self.script("apt-get", f"""echo "apt-get $* [$DEBIAN_FRONTEND]" >>{self.log}
                case " $* " in
                *" update "*) touch {self.folder}/updated ;;
                *" --print-uris "*) {self.plan_guard()} cat <<'END'
{PLAN}END
                ;;
                *) echo "$*" >>{self.state} ;;
                esac""")

    def plan_guard(self):
        return f"[ -e {self.folder}/needs-update ] && [ ! -e {self.folder}/updated ] && exit 100;"

    def script(self, name, body):
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def dev(self, *arguments, **environment):
        return subprocess.run(
            [str(self.folder / "tree" / "dev"), *arguments], env={"PATH": str(self.bin), **environment},
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )

    def calls(self, what):
        return [line for line in self.log.read_text().splitlines() if what in line]

    def build(self):
        """`./dev build`, with a build that leaves a binary."""
        release = self.folder / "tree" / "build" / "release"
        release.mkdir(parents=True, exist_ok=True)
        (release / "cellgate").write_text("binary")
        return self.dev("build")


class Dev(unittest.TestCase):
    def machine(self, **options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Machine(folder.name, **options)

    def test_help_lists_what_there_is_and_installs_nothing(self):
        machine = self.machine()
        for arguments in ([], ["help"], ["--help"]):
            result = machine.dev(*arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            for command in ("help", "demo", "build", "test", "test quick", "e2e-neovim", "e2e-helix", "bench", "format", "lint"):
                self.assertRegex(result.stdout, rf"(?m)^  {command}\s")
        self.assertEqual(machine.calls(""), [])

    def test_an_unknown_command_or_argument_says_where_to_look(self):
        machine = self.machine()
        result = machine.dev("tset")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("there is no 'tset'; ./dev help", result.stderr)
        result = machine.dev("test", "fast")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("not 'fast'", result.stderr)
        self.assertEqual(machine.calls(""), [])

    def test_missing_packages_are_installed_after_saying_what_and_how_large(self):
        machine = self.machine()
        result = machine.build()
        self.assertEqual(result.returncode, 0, result.stderr)
        said = result.stdout
        for what in ("not installed: g++ ninja-build", "41 packages", "53.1 MB/60 MB to download", "284 MB on the disk"):
            self.assertIn(what, said)
        self.assertNotIn("cmake", said.splitlines()[0])
        install = machine.calls("--print-uris")[0], machine.calls("DPkg::Lock")[0]
        for call in install:
            self.assertIn("--no-install-recommends", call)
            self.assertIn(" g++ ", call)
            self.assertNotIn(" libuv1-dev", call)
        self.assertIn("[noninteractive]", install[1])
        self.assertEqual(machine.calls(" update "), [])

    def test_apt_lists_are_updated_only_when_apt_does_not_know_a_package(self):
        machine = self.machine()
        (machine.folder / "needs-update").touch()
        result = machine.build()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(machine.calls(" update ")), 1)

    def test_nothing_is_asked_again_once_everything_is_there(self):
        machine = self.machine()
        self.assertEqual(machine.build().returncode, 0)
        before = len(machine.calls(""))
        self.assertEqual(machine.build().returncode, 0)
        self.assertEqual(len(machine.calls("")), before)
        # The control: a list that differs from the stamp's is asked about.
        dev = machine.folder / "tree" / "dev"
        dev.write_text(dev.read_text().replace('build_packages="', 'build_packages="one-more '))
        self.assertEqual(machine.build().returncode, 0)
        self.assertIn(" one-more", machine.calls("DPkg::Lock")[-1])

    def test_without_root_it_uses_sudo(self):
        machine = self.machine(root=False, sudo=True)
        self.assertEqual(machine.build().returncode, 0)
        self.assertEqual(len(machine.calls("sudo env DEBIAN_FRONTEND=noninteractive apt-get install")), 1)

    def test_without_root_and_sudo_it_says_what_root_has_to_do(self):
        machine = self.machine(root=False)
        result = machine.build()
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("there is no sudo. As root: apt-get install --no-install-recommends g++ ", result.stderr)
        self.assertEqual(machine.calls("apt-get"), [])

    def test_without_apt_it_names_what_is_needed(self):
        machine = self.machine(apt=False)
        result = machine.build()
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("has no apt", result.stderr)
        self.assertIn("libuv1-dev", result.stderr)

    def test_a_package_that_apt_cannot_find_is_an_error(self):
        machine = self.machine()
        machine.script("apt-get", "case $* in *install*) exit 100 ;; esac")
        result = machine.build()
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("apt does not find", result.stderr)
        self.assertFalse((machine.folder / "tree" / "build" / ".packages").exists())

    def test_only_the_bench_installs_and_builds_what_is_measured_against(self):
        machine = self.machine()
        machine.script("cmake", f'echo "cmake $*" >>{machine.log}')
        machine.script("npm", "exit 1")
        machine.script("node", "echo v22.0.0")
        self.assertEqual(machine.build().returncode, 0)
        self.assertEqual(machine.calls("jupyter-server"), [])
        result = machine.dev("bench", "--quick")
        self.assertIn("npm did not give the MCP server", result.stdout)
        self.assertIn("python3-jupyter-server", machine.calls("DPkg::Lock")[-1])
        self.assertIn("--target bench", machine.calls("cmake --build")[-1])
        self.assertIn("tests/bench/bench.py", result.stderr)  # which is not in this tree

    def test_build_leaves_the_binary_and_a_failed_one_does_not(self):
        machine = self.machine()
        result = machine.build()
        self.assertEqual(result.returncode, 0, result.stderr)
        binary = machine.folder / "tree" / "build" / "cellgate"
        self.assertEqual(binary.read_text(), "binary")
        machine.script("cmake", "echo 'no such compiler'; exit 1")
        binary.unlink()
        result = machine.build()
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no such compiler", result.stdout)
        self.assertFalse(binary.exists())


class Sums(unittest.TestCase):
    """The closing line counts the cases of every suite, and a failure cannot get lost."""

    def quick(self, log, ctest_status):
        with tempfile.TemporaryDirectory() as folder:
            machine = Machine(folder)
            (machine.bin / "awk").symlink_to(shutil.which("awk"))
            (machine.folder / "log-text").write_text(log)
            place = "build/debug/Testing/Temporary"
            machine.script("ctest", f"mkdir -p {place}; cp {machine.folder}/log-text {place}/LastTest.log; exit {ctest_status}")
            result = machine.dev("test", "quick")
            return result.returncode, result.stdout.splitlines()[-1]

    def test_cases_are_summed_over_suites_of_every_kind(self):
        log = """1/4 Testing: unit.base
[doctest] test cases:  12 |  12 passed | 0 failed | 3 skipped
Test Passed.
2/4 Testing: contract
Ran 7 tests in 0.1s
OK (skipped=2)
Test Passed.
3/4 Testing: plain
Test Passed.
"""
        self.assertEqual(self.quick(log, 0), (0, "18 passed, 0 failed"))

    def test_failed_cases_and_dead_suites_count(self):
        log = """1/3 Testing: unit.base
[doctest] test cases:  12 |  10 passed | 2 failed | 0 skipped
Test Failed.
2/3 Testing: contract
Ran 7 tests in 0.1s
FAILED (failures=1, errors=2)
Test Failed.
3/3 Testing: unit.async
Test Failed.
"""
        self.assertEqual(self.quick(log, 8), (1, "14 passed, 6 failed"))

    def test_a_runner_that_fails_without_a_failed_test_is_a_failure(self):
        self.assertEqual(self.quick("1/1 Testing: plain\nTest Passed.\n", 8), (1, "1 passed, 1 failed"))

    def test_a_build_that_fails_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = Machine(folder)
            machine.script("cmake", "exit 1")
            result = machine.dev("test", "quick")
            self.assertNotEqual(result.returncode, 0)
            self.assertEqual(result.stdout.splitlines()[-1], "0 passed, 1 failed")


if __name__ == "__main__":
    unittest.main()
