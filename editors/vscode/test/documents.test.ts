import assert from "node:assert/strict";
import { test } from "node:test";
import { Documents, ownSessionOf } from "../src/documents";
import { FakeMemory } from "./fakeMemory";

const chosenId = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

test("each document has a session of its own, the same in every window", () => {
    const documents = new Documents(new FakeMemory(), "file:///plan");
    const id = documents.sessionOf("file:///plan/a/b.py");
    assert.match(id, /^b\.py-[0-9a-f]{8}$/);
    assert.equal(id, ownSessionOf("a/b.py"));
    assert.notEqual(id, documents.sessionOf("file:///plan/b.py"));
});

test("cells of another language than their document's have a session for each language", () => {
    const documents = new Documents(new FakeMemory(), "file:///plan");
    const sessions = [undefined, "bash", "typescript"].map((language) => documents.sessionOf("file:///plan/a.py", language));
    assert.equal(new Set(sessions).size, 3);
    for (const id of sessions) assert.match(id, chosenId);
    assert.match(documents.sessionOf(`file:///plan/${"x".repeat(80)}.py`, "typescript"), chosenId);
});

test("whatever a file is called, its session's id can be used, and is not an agent's", () => {
    for (const name of ["", "..py", "-x.py", "Приве́т.py", "a b\n.py", "agent-x.py", "x".repeat(500), "❤"]) {
        assert.match(ownSessionOf(name), chosenId);
        assert.doesNotMatch(ownSessionOf(name), /^agent-/);
    }
});

test("a document that gets another name keeps its session, and what gets its old name has another", async () => {
    const memory = new FakeMemory();
    const documents = new Documents(memory, "file:///plan");
    const [a, b, c] = ["file:///plan/a.py", "file:///plan/b.py", "file:///plan/c.py"];
    const first = documents.sessionOf(a);
    await documents.move(a, b);
    assert.equal(new Documents(memory, "file:///plan").sessionOf(b), first);
    const second = documents.sessionOf(a);
    assert.notEqual(second, first);
    assert.match(second, /^a\.py/);
    // That one's name changes, too.
    await documents.move(a, c);
    const sessions = [a, b, c].map((uri) => documents.sessionOf(uri));
    assert.deepEqual(sessions.slice(1), [first, second]);
    assert.equal(new Set(sessions).size, 3);
    // And back again.
    const other = new Documents(new FakeMemory(), "file:///plan");
    await other.move(a, b);
    await other.move(b, a);
    assert.deepEqual([a, b].map((uri) => other.sessionOf(uri)), [first, ownSessionOf("b.py")]);
});

test("a document that is attached to a session is so by another name, and the one whose session that is keeps it", async () => {
    const documents = new Documents(new FakeMemory(), "file:///plan");
    const [a, b, c] = ["file:///plan/a.py", "file:///plan/b.py", "file:///plan/c.py"];
    await documents.choose(b, documents.sessionOf(a));
    await documents.move(b, c);
    assert.deepEqual([a, b, c].map((uri) => documents.sessionOf(uri)), [ownSessionOf("a.py"), documents.sessionOf(b), ownSessionOf("a.py")]);
    await documents.choose(c, undefined);
    assert.equal(documents.sessionOf(c), ownSessionOf("b.py"));
});

test("a chosen session is announced, kept, and given up again", async () => {
    const memory = new FakeMemory();
    const documents = new Documents(memory, "file:///plan");
    const uri = "file:///plan/a.py";
    const told: string[] = [];
    documents.onDidChange((each) => told.push(each));
    await documents.choose(uri, "agent-helper");
    assert.equal(new Documents(memory, "file:///plan").sessionOf(uri), "agent-helper");
    await documents.choose(uri, undefined);
    assert.equal(documents.sessionOf(uri), ownSessionOf("a.py"));
    assert.deepEqual(told, [uri, uri]);
});
