// These tests try what a session is created with, and the timeouts of single cells.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cellsOf } from "../src/cells/cells";
import { parseTimeout, timeoutOfCell, withTimeout } from "../src/notebooks/cellTimeout";
import { createParams, parseVariables, variablesText } from "../src/sessionSettings/values";

const reader = (settings: Record<string, unknown>) => (name: string) => settings[name];

test("settings become what a session is created with; without any, nothing is said", () => {
    assert.deepEqual(createParams(reader({ limits: {}, env: {}, cwd: "", profile: "", timeoutSeconds: null })), {});
    const settings = { limits: { memory: "4G", processes: 100, cores: 1.5 }, timeoutSeconds: 60, env: { A: "1" }, cwd: "data", profile: "basic" };
    assert.deepEqual(createParams(reader(settings)), {
        limits: { memoryBytes: 4 * 2 ** 30, processCount: 100, cpuCores: 1.5, wallSeconds: 60 },
        env: { A: "1" },
        cwd: "data",
        profile: "basic",
    });
});

test("what a user chose for a session comes before the settings, also nothing", () => {
    const read = reader({ cwd: "data", env: { A: "1" }, profile: "basic" });
    assert.deepEqual(createParams(read, { cwd: "", env: {}, profile: "strict" }), { profile: "strict" });
});

test("a setting that does not fit is named, and no session starts with less than was meant", () => {
    for (const [settings, expected] of [
        [{ limits: { memory: "much" } }, /cellgate\.session\.limits\.memory .* 512M/],
        [{ limits: { ram: "4G" } }, /limits\.ram .*memory, processes/],
        [{ env: { A: 1 } }, /env\.A/],
        [{ env: { "A B": "1" } }, /env\.A B/],
        [{ cwd: 3 }, /cwd/],
        [{ timeoutSeconds: -1 }, /timeout/],
    ] as const) {
        assert.throws(() => createParams(reader(settings)), expected);
    }
});

test("variables are typed as a shell has them, and values may have blanks", () => {
    assert.deepEqual(parseVariables(" A=1 B=two words C= "), { A: "1", B: "two words", C: "" });
    assert.deepEqual(parseVariables(""), {});
    assert.equal(parseVariables("1A=2"), undefined);
    assert.equal(parseVariables("words A=2"), undefined);
    assert.equal(variablesText({ A: "1", B: "two words" }), "A=1 B=two words");
});

test("a marker gives its cell a timeout", () => {
    const timeouts = cellsOf(["# %% timeout=10", "# %% [bash] timeout=0.5", "// %% title timeout=3", "# %% timeout=0", "# %% notimeout=3", "# %% timeout=3s"]);
    assert.deepEqual(timeouts.map(({ timeoutSeconds }) => timeoutSeconds), [10, 0.5, 3, undefined, undefined, undefined]);
    assert.equal(timeouts[1]?.language, "bash");
});

test("a notebook's cell keeps its timeout in the metadata of its file, beside what others keep there", () => {
    const metadata = { execution_count: 1, metadata: { tags: ["a"], cellgate: { other: 1 } } };
    const changed = withTimeout(metadata, 10);
    assert.deepEqual(changed, { execution_count: 1, metadata: { tags: ["a"], cellgate: { other: 1, timeoutSeconds: 10 } } });
    assert.equal(timeoutOfCell({ metadata: changed }), 10);
    assert.deepEqual(withTimeout(changed, undefined), metadata);
    assert.deepEqual(withTimeout({ metadata: { cellgate: { timeoutSeconds: 1 } } }, undefined), { metadata: {} });
    for (const timeoutSeconds of [0, -1, "10", null]) assert.equal(timeoutOfCell({ metadata: { metadata: { cellgate: { timeoutSeconds } } } }), undefined);
    assert.deepEqual([parseTimeout(""), parseTimeout("0.5"), parseTimeout("0"), parseTimeout("1m")], [{}, { seconds: 0.5 }, undefined, undefined]);
});
