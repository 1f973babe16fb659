import assert from "node:assert/strict";
import { test } from "node:test";
import { Origins } from "../src/kernels/origins";

function place() {
    const kept = new Map<string, unknown>();
    return new Origins({
        get: <T>(key: string, otherwise: T) => (kept.get(key) as T | undefined) ?? otherwise,
        update: (key, value) => Promise.resolve(void kept.set(key, value)),
    });
}

const session = { sessionId: "s", createdAt: "2026-01-05T09:30:02Z" };

test("a session that was started with another kernel is told from one that was not", async () => {
    const origins = place();
    assert.equal(origins.isOther(session, { name: "python3" }), false, "it is unknown");
    await origins.remember(session, { uri: "file:///a", kernel: { interpreter: "/a/python" } });
    assert.equal(origins.isOther(session, { interpreter: "/a/python" }), false);
    assert.equal(origins.isOther(session, { interpreter: "/b/python" }), true);
    assert.equal(origins.isOther(session, { name: "python3" }), true);
    assert.equal(origins.isOther(session, { connectionFile: "kernel-1.json" }), true);
    await origins.remember(session, { uri: "file:///a", kernel: { connectionFile: "kernel-1.json" } });
    assert.equal(origins.isOther(session, { connectionFile: "kernel-1.json" }), false);
    assert.equal(origins.isOther(session, { connectionFile: "kernel-2.json" }), true);
    await origins.remember(session, { uri: "file:///a", kernel: { interpreter: "/a/python" } });
    assert.equal(origins.isOther(session, { server: { url: "https://hub.example.org" } }), true);
    assert.equal(origins.isOther({ ...session, createdAt: "2026-01-06T00:00:00Z" }, { name: "python3" }), false, "another session of that name");
});

test("what is kept is bounded, and the latest is kept", async () => {
    const origins = place();
    for (let i = 0; i < 250; i++) await origins.remember({ ...session, sessionId: `s${i}` }, { uri: "file:///a" });
    assert.equal(origins.of({ ...session, sessionId: "s0" }), undefined);
    assert.equal(origins.of({ ...session, sessionId: "s249" })?.uri, "file:///a");
});
