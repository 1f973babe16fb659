import assert from "node:assert/strict";
import { test } from "node:test";
import type { OutputRecord } from "../src/protocol/messages";
import { Outputs } from "../src/results/model/outputs";
import { additionTo, contentOf, isSame } from "../src/results/model/shown";

let seq = 0;
const record = (output: OutputRecord["output"]): OutputRecord => ({ seq: seq++, count: 1, output });
const stream = (text: string, name: "stdout" | "stderr" = "stdout") => record({ output_type: "stream", name, text });
const display = (data: Record<string, unknown>, displayId?: string) =>
    record({ output_type: "display_data", data, metadata: {}, transient: displayId ? { display_id: displayId } : {} });
const clear = (wait: boolean) => record({ output_type: "clear_output", wait });

function textsOf(outputs: Outputs): string[] {
    return outputs.shown.map((shown) => {
        if (shown.kind === "stream") return `${shown.name}: ${shown.text}`;
        if (shown.kind === "data" && shown.content.kind === "text") return shown.content.text;
        return shown.kind;
    });
}

test("text of one stream is one output; another stream begins another", () => {
    const outputs = new Outputs();
    for (const each of [stream("a"), stream("b\n"), stream("c", "stderr"), stream("d")]) outputs.add(each);
    assert.deepEqual(textsOf(outputs), ["stdout: ab\n", "stderr: c", "stdout: d"]);
});

test("an output keeps its key while it grows, and only what was added is sent", () => {
    const outputs = new Outputs();
    outputs.add(stream("a"));
    const [before] = outputs.shown;
    outputs.add(stream("b"));
    const [after] = outputs.shown;
    assert.ok(before && after);
    assert.equal(before.key, after.key);
    assert.equal(isSame(before, after), false);
    assert.deepEqual(additionTo(before, after), { key: before.key, kind: "stream", name: "stdout", text: "b" });
});

test("what is cleared goes at once, or when the next output comes", () => {
    const outputs = new Outputs();
    outputs.add(stream("a"));
    outputs.add(clear(true));
    assert.deepEqual(textsOf(outputs), ["stdout: a"]);
    outputs.add(stream("b"));
    assert.deepEqual(textsOf(outputs), ["stdout: b"]);
    outputs.add(clear(false));
    assert.deepEqual(textsOf(outputs), []);
});

test("a display is updated where it stands", () => {
    const named: string[] = [];
    const outputs = new Outputs((id) => named.push(id));
    outputs.add(display({ "text/plain": "1" }, "d"));
    outputs.add(stream("between"));
    const update = outputs.add(
        record({ output_type: "update_display_data", data: { "text/plain": "2" }, metadata: {}, transient: { display_id: "d" } }),
    );
    assert.deepEqual(named, ["d"]);
    assert.ok(update);
    assert.equal(outputs.update(update.displayId, update.content), true);
    assert.equal(outputs.update("another", update.content), false);
    assert.deepEqual(textsOf(outputs), ["2", "stdout: between"]);
});

test("the number of outputs is bounded, and says so", () => {
    const outputs = new Outputs();
    for (let i = 0; i < 700; i++) outputs.add(display({ "text/plain": String(i) }));
    const { shown } = outputs;
    assert.equal(shown.length, 501);
    assert.deepEqual(shown.at(-1), { key: -1, kind: "omitted", bytes: 0, outputs: 200 });
});

const skipped = (skippedBytes: number): OutputRecord => ({ seq: seq++, count: 4, skippedBytes });

test("skipped records keep their place, and follow each other as one", () => {
    const outputs = new Outputs();
    for (const each of [display({ "text/plain": "a" }), skipped(77), skipped(3), stream("b")]) outputs.add(each);
    assert.deepEqual(textsOf(outputs), ["a", "omitted", "stdout: b"]);
    const [, omitted] = outputs.shown;
    assert.ok(omitted?.kind === "omitted" && omitted.bytes === 80);
});

test("a long text is cut once, and what was skipped of it is counted there", () => {
    const outputs = new Outputs();
    const line = "one of many lines\n";
    let bytes = 0;
    for (let i = 0; i < 3; i++) {
        for (let k = 0; k < 100; k++) outputs.add(stream(line.repeat(500)));
        outputs.add(skipped(1_000_000));
        bytes += 100 * 500 * line.length + 1_000_000;
    }
    outputs.add(stream("the end\n"));
    const [text, omitted, ...more] = outputs.shown;
    assert.ok(text?.kind === "stream" && omitted?.kind === "omitted" && more.length === 0);
    assert.match(text.text, /^one of many lines\n(one of many lines\n)+…\nthe end\n$/);
    assert.equal(omitted.bytes, bytes + "the end\n".length - Buffer.byteLength(text.text) + Buffer.byteLength("…\n"));
});

test("the lines of an error come to the last error", () => {
    const outputs = new Outputs();
    outputs.add(record({ output_type: "error", ename: "E", evalue: "v", traceback: ["t"] }));
    outputs.setFrames([{ uri: "file:///plan.py", line: 3, function: "f" }]);
    const [shown] = outputs.shown;
    assert.ok(shown?.kind === "error");
    assert.equal(shown.frames[0]?.line, 3);
});

test("of an error the beginning and the end are kept, and what is between is counted", () => {
    const outputs = new Outputs();
    const traceback = ["the beginning", "é".repeat(300_000), "the end"];
    outputs.add(record({ output_type: "error", ename: "E", evalue: "v", traceback }));
    const [error, omitted] = outputs.shown;
    assert.ok(error?.kind === "error" && omitted?.kind === "omitted");
    assert.ok(Buffer.byteLength(error.text) <= 256 * 1024);
    assert.match(error.text, /^the beginning\né+\n…\né+\nthe end$/);
    assert.equal(omitted.bytes + Buffer.byteLength(error.text) - Buffer.byteLength("\n…\n"), Buffer.byteLength(traceback.join("\n")));
});

test("bytes are counted, and not characters", () => {
    assert.deepEqual(contentOf({ "text/html": "é".repeat(200_000) }), { kind: "large", mime: "text/html", bytes: 400_000 });
});

test("of one execution no more than 16 MiB are kept, however many outputs it has", () => {
    const outputs = new Outputs();
    for (let i = 0; i < 100; i++) outputs.add(display({ "text/html": "x".repeat(250_000) }));
    assert.ok(outputs.bytes <= 16 << 20);
    const last = outputs.shown.at(-1);
    assert.ok(last?.kind === "omitted" && last.outputs > 0);
});

test("the richest form, HTML before pictures before text", () => {
    assert.deepEqual(contentOf({ "text/plain": "p", "text/html": "<b>h</b>" }), { kind: "markup", language: "html", text: "<b>h</b>", plain: "p" });
    assert.deepEqual(contentOf({ "text/plain": "p", "image/png": "AA==" }), { kind: "image", mime: "image/png", base64: "AA==" });
    assert.deepEqual(contentOf({ "text/plain": ["a\n", "b"] }), { kind: "text", text: "a\nb" });
});

test("widgets and scripts are not run: their text stands for them, and it is said", () => {
    const widget = contentOf({ "application/vnd.jupyter.widget-view+json": { model_id: "1" }, "text/plain": "IntSlider()" });
    assert.ok(widget.kind === "text" && widget.text === "IntSlider()" && widget.why?.includes("Widgets"));
    const script = contentOf({ "application/javascript": "alert(1)" });
    assert.ok(script.kind === "text" && script.text === "" && script.why?.includes("application/javascript"));
});

test("what is large is named and not kept", () => {
    assert.deepEqual(contentOf({ "text/plain": "p" }, [{ mime: "image/png", bytes: 5e6 }]), { kind: "large", mime: "image/png", bytes: 5e6 });
    assert.deepEqual(contentOf({ "text/html": "x".repeat(300_000) }), { kind: "large", mime: "text/html", bytes: 300_000 });
});
