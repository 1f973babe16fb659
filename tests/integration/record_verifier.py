"""Verifies a record from its description in docs/record-format.md alone: `record_verifier.py DIRECTORY [CHECKPOINTS]`; or
what `cellgate record prove --json` printed: `record_verifier.py --proof KEY FILE`. Prints what is wrong and exits 1 when
something is. It shares no code with cellgate; `openssl` checks the signatures."""

import base64
import hashlib
import json
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = 256
# What comes before the 32 bytes of an Ed25519 key in its DER form (RFC 8410).
DER_PREFIX = bytes.fromhex("302a300506032b6570032100")


class Problem(Exception):
    pass


def digest(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def entries_text(first, last):
    return f"entry {first}" if first == last else f"entries {first} to {last}"


def missing(first, last):
    return Problem(f"{entries_text(first, last)} {'is' if first == last else 'are'} missing")


class Tree:
    """The roots of the complete subtrees, the highest first: (leaves, root)."""

    def __init__(self):
        self.subtrees = []
        self.size = 0

    def append(self, root, leaves=1):
        self.size += leaves
        while self.subtrees and self.subtrees[-1][0] == leaves:
            root = digest(b"\1", self.subtrees.pop()[1], root)
            leaves *= 2
        self.subtrees.append((leaves, root))

    def root(self):
        if not self.subtrees:
            return digest()
        root = self.subtrees[-1][1]
        for _, left in reversed(self.subtrees[:-1]):
            root = digest(b"\1", left, root)
        return root


class Key:
    def __init__(self, text):
        self.name, key_id, encoded = text.strip().split("+", 2)
        data = base64.b64decode(encoded, validate=True)
        self.id = digest(self.name.encode(), b"\n", data)[:4]
        if len(data) != 33 or data[0] != 1 or self.id.hex() != key_id:
            raise Problem("record.pub is no verifier key")
        self.folder = tempfile.TemporaryDirectory()
        self.file = Path(self.folder.name, "key")
        self.file.write_bytes(DER_PREFIX + data[1:])

    def has_signed(self, message, signature):
        files = [Path(self.folder.name, name) for name in ("message", "signature")]
        for file, data in zip(files, (message, signature)):
            file.write_bytes(data)
        command = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", self.file, "-rawin",
                   "-in", files[0], "-sigfile", files[1]]
        return subprocess.run(command, capture_output=True).returncode == 0


class Checkpoint:
    """`text` has three lines, an empty one, and lines of signatures."""

    def __init__(self, text):
        body, _, signatures = text.partition("\n\n")
        self.body = (body + "\n").encode()
        self.origin, size, root = body.split("\n")
        self.size = int(size)
        self.root = base64.b64decode(root, validate=True)
        self.signatures = signatures.splitlines()

    def is_signed_by(self, key):
        mark = f"— {key.name} "
        for line in self.signatures:
            if line.startswith(mark):
                data = base64.b64decode(line[len(mark):], validate=True)
                if data[:4] == key.id and key.has_signed(self.body, data[4:]):
                    return True
        return False


def kept_checkpoints(text):
    """Those of a file that has one behind the other, perhaps cut ones among them."""
    lines = text.split("\n")
    for at in range(3, len(lines) - 1):
        if not lines[at] and lines[at + 1].startswith("— "):
            try:
                checkpoint = Checkpoint("\n".join(lines[at - 3:at + 2]))
                if len(base64.b64decode(lines[at + 1].split(" ")[-1], validate=True)) == 68:
                    yield checkpoint
            except ValueError:
                continue


def read_checkpoints(database, key, kept):
    found = []
    for size, text in database.execute("SELECT size, text FROM checkpoints ORDER BY size"):
        try:
            checkpoint = Checkpoint(text)
            good = checkpoint.size == size and checkpoint.origin == key.name and checkpoint.is_signed_by(key)
        except ValueError:
            good = False
        if not good:
            raise Problem(f"the checkpoint of {size} entries was changed, or is not signed with the key of record.pub")
        found.append(checkpoint)
    signed = found[-1].size if found else 0
    verified = {(each.body, *each.signatures) for each in found}
    for checkpoint in kept:
        if checkpoint.origin == key.name:
            if (checkpoint.body, *checkpoint.signatures) not in verified and not checkpoint.is_signed_by(key):
                raise Problem(f"the kept checkpoint of {checkpoint.size} entries is not signed with the key of record.pub")
            found.append(checkpoint)
    return signed, found


def verify(directory, kept):
    key = Key(Path(directory, "record.pub").read_text())
    database = sqlite3.connect(f"file:{directory}/record.sqlite?mode=ro", uri=True)
    database.execute("BEGIN")
    signed, checkpoints = read_checkpoints(database, key, kept)
    tree = Tree()
    roots = {0: tree.root()}
    (first,) = database.execute("SELECT coalesce(min(seq), 0) FROM entries").fetchone()
    removed = first // BLOCK * BLOCK
    for n in range(removed // BLOCK):
        row = database.execute("SELECT hash FROM nodes WHERE level = 1 AND n = ?", (n,)).fetchone()
        if row is None:
            raise Problem(f"the hash of the removed {entries_text(n * BLOCK, n * BLOCK + BLOCK - 1)} is missing")
        tree.append(row[0], BLOCK)
        roots[tree.size] = tree.root()
    said_to_be_removed = 0
    blocks = {}
    for seq, leaf, text, *columns in database.execute("SELECT seq, leaf, json, time, type, session_id, execution_id "
                                                      "FROM entries ORDER BY seq"):
        if seq > tree.size:
            raise missing(tree.size, seq - 1)
        if digest(b"\0", text.encode()) != leaf:
            raise Problem(f"entry {seq} was changed")
        entry = json.loads(text)
        if seq != tree.size or entry["seq"] != seq:
            raise Problem(f"entry {seq} is out of order")
        if columns != [entry.get(name) for name in ("time", "type", "sessionId", "executionId")]:
            raise Problem(f"entry {seq} was changed")
        blocks.setdefault(seq // BLOCK, []).append(entry["time"])
        if entry["type"] == "record.pruned" and seq < signed:
            said_to_be_removed = max(said_to_be_removed, entry["data"]["firstKept"])
        tree.append(leaf)
        roots[tree.size] = tree.root()
    compare_roots(checkpoints, roots, tree.size, removed)
    if removed > said_to_be_removed:
        raise missing(said_to_be_removed, removed - 1)
    compare_blocks(database, {n: times for n, times in blocks.items() if len(times) == BLOCK})
    return f"{tree.size} entries, {removed} removed"


def compare_blocks(database, complete):
    found = {n: times for n, *times in database.execute("SELECT n, first_time, last_time FROM blocks")}
    for n, times in complete.items():
        if found.pop(n, None) != [min(times), max(times)]:
            raise Problem(f"the database is damaged: the times of {entries_text(n * BLOCK, n * BLOCK + BLOCK - 1)} are not "
                          "those of their block")
    if found:
        raise Problem("the database is damaged: there are blocks that the record has not")


def compare_roots(checkpoints, roots, size, removed):
    confirmed = 0
    for checkpoint in sorted(checkpoints, key=lambda each: each.size):
        if checkpoint.size < removed and checkpoint.size % BLOCK:
            continue  # in the middle of a block that was removed
        if checkpoint.size <= size and checkpoint.root != roots[checkpoint.size]:
            raise Problem(f"{entries_text(confirmed, checkpoint.size - 1)} do not give the root of the checkpoint of "
                          f"{checkpoint.size} entries: one of them was changed")
        confirmed = checkpoint.size
    if confirmed > size:
        raise Problem(f"the record ends at {size}; the checkpoint names {confirmed}")


def check_proof(key, proof):
    """As RFC 9162, section 2.1.3.2."""
    checkpoint = Checkpoint(proof["checkpoint"])
    if checkpoint.origin != key.name or not checkpoint.is_signed_by(key):
        raise Problem("the checkpoint is not signed with the key")
    if json.loads(proof["entry"])["seq"] != proof["seq"] or proof["seq"] >= checkpoint.size:
        raise Problem("the entry has another number")
    root, at, last = digest(b"\0", proof["entry"].encode()), proof["seq"], checkpoint.size - 1
    for beside in map(bytes.fromhex, proof["path"]):
        if at % 2 or at == last:
            root = digest(b"\1", beside, root)
            while at % 2 == 0 and at:
                at, last = at // 2, last // 2
        else:
            root = digest(b"\1", root, beside)
        at, last = at // 2, last // 2
    if last or root != checkpoint.root:
        raise Problem("the path does not give the root of the checkpoint")
    return f"entry {proof['seq']} is one of {checkpoint.size}"


def main(directory, *files):
    try:
        if directory == "--proof":
            key, file = map(Path, files)
            print("ok:", check_proof(Key(key.read_text()), json.loads(file.read_text())))
            return 0
        print("ok:", verify(directory, [each for file in files for each in kept_checkpoints(Path(file).read_text())]))
        return 0
    except Problem as problem:
        print(problem)
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
