import assert from "node:assert/strict";
import { test } from "node:test";
import { Emitter } from "vscode-jsonrpc/node";
import { decisionText, Pending } from "../src/approvals/pending";
import { itemOf } from "../src/approvals/items";
import { sourceOf } from "../src/approvals/sources";
import { Anchors } from "../src/cells/anchors";
import type { SidecarState } from "../src/client/sidecar";
import type { Approval, ApprovalResolvedParams } from "../src/protocol/messages";
import { approvalOf } from "./approval";

function place() {
    const handlers = new Map<string, (params: never) => void>();
    const states = new Emitter<SidecarState>();
    const asked: unknown[] = [];
    let refusal: Error | undefined;
    const pending = new Pending({
        onNotification: (method: string, handler: (params: never) => void) => {
            handlers.set(method, handler);
            return { dispose: () => undefined };
        },
        onDidChangeState: states.event,
        request: ((_: string, params: unknown) => {
            asked.push(params);
            return refusal ? Promise.reject(refusal) : Promise.resolve({});
        }),
    });
    const decided: { item: Approval; how: ApprovalResolvedParams; here: boolean }[] = [];
    pending.onDidEnd((each) => decided.push(each));
    return {
        pending,
        asked,
        states,
        refuse: (error: Error) => (refusal = error),
        decided,
        request: (id: string) => handlers.get("approval/requested")?.(approvalOf(id, "x") as never),
        resolve: (approvalId: string, more: Partial<ApprovalResolvedParams> = {}) =>
            handlers.get("approval/resolved")?.({ approvalId, decision: "allow", by: "user", ...more } as never),
        ids: () => pending.all().map(({ approvalId }) => approvalId),
    };
}

test("what waits is kept in its order until it is decided", () => {
    const { pending, request, resolve, ids, decided } = place();
    let changes = 0;
    pending.onDidChange(() => changes++);
    for (const id of ["a", "b", "c"]) request(id);
    resolve("b", { decision: "deny", by: "cancelled" });
    resolve("unknown");
    assert.deepEqual(ids(), ["a", "c"]);
    assert.equal(changes, 4);
    assert.deepEqual(decided.map(({ item }) => item.approvalId), ["b"]);
});

test("an answer of this window is told from another's", async () => {
    const { pending, request, resolve, asked, refuse, decided } = place();
    for (const id of ["a", "b", "c"]) request(id);
    await pending.respond({ approvalIds: ["a"], decision: "allow" });
    assert.equal(asked.length, 1);
    resolve("a");
    resolve("b");
    refuse(new Error("decided already"));
    await assert.rejects(pending.respond({ approvalIds: ["c"], decision: "allow" }), /decided already/);
    resolve("c", { decision: "deny" });
    assert.deepEqual(decided.map(decisionText), [
        "allowed here",
        "allowed by a user in another window or editor",
        "denied by a user in another window or editor",
    ]);
});

test("what a connection that is lost told waits no more", () => {
    const { request, states, ids } = place();
    request("a");
    states.fire({ kind: "waiting", seconds: 1, reason: "gone" });
    assert.deepEqual(ids(), []);
    request("a");
    states.fire({ kind: "connected", info: {} as never });
    assert.deepEqual(ids(), ["a"]);
});

const cell = { uri: "file:///plan/plan.py", line: 2 };
const executions = { get: (id: string) => (id === "run" ? { id, sessionId: "plan", cell, state: "running" as const } : undefined) };

test("the calling line is followed through edits, and it is said when it changed", () => {
    const anchors = new Anchors();
    anchors.add(cell.uri, "run", 2, 5);
    let lines = ["", "", "", "", "read(path)"];
    const source = () => sourceOf(approvalOf("a", "x"), executions, anchors, (_, line) => lines[line] ?? "");
    assert.deepEqual(source(), { uri: cell.uri, line: 4, changed: false });
    anchors.edit(cell.uri, { firstLine: 0, lastLine: 0, newBreaks: 3 });
    lines = ["", "", "", ...lines];
    assert.deepEqual(source(), { uri: cell.uri, line: 7, changed: false });
    lines[7] = "read(other)";
    assert.equal(source()?.changed, true);
    assert.equal(sourceOf(approvalOf("a", "x"), executions, anchors, () => undefined)?.changed, false, "it is not open");
    assert.equal(sourceOf(approvalOf("a", "x", { origin: undefined }), executions, anchors, () => ""), undefined);
});

test("a call's card says whose it is", () => {
    const card = (more: object) => itemOf(approvalOf("a", "x", more), undefined, undefined, undefined).card;
    assert.deepEqual(card({ agent: "cl\u202eaude" }), { key: "execution run", title: "a cell in plan", agent: "cl\\u{202e}aude", code: true });
    assert.equal(card({ executionId: undefined }).title, "code left running in plan");
    const action = { kind: "install", command: ["pip"] };
    assert.equal(card({ executionId: undefined, action }).title, "for plan", "no code asks for an install");
    assert.equal(card({ executionId: undefined, sessionId: undefined }).title, "cellgate");
});
