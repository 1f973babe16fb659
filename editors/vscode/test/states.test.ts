import assert from "node:assert/strict";
import { test } from "node:test";
import { duration, stateOf, wholeProgress } from "../src/cells/states";
import type { Execution } from "../src/executions";
import type { ExecuteResult } from "../src/protocol/messages";

const result = (more: Partial<ExecuteResult>): ExecuteResult => ({
    executionId: "e",
    status: "ok",
    executionCount: 3,
    outputBytes: 0,
    truncated: false,
    durationSeconds: 1.25,
    waitedSeconds: 0,
    layers: ["bwrap"],
    ...more,
});
const finished = (more: Partial<ExecuteResult>) => says({ state: "finished", result: result(more) });
const says = (more: Partial<Execution>) => stateOf({ id: "e", sessionId: "s", state: "queued", ...more }, 60_000);

test("an agent's execution that waits for its turn says behind how many", () => {
    assert.equal(says({ position: 0 }), "$(watch) queued");
    assert.equal(says({ position: 0, waitsBehind: 3 }), "$(watch) queued, 3 of other agents before it");
});

test("a duration has the unit that it needs", () => {
    const seconds = [0.0004, 0.94, 0.951, 59.94, 59.96, 3599, 3600, 7325];
    assert.deepEqual(seconds.map(duration), [
        "0 ms",
        "940 ms",
        "1.0 s",
        "59.9 s",
        "1 min 0 s",
        "59 min 59 s",
        "1 h 00 min 0 s",
        "2 h 02 min 5 s",
    ]);
});

test("a lens says how a run stands", () => {
    assert.equal(says({ position: 2 }), "$(watch) queued, 2 before it");
    assert.equal(says({ position: 0 }), "$(watch) queued");
    assert.equal(says({ state: "running", startedAt: 47_500 }), "$(sync~spin) 12 s");
    assert.equal(says({ state: "running" }), "$(sync~spin) running");
    assert.equal(says({ state: "running", progress: { call: "web, read", message: "2 of 5: $(x)" } }), "$(sync~spin) running, web, read: 2 of 5: $ (x)");
    assert.equal(says({ state: "running", progress: { call: "web, read_several_documents", message: "2 of 5, the longest yet" } }), "$(sync~spin) running, 2 of 5, the longest yet");
    assert.equal(says({ state: "running", progress: { call: "web, read", message: "the second of the five documents of this server" } }), "$(sync~spin) running, the second of the five documents of this…");
    assert.equal(says({ state: "running", startedAt: 47_500, waitsForInput: true, progress: { call: "web, read", message: "2 of 5" } }), "$(edit) waits for input, 12 s");
});

test("a tooltip has the whole of a progress message that is cut elsewhere", () => {
    const progress = { call: "web, read", message: "the second of the five documents of $(x)" };
    const whole = "web, read: the second of the five documents of $ (x)";
    assert.equal(wholeProgress(progress), whole);
    assert.equal(stateOf({ id: "e", sessionId: "s", state: "running", progress }, 0, wholeProgress), `$(sync~spin) running, ${whole}`);
});

test("a lens says how a run ended", () => {
    const error = { ename: "$(x)Error\u202e", evalue: "", traceback: [], frames: [] };
    assert.equal(finished({}), "$(check) [3] 1.3 s");
    assert.equal(finished({ status: "error", error }), "$(error) [3] $ (x)Error\\u{202e}, 1.3 s");
    assert.equal(finished({ status: "cancelled", executionCount: null, durationSeconds: 0 }), "$(circle-slash) cancelled");
    assert.equal(finished({ status: "cancelled" }), "$(circle-slash) [3] interrupted, 1.3 s");
    assert.equal(finished({ status: "killed", reason: "signal 9" }), "$(error) [3] kernel ended: signal 9");
    assert.equal(finished({ status: "killed", reason: "died; its last words on stderr:\nno room" }), "$(error) [3] kernel ended: died; its last words on stderr: no room");
    assert.equal(says({ state: "finished", problem: new Error("no kernel\nmore") }), "$(error) did not run: no kernel");
});
