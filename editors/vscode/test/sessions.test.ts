import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import type { SessionInfo } from "../src/protocol/messages";
import { Sessions } from "../src/sessions";
import { FakeSidecar, problem } from "./fakeSidecar";

const infoOf = (sessionId: string, more: Partial<SessionInfo> = {}): SessionInfo => ({
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

function place() {
    const sidecar = new FakeSidecar();
    let listed: SessionInfo[] = [];
    const asked: string[] = [];
    sidecar.request = (method: string, params: object) => {
        asked.push(method);
        const { sessionId = "" } = params as { sessionId?: string };
        const there = listed.some((each) => each.sessionId === sessionId);
        const answer = () => {
            if (method === "session/list") return { sessions: listed };
            if (method === "session/create" && there) throw problem("sessionExists");
            if (method === "session/close") listed = listed.filter((each) => each.sessionId !== sessionId);
            if (method === "session/create") listed.push(infoOf(sessionId));
            return infoOf(sessionId);
        };
        return Promise.resolve().then(answer);
    };
    const sessions = new Sessions(sidecar);
    return { sidecar, sessions, asked, list: (...infos: SessionInfo[]) => (listed = infos) };
}

test("sessions are those of the list, each with its later notifications", async () => {
    const { sidecar, sessions, list } = place();
    list(infoOf("a"), infoOf("b", { agent: "helper" }));
    sidecar.connect();
    await turn();
    sidecar.tell("session/changed", { sessionId: "a", status: "busy" });
    assert.deepEqual(
        sessions.all().map(({ sessionId, status, agent }) => [sessionId, status, agent]),
        [
            ["a", "busy", undefined],
            ["b", "idle", "helper"],
        ],
    );
});

test("a session that somebody else made or closed is seen", async () => {
    const { sidecar, sessions, list } = place();
    list(infoOf("theirs"));
    sidecar.tell("session/changed", { sessionId: "theirs", status: "starting" });
    await turn();
    assert.equal(sessions.get("theirs")?.status, "idle");
    list();
    sidecar.tell("session/changed", { sessionId: "theirs", status: "dead", reason: "the session was closed" });
    await turn();
    assert.deepEqual(sessions.all(), []);
});

test("a session is made where it is missing, and taken where another window was faster", async () => {
    const { sessions, list, asked } = place();
    assert.equal((await sessions.ensure({ sessionId: "a" })).isNew, true);
    assert.equal((await sessions.ensure({ sessionId: "a" })).isNew, false);
    assert.deepEqual(asked, ["session/create"]);
    list(infoOf("a"), infoOf("b", { executionCount: 7 }));
    const { session, isNew } = await sessions.ensure({ sessionId: "b" });
    assert.deepEqual([session.executionCount, isNew], [7, false]);
});

test("a kernel that ends by itself is reported, one that this window ends is not", async () => {
    const { sidecar, sessions, list } = place();
    list(infoOf("a"));
    sidecar.connect();
    await turn();
    const lost: string[] = [];
    sessions.onDidLoseKernel(({ session, reason }) => lost.push(`${session.sessionId}: ${reason}`));
    const restarting = sessions.restart({ sessionId: "a" });
    sidecar.tell("session/changed", { sessionId: "a", status: "restarting", reason: "the session was restarted" });
    await restarting;
    assert.deepEqual(lost, []);
    sidecar.tell("session/changed", { sessionId: "a", status: "restarting", reason: "the kernel died" });
    assert.deepEqual(lost, ["a: the kernel died"]);
    const closing = sessions.close("a");
    sidecar.tell("session/changed", { sessionId: "a", status: "dead", reason: "the session was closed" });
    await closing;
    assert.equal(lost.length, 1);
    assert.deepEqual(sessions.all(), []);
});

test("a session that is asked for while it is being closed is a new one", async () => {
    const { sessions, asked } = place();
    await sessions.ensure({ sessionId: "a" });
    const closed = sessions.close("a");
    assert.equal(sessions.get("a"), undefined);
    const { isNew } = await sessions.ensure({ sessionId: "a" });
    await closed;
    assert.equal(isNew, true);
    assert.ok(sessions.get("a"));
    assert.deepEqual(asked, ["session/create", "session/close", "session/create"]);
});
