"""A wrong include does not build. For every room: with the flags that its own sources are compiled with, a header of a
room that it does not name is not found, and (the control) the headers of itself and of all that it names compile. What
rooms there are, and on which floors, comes from the build."""

import json
import os
import shlex
import shutil
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BUILD = Path(os.environ["CELLGATE_BUILD"])
ROOT = Path(__file__).resolve().parents[2]


class Room:
    def __init__(self, line):
        self.name, floor, folder, *self.depends = line.split(";")
        self.floor = int(floor)
        self.folder = Path(folder)
        self.depends = [name for name in self.depends if name]

    def headers(self):
        root = self.folder / "include"
        return sorted(str(path.relative_to(root)) for path in root.rglob("*.hpp"))


ROOMS = {room.name: room for room in map(Room, (BUILD / "rooms.txt").read_text().splitlines())}


def seen_by(room):
    """The rooms whose headers this one may use."""
    found = {room.name}
    for name in room.depends:
        found |= seen_by(ROOMS[name])
    return found


def compile_command(room):
    """How the build compiles a source of this room, without the source and the output."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        if Path(entry["file"]).parent == room.folder:
            words = shlex.split(entry["command"])
            del words[words.index("-o") : words.index("-o") + 2]
            del words[words.index("-c") : words.index("-c") + 2]
            return words[words[0].endswith("ccache") :], entry["directory"]
    raise AssertionError(f"no source of {room.name} is compiled")


def compile_includes(room, headers):
    words, directory = compile_command(room)
    text = "".join(f'#include "{header}"\n' for header in headers)
    return subprocess.run(
        [*words, "-fsyntax-only", "-x", "c++", "-"], cwd=directory, input=text, text=True, capture_output=True
    )


class Rooms(unittest.TestCase):
    def test_there_are_rooms_on_their_floors(self):
        self.assertEqual(ROOMS["base"].floor, 0)
        self.assertEqual(ROOMS["async"].floor, 1)

    def test_an_include_root_holds_nothing_but_its_room(self):
        for room in ROOMS.values():
            with self.subTest(room=room.name):
                self.assertEqual(os.listdir(room.folder / "include"), [room.name])

    def test_a_room_names_only_rooms_on_lower_floors(self):
        for room in ROOMS.values():
            for name in room.depends:
                with self.subTest(room=room.name, depends=name):
                    self.assertLess(ROOMS[name].floor, room.floor)

    def test_a_wrong_include_does_not_build(self):
        tries = [(room, ROOMS[name]) for room in ROOMS.values() for name in ROOMS.keys() - seen_by(room)]
        self.assertTrue(tries)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = pool.map(lambda pair: compile_includes(pair[0], pair[1].headers()[:1]), tries)
        for (room, other), result in zip(tries, results):
            with self.subTest(room=f"{room.name} (floor {room.floor})", includes=f"{other.name} (floor {other.floor})"):
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(other.headers()[0], result.stderr)
                self.assertRegex(result.stderr, r"No such file|file not found")

    def test_control_a_right_include_builds(self):
        def all_headers(room):
            return compile_includes(room, [header for name in sorted(seen_by(room)) for header in ROOMS[name].headers()])

        rooms = list(ROOMS.values())
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for room, result in zip(rooms, pool.map(all_headers, rooms)):
                with self.subTest(room=room.name):
                    self.assertEqual(result.returncode, 0, result.stderr)


class Floors(unittest.TestCase):
    """The same for the list of rooms that a room names: the build refuses a wrong one."""

    def configure(self, room, depends):
        with tempfile.TemporaryDirectory() as folder:
            top = Path(folder)
            shutil.copy(ROOT / "CMakeLists.txt", top)
            for name in ("base", "async", "jupyter", "mcp", "gate"):
                path = top / "sidecar" / name
                path.mkdir(parents=True)
                (path / "empty.cpp").touch()
                named = f"DEPENDS {depends}" if name == room else ""
                (path / "CMakeLists.txt").write_text(f"cellgate_room({name} SOURCES empty.cpp {named})\n")
            return subprocess.run(
                ["cmake", "-S", str(top), "-B", str(top / "build"), "-G", "Ninja"], capture_output=True, text=True
            )

    def test_a_sibling_is_refused(self):
        result = self.configure("jupyter", "mcp")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("jupyter (floor 2) cannot use mcp (floor 2)", result.stderr.replace("\n ", ""))

    def test_a_higher_floor_is_refused(self):
        result = self.configure("async", "gate")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("async (floor 1) cannot use gate (floor 3)", result.stderr.replace("\n ", ""))

    def test_control_a_lower_floor_is_not(self):
        result = self.configure("gate", "async")
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
