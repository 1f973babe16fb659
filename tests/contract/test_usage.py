"""Every method and notification of schemas/ has a sender and a user among what is shipped: the sidecar on one side, the
editors, the command line and the kernel's runtime on the other."""

import re
import unittest
from pathlib import Path

from contract import Contract

ROOT = Path(__file__).resolve().parents[2]

# The source of each side. The peer of `protocol/` belongs to both: it sends and takes `$/cancelRequest` for them.
EDITOR_SIDES = {
    "sidecar": ["protocol", "sidecar/service"],
    "client": ["protocol", "sidecar/cli", "sidecar/agent", "editors/vscode/src", "editors/neovim/lua"],
}
CHANNEL_SIDES = {"sidecar": ["protocol", "sidecar/tools"], "client": ["protocol", "sidecar/kernel"]}
# For programs that others write: `cellgate events` follows the record itself, so that it needs no sidecar and keeps none.
OF_OTHER_PROGRAMS = {"events/subscribe: no client sends it", "events/unsubscribe: no client sends it",
                     "events/entry: no client takes it"}
# Made from the schemas: they name every method and use none.
GENERATED = ("editors/vscode/src/protocol", "editors/neovim/lua/cellgate/types.lua")

# C++ names a method by its struct, every other language by its name; the peer has the name of its own method.
PEER = r'return dialect == Dialect::editor \? "{name}"'
SENDS = r'\b(?:call|notify|notify_users)<protocol::{struct}>|\b(?:request|notify|send\w+)\(\s*"{name}"|"method": "{name}"|' + PEER
TAKES = r'\bon_(?:request|notification)<protocol::{struct}>|\bon(?:Request|Notification)\(\s*"{name}"|"on {name}"|' + PEER


def source_of(folders):
    files = {file for folder in folders for file in (ROOT / folder).rglob("*.*")}
    kept = [file for file in sorted(files) if file.suffix in (".cpp", ".hpp", ".ts", ".lua", ".py")
            and not str(file.relative_to(ROOT)).startswith(GENERATED)]
    return "\n".join(file.read_text(encoding="utf-8") for file in kept)


def editor_struct(method):
    """`toolServers/list` is ToolServersList in C++."""
    return "".join(part[:1].upper() + part[1:] for part in method.replace("$", "").split("/"))


def channel_struct(method):
    """`tools/call` of the channel is ChannelCall in C++."""
    return f"Channel{editor_struct(method.rpartition('/')[2])}"


def unused(methods, sides, struct_of=editor_struct):
    """What no program sends, and what no program on the other side takes."""
    source = {side: source_of(folders) for side, folders in sides.items()}
    found = []
    for method, entry in methods.items():
        names = {"name": re.escape(method), "struct": struct_of(method)}
        for sender, taker, other in (("client", "sidecar", "serverToClient"), ("sidecar", "client", "clientToServer")):
            if entry["direction"] == other:
                continue
            if not re.search(SENDS.format(**names), source[sender]):
                found.append(f"{method}: no {sender} sends it")
            if not re.search(TAKES.format(**names), source[taker]):
                found.append(f"{method}: no {taker} takes it")
    return found


class Usage(unittest.TestCase):
    def test_every_method_of_editors_is_sent_by_one_side_and_taken_by_the_other(self):
        self.assertEqual(set(unused(Contract().protocol_methods, EDITOR_SIDES)), OF_OTHER_PROGRAMS)

    def test_every_method_of_the_tool_channel_is_too(self):
        self.assertEqual(unused(Contract().channel_methods, CHANNEL_SIDES, channel_struct), [])

    def test_what_nothing_sends_or_takes_is_found(self):
        made_up = {
            "kernel/isComplete": {"direction": "clientToServer"},
            "window/logMessage": {"direction": "serverToClient"},
            "execute/output": {"direction": "clientToServer"},  # the other direction is no use
        }
        self.assertEqual(unused(made_up, EDITOR_SIDES), [
            "kernel/isComplete: no client sends it", "kernel/isComplete: no sidecar takes it",
            "window/logMessage: no sidecar sends it", "window/logMessage: no client takes it",
            "execute/output: no client sends it", "execute/output: no sidecar takes it"])


if __name__ == "__main__":
    unittest.main()
