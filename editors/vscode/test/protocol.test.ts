import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

test("the types of the protocol are those of the schemas", () => {
    const check = spawnSync(process.execPath, ["scripts/protocol.mjs", "--check"], { encoding: "utf8" });
    assert.equal(check.stderr, "");
    assert.equal(check.status, 0);
});
