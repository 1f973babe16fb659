import assert from "node:assert/strict";
import { test } from "node:test";
import { literalBlock, codePositionAt, documentPosition } from "../src/kernelAssist/codePosition";

const lines = "import os\n# %%\n# 🙂 é\nos.pa\n# %% [markdown]\nos.\n".split("\n");

test("a place is counted in code points from the start of its cell", () => {
    assert.deepEqual(codePositionAt(lines, { line: 3, character: 5 }), { code: "# 🙂 é\nos.pa", cursorPos: 11, firstLine: 2 });
    assert.deepEqual(codePositionAt(lines, { line: 0, character: 2 })?.cursorPos, 2);
});

test("where no code is there is no place", () => {
    assert.equal(codePositionAt(lines, { line: 1, character: 1 }), undefined);
    assert.equal(codePositionAt(lines, { line: 5, character: 3 }), undefined);
});

test("a text without cells is one", () => {
    assert.deepEqual(codePositionAt(["x = 1", "x."], { line: 1, character: 2 }), { code: "x = 1\nx.", cursorPos: 8, firstLine: 0 });
});

test("a place in the code is found again in the document", () => {
    const place = codePositionAt(lines, { line: 2, character: 6 });
    assert.ok(place);
    assert.deepEqual(documentPosition(place, 3), { line: 2, character: 4 });
    assert.deepEqual(documentPosition(place, 9), { line: 3, character: 3 });
    assert.deepEqual(documentPosition(place, 0), { line: 2, character: 0 });
});

test("what a kernel tells cannot end its block", () => {
    assert.equal(literalBlock("a"), "```text\na\n```");
    assert.equal(literalBlock("a\n````\n[x](command:y)"), "`````text\na\n````\n[x](command:y)\n`````");
});
