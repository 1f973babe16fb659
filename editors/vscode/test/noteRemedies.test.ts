import assert from "node:assert/strict";
import { test } from "node:test";
import type { Note } from "../src/protocol/messages";
import { describeRemedy, remedyKind } from "../src/results/model/remedy";
import { NoteRemedies } from "../src/results/noteRemedies";
import { resultOf } from "./fakeSidecar";

const rule = { effect: "allow", kind: "network", host: "a.example" } as const;
const refused: Note = { text: "a.example:443 was refused", remedy: "add a rule for it", rule };
const hidden: Note = { text: "/data is not shown", remedy: "allow reading /data: restarts the kernel", sandbox: { allowRead: ["/data"] } };
const missing: Note = { text: "there is no module pandas", remedy: "cellgate install pandas", install: ["pandas"] };
const unwritten: Note = { text: "there are no wrappers mcptools.notes", remedy: "cellgate generate notes", wrappers: "mcptools.notes" };
const advice: Note = { text: "/etc/x cannot be made", remedy: "make it outside of the sandbox" };

function fixture(confirms = true) {
    const done: unknown[] = [];
    const shown: string[] = [];
    const execution = { id: "run", sessionId: "plan", state: "finished" as const, result: resultOf("run", { notes: [refused, hidden, advice, missing, unwritten] }) };
    const remedies = new NoteRemedies(
        {
            executions: { get: (id) => (id === "run" ? execution : undefined) },
            sessions: { restart: (params) => Promise.resolve(void done.push(["session/restart", params])) },
            sidecar: { request: ((method: string, params: unknown) => Promise.resolve(void done.push([method, params]))) as never },
        },
        {
            confirm: ({ question, detail, action }) => {
                assert.deepEqual(done, [], "nothing happens before it is confirmed");
                shown.push(`${question}\n${detail}\n[${action}]`);
                return Promise.resolve(confirms);
            },
            report: (message) => shown.push(message),
        },
        { install: (packages, sessionId) => Promise.resolve(done.push(["install", packages, sessionId]) > 0) },
        (code) => Promise.resolve(done.push(["generate", code])),
    );
    return { remedies, done, shown };
}

test("a rule is shown, and then added to the session", async () => {
    const { remedies, done, shown } = fixture();
    assert.equal(await remedies.apply("run", 0), true);
    assert.deepEqual(done, [["policy/add", { rule, scope: "session", sessionId: "plan" }]]);
    assert.match(shown[0] ?? "", /session plan\?[^]*a\.example:443 was refused[^]*allow connect to a\.example[^]*ends with the session[^]*\[Add Rule\]$/);
    assert.equal(shown[1], "done for session plan: add a rule for it");
});

test("what a restart adds to the sandbox is shown, and then done", async () => {
    const { remedies, done, shown } = fixture();
    assert.equal(await remedies.apply("run", 1), true);
    assert.deepEqual(done, [["session/restart", { sessionId: "plan", sandbox: { allowRead: ["/data"] } }]]);
    assert.match(shown[0] ?? "", /Restart the kernel of plan[^]*Can be read: \/data[^]*variables are gone[^]*\[Restart Kernel\]$/);
});

test("an install needs no further dialog: the sidecar asks about it", async () => {
    const { remedies, done, shown } = fixture();
    assert.equal(await remedies.apply("run", 3), true);
    assert.deepEqual([done, shown], [[["install", ["pandas"], "plan"]], []]);
});

test("missing wrappers are written", async () => {
    const { remedies, done, shown } = fixture();
    assert.equal(await remedies.apply("run", 4), true);
    assert.deepEqual([done, shown], [[["generate", "mcptools.notes"]], []]);
});

test("what is not confirmed changes nothing", async () => {
    for (const index of [0, 1]) {
        const { remedies, done, shown } = fixture(false);
        assert.equal(await remedies.apply("run", index), false);
        assert.deepEqual([done, shown.length], [[], 1]);
    }
});

test("advice, and a note that is not known, can not be applied", async () => {
    const { remedies, done, shown } = fixture();
    await assert.rejects(remedies.apply("run", 2), /no action is known/);
    await assert.rejects(remedies.apply("run", 5), /not known any more/);
    await assert.rejects(remedies.apply("another", 0), /not known any more/);
    assert.deepEqual([done, shown], [[], []]);
});

test("a note offers what it can do, and hidden characters are shown in it", () => {
    assert.deepEqual([refused, hidden, advice, missing, unwritten].map(remedyKind), ["rule", "restart", undefined, "install", "wrappers"]);
    assert.equal(describeRemedy(advice, "plan"), undefined);
    const both = describeRemedy({ ...hidden, sandbox: { allowWrite: ["/a\u202eb"], gpu: true } }, "plan")?.detail;
    assert.match(both ?? "", /read and written: \/a\\u\{202e\}b\nCan be used: the graphics cards/);
});
