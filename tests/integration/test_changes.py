"""What executions change in the files of the workspace: listed exactly, read, and undone, and nothing else touched."""

import base64
import hashlib
import json
import os
import random
import re
import shutil
import unittest

from cellgate_client import Sidecar, WorkspaceTest
from cli_testing import CliTest
from executions import RpcError
from mcp_testing import McpTest, details_of
from processes import wait_until

NO_EXECUTION = 1006


def state(folder):
    """Each file of a tree: content or target, and mode."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        elif path.is_file():
            found[name] = (path.read_bytes(), path.stat().st_mode & 0o7777)
    return found


def difference(before, after):
    kinds = {name: "created" for name in after.keys() - before.keys()}
    kinds |= {name: "deleted" for name in before.keys() - after.keys()}
    return kinds | {name: "modified" for name in before.keys() & after.keys() if before[name] != after[name]}


def kinds_of(result):
    return {file["path"]: file["kind"] for file in result["files"]}


def run(cellgate, code, **params):
    return cellgate.run(code, changes=True, **params).id


class ChangesTest(WorkspaceTest):
    def setUp(self):
        super().setUp()
        self.workspace.write("notes.txt", "one\ntwo\n")
        self.workspace.write("old.txt", "old")
        self.workspace.write("data/table.csv", "a,b\n")

    def sidecar(self, **options):
        cellgate = Sidecar(self.workspace, **options)
        self.addCleanup(cellgate.close)
        return cellgate

    def listed(self, cellgate, execution_id):
        return cellgate.request("changes/list", {"executionId": execution_id})

    def undo(self, cellgate, execution_id, **params):
        return cellgate.request("changes/undo", {"executionId": execution_id, **params})


CHANGE = """
import os
open('notes.txt', 'a').write('three\\n')
open('new.bin', 'wb').write(bytes([0, 1, 2]))
os.remove('old.txt')
os.chmod('data/table.csv', 0o600)
os.symlink('notes.txt', 'latest')
"""


class WhatChanged(ChangesTest):
    def test_files_are_listed_read_and_undone(self):
        before = state(self.workspace.path)
        cellgate = self.sidecar()
        execution = run(cellgate, CHANGE)
        found = cellgate.wait_for("changes/found")
        self.assertEqual((found["executionId"], found["sessionId"], found["files"], found["complete"]),
                         (execution, "default", 5, True))
        after = state(self.workspace.path)
        listed = self.listed(cellgate, execution)
        self.assertEqual(kinds_of(listed), difference(before, after))
        files = {file["path"]: file for file in listed["files"]}
        self.assertEqual(files["notes.txt"]["after"]["sha256"], hashlib.sha256(b"one\ntwo\nthree\n").hexdigest())
        self.assertEqual(files["notes.txt"]["before"]["bytes"], 8)
        self.assertEqual([files["data/table.csv"][side]["mode"] for side in ("before", "after")], ["0644", "0600"])
        self.assertTrue(files["latest"]["after"]["link"])

        def read(path, side):
            return cellgate.request("changes/read", {"executionId": execution, "path": path, "side": side})

        self.assertEqual(read("notes.txt", "before"), {"text": "one\ntwo\n"})
        self.assertEqual(read("new.bin", "after"), {"base64": base64.b64encode(bytes([0, 1, 2])).decode()})
        self.assertEqual((read("new.bin", "before"), read("latest", "after")), ({}, {"text": "notes.txt"}))

        undone = self.undo(cellgate, execution)
        self.assertEqual((sorted(undone["restored"]), undone["refused"]), (sorted(files), []))
        self.assertEqual(state(self.workspace.path), before)
        self.assertEqual(self.listed(cellgate, execution)["undoneBy"], undone["undoId"])
        told = cellgate.wait_for("changes/found", lambda found: found["executionId"] == undone["undoId"])
        self.assertEqual(told["undoOf"], execution)
        self.undo(cellgate, undone["undoId"])
        self.assertEqual(state(self.workspace.path), after)
        self.assertNotIn("undoneBy", self.listed(cellgate, execution))

    def test_what_somebody_changed_since_is_refused_whole(self):
        cellgate = self.sidecar()
        execution = run(cellgate, CHANGE)
        self.listed(cellgate, execution)
        self.workspace.write("notes.txt", "mine")
        after = state(self.workspace.path)
        refused = self.undo(cellgate, execution)
        self.assertEqual(([each["path"] for each in refused["refused"]], refused["restored"]), (["notes.txt"], []))
        self.assertNotIn("undoId", refused)
        self.assertEqual(state(self.workspace.path), after)
        undone = self.undo(cellgate, execution, paths=["old.txt", "new.bin"])
        self.assertEqual(sorted(undone["restored"]), ["new.bin", "old.txt"])
        self.assertEqual(difference(after, state(self.workspace.path)), {"new.bin": "deleted", "old.txt": "created"})
        # Undoing that touches no more than it did.
        self.assertEqual(sorted(self.undo(cellgate, undone["undoId"])["restored"]), ["new.bin", "old.txt"])
        self.assertEqual(state(self.workspace.path), after)

    def test_what_a_user_does_not_ask_for_is_not_kept(self):
        cellgate = self.sidecar()
        execution = cellgate.run("open('notes.txt', 'w').write('x')").id
        for method, more in (("changes/list", {}), ("changes/undo", {}),
                             ("changes/read", {"path": "notes.txt", "side": "before"})):
            with self.assertRaises(RpcError) as refused:
                cellgate.request(method, {"executionId": execution, **more})
            self.assertEqual(refused.exception.code, NO_EXECUTION)
        self.assertEqual(cellgate.received("changes/found"), [])

    def test_a_cell_that_changes_nothing_has_an_empty_list(self):
        cellgate = self.sidecar()
        execution = run(cellgate, "open('notes.txt').read()")
        self.assertEqual(self.listed(cellgate, execution), {"executionId": execution, "files": [], "complete": True})
        self.assertEqual(self.undo(cellgate, execution), {"restored": [], "refused": []})

    def test_what_is_ignored_or_large_is_left_alone(self):
        self.workspace.write(".gitignore", "cache/\n")
        self.workspace.write("cache/a", "a")
        with open(self.workspace.path / "film.bin", "wb") as film:
            film.truncate((10 << 20) + 1)
        cellgate = self.sidecar()
        execution = run(cellgate, "for name in ('cache/a', 'film.bin', 'notes.txt'): open(name, 'w').write('x')")
        listed = self.listed(cellgate, execution)
        self.assertFalse(listed["complete"])
        self.assertEqual([each["path"] for each in listed["notCovered"]], ["film.bin"])
        self.assertEqual(kinds_of(listed), {"notes.txt": "modified"})
        self.undo(cellgate, execution)
        self.assertEqual([(self.workspace.path / name).read_text() for name in ("cache/a", "film.bin", "notes.txt")],
                         ["x", "x", "one\ntwo\n"])

    def test_executions_that_ran_at_the_same_time_are_named(self):
        cellgate = self.sidecar()
        cellgate.session("other")
        first = cellgate.execute("import pathlib, time\npathlib.Path('first').touch()\n"
                                 "while not pathlib.Path('go').exists(): time.sleep(0.01)", changes=True)
        wait_until(lambda: (self.workspace.path / "first").exists(), "the first cell runs")
        second = run(cellgate, "open('second', 'w')", sessionId="other")
        self.workspace.write("go", "")
        first.result()
        self.assertEqual(self.listed(cellgate, second)["overlapping"], [first.id])
        self.assertEqual(self.listed(cellgate, first.id)["overlapping"], [second])
        # One after the other: each has its own.
        third, fourth = run(cellgate, "open('third', 'w')"), run(cellgate, "open('fourth', 'w')", sessionId="other")
        for execution, path in ((third, "third"), (fourth, "fourth")):
            listed = self.listed(cellgate, execution)
            self.assertEqual((kinds_of(listed), listed.get("overlapping")), ({path: "created"}, None))

    def test_without_git_the_cell_runs_and_the_list_says_why_it_is_empty(self):
        folder = self.workspace.home / "programs"
        folder.mkdir()
        for program in ("bwrap", "python3"):
            (folder / program).symlink_to(shutil.which(program))
        cellgate = self.sidecar(environment=self.workspace.environment(PATH=str(folder)))
        execution = run(cellgate, "open('notes.txt', 'w').write('x')")
        listed = self.listed(cellgate, execution)
        self.assertEqual((listed["files"], listed["complete"]), ([], False))
        self.assertIn("no git", listed["notCovered"][0]["why"])
        self.assertIn("no git", self.undo(cellgate, execution)["refused"][0]["why"])

    def test_many_cells_are_listed_exactly_and_undone_newest_first(self):
        chance = random.Random(20)
        cellgate = self.sidecar()
        states, executions = [state(self.workspace.path)], []
        for i in range(40):
            seed = chance.randrange(1 << 30)
            executions.append(run(cellgate, RANDOM_CHANGES.format(seed=seed)))
            listed = self.listed(cellgate, executions[-1])
            states.append(state(self.workspace.path))
            self.assertEqual(kinds_of(listed), difference(*states[-2:]), f"cell {i}, seed {seed}")
        for execution, before in zip(reversed(executions), reversed(states[:-1])):
            self.assertEqual(self.undo(cellgate, execution)["refused"], [])
            self.assertEqual(state(self.workspace.path), before)


RANDOM_CHANGES = """
import os, random, pathlib
chance = random.Random({seed})
def files():
    return sorted(p for p in pathlib.Path('.').rglob('*') if not p.is_dir() or p.is_symlink())
for _ in range(chance.randrange(1, 6)):
    there = files()
    some = chance.choice(there) if there else None
    what = chance.randrange(6)
    name = pathlib.Path(chance.choice(['', 'data', 'deep/er', 'ü ö']), chance.choice(['a', 'b.txt', 'c d', '.e']))
    if what == 0 or some is None:
        if any(p.is_file() or p.is_symlink() for p in name.parents) or name.is_dir():
            continue
        name.parent.mkdir(parents=True, exist_ok=True)
        if not name.is_symlink():
            name.write_bytes(chance.randbytes(chance.randrange(50)))
    elif what == 1:
        some.unlink()
    elif what == 2 and not some.is_symlink():
        some.chmod(chance.choice([0o600, 0o644, 0o755, 0o640]))
    elif what == 3 and not name.exists() and not name.is_symlink() and name.parent.is_dir():
        some.rename(name)
    elif what == 4 and not name.exists() and not name.is_symlink() and name.parent.is_dir():
        name.symlink_to('notes.txt')
    elif what == 5 and not some.is_symlink():
        with some.open('ab') as file:
            file.write(b'more')
"""


class Agents(McpTest):
    def test_what_an_agent_changes_is_always_kept_and_shown_to_users(self):
        self.workspace.write("notes.txt", "one")
        editor = self.editor()
        agent = self.mcp(name="scribe")
        answer = agent.call("execute", code="open('notes.txt', 'w').write('two')", details=True)
        execution = details_of(answer)["execution_id"]
        found = editor.wait_for("changes/found")
        self.assertEqual((found["executionId"], found["agent"], found["files"]), (execution, "scribe", 1))
        undone = editor.request("changes/undo", {"executionId": execution})
        self.assertEqual((undone["restored"], (self.workspace.path / "notes.txt").read_text()), (["notes.txt"], "one"))

    def test_an_agent_lists_what_its_own_executions_changed_and_neither_reads_nor_undoes_it(self):
        editor, agent = self.editor(), self.agent()
        mine = run(editor, "open('mine.txt', 'w').write('x')")
        own = agent.run("open('own.txt', 'w').write('x')").id
        listed = agent.request("changes/list", {"executionId": own})["files"]
        self.assertEqual([(each["path"], each["kind"]) for each in listed], [("own.txt", "created")])
        for method, params in (("changes/list", {"executionId": mine}), ("changes/undo", {"executionId": own}),
                               ("changes/read", {"executionId": own, "path": "own.txt", "side": "after"})):
            with self.subTest(method), self.assertRaises(RpcError) as refused:
                agent.request(method, params)
            self.assertEqual(refused.exception.code, 1013)


class Later(ChangesTest):
    def test_changes_outlive_the_sidecar(self):
        before = state(self.workspace.path)
        with Sidecar(self.workspace) as cellgate:
            execution = run(cellgate, CHANGE)
            self.listed(cellgate, execution)
        with Sidecar(self.workspace) as cellgate:
            (entry,) = cellgate.request("record/query", {"types": ["files.changed"]})["entries"]
            self.assertEqual((entry["executionId"], entry["data"]["files"]), (execution, 5))
            self.assertEqual(len(self.listed(cellgate, execution)["files"]), 5)
            undone = self.undo(cellgate, execution)
            self.assertEqual(state(self.workspace.path), before)
        with Sidecar(self.workspace) as cellgate:
            (entry,) = cellgate.request("record/query", {"types": ["files.restored"]})["entries"]
            self.assertEqual((entry["actor"], entry["data"]["undoOf"]), ("user", execution))
            self.undo(cellgate, undone["undoId"])
        self.assertNotEqual(state(self.workspace.path), before)


PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
SHOWS = f"""
import base64, os
from IPython.display import Image, SVG, display
os.makedirs('data', exist_ok=True)
open('data/out.csv', 'w').write('a,b\\n')
os.symlink('/etc/passwd', 'link')
display(Image(base64.b64decode('{base64.b64encode(PIXEL).decode()}')))
display({{'image/svg+xml': '<svg/>'}}, raw=True)
"""


class CommandLine(CliTest):
    def change(self):
        with Sidecar(self.workspace) as cellgate:
            execution = run(cellgate, "open('notes.txt', 'w').write('new notes')")
            cellgate.request("changes/list", {"executionId": execution})
        return execution

    def notes(self):
        return (self.workspace.path / "notes.txt").read_text()

    def test_undo_shows_the_difference_and_asks(self):
        execution = self.change()
        terminal = self.terminal("undo", execution)
        shown = terminal.expect(r"\[y/N\] ")
        for line in ("M  notes.txt  (9 → 9 bytes)", "-new notes", "+the notes"):
            self.assertIn(line, shown)
        terminal.type("n")
        terminal.expect("nothing was changed")
        self.assertEqual((terminal.wait_end(), self.notes()), (1, "new notes"))
        terminal = self.terminal("undo", execution)
        terminal.expect(r"\[y/N\] ")
        terminal.type("y")
        undo = terminal.expect(r"to undo that: cellgate undo undo-\w+").rpartition(" ")[2]
        self.assertEqual((terminal.wait_end(), self.notes()), (0, "the notes"))
        again = self.cli("undo", undo, "--yes")
        self.assertEqual((again.returncode, self.notes()), (0, "new notes"), again.stderr)

    def test_what_is_undone_already_is_not_undone_again(self):
        execution = self.change()
        self.assertRegex(self.cli("changes").stdout, rf"(?m)^{execution}  \S+Z  1 file$")
        self.assertEqual(self.cli("undo", execution, "--yes").returncode, 0)
        undo = re.match(r"undo-\w+", self.cli("changes").stdout)[0]
        self.assertIn(f"1 file  undone by {undo}\n", self.cli("changes").stdout)
        self.assertIn(f"\nundone by {undo}\n", self.cli("changes", execution).stdout)
        again = self.cli("undo", execution)
        self.assertEqual((again.returncode, again.stdout), (1, ""))
        self.assertIn(f"{execution} is undone already; to undo that: cellgate undo {undo}", again.stderr)
        self.assertEqual(self.cli("undo", undo, "--yes").returncode, 0)
        self.assertNotIn("undone by undo-", self.cli("changes").stdout.splitlines()[-1])
        self.assertEqual((self.cli("undo", execution, "--yes").returncode, self.notes()), (0, "the notes"))

    def test_an_undo_is_shown_as_what_it_will_do(self):
        with Sidecar(self.workspace) as cellgate:
            execution = run(cellgate, "import os\nos.remove('notes.txt')\nopen('new.txt', 'w').write('abc')")
            cellgate.request("changes/list", {"executionId": execution})
        self.assertEqual(self.cli("changes", execution).stdout, "A  new.txt  (3 bytes)\nD  notes.txt  (9 bytes)\n")
        one = self.cli("undo", execution, "--yes", "--path", "new.txt")
        self.assertIn("changes to 1 file undone", one.stdout)
        rest = self.cli("undo", execution, "--yes").stdout
        self.assertIn("A  notes.txt  (9 bytes)\n  +the notes\n", rest)
        for undo in re.findall(r"undo-\w+$", one.stdout + rest, re.MULTILINE):
            self.assertEqual(self.cli("undo", undo, "--yes").returncode, 0)
        undone = self.cli("undo", execution, "--yes")
        self.assertIn("D  new.txt  (3 bytes)\n  -abc\nA  notes.txt  (9 bytes)\n  +the notes\n", undone.stdout)

    def test_the_file_to_undo_is_one_that_was_changed(self):
        execution = self.change()
        for path in ("nofile", "../notes.txt", "/etc/passwd"):
            refused = self.cli("undo", execution, "--path", path)
            self.assertEqual((refused.returncode, refused.stdout, self.notes()), (1, "", "new notes"))
            self.assertIn(f"expected a file that was changed, found {path}", refused.stderr)
            self.assertIn(f"cellgate changes {execution}", refused.stderr)
        whole = str(self.workspace.path / "notes.txt")
        self.assertEqual((self.cli("undo", execution, "--yes", "--path", whole).returncode, self.notes()), (0, "the notes"))

    def test_changes_are_listed(self):
        self.assertIn("no changes are kept", self.cli("changes").stdout)
        self.assertEqual(self.cli("changes", "--json").stdout, "")
        execution = self.change()
        self.assertRegex(self.cli("changes").stdout, rf"^{execution}  \S+Z  1 file\n$")
        self.assertEqual(self.cli("changes", execution).stdout, "M  notes.txt  (9 → 9 bytes)\n")
        self.assertIn("  -the notes\n  +new notes\n", self.cli("changes", execution, "--diff").stdout)
        listed = json.loads(self.cli("changes", execution, "--json").stdout)
        self.assertEqual(kinds_of(listed), {"notes.txt": "modified"})
        self.assertIn("changed 1 file: notes.txt", self.cli("record", "list", rooted=False).stdout)

    def test_a_run_says_what_its_cells_changed(self):
        file = self.script("open('notes.txt', 'w').write('new')\n# %%\n1\n")
        ran = self.cli("run", "--changes", file)
        undo = re.search(r"cell 1 changed 1 file: cellgate (undo \w+)", ran.stderr)
        self.assertTrue(undo, ran.stderr)
        self.assertNotIn("cell 2", ran.stderr)
        self.assertEqual(self.cli(*undo[1].split(), "--yes").returncode, 0)
        self.assertEqual(self.notes(), "the notes")

    def test_what_a_run_makes_is_saved_and_can_be_verified(self):
        file = self.script(SHOWS)
        for name in (str(self.workspace.path / "out"), "out", "not/there"):
            inside = self.cli("run", "--save", name, file)
            self.assertEqual(inside.returncode, 1, name)
            self.assertIn("outside the workspace", inside.stderr)
        folder = self.workspace.home / "saved"
        ran = self.cli("run", "--save", str(folder), file)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn(f"saved 3 files to {folder}: cell-1-1.png, cell-1-2.svg, data/out.csv\n", ran.stderr)
        self.assertEqual({name: content[0] for name, content in state(folder).items()},
                         {"data/out.csv": b"a,b\n", "cell-1-1.png": PIXEL, "cell-1-2.svg": b"<svg/>"})
        copy = str(folder / "data/out.csv")
        verified = self.cli("verify", copy)
        self.assertEqual(verified.returncode, 0, verified.stderr)
        self.assertRegex(verified.stdout, r"^data/out.csv: as \w+ left it at \S+Z \(entry \d+ of the record\)\n$")
        (folder / "data/out.csv").write_text("a,c\n")
        self.assertEqual(self.cli("verify", copy).returncode, 1)
        ran = self.cli("run", "--save", str(folder), self.script("1"))
        self.assertIn(f"nothing was saved to {folder}", ran.stderr)

    def test_nothing_is_undone_without_a_yes(self):
        execution = self.change()
        refused = self.cli("undo", execution)
        self.assertEqual((refused.returncode, self.notes()), (1, "new notes"))
        self.assertIn("--yes", refused.stderr)
        unknown = self.cli("undo", "nothing", "--yes")
        self.assertEqual(unknown.returncode, 1)
        self.assertIn('no changes of "nothing" are kept', unknown.stderr)
        self.workspace.write("notes.txt", "mine")
        refused = self.cli("undo", execution, "--yes")
        self.assertEqual((refused.returncode, self.notes()), (1, "mine"))
        self.assertIn("notes.txt: ", refused.stderr)


if __name__ == "__main__":
    unittest.main()
