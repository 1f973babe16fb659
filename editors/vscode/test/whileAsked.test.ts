import assert from "node:assert/strict";
import { test } from "node:test";
import { Emitter } from "vscode-jsonrpc/node";
import { whileAsked } from "../src/approvals/whileAsked";
import type { Action } from "../src/protocol/messages";
import { problem } from "./fakeSidecar";

/** Of a command whose question, of this kind, is answered so before its request ends. */
async function answered(kind: string, decision: "allow" | "deny", by: "user" | "rule", work: () => Promise<string>) {
    const waiting: { action: Action }[] = [];
    const changed = new Emitter<void>();
    const ended = new Emitter<never>();
    const said: string[] = [];
    const approvals = { all: () => waiting as never[], onDidChange: changed.event, onDidEnd: ended.event };
    const asked = { isIts: (action: Action) => action.kind === "install", report: (message: string) => said.push(message), denied: () => said.push("denied") };
    const result = whileAsked(approvals, asked, () => {
        const item = { action: { kind } as Action };
        waiting.push(item);
        changed.fire();
        waiting.pop();
        ended.fire({ item, how: { decision, by } } as never);
        changed.fire();
        return work();
    });
    return { said, result: await result.catch((error: unknown) => error) };
}

test("a command says that its question waits", async () => {
    const { said, result } = await answered("install", "allow", "user", () => Promise.resolve("done"));
    assert.deepEqual([said, result], [["waits for your answer in Approvals", "goes on"], "done"]);
    const other = await answered("tool", "allow", "user", () => Promise.resolve("done"));
    assert.deepEqual(other.said, []);
});

test("a user's no is no error; a rule's, another question's and other errors are", async () => {
    const denied = () => Promise.reject(problem("denied"));
    const own = await answered("install", "deny", "user", denied);
    assert.deepEqual([own.said.at(-1), own.result], ["denied", undefined]);
    for (const { result } of [
        await answered("install", "deny", "rule", denied),
        await answered("tool", "deny", "user", denied),
        await answered("install", "deny", "user", () => Promise.reject(problem("busy"))),
    ]) {
        assert.ok(result instanceof Error);
    }
});
