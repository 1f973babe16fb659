import assert from "node:assert/strict";
import { test } from "node:test";
import { copiedText, nameProblem, targetsOf } from "../src/kernelAssist/copyNames";
import type { Session } from "../src/sessions";

const session = (sessionId: string, more: Partial<Session> = {}): Session => ({
    sessionId,
    status: "idle",
    kernel: { name: "python3", language: "python" },
    cwd: "/plan",
    sandbox: "bwrap",
    layers: ["bwrap"],
    executionCount: 0,
    queueLength: 0,
    createdAt: "2026-01-05T09:30:02Z",
    ...more,
});

test("a variable's name is one that every language can have", () => {
    for (const name of ["rows", "_a1", "A".repeat(128)]) assert.equal(nameProblem(name), undefined, name);
    for (const name of ["", "1a", "a.b", "rows[0]", "a b", "ä", "a\nb", "A".repeat(129)]) assert.match(nameProblem(name) ?? "", /letters/, name);
});

test("a variable goes to another session, whose kernel is alive", () => {
    const sessions = [session("a"), session("b\u202e", { agent: "helper", status: "busy" }), session("c", { status: "dead" })];
    assert.deepEqual(targetsOf(sessions, "a"), [
        { label: "b\\u{202e}", description: "python, agent helper, busy", sessionId: "b\u202e" },
    ]);
});

test("the message of a copy shows what a type could hide", () => {
    assert.equal(copiedText("rows", "b", { type: "Data\u202eFrame", bytes: 2048 }), "rows was copied to b: Data\\u{202e}Frame, 2 KiB.");
});
