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

test("whatever a file is called, its session's id can be used, and is not an agent's", () => {
    for (const name of ["", "..py", "-x.py", "Приве́т.py", "a b\n.py", "agent-x.py", "x".repeat(500), "❤"]) {
        assert.match(ownSessionOf(name), chosenId);
        assert.doesNotMatch(ownSessionOf(name), /^agent-/);
    }
});

test("a session that was chosen is told, kept, and given up again", async () => {
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
