// This scenario follows README.md's first cells in VS Code, step by step as docs/vscode.md describes them.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { Approvals } from "./driver/approvals.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const README = await readFile(path.resolve(import.meta.dirname, "../../../README.md"), "utf8");
const firstFile = /Put two cells into `first\.py`[^]*?```python\n([^]*?)```/.exec(README)[1];

scenario("the README leads a new user to an allowed and a denied call", {
    files: { "first.py": firstFile, "notes.txt": "Five days in May.\n" },
    whole: true,
}, async ({ workspace, editor }) => {
    await editor.openFile("first.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Generate Wrappers of Tool Server…");
    await editor.choose("host");
    await until(() => workspace.has("mcptools/host/write_file.py"), "the wrappers of host");
    await editor.goToLine(2);
    await editor.page.keyboard.press("Shift+Enter");
    const approvals = await Approvals.of(editor);
    await approvals.block("read_file on this machine, outside the sandbox").waitFor();
    await approvals.ready(approvals.allow("Allow: this call"));
    await editor.screenshot("waits");
    await approvals.press(approvals.allow("Allow: this call"));
    await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
    await editor.frame("text=words: 4", "the cell's output");

    await editor.lens("Run Cell").nth(1).click();
    await approvals.block("write_file on this machine, outside the sandbox").waitFor();
    await approvals.frame.locator("input.reason").fill("not today");
    await approvals.press(approvals.deny);
    await editor.lens(/\[2\] ApprovalDenied/).waitFor();
    assert.equal(workspace.has("count.txt"), false);
    await editor.frame("text=ApprovalDenied: not today", "the reason in the traceback");
    await editor.screenshot("denied");
});
