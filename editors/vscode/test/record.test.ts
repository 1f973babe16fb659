import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordEntry, RecordQueryParams, RecordQueryResult } from "../src/protocol/messages";
import { RecordEntries } from "../src/record/entries";
import { actorText, entryDetails, entryIcon, entryText, filterText, runEndText, runText, shortTimeText } from "../src/record/labels";
import { FakeSidecar, problem } from "./fakeSidecar";

const entryOf = (seq: number, type: string, data: RecordEntry["data"] = {}, more: Partial<RecordEntry> = {}): RecordEntry => ({
    seq,
    time: "2026-01-05T09:31:00.000Z",
    type,
    actor: "cellgate",
    data,
    ...more,
});

const action = { kind: "tool", server: "filesystem", tool: "read_file" };
const decided = { number: 7, decision: "allow", by: "user", reason: "a\u202eb", action, display: ["tool read_file of filesystem"] };

/** A sidecar whose record can be queried, as the real one answers. */
function place(record: RecordEntry[] = []) {
    const sidecar = new FakeSidecar();
    const asked: RecordQueryParams[] = [];
    const fixture = { record, asked, failure: undefined as string | undefined, entries: new RecordEntries(sidecar) };
    const answer = (params: RecordQueryParams): RecordQueryResult => {
        const { text, types, executionId, beforeSeq = Infinity, limit = 100 } = params;
        asked.push(params);
        if (fixture.failure !== undefined) throw problem(fixture.failure);
        const found = fixture.record
            .filter((each) => each.seq < beforeSeq && (types?.includes(each.type) ?? true))
            .filter((each) => executionId === undefined || each.executionId === executionId)
            .filter((each) => text === undefined || JSON.stringify(each).includes(text))
            .reverse();
        return { entries: found.slice(0, limit), more: found.length > limit };
    };
    sidecar.request = (_: string, params: object) => Promise.resolve().then(() => answer(params) as never);
    return fixture;
}

const seqsOf = (entries: RecordEntries) => entries.rows().map((row) => ("run" in row ? row.run.entries.map(({ seq }) => seq) : row.entry.seq));

const many = (count: number) => Array.from({ length: count }, (_, seq) => entryOf(seq, "session.closed"));

test("entries say in words what happened", () => {
    const texts: [string, RecordEntry["data"], string][] = [
        ["action.decided", decided, "allowed: read_file of filesystem"],
        ["action.decided", { ...decided, action: { ...action, argumentsText: '{"path":"out/4.txt","n":1}' } }, "allowed: read_file of filesystem: out/4.txt"],
        ["action.decided", { ...decided, decision: "deny", action: undefined, display: ["a tool call"] }, "denied: a tool call"],
        [
            "action.decided",
            { ...decided, action: { kind: "install", command: ["/usr/bin/python3", "-m", "pip", "install", "--", "six"] }, display: ["install packages: six", "command: …"] },
            "allowed: install packages: six",
        ],
        ["action.ended", { number: 7, status: "failed", error: "no file" }, "failed: action 7: no file"],
        ["execution.started", { code: "\nimport os\nos.getcwd()" }, "ran: import os"],
        ["execution.started", { sha256: "00", bytes: 70000 }, "ran: 70000 bytes of code"],
        ["execution.ended", { status: "ok", durationSeconds: 0.1 }, "ended: ok, 100 ms"],
        ["execution.ended", { status: "error", durationSeconds: 2, error: { ename: "NameError", evalue: "x" } }, "ended: error, 2.0 s: NameError: x"],
        ["execution.ended", { status: "cancelled", durationSeconds: 2 }, "ended: interrupted, 2.0 s"],
        ["execution.ended", { status: "cancelled", durationSeconds: 0 }, "ended: cancelled, 0 ms"],
        ["execution.ended", { status: "killed", reason: "the kernel died" }, "ended: killed: the kernel died"],
        ["session.created", { kernel: "python3", sandbox: "bwrap" }, "session created: python3, in bwrap"],
        ["session.created", { kernel: { name: "python3" }, sandbox: "none" }, "session created: python3, without a sandbox"],
        ["session.closed", {}, "session closed"],
        ["kernel.started", {}, "kernel started"],
        ["kernel.ended", { reason: "it was restarted" }, "kernel ended: it was restarted"],
        ["policy.added", { rule: { effect: "deny", kind: "network", host: "x.org" } }, "rule added: deny connect to x.org"],
        ["policy.removed", { ruleId: "r7" }, "rule removed: r7"],
        ["policy.removed", { ruleId: "r7", reason: "its last use was taken" }, "rule removed: r7: its last use was taken"],
        ["login.ended", { server: "notes" }, "logged in to notes"],
        ["login.ended", { server: "notes", error: "refused" }, "login to notes failed: refused"],
        ["secret.set", { name: "TOKEN", scope: "user", source: "stored" }, "secret TOKEN set"],
        ["secret.deleted", { name: "TOKEN", scope: "workspace", source: "file" }, "secret TOKEN of this workspace deleted"],
        ["secret.set", { name: "TOKEN", scope: "session", source: "stored" }, "secret TOKEN of the session set"],
        ["secret.used", { name: "TOKEN", scope: "user", server: "notes" }, "secret TOKEN given to notes"],
        ["secret.used", { name: "TOKEN", scope: "user", host: "x.org:443" }, "secret TOKEN put into a request to x.org:443"],
        ["files.changed", { files: 3, complete: true }, "changed 3 files"],
        ["files.restored", { files: 1, complete: true }, "restored 1 file"],
        ["limits.changed", { limits: { memoryBytes: 2 ** 33, cpuCores: 1.5 } }, "limits changed: memory of each process, and of all together: 8 GiB; processors that may be busy: 1.5"],
        ["limits.changed", { limits: { cpus: 2 } }, 'limits changed: {"cpus":2}'],
        ["action.ended", { number: 7, status: "unknown" }, "left to the agent: action 7"],
        ["record.gap", { dropped: 3, error: "no space" }, "3 entries were not kept: no space"],
        ["record.pruned", { firstKept: 12 }, "entries before number 12 were removed"],
    ];
    for (const [type, data, text] of texts) assert.equal(entryText(entryOf(1, type, data)), text);
    const ended = entryOf(2, "action.ended", { number: 7, status: "succeeded" });
    assert.equal(entryText(ended, entryOf(1, "action.decided", decided)), "succeeded: read_file of filesystem");
});

test("a run of a saved tool is called so", () => {
    assert.equal(runText(entryOf(1, "execution.started", { code: "def f(): pass\n…", savedTool: "f" })), "the saved tool f");
});

test("what is not known, or not as its type says, is shown as it is", () => {
    const strange: [string, RecordEntry["data"], string][] = [
        ["moon.rose", { at: 5 }, 'moon.rose: {"at":5}'],
        ["constructor", {}, "constructor: {}"],
        ["policy.added", {}, "policy.added: {}"],
        ["execution.started", { code: 5 }, 'execution.started: {"code":5}'],
        ["action.decided", { display: "x" }, "denied: x"],
    ];
    for (const [type, data, text] of strange) {
        const entry = entryOf(1, type, data);
        assert.equal(entryText(entry), text);
        assert.equal(typeof entryIcon(entry), "string");
        assert.equal(entryDetails(entry)[0], text);
    }
    assert.ok(entryDetails(entryOf(1, "moon.rose", { at: 5, on: { b: 1 } })).includes('on: {"b":1}'));
});

test("a row has the time of day, and of another day its date", () => {
    const time = "2026-01-05T09:31:00.000Z";
    const then = new Date(time);
    assert.equal(shortTimeText({ time }, then), then.toLocaleTimeString());
    assert.equal(shortTimeText({ time }, new Date("2026-01-08T09:31:00.000Z")), then.toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" }));
});

test("details have all that a user reads, and hide or reorder nothing", () => {
    const entry = entryOf(4, "action.decided", { ...decided, agent: "helper" }, { actor: "agent", sessionId: "s" });
    assert.deepEqual(entryDetails(entry), [
        "allowed: read_file of filesystem",
        `${new Date("2026-01-05T09:31:00.000Z").toLocaleString()}, by agent helper, in session s; entry 4`,
        "",
        "tool read_file of filesystem",
        "",
        "allowed by a user: a\\u{202e}b",
        "by agent helper",
    ]);
    const ran = entryOf(5, "execution.started", { code: "a = 1\n[x](command:y)" });
    const unattended = entryDetails(entryOf(6, "action.decided", { ...decided, decision: "deny", by: "noClient", reason: "no user" }));
    const verdict = "not allowed, no user was there";
    assert.deepEqual([unattended[0], unattended[5]], [`${verdict}: read_file of filesystem`, `${verdict}: no user`]);
    assert.deepEqual(entryDetails(ran).slice(3), ["a = 1", "[x] (command:y)"]);
    const changed = entryOf(6, "files.changed", { files: 2, changes: [{ path: "a\u202eb", kind: "created" }, { path: "old", kind: "deleted" }] });
    assert.deepEqual(entryDetails(changed).slice(3), ["created a\\u{202e}b", "deleted old"]);
    assert.deepEqual(["user", "agent", "rule", "cellgate", "moon"].map((actor) => actorText({ ...entry, actor, data: {} })), [
        "a user",
        "an agent",
        "a rule",
        "cellgate",
        "moon",
    ]);
});

test("entries of an execution are together, where its newest one is", async () => {
    const of = { executionId: "run-1" };
    const { entries } = place([
        entryOf(0, "session.created"),
        entryOf(1, "execution.started", { code: "read()" }, of),
        entryOf(2, "action.decided", decided, of),
        entryOf(3, "policy.added"),
        entryOf(4, "action.ended", { number: 7, status: "succeeded" }, of),
        entryOf(5, "execution.ended", { status: "ok" }, of),
        entryOf(6, "execution.started", {}, { executionId: "run-2" }),
        entryOf(7, "session.closed"),
    ]);
    await entries.load();
    assert.deepEqual(seqsOf(entries), [7, [6], [5, 4, 2, 1], 3, 0]);
    const row = entries.rows()[2];
    assert.ok(row && "run" in row);
    assert.deepEqual([runText(row.run.started), runEndText(row.run.ended)], ["read()", "ok"]);
    assert.deepEqual([runText(undefined), runEndText(undefined)], ["a cell", undefined]);
    assert.equal(runText(undefined, [entryOf(8, "files.restored", { files: 2 }, { executionId: "undo" })]), "undo: restored 2 files");
    assert.equal(row.run.entries[1] && entries.decisionOf(row.run.entries[1])?.seq, 2);
});

test("an end belongs to the last decision of its number before it", async () => {
    const ended = (seq: number, number: number) => entryOf(seq, "action.ended", { number, status: "succeeded" });
    // A sidecar counts from 1; the second decision 1 is another sidecar's.
    const { entries, record } = place([entryOf(0, "action.decided", { ...decided, number: 1 }), ended(1, 1), entryOf(2, "action.decided", { ...decided, number: 1 }), ended(3, 1), ended(4, 2)]);
    await entries.load();
    assert.deepEqual(record.map((each) => entries.decisionOf(each)?.seq), [undefined, 0, undefined, 2, undefined]);
});

test("older entries are read on request, and stay when the newest are read again", async () => {
    const fixture = place(many(250));
    const { entries, record, asked } = fixture;
    await entries.load();
    assert.deepEqual([entries.rows().length, entries.more], [100, true]);
    await entries.loadOlder();
    assert.deepEqual([entries.rows().length, entries.more], [200, true]);
    record.push(entryOf(250, "session.closed"));
    await entries.load();
    assert.deepEqual([entries.rows().length, seqsOf(entries)[0], seqsOf(entries).at(-1)], [200, 250, 51]);
    await entries.loadOlder();
    assert.deepEqual([entries.rows().length, entries.more, new Set(seqsOf(entries)).size], [251, false, 251]);
    // The sidecar gives a thousand at a time.
    fixture.record = many(1150);
    for (let i = 0; i < 9; i++) await entries.loadOlder();
    assert.deepEqual([entries.rows().length, asked.at(-2)?.limit, asked.at(-1)?.limit, asked.at(-1)?.beforeSeq], [1150, 1000, 151, 150]);
});

test("a search shows what matches, and says so; an answer to an earlier one is not shown", async () => {
    const { entries, asked } = place([entryOf(0, "login.ended", { server: "notes" }), entryOf(1, "login.ended", { server: "maps" }, { executionId: "e" })]);
    assert.equal(filterText(entries.filter), undefined);
    const shown: unknown[] = [];
    entries.onDidChange(() => shown.push(seqsOf(entries)));
    await Promise.all([entries.show({ text: "maps" }), entries.show({ text: "notes" }), entries.load()]);
    assert.deepEqual([shown, asked.length], [[[0]], 2]);
    assert.equal(filterText(entries.filter), "Only entries that contain “notes”. Clear Filter, above, shows all.");
    await entries.show({ types: ["login.ended", "moon.rose"], executionId: "e" });
    assert.deepEqual(seqsOf(entries), [[1]]);
    assert.match(filterText(entries.filter) ?? "", /^Only entries of one execution and of these kinds: Logins, moon\.rose\. /);
    await entries.show({});
    assert.deepEqual(seqsOf(entries), [[1], 0]);
});

test("what prevents the record is shown, until it is read again", async () => {
    const fixture = place(many(1));
    const { entries } = fixture;
    await entries.load();
    fixture.failure = "internalError";
    await entries.load();
    assert.deepEqual([entries.problem, seqsOf(entries)], ["internalError", [0]]);
    fixture.failure = undefined;
    await entries.load();
    assert.equal(entries.problem, undefined);
});
