// This test compares the table of tests/e2e/scenarios.md with the scenarios here: each name is before the colon in the
// title of one scenario.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

const read = (...way) => readFile(path.join(import.meta.dirname, ...way), "utf8");

test("every scenario of the table is tried, once, and no other is named like one", async () => {
    const table = [...(await read("..", "scenarios.md")).matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    assert.ok(table.length > 0);
    const files = (await readdir(import.meta.dirname)).filter((name) => name.endsWith(".test.mjs"));
    const texts = await Promise.all(files.map((name) => read(name)));
    const titles = texts.flatMap((text) => [...text.matchAll(/^\s*scenario\(\s*"([^"]*)"/gm)].map(([, title]) => title));
    const named = titles.map((title) => title.split(":")[0].split(", ")).filter((names) => names.every((name) => /^[a-z]+(_[a-z]+)*$/.test(name)));
    assert.deepEqual(named.flat().sort(), table.sort());
});
