// These scenarios show which files a cell changed, and undo that.
import assert from "node:assert/strict";
import { Agent } from "./driver/agent.mjs";
import { notebookOf, runAll } from "./driver/notebooks.mjs";
import { scenario } from "./driver/scenario.mjs";
import { press, row, unfold } from "./driver/views.mjs";
import { until } from "./driver/wait.mjs";

const code = `import os
open("new.txt", "w").write("made here\\n")
open("notes.txt", "a").write("second line\\n")
os.remove("old.txt")
`;
const before = { "notes.txt": "first line\n", "old.txt": "old\n", "new.txt": undefined };
const after = { "notes.txt": "first line\nsecond line\n", "old.txt": undefined, "new.txt": "made here\n" };
const files = { "plan.py": `# %%\n${code}`, "notes.txt": before["notes.txt"], "old.txt": before["old.txt"] };

/** @param {import("./driver/workspace.mjs").TestWorkspace} workspace */
async function filesAre(workspace, expected) {
    const present = async () => Object.fromEntries(await Promise.all(
        Object.keys(before).map(async (name) => [name, workspace.has(name) ? await workspace.read(name) : undefined])));
    const same = async () => JSON.stringify(await present()) === JSON.stringify(expected);
    await until(same, async () => `${JSON.stringify(expected)}; there is ${JSON.stringify(await present())}`);
}

const confirm = (editor, question) => editor.dialog(question).locator(".monaco-button", { hasText: "Undo Changes" }).click();
const diff = (editor, text) => editor.page.locator(".monaco-diff-editor .view-lines", { hasText: spaced(text) });

/** The editor writes spaces of a text as no-break ones. */
const spaced = (text) => new RegExp(text.replaceAll(" ", "\\s"));

async function runAndShow(editor) {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    await editor.lens("3 files changed").click();
    await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "old.txt" }).waitFor();
}

scenario("what a cell changed is shown at it, opens as a difference, and is undone, as is the undo", { files }, async ({ workspace, editor }) => {
    await runAndShow(editor);
    await editor.screenshot("files");
    await editor.choose("M notes.txt");
    await diff(editor, "second line").first().waitFor();
    await editor.screenshot("difference");
    await editor.command("cellgate: Undo Changes of…");
    await editor.choose("import os");
    await editor.dialog("Make 3 files as before?").waitFor();
    await editor.screenshot("question");
    await confirm(editor, "bring back old.txt");
    await filesAre(workspace, before);
    await editor.openFile("plan.py");
    await editor.lens("3 files changed, undone").waitFor();
    await editor.notification("3 files as before.").locator(".monaco-button", { hasText: "Undo the Undo" }).click();
    await confirm(editor, "delete old.txt");
    await filesAre(workspace, after);
    await editor.lens(/3 files changed$/).waitFor();
    await editor.screenshot("undone-twice");
});

scenario("an undo of a file that was changed since does nothing, and shows what was changed", { files }, async ({ workspace, editor }) => {
    await runAndShow(editor);
    await workspace.write("notes.txt", "mine\n");
    await editor.choose(/Undo All…/);
    await confirm(editor, "restore notes.txt");
    await editor.page.locator(".quick-input-titlebar", { hasText: "Nothing was undone" }).waitFor();
    await editor.screenshot("refused");
    await filesAre(workspace, { ...after, "notes.txt": "mine\n" });
    await editor.choose("notes.txt");
    await diff(editor, "mine").first().waitFor();
    await editor.screenshot("since");
    await editor.command("cellgate: Show Files Changed by…");
    await editor.choose("import os");
    const old = editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "old.txt" });
    await old.hover();
    await old.locator('.action-label[aria-label^="Undo This File"]').click();
    await confirm(editor, "Make 1 file as before?");
    await filesAre(workspace, { ...after, "notes.txt": "mine\n", "old.txt": "old\n" });
});

scenario("what the cell of a notebook changed is shown below it, and in the record", { files: { ...files, "plan.ipynb": notebookOf(code) } }, async ({ editor }) => {
    await runAll(editor);
    const item = editor.page.locator(".cell-status-item", { hasText: "3 files changed" });
    await item.waitFor();
    await editor.screenshot("notebook");
    await item.click();
    await editor.choose("A new.txt");
    await diff(editor, "made here").first().waitFor();
    await editor.page.locator(".activitybar .action-label[aria-label^=cellgate]").click();
    const record = await unfold(editor, "Record");
    await row(record, "import os").first().click();
    await editor.page.keyboard.press("ArrowRight");
    await press(record, "changed 3 files", "Show Changes");
    await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "old.txt" }).waitFor();
    await editor.screenshot("record");
});

scenario("what an agent's code changed is listed with its name, and nothing where the setting says so", {
    files,
    settings: { "cellgate.keepChanges": false },
}, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    const agent = await Agent.start(workspace, "helper");
    await agent.call("execute", { code });
    await editor.command("cellgate: Show Files Changed by…");
    await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "agent helper" }).click();
    await editor.choose("D old.txt");
    await diff(editor, "old").first().waitFor();
    await agent.end();
    await workspace.write("old.txt", "again\n");
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
    assert.equal(await editor.lens("files changed").count(), 0);
});
