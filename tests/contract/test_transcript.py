"""`schemas/transcript.md`, held against the program: the editor's messages are sent to a real cellgate, and what it says
is exactly what the transcript has: no message more, and none less.

The kernel's messages are the work of the kernel that runs the transcript's cells. `npx` is a stand-in that offers the
tools of the real server. What differs from one run to the next is compared by its shape: see `Shapes`."""

import os
import re
import sys
import unittest
from pathlib import Path

from check_schemas import SPEECH
from contract import SCHEMAS, loads

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "integration"))
from cellgate_client import Sidecar  # noqa: E402
from workspaces import SYSTEM_PATH, TestWorkspace  # noqa: E402

TEXT = (SCHEMAS / "transcript.md").read_text(encoding="utf-8")

# Of the machine that it runs on.
MACHINES = {"layers", "version"}

ID = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b")
# The resolver's words depend on the machine's network.
LOOKUP = re.compile(r"(cannot look up \S+): .*")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")


class Shapes:
    """Messages in which all that is volatile has one spelling: ids are numbered as they first come, times, fractional
    numbers and what belongs to the machine are words, and the folders are those of the transcript."""

    def __init__(self, folders=()):
        self.folders = folders
        self.ids = {}

    def text(self, text):
        for here, there in self.folders:
            text = text.replace(here, there)
        text = LOOKUP.sub(r"\1: why", text)
        return ID.sub(lambda found: self.ids.setdefault(found[0], f"id {len(self.ids)}"), TIME.sub("a time", text))

    def of(self, value, name=""):
        if name in MACHINES:
            return f"a {type(value).__name__}"
        if isinstance(value, dict):
            return {key: self.of(each, key) for key, each in value.items()}
        if isinstance(value, list):
            return [self.of(each) for each in value]
        if isinstance(value, float):
            return "a number"
        return self.text(value) if isinstance(value, str) else value


class Replay:
    """Plays the editor's part."""

    def __init__(self, test, sidecar, folders):
        self.test = test
        self.sidecar = sidecar
        self.written, self.heard = Shapes(), Shapes(folders)
        self.pending = {}
        self.taken = {}  # how many notifications of a method were compared

    def say(self, message):
        message = self.as_here(message)
        if "id" in message:
            self.pending[message["id"]] = self.sidecar.start(message["method"], message.get("params", {}), message["id"])
        else:
            self.sidecar.notify(message["method"], message.get("params", {}))

    def as_here(self, value):
        """With the folders, and the ids that stand for those of the transcript."""
        if isinstance(value, dict):
            return {key: self.as_here(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.as_here(each) for each in value]
        if not isinstance(value, str):
            return value
        for here, there in self.heard.folders:
            value = value.replace(there, here)
        ours = {number: mine for mine, number in self.heard.ids.items()}
        return ID.sub(lambda found: ours[self.written.ids[found[0]]], value)

    def hear(self, number, message):
        method = message.get("method")
        if method is None:
            found = {"jsonrpc": "2.0", "id": message["id"], "result": self.pending.pop(message["id"]).result()}
        else:
            index = self.taken.setdefault(method, 0)
            self.taken[method] += 1
            self.sidecar.wait(lambda: len(self.sidecar.notifications[method]) > index or self.sidecar.ended,
                              f"{method} of line {number}")
            found = {"jsonrpc": "2.0", "method": method, "params": self.sidecar.received(method)[index]}
        self.test.assertEqual(self.heard.of(found), self.written.of(message), f"line {number} of the transcript")

    def end(self):
        self.test.assertEqual(self.pending, {})
        heard = {method: len(all_of_it) for method, all_of_it in self.sidecar.notifications.items() if all_of_it}
        self.test.assertEqual(heard, self.taken, "notifications of which the transcript has another number")


class Transcript(unittest.TestCase):
    maxDiff = None

    def workspace(self):
        workspace = TestWorkspace()
        self.addCleanup(workspace.remove)
        for name in ("january.csv", "february.csv"):
            workspace.write(f"data/{name}", "1\n")
        programs = workspace.base / "bin"
        programs.mkdir()
        (programs / "npx").symlink_to(TESTS / "fixtures/filesystem_server.py")
        return workspace, programs

    def replay(self, text):
        workspace, programs = self.workspace()
        environment = workspace.environment(PATH=f"{programs}{os.pathsep}{SYSTEM_PATH}")
        folders = [(str(workspace.path), "/home/ada/plan"), (str(programs), "/usr/bin")]
        spoken = [(text.count("\n", 0, match.start()) + 1, *match.groups()) for match in SPEECH.finditer(text)]
        with Sidecar(workspace, initialize=False, environment=environment) as sidecar:
            play = Replay(self, sidecar, folders)
            for number, speaker, listener, body in spoken:
                if (speaker, listener) == ("editor", "cellgate"):
                    play.say(loads(body))
                elif (speaker, listener) == ("cellgate", "editor"):
                    play.hear(number, loads(body))
            self.assertEqual(sidecar.wait_end(), 0)
            play.end()

    def test_cellgate_says_what_the_transcript_has(self):
        self.replay(TEXT)

    def test_a_word_that_differs_and_a_message_that_is_left_out_are_found(self):
        (left_out,) = (match[0] for match in SPEECH.finditer(TEXT) if '"run-2", "state": "queued"' in match[0])
        for change in (('"scope": "workspace"', '"scope": "always"'), (left_out, "")):
            with self.subTest(change), self.assertRaisesRegex(AssertionError, "of the transcript"):
                self.replay(TEXT.replace(*change, 1))


if __name__ == "__main__":
    unittest.main()
