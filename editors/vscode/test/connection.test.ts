// These tests use real pipes to a program that plays the relay.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Emitter } from "vscode-jsonrpc/node";
import { Connection, type Incoming, type Log, type TraceLevel, type Tracing } from "../src/client/connection";
import { kindOf, Refused, textOf } from "../src/client/errors";
import { info } from "./fakeSidecar";

/** Runs in a process of its own: `reply(message)` is what the relay does about each message that it reads. */
function relay(reply: string, initialize = "send({ id: message.id, result: info })"): { program: string; arguments: string[]; cwd: string } {
    const script = `
        const send = (message) => {
            const body = JSON.stringify({ jsonrpc: "2.0", ...message });
            process.stdout.write("Content-Length: " + Buffer.byteLength(body) + "\\r\\n\\r\\n" + body);
        };
        const info = ${JSON.stringify(info)};
        const reply = ${reply};
        let input = Buffer.alloc(0);
        process.stdin.on("data", (data) => {
            input = Buffer.concat([input, data]);
            for (;;) {
                const end = input.indexOf("\\r\\n\\r\\n");
                if (end < 0) return;
                const length = Number(/Content-Length: (\\d+)/i.exec(input.subarray(0, end))[1]);
                if (input.length < end + 4 + length) return;
                const message = JSON.parse(input.subarray(end + 4, end + 4 + length));
                input = input.subarray(end + 4 + length);
                if (message.method === "initialize") { ${initialize} }
                else reply(message, send);
            }
        });`;
    return { program: process.execPath, arguments: ["-e", script], cwd: process.cwd() };
}

const logged: string[] = [];
const keep = (line: string) => void logged.push(line);
const log: Log = { error: keep, warn: keep, info: keep, debug: keep };

const noHandlers: Incoming = {
    notification: () => undefined,
    request: () => Promise.reject(new Error("no handler answers")),
};

const untraced: Tracing = { level: () => "off", onDidChange: () => ({ dispose: () => undefined }) };

const open = (launch: ReturnType<typeof relay>, incoming = noHandlers, tracing = untraced, signal = new AbortController().signal) =>
    Connection.open(
        launch,
        { clientInfo: { name: "test" }, processId: null, rootUri: null, capabilities: {} },
        incoming,
        log,
        tracing,
        signal,
    );

test("a request has its answer, and params are an object", async () => {
    const connection = await open(relay(`({ id, method, params }, send) => { if (id !== undefined) send({ id, result: { method, params } }); }`));
    assert.deepEqual(connection.info, info);
    assert.deepEqual(await connection.request("session/attach", { sessionId: "s" }), {
        method: "session/attach",
        params: { sessionId: "s" },
    });
    connection.terminate();
    await connection.ended;
});

test("an error comes with its kind, and with what to do", async () => {
    const data = { kind: "busy", hint: "Wait for what runs." };
    const connection = await open(
        relay(`({ id }, send) => { if (id) send({ id, error: { code: 1009, message: "it is busy", data: ${JSON.stringify(data)} } }); }`),
    );
    await assert.rejects(connection.request("session/list", {}), (error) => {
        assert.equal(kindOf(error), "busy");
        assert.equal(textOf(error), "it is busy. Wait for what runs.");
        return true;
    });
    connection.terminate();
    await connection.ended;
});

test("notifications come in their order, before the reply that they were sent before", async () => {
    const heard: unknown[] = [];
    const connection = await open(
        relay(`({ id }, send) => {
            if (!id) return;
            for (let seq = 0; seq < 500; seq++) send({ method: "execute/output", params: { executionId: "e", seq, count: 1 } });
            send({ id, result: {} });
        }`),
        { ...noHandlers, notification: (_, params) => heard.push((params as { seq: number }).seq) },
    );
    await connection.request("session/list", {});
    assert.deepEqual(heard, Array.from({ length: 500 }, (_, i) => i));
    connection.terminate();
    await connection.ended;
});

test("what is asked of the client is answered over the same connection", async () => {
    const connection = await open(
        relay(`({ id, method, result }, send) => {
            if (method === "session/list") send({ id: 1, method: "input/request", params: { prompt: "?" } }), (this.asked = id);
            else if (result) send({ id: this.asked, result });
        }`),
        { ...noHandlers, request: (method) => Promise.resolve({ value: method } as never) },
    );
    assert.deepEqual(await connection.request("session/list", {}), { value: "input/request" });
    connection.terminate();
    await connection.ended;
});

test("a relay that ends says why, and what waited for it is rejected", async () => {
    const connection = await open(
        relay(`({ id }) => { if (id) { console.error("the sidecar is gone"); process.exit(1); } }`),
    );
    await assert.rejects(connection.request("session/list", {}));
    assert.equal(await connection.ended, "the sidecar is gone");
    assert.ok(logged.includes("the sidecar is gone"));
});

test("a program that is not there, and one that ends at once, are said as they are", async () => {
    await assert.rejects(open({ program: "/nowhere/cellgate", arguments: [], cwd: "/" }), /cannot start \/nowhere\/cellgate/);
    const failing = { program: process.execPath, arguments: ["-e", "console.error('no workspace'); process.exit(3)"], cwd: "/" };
    await assert.rejects(open(failing), /^Error: no workspace$/);
    const silent = { program: process.execPath, arguments: ["-e", "process.exit(3)"], cwd: "/" };
    await assert.rejects(open(silent), /cellgate connect ended with exit code 3/);
});

test("what cellgate answers to the introduction is its refusal, with what to do, even where it ends at once", async () => {
    const error = JSON.stringify({ code: 1021, message: "no room", data: { kind: "configInvalid", hint: "Use another folder." } });
    for (const end of ["", "; process.exit(1)"]) {
        await assert.rejects(open(relay("() => {}", `send({ id: message.id, error: ${error} })${end}`)), (refused) => {
            assert.ok(refused instanceof Refused);
            assert.deepEqual([refused.message, refused.hint], ["no room", "Use another folder."]);
            return true;
        });
    }
});

test("an attempt that is given up ends its relay, whatever that hears", async () => {
    const attempt = new AbortController();
    const heard = "process.on('SIGTERM', () => {}); console.error('pid ' + process.pid)";
    const opening = open(relay("() => {}", heard), noHandlers, untraced, attempt.signal);
    let pid: string | undefined;
    while (pid === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        pid = logged.map((line) => /^pid (\d+)$/.exec(line)?.[1]).find((each) => each !== undefined);
    }
    attempt.abort(new Error("it took too long"));
    await assert.rejects(opening, /^Error: it took too long$/);
    for (;;) {
        try {
            process.kill(Number(pid), 0);
        } catch {
            break;
        }
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
});

test("a verbose trace holds nothing that was typed unseen: no answer to a question, and no secret", async () => {
    const connection = await open(relay(`({ id }, send) => { if (id) send({ id, result: {} }); }`), noHandlers, {
        level: () => "verbose",
        onDidChange: new Emitter<void>().event,
    });
    await connection.request("elicitation/respond", { elicitationId: "e", action: "accept", values: { token: "s3cr3t" } });
    await connection.request("secret/set", { name: "A", value: "s3cr3t" });
    await connection.request("toolServers/restart", { server: "tr4cker" });
    const all = logged.join("\n");
    assert.ok(all.includes("Sending request 'elicitation/respond"));
    assert.ok(!all.includes("s3cr3t"));
    assert.ok(all.includes("tr4cker"), "the control");
    connection.terminate();
    await connection.ended;
});

test("a changed trace holds for the conversation that there is", async () => {
    const changed = new Emitter<void>();
    let level: TraceLevel = "off";
    const connection = await open(relay(`({ id }, send) => { if (id) send({ id, result: {} }); }`), noHandlers, {
        level: () => level,
        onDidChange: changed.event,
    });
    const traced = async (method: "session/list" | "kernel/list") => {
        await connection.request(method, {});
        return logged.some((line) => line.includes(`Sending request '${method}`));
    };
    assert.equal(await traced("session/list"), false);
    level = "messages";
    changed.fire();
    assert.equal(await traced("kernel/list"), true);
    connection.terminate();
    await connection.ended;
});
