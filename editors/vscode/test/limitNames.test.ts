import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { limitNames } from "../src/sessionViews/limitNames";

test("the usual limits are those of the documentation", () => {
    const docs = readFileSync(join(__dirname, "../../../../docs/limits.md"), "utf8").split("\n");
    for (const { name, usual } of limitNames) {
        const row = docs.find((line) => line.startsWith(`| \`${name}\` |`)) ?? "";
        const figures = usual === "no limit" ? ["none"] : (usual.match(/¾|the system's|\d+( [GM]iB)?/g) ?? []);
        assert.ok(figures.length > 0, usual);
        for (const figure of figures) assert.ok((row.split("|")[3] ?? "").includes(figure), `${name}: ${usual}`);
    }
});
