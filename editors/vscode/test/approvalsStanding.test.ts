import assert from "node:assert/strict";
import { test } from "node:test";
import { Standing } from "../src/approvals/standing";
import { questionFor } from "./approval";

const [a, b, c] = ["a", "b", "c"].map((id) => questionFor(id, `data/${id}`, { executionId: id })) as [Q, Q, Q];
type Q = ReturnType<typeof questionFor>;
const ids = ({ blocks }: Standing) => blocks.map((block) => block.ids.join());
const decided = (id: string) => [{ id, text: `${id} allowed here` }];

test("while a person is near, what waits stays where it is when another one is answered", () => {
    const standing = new Standing();
    standing.take([a, b], [], false);
    standing.take([b], decided("a"), true);
    assert.deepEqual(ids(standing), ["a", "b"]);
    assert.equal(standing.howOf("a"), "a allowed here");
    assert.equal(standing.howOf("b"), undefined);
    standing.take([b, c], [], true);
    assert.deepEqual(ids(standing), ["a", "b", "c"]);
    assert.ok(standing.settle());
    assert.deepEqual(ids(standing), ["b", "c"]);
    assert.ok(!standing.has("a"));
    assert.ok(!standing.settle());
});

test("where nothing of what waited still waits there is nothing that could move", () => {
    const standing = new Standing();
    standing.take([a], [], true);
    standing.take([b], decided("a"), true);
    assert.deepEqual(ids(standing), ["b"]);
    standing.take([], decided("b"), true);
    assert.deepEqual(ids(standing), []);
});

test("what vanishes without a word keeps its place, too, and answers nothing", () => {
    const standing = new Standing();
    standing.take([a, b], [], false);
    standing.take([b], [], true);
    assert.deepEqual(ids(standing), ["a", "b"]);
    assert.equal(standing.howOf("a"), "");
});

test("nobody is near: everything is in order at once", () => {
    const standing = new Standing();
    standing.take([a, b], [], false);
    standing.take([b, c], decided("a"), false);
    assert.deepEqual(ids(standing), ["b", "c"]);
    assert.equal(standing.count, 2);
});
