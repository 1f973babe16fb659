import assert from "node:assert/strict";
import { test } from "node:test";
import { Anchors } from "../src/cells/anchors";

const uri = "file:///plan.py";

function running(line = 10, count = 5): Anchors {
    const anchors = new Anchors();
    anchors.add(uri, "run", line, count);
    return anchors;
}

const now = (anchors: Anchors) => [0, 1, 2, 3, 4].map((index) => anchors.lineNow(uri, "run", index));

test("lines move with what is written above them", () => {
    const anchors = running();
    anchors.edit(uri, { firstLine: 2, lastLine: 2, newBreaks: 3 });
    assert.deepEqual(now(anchors), [13, 14, 15, 16, 17]);
    anchors.edit(uri, { firstLine: 0, lastLine: 4, newBreaks: 0 });
    assert.deepEqual(now(anchors), [9, 10, 11, 12, 13]);
});

test("what is written below changes nothing", () => {
    const anchors = running();
    anchors.edit(uri, { firstLine: 14, lastLine: 14, newBreaks: 2 });
    assert.deepEqual(now(anchors), [10, 11, 12, 13, 14]);
});

test("a line that was taken away is lost, and stays lost", () => {
    const anchors = running();
    anchors.edit(uri, { firstLine: 11, lastLine: 13, newBreaks: 1 });
    assert.deepEqual(now(anchors), [10, 11, undefined, undefined, 13]);
    anchors.edit(uri, { firstLine: 0, lastLine: 0, newBreaks: 1 });
    assert.deepEqual(now(anchors), [11, 12, undefined, undefined, 14]);
});

test("other documents and runs are not concerned", () => {
    const anchors = running();
    anchors.edit("file:///other.py", { firstLine: 0, lastLine: 0, newBreaks: 1 });
    assert.equal(anchors.lineNow(uri, "run"), 10);
    assert.equal(anchors.lineNow(uri, "other"), undefined);
    assert.equal(anchors.lineNow(uri, "run", 5), undefined);
});
