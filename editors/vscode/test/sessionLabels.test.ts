import assert from "node:assert/strict";
import { test } from "node:test";
import { weaknessOf } from "../src/sessionViews/labels";

test("a session that a whole sandbox does not hold is told from one that it holds", () => {
    assert.equal(weaknessOf({ sandbox: "bwrap" }), undefined);
    assert.equal(weaknessOf({ sandbox: "landlock" })?.short, "weaker sandbox");
    assert.equal(weaknessOf({ sandbox: "none" })?.short, "unsandboxed");
});
