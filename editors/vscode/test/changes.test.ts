import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import { Changes } from "../src/changes/changes";
import { agentEditText, changedText, fileText, firstOf, notesOf, undoQuestion } from "../src/changes/labels";
import { EditBursts } from "../src/changes/editBursts";
import { Undo } from "../src/changes/undo";
import type { ChangedFile, ChangesListResult, ChangesUndoResult, RecordEntry } from "../src/protocol/messages";
import { FakeSidecar } from "./fakeSidecar";

const version = (bytes: number, more: object = {}) => ({ sha256: String(bytes).padStart(64, "0"), bytes, mode: "0644", ...more });
const created: ChangedFile = { path: "data/out.csv", kind: "created", after: version(40) };
const modified: ChangedFile = { path: "notes.txt", kind: "modified", before: version(12), after: version(2500) };
const deleted: ChangedFile = { path: "old.txt", kind: "deleted", before: version(3_000_000) };
const listOf = (more: Partial<ChangesListResult> = {}): ChangesListResult => ({ executionId: "run", files: [created, modified, deleted], complete: true, ...more });

/** The window's model; `older`: what the record has, newest first. */
async function place(older: Partial<RecordEntry>[] = []) {
    const sidecar = new FakeSidecar();
    sidecar.request = () => Promise.resolve({ entries: older, more: false } as never);
    const changes = new Changes(sidecar);
    const tell = (executionId: string, files: number, undoOf?: string) => sidecar.tell("changes/found", { executionId, files, complete: true, undoOf });
    sidecar.connect();
    await turn();
    return { sidecar, changes, tell, ids: () => changes.all().map(({ executionId }) => executionId) };
}

test("an execution says how many files it changed, and whether that was undone", async () => {
    const { changes, tell, ids } = await place();
    assert.equal(changedText(changes, "run"), undefined);
    tell("run", 3);
    tell("other", 1);
    assert.deepEqual([changedText(changes, "run"), changedText(changes, "other")], ["3 files changed", "1 file changed"]);
    tell("undo-1", 1, "run");
    assert.equal(changedText(changes, "run"), "3 files changed", "of one file only");
    tell("undo-2", 3, "run");
    assert.equal(changedText(changes, "run"), "3 files changed, undone");
    tell("undo-3", 3, "undo-2");
    assert.equal(changedText(changes, "run"), "3 files changed");
    assert.deepEqual(ids(), ["undo-3", "undo-2", "undo-1", "other", "run"]);
});

test("what changed before the window was there comes from the record, behind what it knows", async () => {
    const entry = (executionId: string, data: RecordEntry["data"]) => ({ executionId, sessionId: "s", data });
    const older = [entry("new", { files: 9, complete: true }), entry("undo", { files: 2, complete: false, undoOf: "b" }), entry("b", { files: 2, complete: false, agent: "helper" }), entry("a", { files: 1, complete: true }), entry("odd", { files: "many" })];
    const { sidecar, changes, tell, ids } = await place(older);
    assert.deepEqual(ids(), ["new", "undo", "b", "a"]);
    assert.deepEqual([changes.get("b")?.agent, changes.isUndone("b")], ["helper", true]);
    tell("new", 4);
    tell("newer", 1);
    sidecar.connect();
    await turn();
    assert.deepEqual(ids(), ["newer", "new", "undo", "b", "a"]);
    assert.equal(changes.get("new")?.files, 4);
});

test("listeners hear of each execution that changed files once, and not of those of the record", async () => {
    const { sidecar, changes, tell } = await place([{ executionId: "old", sessionId: "s", data: { files: 1, complete: true, agent: "helper" } }]);
    const told: string[] = [];
    changes.onDidFind(({ executionId }) => told.push(executionId));
    tell("new", 1);
    sidecar.connect();
    await turn();
    assert.deepEqual(told, ["new"]);
});

test("an agent's edit names the files that are open, and those with changes that are not saved", () => {
    assert.equal(agentEditText("helper", [{ paths: ["notes.txt"], unsaved: [] }]), "helper changed what is open here: notes.txt.");
    assert.equal(
        agentEditText("helper", [{ paths: ["a", "b", "c", "d"], unsaved: ["a"] }]),
        "helper changed what is open here: a, b, c, and 1 more. Your unsaved changes are still in the editor: a.",
    );
    const twice = [{ paths: ["a", "b"], unsaved: ["a"] }, { paths: ["a"], unsaved: ["a"] }];
    assert.equal(
        agentEditText("helper", twice),
        "helper changed what is open here: a, b, in 2 edits. Your unsaved changes are still in the editor: a.",
    );
});

test("edits of an agent that come within a second are one message, those of another a message of their own", () => {
    const timers: (() => void)[] = [];
    const told: string[] = [];
    const after = (_seconds: number, run: () => void) => (timers.push(run), { dispose: () => undefined });
    const bursts = new EditBursts((edits) => told.push(edits.map(({ executionId }) => executionId).join()), { after });
    const add = (executionId: string, agent: string) => bursts.add({ executionId, agent, paths: ["a"], unsaved: [] });
    add("1", "helper");
    add("2", "other");
    add("3", "helper");
    assert.deepEqual(told, []);
    timers.forEach((run) => run());
    add("4", "helper");
    timers.at(-1)?.();
    assert.deepEqual(told, ["1,3", "2", "4"]);
});

test("a file says what it is now, and was before", () => {
    const mode: ChangedFile = { path: "run.sh", kind: "modified", before: version(5), after: version(5, { mode: "0755" }) };
    const link: ChangedFile = { path: "latest", kind: "created", after: version(8, { mode: "0777", link: true }) };
    assert.deepEqual([created, modified, deleted, mode, link].map(fileText), [
        "40 B",
        "12 B → 2.5 kB",
        "3.0 MB",
        "same content, mode 0644 → 0755",
        "8 B, symbolic link",
    ]);
});

test("a list says what it does not have, and whose its changes may be", () => {
    assert.deepEqual(notesOf(listOf()), []);
    const notCovered = [{ path: "film.mkv", why: "it is too large" }, { path: "", why: "no git" }];
    assert.deepEqual(notesOf(listOf({ count: 20000, complete: false, notCovered, overlapping: ["b"], undoneBy: "u" })), [
        "Changes of it were undone.",
        "Another cell ran meanwhile: these may be the changes of that, too.",
        "20000 files changed; the first 3 are listed.",
        "Not covered: film.mkv: it is too large",
        "Not covered: the workspace: no git",
    ]);
    assert.deepEqual(notesOf(listOf({ complete: false })), ["Not all files of the workspace are covered."]);
});

test("an undo is asked about with what it does to which files", () => {
    const { question, detail, action } = undoQuestion(listOf({ overlapping: ["b", "c"] }));
    assert.equal(question, "Undo changes to 3 files?");
    assert.match(detail, /^delete data\/out.csv\nrestore notes.txt\nbring back old.txt\n\n2 other cells ran meanwhile[^]*was changed since, nothing is done\.$/);
    assert.equal(action, "Undo Changes");
    const one = undoQuestion(listOf({ count: 20000 }), ["notes.txt"]);
    assert.match(`${one.question}\n${one.detail}`, /^Undo changes to 1 file\?\nrestore notes.txt\n\nIf/);
    const many = Array.from({ length: 12 }, (_, i): ChangedFile => ({ path: `f${i}`, kind: "created" }));
    assert.match(undoQuestion(listOf({ files: many, count: 20000 })).detail, /delete f9\nand 19990 more\n/);
    assert.deepEqual(firstOf(["a", "b"]), ["a", "b"]);
});

function undoing({ confirms = true, again = false, refused = [] as ChangesUndoResult["refused"] } = {}) {
    const done: unknown[] = [];
    const shown: string[] = [];
    const undo = new Undo(
        {
            request: ((method: string, params: { executionId: string; paths?: string[] }) => {
                if (method === "changes/list") return Promise.resolve(listOf({ executionId: params.executionId }));
                done.push(params);
                const restored = params.paths ?? ["data/out.csv", "notes.txt", "old.txt"];
                return Promise.resolve(refused.length > 0 ? { restored: [], refused } : { undoId: `undo of ${params.executionId}`, restored, refused });
            }),
        },
        {
            confirm: ({ question }) => (shown.push(question), Promise.resolve(confirms)),
            report: (message) => (shown.push(message), Promise.resolve(again && done.length === 1)),
            showRefused: (executionId, files) => (shown.push(`${executionId}: ${files.map(({ path }) => path).join(",")}`), Promise.resolve()),
        },
    );
    return { undo, done, shown };
}

test("what is not confirmed is not undone", async () => {
    const { undo, done, shown } = undoing({ confirms: false });
    await undo.run("run");
    assert.deepEqual([done, shown], [[], ["Undo changes to 3 files?"]]);
});

test("an undo is of all files, or of one, and is itself undone once that is confirmed", async () => {
    const all = undoing({ again: true });
    await all.undo.run("run");
    assert.deepEqual(all.done, [{ executionId: "run", paths: undefined }, { executionId: "undo of run", paths: undefined }]);
    assert.deepEqual(all.shown, ["Undo changes to 3 files?", "Changes to 3 files undone.", "Undo changes to 3 files?", "Changes to 3 files undone."]);
    const one = undoing();
    await one.undo.run("run", ["old.txt"]);
    assert.deepEqual([one.done, one.shown], [[{ executionId: "run", paths: ["old.txt"] }], ["Undo changes to 1 file?", "Changes to 1 file undone."]]);
});

test("a refusal is shown with its files, and nothing is reported as done", async () => {
    const { undo, shown } = undoing({ refused: [{ path: "notes.txt", why: "it was changed since" }] });
    await undo.run("run");
    assert.deepEqual(shown, ["Undo changes to 3 files?", "run: notes.txt"]);
});
