import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordEntry, RecordQueryParams } from "../src/protocol/messages";
import { functionsThatRan } from "../src/toolServers/ranCode";

type Data = RecordEntry["data"];
type Entry = [type: string, executionId: string, data: Data, sessionId?: string];

/** A sidecar whose record can be queried, as the real one answers. */
function recording(...record: Entry[]) {
    const entries = record.map(
        ([type, executionId, data, sessionId = "a.py"], seq): RecordEntry => ({
            seq,
            time: `2026-01-05T09:31:${String(seq).padStart(2, "0")}.000Z`,
            type,
            actor: "user",
            sessionId,
            executionId,
            data,
        }),
    );
    const answer = ({ types, executionId, text, since = "", limit = 100 }: RecordQueryParams) => {
        const found = entries
            .filter((each) => (types?.includes(each.type) ?? true) && each.time >= since)
            .filter((each) => executionId === undefined || each.executionId === executionId)
            .filter((each) => text === undefined || JSON.stringify(each).includes(text))
            .reverse();
        return { entries: found.slice(0, limit), more: found.length > limit };
    };
    return { request: (_: string, params: RecordQueryParams) => Promise.resolve(answer(params) as never) };
}

const ranOk = (id: string, code: string, more: Data = {}, sessionId?: string): Entry[] => [
    ["execution.started", id, { code, ...more }, sessionId],
    ["execution.ended", id, { status: "ok" }, sessionId],
];

test("functions are saved from code that ran without an error, an agent’s too, the newest first and each code once", async () => {
    const cell = { uri: "file:///a.py", line: 3 };
    const sidecar = recording(
        ...ranOk("x1", "def one(): pass", { cell }),
        ...ranOk("x2", "def one(): pass", { cell }),
        ...ranOk("x3", "print(1)"),
        ...ranOk("x4", "abc = 'def '"),
        ["execution.started", "x5", { code: "def failed(): pass" }],
        ["execution.ended", "x5", { status: "error" }],
        ["execution.started", "x6", { code: "def running(): pass" }],
        ["execution.started", "x7", { sha256: "00", bytes: 70000, of: "def " }],
        ...ranOk("x8", "def of_a_saved_tool(): pass", {}, "saved-5f"),
        ...ranOk("x9", "def two(): pass\ndef three(): pass", { agent: "helper" }, "agent-1"),
    );
    const found = await functionsThatRan(sidecar);
    assert.deepEqual(
        found.map(({ executionId, functions, cell: at }) => [executionId, functions, at]),
        [
            ["x9", ["two", "three"], undefined],
            ["x2", ["one"], cell],
        ],
    );
    assert.deepEqual(await functionsThatRan(recording()), []);
});
