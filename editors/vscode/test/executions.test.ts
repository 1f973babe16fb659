import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import { NotConnected } from "../src/client/errors";
import { Executions } from "../src/executions";
import { FakeSidecar, problem, resultOf, textOf } from "./fakeSidecar";

function place(): { sidecar: FakeSidecar; executions: Executions } {
    const sidecar = new FakeSidecar();
    return { sidecar, executions: new Executions(sidecar) };
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i} `).join("");

class Reader {
    text = "";
    ends = 0;
    record = (record: Parameters<typeof textOf>[0]) => (this.text += textOf(record));
    end = () => this.ends++;
}

/** Everything that needs no event of the outside has happened. */
const settled = async () => {
    for (let i = 0; i < 20; i++) await turn();
};

test("an execution goes its way, and its follower gets each record as it comes", async () => {
    const { sidecar, executions } = place();
    const states: string[] = [];
    executions.onDidChange(({ state }) => states.push(state));
    const execution = executions.execute({ sessionId: "s", code: "x" });
    assert.equal(executions.get(execution.id), execution);
    const reader = new Reader();
    executions.follow(execution.id, reader);
    await settled();
    sidecar.tell("execute/changed", { executionId: execution.id, state: "running" });
    sidecar.print(execution.id, 4);
    assert.equal(reader.text, numbers(4));
    sidecar.print(execution.id);
    sidecar.finish(execution.id);
    assert.equal((await executions.finished(execution)).result?.status, "ok");
    assert.deepEqual([reader.text, reader.ends], [numbers(5), 1]);
    assert.deepEqual(states, ["queued", "queued", "running", "finished"]);
    assert.ok(!sidecar.asked.some(({ method }) => method === "execution/get"), "the reply brings the result");
});

test("who follows late gets what was before from the journal, and what comes meanwhile behind it", async () => {
    const { sidecar, executions } = place();
    const execution = executions.execute({ sessionId: "s", code: "x" });
    await settled();
    sidecar.print(execution.id, 8);
    const reader = new Reader();
    // While each page is on its way, more is printed and notified.
    let more = 4;
    sidecar.beforePage = () => {
        if (more-- > 0) sidecar.print(execution.id, 2);
    };
    executions.follow(execution.id, reader);
    await settled();
    assert.equal(reader.text, numbers(14));
    assert.equal(sidecar.countOf(execution.id), 14);
});

test("records that were joined for sending, half of which the journal told, come once", async () => {
    const { sidecar, executions } = place();
    // An agent's, which ran before this window was there: where its notifications will begin is not known.
    sidecar.run("e");
    sidecar.print("e", 5, false);
    sidecar.tell("execute/changed", { executionId: "e", state: "running", sessionId: "s", agent: "helper" });
    const reader = new Reader();
    executions.follow("e", reader);
    await settled();
    assert.equal(reader.text, numbers(5));
    sidecar.print("e", 2, false);
    sidecar.announce("e", 3, 4);
    await settled();
    assert.equal(reader.text, numbers(7));
    sidecar.print("e");
    assert.equal(reader.text, numbers(8));
});

test("a record that lies beyond what is known sends for those before", async () => {
    const { sidecar, executions } = place();
    const execution = executions.execute({ sessionId: "s", code: "x" });
    const reader = new Reader();
    executions.follow(execution.id, reader);
    await settled();
    sidecar.print(execution.id, 4, false);
    sidecar.print(execution.id);
    await settled();
    assert.equal(reader.text, numbers(5));
});

test("records that are lost are announced as skipped", async () => {
    const { sidecar, executions } = place();
    const execution = executions.execute({ sessionId: "s", code: "x" });
    const reader = new Reader();
    executions.follow(execution.id, reader);
    await settled();
    const output = { output_type: "stream", name: "stdout", text: "last" };
    sidecar.tell("execute/output", { executionId: execution.id, seq: 7, count: 1, output });
    await settled();
    assert.equal(reader.text, "(skipped)last");
});

test("that its code waits for input belongs to an execution", () => {
    const { executions } = place();
    const { id } = executions.execute({ sessionId: "s", code: "x" });
    const heard: unknown[] = [];
    executions.onDidChange((execution) => heard.push(execution.waitsForInput));
    executions.waitForInput(id, true);
    executions.waitForInput(id, false);
    executions.waitForInput("another", true);
    assert.deepEqual(heard, [true, false]);
});

test("how far a call is belongs to its execution until the call ends", async () => {
    const { sidecar, executions } = place();
    const execution = executions.execute({ sessionId: "s", code: "x" });
    await settled();
    const call = { executionId: execution.id, server: "web", tool: "read" };
    sidecar.tell("execute/progress", { ...call, message: "2 of 5" });
    await settled();
    assert.deepEqual(execution.progress, { call: "web, read", message: "2 of 5" });
    sidecar.tell("execute/progress", call);
    await settled();
    assert.equal(execution.progress, undefined);
});

test("after a reload the executions of a session are there, whole and once", async () => {
    const { sidecar, executions } = place();
    sidecar.run("ended", "finished").result = resultOf("ended");
    sidecar.print("ended", 5, false);
    sidecar.run("running");
    sidecar.print("running", 7, false);
    executions.attachTo(["s"]);
    await settled();
    assert.deepEqual(
        executions.all().map(({ id, state }) => [id, state]),
        [
            ["ended", "finished"],
            ["running", "running"],
        ],
    );
    const [ended, running] = [new Reader(), new Reader()];
    executions.follow("ended", ended);
    executions.follow("running", running);
    sidecar.print("running", 2);
    await settled();
    assert.deepEqual([ended.text, ended.ends], [numbers(5), 1]);
    assert.deepEqual([running.text, running.ends], [numbers(9), 0]);
    sidecar.finish("running");
    await settled();
    assert.equal(running.ends, 1);
    assert.equal(executions.get("running")?.result?.status, "ok");
});

test("a connection that breaks loses nothing of what goes on", async () => {
    const { sidecar, executions } = place();
    executions.attachTo(["s"]);
    const execution = executions.execute({ sessionId: "s", code: "x" });
    const reader = new Reader();
    executions.follow(execution.id, reader);
    await settled();
    sidecar.print(execution.id, 3);
    sidecar.disconnect();
    sidecar.print(execution.id, 4, false);
    await settled();
    assert.equal(execution.state, "queued");
    sidecar.connect();
    await settled();
    sidecar.print(execution.id, 1);
    sidecar.finish(execution.id);
    await executions.finished(execution);
    await settled();
    assert.deepEqual([reader.text, reader.ends], [numbers(8), 1]);
});

test("after a crash of the sidecar each execution ends, with what its journal kept", async () => {
    const { sidecar, executions } = place();
    executions.attachTo(["s"]);
    const known = executions.execute({ sessionId: "s", code: "x" });
    const unknown = executions.execute({ sessionId: "s", code: "y" });
    const reader = new Reader();
    executions.follow(known.id, reader);
    await settled();
    sidecar.print(known.id, 2);
    sidecar.print(known.id, 2, false);
    sidecar.sessions = [];
    sidecar.disconnect();
    Object.assign(sidecar.runs.get(known.id) ?? {}, { state: "finished", result: resultOf(known.id, { status: "killed" }) });
    sidecar.runs.delete(unknown.id);
    sidecar.run("earlier", "finished").result = resultOf("earlier", { status: "killed" });
    sidecar.connect([
        { endedAt: "2026-01-05T09:30:02Z", sessions: ["s"], executions: [{ executionId: "earlier", sessionId: "s", state: "running" }] },
    ]);
    await settled();
    assert.equal(known.result?.status, "killed");
    assert.deepEqual([reader.text, reader.ends], [numbers(4), 1]);
    assert.match(String(unknown.problem), /it did not run/);
    assert.equal(executions.get("earlier")?.result?.status, "killed");
});

test("after a crash one whose session has just closed ends with that, and so do those after it", async () => {
    const { sidecar, executions } = place();
    executions.attachTo(["s"]);
    const [first, second] = ["x", "y"].map((code) => executions.execute({ sessionId: "s", code }));
    await settled();
    assert.ok(first && second);
    sidecar.sessions = [];
    sidecar.disconnect();
    Object.assign(sidecar.runs.get(second.id) ?? {}, { state: "finished", result: resultOf(second.id, { status: "killed" }) });
    sidecar.connect();
    await settled();
    assert.match(String(first.problem), /sessionNotFound/);
    assert.equal(second.result?.status, "killed");
});

test("an execution whose session does not start never ran, and says why", async () => {
    const { executions } = place();
    const why = problem("kernelNotFound");
    const execution = executions.execute({ sessionId: "s", code: "x" }, Promise.reject(why));
    await executions.finished(execution);
    assert.equal(execution.problem, why);
});

test("one that still waits for its session is cancelled here, and is never sent", async () => {
    const { sidecar, executions } = place();
    let start: (value: unknown) => void = () => undefined;
    const execution = executions.execute({ sessionId: "s", code: "x" }, new Promise((resolve) => (start = resolve)));
    await executions.cancel(execution);
    start(undefined);
    await settled();
    assert.equal(execution.state, "finished");
    assert.deepEqual(sidecar.asked, []);
});

test("what is refused, and what could not be sent, ends with that", async () => {
    const { sidecar, executions } = place();
    for (const error of [problem("limitExceeded"), new NotConnected("no sidecar")]) {
        sidecar.request = () => Promise.reject(error);
        const execution = executions.execute({ sessionId: "s", code: "x" });
        await executions.finished(execution);
        assert.equal(execution.problem, error);
    }
});

test("an execution that another editor asked for is known when it is queued", async () => {
    const { sidecar, executions } = place();
    executions.attachTo(["s"]);
    await settled();
    sidecar.run("theirs", "queued");
    sidecar.tell("execute/changed", { executionId: "theirs", state: "queued", position: 0 });
    await settled();
    assert.equal(executions.get("theirs")?.sessionId, "s");
});

test("what is not attached any more comes back after a crash only as what it was", async () => {
    const { sidecar, executions } = place();
    executions.attachTo(["s"]);
    await settled();
    executions.attachTo([]);
    sidecar.connect();
    await settled();
    assert.equal(sidecar.asked.filter(({ method }) => method === "session/attach").length, 1);
});

test("executions of agents have their name, and their code can be read", async () => {
    const { sidecar, executions } = place();
    sidecar.run("e", "queued", "agent-1");
    sidecar.tell("execute/changed", { executionId: "e", state: "queued", position: 0, sessionId: "agent-1", agent: "helper" });
    const execution = executions.get("e");
    assert.ok(execution);
    assert.deepEqual([execution.agent, execution.sessionId], ["helper", "agent-1"]);
    assert.equal(await executions.codeOf(execution), "pass");
    assert.deepEqual(executions.unfinished("agent-1"), [execution]);
});

test("a request to execute says whether to keep what it changes", async () => {
    for (const keeps of [true, false]) {
        const sidecar = new FakeSidecar();
        new Executions(sidecar, () => keeps).execute({ sessionId: "s", code: "x" });
        await settled();
        const asked = sidecar.asked.find(({ method }) => method === "execute")?.params as { changes?: boolean };
        assert.equal(asked.changes, keeps);
    }
});
