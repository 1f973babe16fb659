import assert from "node:assert/strict";
import { test } from "node:test";
import type { SecretInfo } from "../src/protocol/messages";
import { isName, originOf, scopeChoices, useOf, variableOf } from "../src/secrets/labels";

const secret = (more: Partial<SecretInfo>): SecretInfo => ({ name: "TOKEN", scope: "user", source: "stored", usedBy: [], ...more });

test("a secret says whose it is, where it comes from and who uses it", () => {
    assert.equal(originOf(secret({})), "all workspaces, stored");
    assert.equal(originOf(secret({ scope: "workspace", source: "command", from: "pass show db" })), "this workspace, command: pass show db");
    assert.equal(useOf(secret({})), "used by no tool server");
    assert.equal(useOf(secret({ usedBy: ["github", "a\u202eb"] })), "used by github, a\\u{202e}b");
    assert.match(useOf(secret({ usedBy: ["github"], lastUsedAt: "2026-01-06T09:00:00Z" })), /^used by github, last .*2026/);
});

test("a secret may be this session's, where there is one", () => {
    assert.deepEqual(scopeChoices(undefined).map(({ scope, sessionId }) => [scope, sessionId]), [["workspace", undefined], ["user", undefined]]);
    const [session, ...wider] = scopeChoices("a.py");
    assert.deepEqual(wider, scopeChoices(undefined));
    assert.deepEqual(session, { label: "This session", description: "a.py: in memory, until it ends", scope: "session", sessionId: "a.py" });
    const kept = secret({ scope: "session", sessionId: "a.py" });
    assert.equal(originOf(kept), "session a.py, in memory");
    assert.equal(useOf(kept), "for requests of its code alone");
});

test("a name is one of a variable", () => {
    for (const name of ["A", "_a1", "A".repeat(128)]) assert.ok(isName(name), name);
    for (const name of ["", "1A", "A-B", "A B", "A".repeat(129), "Ä"]) assert.ok(!isName(name), name);
    assert.equal(variableOf("TOKEN"), "${secret:TOKEN}");
});
