import assert from "node:assert/strict";
import { test } from "node:test";
import { editorLanguageOf, languageOfDocument, runsLanguage } from "../src/cells/languages";
import { cellAt, cellsOf, codeOf, dedented, hasCells } from "../src/cells/cells";

const lines = (text: string) => text.split("\n");

test("each line that begins a cell ends the one before", () => {
    const text = lines("# %% one\na = 1\n#%%\nb = 2\n# <codecell>\nc = 3\n# In[4]:\nd = 4\n");
    assert.deepEqual(
        cellsOf(text).map(({ line, codeLine, lastLine }) => [line, codeLine, lastLine]),
        [
            [0, 1, 1],
            [2, 3, 3],
            [4, 5, 5],
            [6, 7, 8],
        ],
    );
});

test("what comes before the first cell is a cell, unless it is blank", () => {
    assert.deepEqual(cellsOf(lines("import os\n# %%\nx")).map(({ codeLine, lastLine }) => [codeLine, lastLine]), [
        [0, 0],
        [2, 2],
    ]);
    assert.equal(cellsOf(lines("\n\n# %%\nx")).length, 1);
});

test("a text without such a line has no cells", () => {
    assert.deepEqual(cellsOf(lines("import os\n# 100 %%\n    # %%\nx = '# %%'\n")), []);
});

test("text cells are told apart", () => {
    const text = lines("# %% [markdown]\n# Words\n# %%\nx\n# %% Title [markdown]\n# <markdowncell>\n# %%[md]\n");
    assert.deepEqual(
        cellsOf(text).map(({ kind }) => kind),
        ["markdown", "code", "markdown", "markdown", "markdown"],
    );
});

test("a cell begins with a comment of its language, and may name another one", () => {
    const text = lines("let a = 1\n// %% [todo]\nb\n// %% count [Bash]\nc\n-- %% [md]\nd\n# %% [1] [ts]\ne");
    assert.deepEqual(
        cellsOf(text).map(({ line, kind, language }) => [line, kind, language]),
        [
            [0, "code", undefined],
            [1, "code", undefined],
            [3, "code", "bash"],
            [5, "markdown", undefined],
            [7, "code", "typescript"],
        ],
    );
    assert.ok(hasCells("a\n// %%\nb"));
    assert.ok(!hasCells("const a = '// %%'"));
});

test("a line belongs to the cell that begins last before it", () => {
    const cells = cellsOf(lines("\n# %%\na\n# %%\nb"));
    assert.equal(cellAt(cells, 0), undefined);
    assert.equal(cellAt(cells, 2)?.line, 1);
    assert.equal(cellAt(cells, 3)?.line, 3);
    assert.equal(cellAt(cells, 100)?.line, 3);
});

test("code goes without the blank lines around it, and knows its line", () => {
    const text = lines("# %%\n\n  \n%%time\nx = 1\n\n");
    assert.deepEqual(codeOf(text, 1, 6), { text: "%%time\nx = 1\n", line: 3 });
    assert.equal(codeOf(text, 1, 2), undefined);
});

test("lines from inside a block run as they are, without its indentation", () => {
    const code = codeOf(lines("def f():\n    if x:\n        y()\n\n    z()"), 1, 4);
    assert.ok(code);
    assert.deepEqual(dedented(code), { text: "if x:\n    y()\n\nz()\n", line: 1 });
});

test("hasCells agrees with cellsOf", () => {
    const texts = ["# %%", "a\r\n#%%", "a\r# In[4]:", "#\n%%", "# %", " # %%", "x # %%", "", "a\n# <codecell>\n", "#\t<markdowncell>", "#\u2028%%"];
    for (const text of texts) assert.equal(hasCells(text), cellsOf(text.split(/\r\n|\r|\n/)).length > 0, JSON.stringify(text));
});

test("the editor and kernels have names of their own for languages", () => {
    for (const [editor, kernel] of [["shellscript", "bash"], ["r", "R"], ["typescript", "typescript"]] as const) {
        assert.equal(languageOfDocument(editor), kernel);
        assert.equal(editorLanguageOf(kernel), editor);
    }
    assert.equal(languageOfDocument("plaintext"), "python");
    for (const [kernel, editor] of [["julia", "julia"], ["C++", "cpp"], ["Bash", "shellscript"]] as const) {
        assert.equal(editorLanguageOf(kernel), editor);
    }
});

test("a kernel for TypeScript runs JavaScript, and no other runs another language", () => {
    assert.deepEqual([runsLanguage("typescript", "javascript"), runsLanguage("R", "r")], [true, true]);
    assert.deepEqual([runsLanguage("javascript", "typescript"), runsLanguage("python", "r")], [false, false]);
});
