import assert from "node:assert/strict";
import { test } from "node:test";
import { PageModel } from "../src/approvals/pageModel";
import { itemFor } from "./approval";

const [a, b, c] = ["a", "b", "c"].map((id) => itemFor(id, `data/${id}`, { executionId: id })) as [Q, Q, Q];
type Q = ReturnType<typeof itemFor>;
const ids = ({ blocks }: PageModel) => blocks.map((block) => block.ids.join());
const decided = (id: string) => [{ id, text: `${id} allowed here` }];

test("while a user is near, what waits stays where it is when another one is answered", () => {
    const model = new PageModel();
    model.take([a, b], [], false);
    model.take([b], decided("a"), true);
    assert.deepEqual(ids(model), ["a", "b"]);
    assert.equal(model.outcomeOf("a"), "a allowed here");
    assert.equal(model.outcomeOf("b"), undefined);
    model.take([b, c], [], true);
    assert.deepEqual(ids(model), ["a", "b", "c"]);
    assert.ok(model.rearrange());
    assert.deepEqual(ids(model), ["b", "c"]);
    assert.ok(!model.has("a"));
    assert.ok(!model.rearrange());
});

test("where nothing of what waited still waits there is nothing that could move", () => {
    const model = new PageModel();
    model.take([a], [], true);
    model.take([b], decided("a"), true);
    assert.deepEqual(ids(model), ["b"]);
    model.take([], decided("b"), true);
    assert.deepEqual(ids(model), []);
});

test("what vanishes without a word keeps its place, too, and answers nothing", () => {
    const model = new PageModel();
    model.take([a, b], [], false);
    model.take([b], [], true);
    assert.deepEqual(ids(model), ["a", "b"]);
    assert.equal(model.outcomeOf("a"), "");
});

test("while no user interacts, everything is in order at once", () => {
    const model = new PageModel();
    model.take([a, b], [], false);
    model.take([b, c], decided("a"), false);
    assert.deepEqual(ids(model), ["b", "c"]);
    assert.equal(model.count, 2);
});

test("more calls than the view shows make the page long, and nothing moves for that while a user is near", () => {
    const many = Array.from({ length: 4 }, (_, index) => itemFor(String(index), `data/${index}`));
    const model = new PageModel();
    model.take(many.slice(0, 3), [], false);
    assert.equal(model.isLong, false);
    model.take(many, [], true);
    assert.equal(model.isLong, false);
    assert.ok(model.rearrange());
    assert.equal(model.isLong, true);
    model.take(many.slice(1), decided("0"), true);
    assert.equal(model.isLong, true);
    model.rearrange();
    assert.equal(model.isLong, false);
});
