import assert from "node:assert/strict";
import { test } from "node:test";
import { weaknessOf } from "../src/sessionViews/labels";

test("a session that a whole sandbox does not hold is told from one that it holds", () => {
    const kernel = { name: "python3", language: "python" };
    assert.equal(weaknessOf({ sandbox: "bwrap", kernel }), undefined);
    assert.equal(weaknessOf({ sandbox: "landlock", kernel })?.short, "weaker sandbox");
    assert.equal(weaknessOf({ sandbox: "none", kernel })?.short, "unsandboxed");
    assert.equal(weaknessOf({ sandbox: "none", kernel: { ...kernel, server: "https://hub.example.org/user/me" } })?.short, "on hub.example.org");
    assert.match(weaknessOf({ sandbox: "none", kernel: { ...kernel, connectionFile: "/k.json" } })?.long ?? "", /already ran/);
});
