import assert from "node:assert/strict";
import { test } from "node:test";
import type { OutputRecord } from "../src/protocol/messages";
import { notebookOf, type NotebookCell } from "../src/results/model/notebook";

type Output = OutputRecord["output"];

let seq = 0;
const stream = (text: string, name: "stdout" | "stderr" = "stdout"): Output => ({ output_type: "stream", name, text });
const display = (text: string, displayId?: string): Output => ({
    output_type: "display_data",
    data: { "text/plain": text },
    metadata: {},
    transient: displayId ? { display_id: displayId } : {},
});
const update = (text: string, displayId: string): Output => ({
    output_type: "update_display_data",
    data: { "text/plain": text },
    metadata: {},
    transient: { display_id: displayId },
});
const clear = (wait: boolean): Output => ({ output_type: "clear_output", wait });

async function* recordsOf(outputs: Partial<OutputRecord>[]): AsyncGenerator<OutputRecord> {
    for (const each of outputs) yield Promise.resolve({ seq: seq++, count: 1, ...each });
}

function cellOf(outputs: (Output | Partial<OutputRecord>)[], more: Partial<NotebookCell> = {}): NotebookCell {
    const records = outputs.map((each) => (each && "output_type" in each ? { output: each } : (each ?? {})));
    const load = () => Promise.reject(new Error("nothing is in files"));
    return { id: "c", code: "pass", executionCount: 1, records: recordsOf(records), load, ...more };
}

interface Notebook {
    cells: { id: string; outputs: Record<string, unknown>[] }[];
    metadata: { kernelspec: { name: string } };
}

const made = async (cells: NotebookCell[], language = "python") => JSON.parse(await notebookOf(cells, { name: language })) as Notebook;
const outputsOf = async (...outputs: (Output | Partial<OutputRecord>)[]) => (await made([cellOf(outputs)])).cells[0]?.outputs;

test("text of one stream is one output, until something comes between", async () => {
    assert.deepEqual(await outputsOf(stream("a"), stream("b"), stream("c", "stderr"), stream("d"), display("1"), stream("e")), [
        { output_type: "stream", name: "stdout", text: "ab" },
        { output_type: "stream", name: "stderr", text: "c" },
        { output_type: "stream", name: "stdout", text: "d" },
        { output_type: "display_data", data: { "text/plain": "1" }, metadata: {} },
        { output_type: "stream", name: "stdout", text: "e" },
    ]);
});

test("cleared outputs are not written, also those that the next output clears", async () => {
    assert.deepEqual(await outputsOf(stream("a"), clear(false)), []);
    assert.deepEqual(await outputsOf(stream("a"), clear(true)), [stream("a")]);
    assert.deepEqual(await outputsOf(stream("a"), clear(true), stream("b")), [stream("b")]);
    assert.deepEqual(await outputsOf(stream("a"), clear(true), display("1"), stream("b")), [
        { output_type: "display_data", data: { "text/plain": "1" }, metadata: {} },
        stream("b"),
    ]);
});

test("a display has its last content, in every cell that shows it", async () => {
    const { cells } = await made([
        cellOf([display("first", "d"), display("other", "e")]),
        cellOf([display("second", "d"), update("last", "d"), update("nobody's", "unknown")]),
    ]);
    const texts = cells.map(({ outputs }) => outputs.map(({ data }) => (data as Record<string, string>)["text/plain"]));
    assert.deepEqual(texts, [["last", "other"], ["last"]]);
    assert.ok(cells.every(({ outputs }) => outputs.every((each) => !("transient" in each))));
});

test("data that is in files is written whole, also of an update", async () => {
    const file = (output: Output): Partial<OutputRecord> => ({ output, files: [{ mime: "image/png", bytes: 9, path: "/x" }] });
    const load = (record: OutputRecord, mime: string) => Promise.resolve(`${mime} of ${record.output?.output_type ?? ""}`);
    const { cells } = await made([cellOf([file(display("p")), display("q", "d"), file(update("r", "d"))], { load })]);
    assert.deepEqual(
        cells[0]?.outputs.map(({ data }) => data),
        [
            { "text/plain": "p", "image/png": "image/png of display_data" },
            { "text/plain": "r", "image/png": "image/png of update_display_data" },
        ],
    );
});

test("what the journal lacks is said in its place", async () => {
    const [, gap] = (await outputsOf(stream("a"), { skippedBytes: 12 }, stream("b"))) ?? [];
    assert.deepEqual(gap, { output_type: "stream", name: "stderr", text: "\n[12 bytes are not in the journal]\n" });
});

test("ids and the kernel's name are what the format takes", async () => {
    const { cells, metadata } = await made([cellOf([], { id: `a/b c:${"x".repeat(100)}` })]);
    assert.match(cells[0]?.id ?? "", /^a-b-c-x{58}$/);
    assert.equal(metadata.kernelspec.name, "python3");
    assert.equal((await made([], "r")).metadata.kernelspec.name, "r");
});
