import assert from "node:assert/strict";
import { test } from "node:test";
import { label, visible } from "../src/text";

test("what cannot be seen is written out", () => {
    assert.equal(visible("a\u202eb\u200bc\x1b[31m\n"), "a\\u{202e}b\\u{200b}c\\u{1b}[31m\\u{a}");
    assert.equal(visible("naïve – 日本語 🙂"), "naïve – 日本語 🙂");
    assert.equal(visible("\u{e0041}"), "\\u{e0041}");
});

test("a label has no icons and no links, and shows that it was cut", () => {
    assert.equal(label("$(check) [yes](command:x)"), "$ (check) [yes] (command:x)");
    assert.equal(label("abcdef", 3), "abc…");
});
