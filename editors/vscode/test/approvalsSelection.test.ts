import assert from "node:assert/strict";
import { test } from "node:test";
import { Selection } from "../src/approvals/selection";

const chosen = (selection: Selection, ...ids: string[]) => ids.filter((id) => selection.has(id));

test("all are chosen, also those that come, until a user chooses", () => {
    const selection = new Selection();
    selection.gather(["a", "b"]);
    selection.gather(["a", "b", "c"]);
    assert.deepEqual(chosen(selection, "a", "b", "c"), ["a", "b", "c"]);
});

test("a call that comes after a user chose is not chosen by itself", () => {
    const selection = new Selection();
    selection.gather(["a", "b", "c"]);
    selection.choose(["a", "b", "c"], (id) => id === "a");
    selection.gather(["a", "b", "c", "d"]);
    assert.deepEqual(chosen(selection, "a", "b", "c", "d"), ["a"]);
    selection.choose(["a", "b", "c", "d"], () => true);
    selection.gather(["a", "b", "c", "d", "e"]);
    assert.deepEqual(chosen(selection, "a", "b", "c", "d", "e"), ["a", "b", "c", "d"], "choosing all is of those that are there");
});

test("it is the same for a call that stood elsewhere before", () => {
    const selection = new Selection();
    selection.gather(["a", "b"]);
    selection.choose(["a", "b"], (id) => id === "a");
    selection.gather(["c"]);
    assert.ok(selection.has("c"));
    selection.gather(["a", "b", "c"]);
    assert.deepEqual(chosen(selection, "a", "b", "c"), ["a"]);
});

test("it stays so when those that were chosen have gone", () => {
    const selection = new Selection();
    selection.gather(["a", "b"]);
    selection.choose(["a", "b"], (id) => id === "a");
    selection.gather(["a", "b", "c"]);
    selection.keep(new Set(["c"]));
    selection.gather(["c", "d"]);
    assert.deepEqual(chosen(selection, "c", "d"), []);
    selection.keep(new Set());
    selection.gather(["a"]);
    assert.ok(selection.has("a"), "what is gone is forgotten");
});
