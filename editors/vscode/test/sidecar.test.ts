import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import type { Connection, Incoming, Log } from "../src/client/connection";
import { NotConnected, Refused } from "../src/client/errors";
import { Sidecar } from "../src/client/sidecar";
import { info } from "./fakeSidecar";

const quiet: Log = { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined };

class FakeConnection {
    readonly info = info;
    vanished = false;
    end: (reason: string) => void = () => undefined;
    readonly ended = new Promise<string>((resolve) => (this.end = resolve));
    request = (method: string) => Promise.resolve({ method });
    terminate(): void {
        this.vanished = true;
        this.end("vanished");
    }
}

class FakeClock {
    time = 1000;
    private timers: { at: number; run: () => void }[] = [];
    now = () => this.time;
    after(seconds: number, run: () => void): { dispose(): void } {
        const timer = { at: this.time + seconds, run };
        this.timers.push(timer);
        return { dispose: () => (this.timers = this.timers.filter((each) => each !== timer)) };
    }
    async pass(seconds: number): Promise<void> {
        this.time += seconds;
        const due = this.timers.filter(({ at }) => at <= this.time);
        this.timers = this.timers.filter(({ at }) => at > this.time);
        for (const { run } of due) run();
        await turn();
    }
}

function place() {
    const clock = new FakeClock();
    const connections: FakeConnection[] = [];
    let refusal: Error | undefined;
    let stuck = false;
    const signals: AbortSignal[] = [];
    let incoming: Incoming | undefined;
    const sidecar = new Sidecar(
        (each, signal) => {
            incoming = each;
            signals.push(signal);
            if (refusal !== undefined) return Promise.reject(refusal);
            if (stuck) return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
            const connection = new FakeConnection();
            connections.push(connection);
            return Promise.resolve(connection as unknown as Connection);
        },
        quiet,
        clock,
    );
    return {
        clock,
        connections,
        sidecar,
        signals,
        refuse: (why?: string | Error) => (refusal = typeof why === "string" ? new Error(why) : why),
        stick: (value: boolean) => (stuck = value),
        incoming: () => incoming as unknown as Incoming,
        kind: () => sidecar.state.kind,
        breakDown: async () => {
            connections.at(-1)?.end("it broke");
            await turn();
        },
    };
}

test("the first request makes the connection", async () => {
    const { sidecar, connections, kind } = place();
    assert.equal(kind(), "stopped");
    await sidecar.request("session/list", {});
    await sidecar.request("session/list", {});
    assert.deepEqual([kind(), connections.length], ["connected", 1]);
});

test("a connection that ends is made again, each time later, until a user says so", async () => {
    const { sidecar, clock, kind, connections, breakDown } = place();
    sidecar.start();
    await turn();
    const pauses: number[] = [];
    for (let i = 0; i < 5; i++) {
        await breakDown();
        const state = sidecar.state;
        assert.equal(state.kind, "waiting");
        pauses.push(state.seconds);
        await clock.pass(state.seconds);
        assert.equal(kind(), "connected");
    }
    assert.deepEqual(pauses, [0.25, 0.5, 1, 2, 4]);
    await breakDown();
    assert.deepEqual(sidecar.state, { kind: "failed", reason: "it broke" });
    await assert.rejects(sidecar.request("session/list", {}), NotConnected);
    await clock.pass(1000);
    assert.equal(kind(), "failed");
    sidecar.reconnect();
    await turn();
    assert.deepEqual([kind(), connections.length], ["connected", 7]);
});

test("ends that lie far apart do not count together", async () => {
    const { sidecar, clock, kind, breakDown } = place();
    sidecar.start();
    await turn();
    for (let i = 0; i < 20; i++) {
        await breakDown();
        await clock.pass(60);
        assert.equal(kind(), "connected");
    }
});

test("requests wait for the next connection, and models are notified first", async () => {
    const { sidecar, clock, refuse } = place();
    refuse("no program");
    const answer = sidecar.request("session/list", {});
    await turn();
    assert.deepEqual(sidecar.state, { kind: "waiting", seconds: 0.25, reason: "no program" });
    const order: string[] = [];
    sidecar.onDidConnect(() => order.push("told"));
    void answer.then(() => order.push("answered"));
    refuse();
    await clock.pass(0.25);
    await answer;
    assert.deepEqual(order, ["told", "answered"]);
});

test("a user who reconnects does not wait, and ends the connection that there is", async () => {
    const { sidecar, clock, connections, kind, refuse } = place();
    refuse("no program");
    sidecar.start();
    await turn();
    refuse();
    sidecar.reconnect();
    await turn();
    assert.equal(kind(), "connected");
    await clock.pass(1000);
    assert.equal(connections.length, 1, "the attempt that waited is given up");
    sidecar.reconnect();
    await turn();
    assert.ok(connections[0]?.vanished);
    await clock.pass(0.25);
    assert.deepEqual([kind(), connections.length], ["connected", 2]);
});

test("a relay that never answers is given up after a while, and at once when a user asks for another", async () => {
    const { sidecar, clock, kind, stick, signals } = place();
    stick(true);
    sidecar.start();
    await turn();
    await clock.pass(29);
    assert.equal(kind(), "connecting");
    await clock.pass(1);
    assert.deepEqual(sidecar.state, { kind: "waiting", seconds: 0.25, reason: "cellgate did not answer within 30 s" });
    await clock.pass(0.25);
    assert.equal(kind(), "connecting");
    stick(false);
    sidecar.reconnect();
    await turn();
    assert.deepEqual([kind(), signals.map(({ aborted }) => aborted)], ["connected", [true, true, false]]);
    await clock.pass(1000);
    assert.equal(kind(), "connected");
});

test("relays that never answer end in a failure, too", async () => {
    const { sidecar, clock, kind, stick } = place();
    stick(true);
    sidecar.start();
    for (let i = 0; i < 6; i++) {
        await clock.pass(30);
        if (sidecar.state.kind === "waiting") await clock.pass(sidecar.state.seconds);
    }
    assert.equal(kind(), "failed");
});

test("where cellgate says why it cannot serve, that is said at once and nothing is tried again by itself", async () => {
    const { sidecar, clock, kind, refuse, signals } = place();
    refuse(new Refused("the folder cannot be a workspace", "use a folder of its own"));
    sidecar.start();
    await turn();
    assert.deepEqual(sidecar.state, { kind: "failed", reason: "the folder cannot be a workspace", hint: "use a folder of its own" });
    await clock.pass(1000);
    assert.equal(signals.length, 1);
    refuse();
    sidecar.reconnect();
    await turn();
    assert.equal(kind(), "connected");
});

test("when the window closes the connection ends, and no other is made", async () => {
    const { sidecar, clock, connections } = place();
    sidecar.start();
    await turn();
    sidecar.dispose();
    await clock.pass(1000);
    assert.deepEqual([connections.length, connections[0]?.vanished], [1, true]);
    await assert.rejects(sidecar.request("session/list", {}), NotConnected);
});

test("what comes goes to all who listen; what is asked to who answers, or is refused", async () => {
    const { sidecar, incoming } = place();
    sidecar.start();
    await turn();
    const heard: string[] = [];
    const listening = sidecar.onNotification("session/changed", ({ status }) => heard.push(`a ${status}`));
    sidecar.onNotification("session/changed", ({ status }) => heard.push(`b ${status}`));
    incoming().notification("session/changed", { sessionId: "s", status: "idle" });
    listening.dispose();
    incoming().notification("session/changed", { sessionId: "s", status: "busy" });
    incoming().notification("execute/changed", { executionId: "e", state: "running" }); // without a listener
    assert.deepEqual(heard, ["a idle", "b idle", "b busy"]);

    const params = { executionId: "e", prompt: "name?", password: false };
    const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };
    await assert.rejects(incoming().request("input/request", params, token), { code: -32601 });
    sidecar.onRequest("input/request", ({ prompt }) => Promise.resolve({ value: `${prompt} Ada` }));
    assert.deepEqual(await incoming().request("input/request", params, token), { value: "name? Ada" });
});
