import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import { Executions } from "../src/executions";
import type { OutputRecord } from "../src/protocol/messages";
import { SessionResults, type Result } from "../src/results/model/sessionResults";
import { FakeSidecar, problem } from "./fakeSidecar";

/** Everything that needs no event of the outside has happened. */
const settled = async () => {
    for (let i = 0; i < 20; i++) await turn();
};

function place() {
    const sidecar = new FakeSidecar();
    const executions = new Executions(sidecar);
    const results = new SessionResults("s", executions);
    const extended: Result[] = [];
    results.onDidExtend((result) => extended.push(result));
    const put = (id: string, output: OutputRecord["output"]) => {
        const seq = sidecar.countOf(id);
        sidecar.runs.get(id)?.records.push({ seq, count: 1, output });
        sidecar.tell("execute/output", { executionId: id, seq, count: 1, output });
    };
    return { sidecar, executions, results, extended, put };
}

const textsOf = ({ outputs }: Result) =>
    outputs.shown.map((shown) => {
        if (shown.kind === "stream") return shown.text;
        if (shown.kind === "data" && shown.content.kind === "text") return shown.content.text;
        return shown.kind === "notes" ? shown.notes.map(({ text }) => text).join("; ") : shown.kind;
    });

const display = (text: string): OutputRecord["output"] => ({
    output_type: "display_data",
    data: { "text/plain": text },
    metadata: {},
    transient: { display_id: "d" },
});

test("results are in the order of their requests, and those of other sessions are left out", async () => {
    const { sidecar, executions, results, extended } = place();
    const first = executions.execute({ sessionId: "s", code: "1" });
    executions.execute({ sessionId: "other", code: "2" });
    const second = executions.execute({ sessionId: "s", code: "3" });
    await settled();
    sidecar.print(second.id);
    sidecar.print(first.id, 2);
    assert.deepEqual(results.all().map(({ code }) => code), ["1", "3"]);
    assert.deepEqual(extended.map(({ code }) => code), ["1", "3"]);
    assert.deepEqual(results.all().map(textsOf), [["0 1 "], ["0 "]]);
});

test("those that there were before are there too, as the journal has them", async () => {
    const { sidecar, executions } = place();
    const { id } = executions.execute({ sessionId: "s", code: "x" });
    await settled();
    sidecar.print(id, 5);
    sidecar.finish(id);
    await settled();
    const later = new SessionResults("s", executions);
    await settled();
    assert.deepEqual(later.all().map(textsOf), [["0 1 2 3 4 "]]);
});

test("what has ended is complete once all of it is read, also where there are many pages", async () => {
    const { sidecar, executions } = place();
    sidecar.run("before");
    sidecar.print("before", 50);
    sidecar.finish("before");
    sidecar.beforePage = () => assert.equal(later.get("before")?.complete ?? false, false);
    const later = new SessionResults("s", executions);
    const seen: [boolean | undefined, boolean, string][] = [];
    const watch = (result: Result) => seen.push([result.execution.over, result.complete, textsOf(result).join("")]);
    later.onDidExtend(watch);
    later.onDidChange(watch);
    executions.attachTo(["s"]);
    await settled();
    for (let i = 0; i < 20; i++) await settled();
    const whole = Array.from({ length: 50 }, (_, i) => `${i} `).join("");
    assert.ok(seen.some(([, complete, text]) => !complete && text !== whole), "there was a time in between");
    for (const [over, complete, text] of seen) {
        assert.equal(over, true);
        if (complete) assert.equal(text, whole);
    }
    assert.equal(later.get("before")?.complete, true);
});

test("what an agent runs is a result once its code is known", async () => {
    const { sidecar, results, extended } = place();
    sidecar.run("a");
    sidecar.tell("execute/changed", { executionId: "a", state: "queued", position: 0, sessionId: "s", agent: "claude" });
    assert.deepEqual([results.all(), results.get("a"), extended], [[], undefined, []]);
    await settled();
    assert.deepEqual(results.all().map(({ code }) => code), ["pass"]);
    assert.equal(extended.length, 1);
});

test("a display that another execution updates changes where it is shown", async () => {
    const { executions, results, put } = place();
    const { id: shows } = executions.execute({ sessionId: "s", code: "shows" });
    const { id: updates } = executions.execute({ sessionId: "s", code: "updates" });
    await settled();
    put(shows, display("before"));
    const before = results.get(shows)?.revision ?? 0;
    const untouched = results.get(updates)?.revision;
    put(updates, { output_type: "update_display_data", data: { "text/plain": "after" }, metadata: {}, transient: { display_id: "d" } });
    assert.deepEqual(results.all().map(textsOf), [["after"], []]);
    assert.ok((results.get(shows)?.revision ?? 0) > before);
    assert.equal(results.get(updates)?.revision, untouched);
});

test("how it ended is shown below its output", async () => {
    const { sidecar, executions, results } = place();
    const { id } = executions.execute({ sessionId: "s", code: "x" });
    await settled();
    sidecar.print(id);
    sidecar.finish(id, { status: "interrupted", reason: "its time was up", notes: [{ text: "a path is hidden", remedy: "show it" }] } as never);
    await settled();
    assert.deepEqual(results.all().map(textsOf), [["0 ", "its time was up; a path is hidden"]]);
});

test("code that did not run says why", async () => {
    const { executions, results } = place();
    const refused = Promise.reject(problem("no kernel"));
    const { id } = executions.execute({ sessionId: "s", code: "x" }, refused);
    await settled();
    const result = results.get(id);
    assert.match((result && textsOf(result)[0]) ?? "", /^It did not run: no kernel/);
});

test("results that are disposed follow nothing any more", async () => {
    const { sidecar, executions, results } = place();
    const { id } = executions.execute({ sessionId: "s", code: "x" });
    await settled();
    const result = results.get(id);
    results.dispose();
    sidecar.print(id);
    executions.execute({ sessionId: "s", code: "y" });
    await settled();
    assert.deepEqual(result && textsOf(result), []);
    assert.equal(results.all().length, 1);
});

/** Runs one after the other, each to its end. */
async function runAll({ sidecar, executions }: ReturnType<typeof place>, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) {
        const { id } = executions.execute({ sessionId: "s", code: String(i) });
        ids.push(id);
        await settled();
        sidecar.finish(id);
    }
    await settled();
    return ids;
}

test("of many results the last ones are kept; the others are let go, and counted", async () => {
    const scene = place();
    const ids = await runAll(scene, 205);
    const { results, executions } = scene;
    assert.equal(results.all().length, 200);
    assert.equal(results.earlier, 5);
    assert.deepEqual(results.all().map(({ execution }) => execution.id), ids.slice(5));
    // Nothing of theirs brings them back.
    executions.attachTo(["s"]);
    await settled();
    assert.equal(results.get(ids[0] ?? ""), undefined);
    assert.equal(results.all().length, 200);
});

test("what has ended can be cleared, and what runs stays", async () => {
    const scene = place();
    await runAll(scene, 2);
    const { executions, results, put } = scene;
    const { id } = executions.execute({ sessionId: "s", code: "runs" });
    await settled();
    let told = 0;
    results.onDidClear(() => told++);
    results.clear();
    put(id, { output_type: "stream", name: "stdout", text: "goes on" });
    assert.deepEqual(results.all().map(textsOf), [["goes on"]]);
    assert.deepEqual([results.earlier, told], [2, 1]);
});
