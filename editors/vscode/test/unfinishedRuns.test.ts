import assert from "node:assert/strict";
import { test } from "node:test";
import { UnfinishedRuns } from "../src/notebooks/unfinishedRuns";
import { FakeMemory } from "./fakeMemory";

test("what has not ended in its notebook is known to the next window, what has is not", () => {
    const memory = new FakeMemory();
    const before = new UnfinishedRuns(memory);
    before.add("runs");
    before.add("ended");
    before.delete("ended");
    const after = new UnfinishedRuns(memory);
    assert.deepEqual(["runs", "ended"].map((id) => after.has(id)), [true, false]);
    after.delete("runs");
    assert.equal(new UnfinishedRuns(memory).has("runs"), false);
});

test("those whose notebook never comes back are forgotten at some time, the oldest first", () => {
    const memory = new FakeMemory();
    const unfinished = new UnfinishedRuns(memory);
    for (let i = 0; i < 1001; i++) unfinished.add(String(i));
    const next = new UnfinishedRuns(memory);
    assert.deepEqual([next.has("0"), next.has("1"), next.has("1000")], [false, true, true]);
});
