// These tests try checks of code without the editor: which code is sent, when, and where a finding is in the document.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { ResponseError, type CancellationToken } from "vscode-jsonrpc/node";
import { Checker } from "../src/check/checker";
import { inContext, piecesOf } from "../src/check/pieces";
import { positionIn, spanIn, titleOfEdits } from "../src/check/positions";
import { isOfWrappers, languageImporting, serverImported } from "../src/check/wrappers";
import type { Diagnostic, ValidateParams, ValidateResult } from "../src/protocol/messages";

interface Pending {
    params: ValidateParams;
    answer(result?: Partial<ValidateResult>): void;
    refuse(error: Error): void;
}

/** A sidecar whose answers the test gives; it answers a cancelled request with an error, as the sidecar does. */
function place() {
    const asked: Pending[] = [];
    const log: string[] = [];
    const request = (_: string, params: object, token?: CancellationToken) =>
        new Promise<never>((resolve, reject) => {
            token?.onCancellationRequested(() => reject(new ResponseError(-32800, "cancelled")));
            const answer = (result = {}) => resolve({ diagnostics: [], checkers: ["python"], ...result } as never);
            asked.push({ params: params as ValidateParams, answer, refuse: reject });
        });
    return { asked, log, checker: new Checker({ request }, { info: (text: string) => log.push(text) }) };
}

async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await turn();
}

const diagnostic = (more: Partial<Diagnostic> = {}): Diagnostic => ({
    ...{ line: 0, column: 0, endLine: 0, endColumn: 1, severity: "error", rule: "syntax", message: "it is wrong" },
    ...more,
});

test("each code cell is checked by itself, with its language; a text without cells as one", () => {
    assert.deepEqual(piecesOf(["import os", "# %%", "", "x", "", "# %% [markdown]", "words", "# %% [bash]", "ls"]), [
        { code: "import os\n", line: 0 },
        { code: "x\n", line: 3 },
        { code: "ls\n", line: 8, language: "bash" },
    ]);
    assert.deepEqual(piecesOf(["", "x", "y"]), [{ code: "x\ny\n", line: 1 }]);
    assert.deepEqual(piecesOf(["", " "]), []);
});

test("a cell comes with the code of the cells before it that are of its language", () => {
    const all = [{ code: "import os\n" }, { code: "ls\n", language: "bash" }, { code: "os\n", sessionId: "s" }, { code: "x\n" }];
    assert.deepEqual(inContext(all), [all[0], all[1], { ...all[2], context: ["import os\n"] }, { ...all[3], context: ["import os\n", "os\n"] }]);
    const [, , last] = inContext([{ code: "a" }, { code: "b".repeat(1 << 20) }, { code: "c" }]);
    assert.deepEqual(last?.context?.length, 1);
});

test("columns are code points in the protocol, and UTF-16 in the editor", () => {
    const lines = ["# %%", "s = '😀é' + x", "end"];
    assert.deepEqual(positionIn(lines, 1, 0, 11), { line: 1, character: 12 });
    const { start, end } = spanIn(lines, 1, { line: 0, column: 6, endLine: 2, endColumn: 0 });
    assert.deepEqual([start, end], [{ line: 1, character: 7 }, { line: 2, character: 3 }]);
});

test("a document has one request at a time, and a later check supersedes an earlier one", async () => {
    const { asked, checker } = place();
    const first = checker.check("a", () => [{ code: "1" }, { code: "2" }], 0);
    await until(() => asked.length === 1);
    const second = checker.check("a", () => [{ code: "3" }], 0);
    const third = checker.check("a", () => [{ code: "4" }], 0);
    assert.deepEqual(await first, { kind: "superseded" });
    assert.deepEqual(await second, { kind: "superseded" });
    await until(() => asked.length === 2);
    asked[1]?.answer({ diagnostics: [diagnostic()] });
    assert.deepEqual(await third, { kind: "checked", results: [{ diagnostics: [diagnostic()], checkers: ["python"] }] });
    assert.deepEqual(asked.map(({ params }) => params.code), ["1", "4"]);
});

test("documents are checked independently, and a closed one no more", async () => {
    const { asked, checker } = place();
    const both = [checker.check("a", () => [{ code: "a" }], 0), checker.check("b", () => [{ code: "b" }], 0)];
    await until(() => asked.length === 2);
    checker.cancel("a");
    asked[1]?.answer();
    assert.deepEqual((await Promise.all(both)).map(({ kind }) => kind), ["superseded", "checked"]);
});

test("an older sidecar's answer is no error, any other one is", async () => {
    const { asked, checker } = place();
    const unknown = checker.check("a", () => [{ code: "a" }], 0);
    await until(() => asked.length === 1);
    asked[0]?.refuse(new ResponseError(-32601, "no such method"));
    assert.deepEqual(await unknown, { kind: "unknown" });
    const failed = checker.check("a", () => [{ code: "a" }], 0);
    await until(() => asked.length === 2);
    asked[1]?.refuse(new ResponseError(1000, "broken"));
    await assert.rejects(failed, /broken/);
});

test("the log names a missing checker once", async () => {
    const { asked, log, checker } = place();
    for (const uri of ["a", "b"]) {
        const checked = checker.check(uri, () => [{ code: uri }], 0);
        await until(() => asked.some(({ params }) => params.code === uri));
        asked.at(-1)?.answer({ missing: ["pyright: npm install pyright"] });
        await checked;
    }
    assert.deepEqual(log, ["checks of code would find more with pyright: npm install pyright"]);
});

test("a quick fix says what it does", () => {
    const edit = (newText: string, endColumn = 0) => ({ line: 0, column: 0, endLine: 0, endColumn, newText });
    const titles = [[edit("import json\n")], [edit("json", 3)], [edit("", 3)], [edit("a"), edit("b")]].map((edits) => titleOfEdits(diagnostic({ edits })));
    assert.deepEqual(titles, ["Insert import json", "Replace with json", "Remove it", "Fix: it is wrong"]);
});

test("wrappers that are missing are those of the server that the import names", () => {
    const servers = ["host", "my-notes", "a.b", "a_b"];
    assert.equal(serverImported("from mcptools.host import read_file", servers), "host");
    assert.equal(serverImported("import mcptools.my_notes as notes", servers), "my-notes");
    assert.equal(serverImported('import { run } from "./mcptools/my-notes.ts"', servers), "my-notes");
    assert.equal(serverImported("from mcptools.a_b import x", servers), undefined);
    assert.equal(serverImported("import mcptools", servers), undefined);
    // A note of a cell gives the package, and a quick fix the import.
    for (const code of ["mcptools", "mcptools.notes", "from mcptools.host import read_file"]) assert.equal(languageImporting(code), "python");
    assert.equal(languageImporting('import { run } from "./mcptools/my-notes.ts"'), "typescript");
    assert.ok(isOfWrappers({ rule: "import.not_found", message: "there is no module mcptools: generate the wrappers of that server" }));
    assert.ok(!isOfWrappers({ rule: "import.not_found", message: "there is no module pandas" }));
});
