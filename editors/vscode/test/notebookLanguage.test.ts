import assert from "node:assert/strict";
import { test } from "node:test";
import { languageOfNotebook } from "../src/notebooks/language";

test("a notebook's language is what its file says, else its first cell's, else Python", () => {
    const cases: [object, string[], string][] = [
        [{ metadata: { language_info: { name: "typescript" } } }, ["python"], "typescript"],
        [{ metadata: { kernelspec: { name: "ir", language: "R" } } }, [], "R"],
        [{ metadata: { language_info: { name: "" }, kernelspec: { language: "bash" } } }, [], "bash"],
        [{ metadata: { language_info: { name: 3 } } }, ["shellscript"], "bash"],
        [{}, ["javascript", "python"], "javascript"],
        [{}, ["julia"], "julia"],
        [{}, [], "python"],
    ];
    for (const [metadata, cells, expected] of cases) assert.equal(languageOfNotebook(metadata, cells), expected);
});
