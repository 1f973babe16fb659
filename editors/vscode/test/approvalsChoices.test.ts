import assert from "node:assert/strict";
import { test } from "node:test";
import { Choices } from "../src/approvals/choices";

const chosen = (choices: Choices, ...ids: string[]) => ids.filter((id) => choices.has(id));

test("all are chosen, also those that come, until a person chooses", () => {
    const choices = new Choices();
    choices.gather(["a", "b"]);
    choices.gather(["a", "b", "c"]);
    assert.deepEqual(chosen(choices, "a", "b", "c"), ["a", "b", "c"]);
});

test("a call that comes after a person chose is not chosen by itself", () => {
    const choices = new Choices();
    choices.gather(["a", "b", "c"]);
    choices.choose(["a", "b", "c"], (id) => id === "a");
    choices.gather(["a", "b", "c", "d"]);
    assert.deepEqual(chosen(choices, "a", "b", "c", "d"), ["a"]);
    choices.choose(["a", "b", "c", "d"], () => true);
    choices.gather(["a", "b", "c", "d", "e"]);
    assert.deepEqual(chosen(choices, "a", "b", "c", "d", "e"), ["a", "b", "c", "d"], "choosing all is of those that are there");
});

test("it is the same for a call that stood elsewhere before", () => {
    const choices = new Choices();
    choices.gather(["a", "b"]);
    choices.choose(["a", "b"], (id) => id === "a");
    choices.gather(["c"]);
    assert.ok(choices.has("c"));
    choices.gather(["a", "b", "c"]);
    assert.deepEqual(chosen(choices, "a", "b", "c"), ["a"]);
});

test("it stays so when those that were chosen have gone", () => {
    const choices = new Choices();
    choices.gather(["a", "b"]);
    choices.choose(["a", "b"], (id) => id === "a");
    choices.gather(["a", "b", "c"]);
    choices.keep(new Set(["c"]));
    choices.gather(["c", "d"]);
    assert.deepEqual(chosen(choices, "c", "d"), []);
    choices.keep(new Set());
    choices.gather(["a"]);
    assert.ok(choices.has("a"), "what is gone is forgotten");
});
