import assert from "node:assert/strict";
import { test } from "node:test";
import { Coverage } from "../src/approvals/coverage";

const row = 18;

/** What is whole after looks at parts of something 300 pixels high. */
function after(...looks: [from: number, to: number][]): boolean {
    const coverage = new Coverage();
    for (const [from, to] of looks) coverage.add({ width: 250, height: 300, from, to }, row);
    return coverage.isWhole;
}

test("what does not fit into its box is seen when each part of it was in view", () => {
    assert.ok(after([0, 300]));
    assert.ok(after([0, 120], [100, 220], [190, 300]));
    assert.ok(after([190, 300], [0, 120], [100, 220]), "in any order");
    assert.ok(after([0, 299.4]), "a fraction of a pixel is cut off");
});

test("what was gone past is not", () => {
    assert.ok(!after([0, 120], [180, 300]));
    assert.ok(!after([50, 300]));
    assert.ok(!after([0, 280]));
    assert.ok(!after());
});

test("a row that was only seen by its halves is not", () => {
    assert.ok(!after([0, 150], [150, 300]));
    assert.ok(!after([0, 150], [140, 300]));
    assert.ok(after([0, 150], [140, 300], [120, 180]), "until it was in view as a whole");
});

test("in a box that is less than two rows high, half of it has to be in common", () => {
    const steps = (step: number) => Array.from({ length: Math.floor(290 / step) + 1 }, (_, index): [number, number] => [index * step, index * step + 10]);
    assert.ok(after(...steps(5)));
    assert.ok(!after(...steps(10)));
});

test("after a new layout it has to be looked through again", () => {
    const coverage = new Coverage();
    coverage.add({ width: 250, height: 300, from: 0, to: 200 }, row);
    coverage.add({ width: 200, height: 380, from: 180, to: 380 }, row);
    assert.ok(!coverage.isWhole);
    assert.equal(coverage.gap, 0);
    coverage.add({ width: 200, height: 380, from: 0, to: 200 }, row);
    assert.ok(coverage.isWhole);
});

test("it tells where what was not seen begins", () => {
    const coverage = new Coverage();
    coverage.add({ width: 1, height: 300, from: 0, to: 100 }, row);
    coverage.add({ width: 1, height: 300, from: 200, to: 300 }, row);
    assert.equal(coverage.gap, 100);
});
