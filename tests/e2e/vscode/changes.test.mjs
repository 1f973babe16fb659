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
    await editor.dialog("Undo changes to 3 files?").waitFor();
    await editor.screenshot("question");
    await confirm(editor, "bring back old.txt");
    await filesAre(workspace, before);
    await editor.openFile("plan.py");
    await editor.lens("3 files changed, undone").waitFor();
    await editor.notification("Changes to 3 files undone.").locator(".monaco-button", { hasText: "Undo the Undo" }).click();
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
    await confirm(editor, "Undo changes to 1 file?");
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

const cells = (...sources) => JSON.parse(notebookOf(...sources));
const edit = `import json
notebook = json.load(open("plan.ipynb"))
notebook["cells"][0]["source"] = "x = 41"
notebook["cells"].append({"cell_type": "code", "id": "c9", "metadata": {}, "source": "print(x + 1)", "execution_count": None, "outputs": []})
json.dump(notebook, open("plan.ipynb", "w"))
for cell in notebook["cells"]:
    exec(cell["source"])`;

scenario("an agent's edit of the notebook that is open is seen there, and is kept or undone", {
    files: { "plan.ipynb": notebookOf("x = 1", "y = 2") },
}, async ({ workspace, editor }) => {
    await editor.openFile("plan.ipynb");
    const cell = (text) => editor.page.locator(".notebookOverlay .cell-editor-container .view-lines", { hasText: spaced(text) });
    await cell("x = 1").waitFor();
    const agent = await Agent.start(workspace, "helper");
    assert.match(await agent.call("execute", { code: edit }), /42/);
    await cell("x = 41").waitFor();
    await cell("print").waitFor();
    const notice = editor.notification("helper changed what is open here: plan.ipynb.");
    await editor.screenshot("edited");
    await notice.locator(".monaco-button", { hasText: "Show Changes" }).click();
    await editor.page.locator(".tab.active", { hasText: "before ↔ after" }).waitFor();
    await editor.page.locator(".notebook-text-diff-editor .view-lines", { hasText: spaced("x = 41") }).waitFor();
    await editor.screenshot("difference");
    await notice.locator(".monaco-button", { hasText: "Undo…" }).click();
    await confirm(editor, "restore plan.ipynb");
    const same = async () => JSON.stringify(JSON.parse(await workspace.read("plan.ipynb"))) === JSON.stringify(cells("x = 1", "y = 2"));
    await until(same, "the notebook as it was");
    await editor.openFile("plan.ipynb");
    await cell("x = 1").waitFor();
    await cell("print").waitFor({ state: "detached" });
    await editor.screenshot("undone");

    await agent.call("execute", { code: edit });
    await notice.locator(".monaco-button", { hasText: "Keep" }).click();
    await notice.waitFor({ state: "detached" });
    await cell("print").waitFor();
    await agent.end();
});

scenario("an agent's edit of a file with unsaved changes takes none of them, and says so", {
    files: { "plan.py": "# %%\nfirst\n" },
    settings: { "files.autoSave": "off" },
}, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").waitFor();
    await editor.page.locator(".monaco-editor .view-lines", { hasText: "first" }).first().click();
    await editor.page.keyboard.type("mine ");
    const agent = await Agent.start(workspace, "helper");
    await agent.call("execute", { code: 'open("plan.py", "w").write("the agent\'s\\n")' });
    await editor.notification("Your unsaved changes are still in the editor: plan.py.").waitFor();
    await editor.screenshot("unsaved");
    await editor.page.locator(".monaco-editor .view-lines", { hasText: "mine" }).first().waitFor();
    await agent.end();
});
