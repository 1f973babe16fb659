// These scenarios try results that become a notebook, and ordinary notebooks that run in cellgate's kernels.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rm } from "node:fs/promises";
import path from "node:path";
import { bareVenv, withoutBubblewrap } from "./driver/machines.mjs";
import { notebookOf, runAll } from "./driver/notebooks.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const cells = `# %%
from IPython.display import HTML, display, update_display
print("a", end="")
print("b")

# %%
display(HTML("<b id='bold'>bold</b>"), display_id="d")

# %%
update_display(HTML("<i id='italic'>italic</i>"), display_id="d")
"x" * 300_000
`;

scenario("results are exported whole, as a notebook of Jupyter", { files: { "plan.py": cells } }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Run All Cells");
    // What one cell displays, another one changes.
    await editor.lens(/\[3\] /).waitFor();
    await editor.frame("#italic");
    assert.equal(await editor.inFrames("#bold"), undefined);
    await editor.command("cellgate: Export Results to Notebook…");
    const name = editor.page.locator(".quick-input-widget input.input");
    await until(async () => (await name.inputValue()).endsWith("/plan.ipynb"), async () => `a file's name; it is ${await name.inputValue()}`);
    await name.press("Enter");
    await editor.notification("the results are in plan.ipynb").waitFor();
    const notebook = JSON.parse(await workspace.read("plan.ipynb"));
    assert.deepEqual([notebook.nbformat, notebook.nbformat_minor, notebook.metadata.language_info.name], [4, 5, "python"]);
    const [first, second, third] = notebook.cells;
    assert.deepEqual(first.outputs, [{ output_type: "stream", name: "stdout", text: "ab\n" }]);
    assert.equal(second.outputs[0].data["text/html"], "<i id='italic'>italic</i>");
    assert.equal(second.outputs[0].transient, undefined);
    assert.deepEqual([third.execution_count, third.outputs[0].data["text/plain"].length], [3, 300_002]);
    await editor.screenshot("exported");
});

const ordinary = {
    "plan.ipynb": notebookOf(
        "import time\nfor i in range(3):\n    print('step', i, flush=True)",
        "class T:\n    def _repr_html_(self): return '<script>owned</script><u id=under>n</u>'\nT()",
    ),
};

/** Saves the notebook until its file has this output, and all of its cells have ended. */
async function save(editor, workspace, output) {
    const isSaved = async () => {
        const text = await workspace.read("plan.ipynb");
        if (text === "") return false; // it is being written
        const { cells } = JSON.parse(text);
        return cells.every((cell) => cell.execution_count) && JSON.stringify(cells).includes(output);
    };
    await editor.pressUntil("Control+S", isSaved, "the saved notebook");
}

scenario("an ordinary notebook runs in a kernel of cellgate", { files: ordinary }, async ({ workspace, editor }) => {
    await runAll(editor);
    await editor.frame("text=step 2");
    const html = await editor.frame("#under");
    assert.equal(await html.locator("script").count(), 0);
    await editor.screenshot("run");
    await save(editor, workspace, "step 2");
    const [, second] = JSON.parse(await workspace.read("plan.ipynb")).cells;
    assert.equal(second.execution_count, 2);
    assert.ok("text/plain" in second.outputs[0].data);
});

const long = {
    "plan.ipynb": notebookOf(
        "import os, time\nprint(*'before', flush=True)\nwhile not os.path.exists('end'): time.sleep(0.02)\nprint(*'after')",
        "print(*'second')\nopen('ended', 'w').close()",
    ),
};

scenario("the cells of an ordinary notebook go on where they are after a reload", { files: long }, async ({ workspace, editor }) => {
    await runAll(editor);
    await editor.frame("text=b e f o r e");
    await editor.reload();
    for (const state of ["executing", "pending"]) await editor.page.locator(`.cell-status-item .codicon-notebook-state-${state}`).waitFor();
    await workspace.write("end", "");
    await editor.frame("text=a f t e r");
    await editor.frame("text=s e c o n d");
    await editor.screenshot("after-reload");
    await save(editor, workspace, "s e c o n d");
    const { cells } = JSON.parse(await workspace.read("plan.ipynb"));
    assert.deepEqual(cells.map(({ outputs }) => outputs[0].text.join("")), ["b e f o r e\na f t e r\n", "s e c o n d\n"]);
    assert.deepEqual(cells.map(({ execution_count }) => execution_count), [1, 2]);
});

scenario("what a notebook's cells put out while no window was there is in them after a reload", { files: long }, async ({ workspace, editor }) => {
    await runAll(editor);
    await editor.frame("text=b e f o r e");
    await editor.reload(async () => {
        await workspace.write("end", "");
        await until(() => workspace.has("ended"), "the end of the second cell");
    });
    await editor.frame("text=a f t e r");
    await editor.frame("text=s e c o n d");
    await editor.screenshot("after-reload");
    await save(editor, workspace, "s e c o n d");
    const { cells } = JSON.parse(await workspace.read("plan.ipynb"));
    assert.deepEqual(cells.map(({ outputs }) => outputs[0].text.join("")), ["b e f o r e\na f t e r\n", "s e c o n d\n"]);
    assert.deepEqual(cells.map(({ execution_count }) => execution_count), [1, 2]);
});

scenario("a notebook that is closed while its cells run has them go on when it is opened again", { files: long }, async ({ workspace, editor }) => {
    await runAll(editor);
    await editor.frame("text=b e f o r e");
    await editor.pressUntil("Control+S", async () => (await editor.page.locator(".tab.dirty").count()) === 0, "the notebook to be saved");
    await editor.command("View: Close Editor");
    await editor.page.locator(".tab", { hasText: "plan.ipynb" }).waitFor({ state: "detached" });
    await editor.openFile("plan.ipynb");
    for (const state of ["executing", "pending"]) await editor.page.locator(`.cell-status-item .codicon-notebook-state-${state}`).waitFor();
    await workspace.write("end", "");
    await editor.frame("text=a f t e r");
    await editor.frame("text=s e c o n d");
    // Nothing of the first time is in the way of another one.
    await rm(workspace.file("ended"));
    await editor.command("Notebook: Run All");
    await until(() => workspace.has("ended"), "the end of the second cell, run again");
    await editor.screenshot("again");
});

const where = {
    "plan.ipynb": notebookOf("import sys\nopen('which', 'w').write(f'{sys.prefix} {globals().get(\"kept\")}')\nkept = 'kept'"),
    "first.py": "# %%\nprint(*'first')\n",
};

/** What the cell wrote, once it has run again. */
async function written(workspace) {
    const text = await until(async () => workspace.has("which") && (await workspace.read("which")), "the file that the cell writes");
    await rm(workspace.file("which"));
    return text.split(" ");
}

const idle = (editor, name) => editor.statusItem(new RegExp(`${name}-\\w+ · idle`)).waitFor();

scenario("in a notebook the palette's commands are about the notebook's kernel, and no other is started", { files: where }, async ({ workspace, editor }) => {
    await runAll(editor);
    await written(workspace);
    await idle(editor, "plan\\.ipynb");
    await editor.page.locator(".cell .monaco-editor .view-line").first().click();
    for (const title of ["Run Selection or Line", "Run File as One Cell", "Attach File to Session…"]) {
        assert.equal(await editor.offers(`cellgate: ${title}`), false, title);
    }
    await editor.command("cellgate: Restart Kernel");
    await editor.dialog(/Restart the kernel of plan\.ipynb-\w+\?/).locator(".monaco-button", { hasText: /^Restart$/ }).click();
    await editor.command("Notebook: Run All");
    assert.equal((await written(workspace))[1], "None");
    await editor.page.locator(".activitybar .action-label[aria-label^='cellgate']").click();
    const sessions = editor.page.locator(".monaco-list-row[aria-label^='session ']");
    await sessions.first().waitFor();
    assert.deepEqual(await sessions.count(), 1);
    await editor.screenshot("restarted");
    // The notebook of results is about the session whose results it shows.
    await editor.openFile("first.py");
    assert.equal(await editor.offers("cellgate: Run Selection or Line"), true);
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\]/).waitFor();
    await editor.page.locator(".tab", { hasText: ".cellgate-results" }).click();
    await until(async () => !(await editor.offers("cellgate: Run Selection or Line")), "the palette of a notebook");
    await editor.command("cellgate: Restart Kernel");
    await editor.dialog(/Restart the kernel of first\.py-\w+\?/).locator(".monaco-button", { hasText: "Cancel" }).click();
});

async function systemVenv(workspace) {
    execFileSync("/usr/bin/python3", ["-m", "venv", "--without-pip", "--system-site-packages", path.join(workspace.base, "venv")]);
}

const environment = (workspace) => ({ VIRTUAL_ENV: path.join(workspace.base, "venv") });

scenario("a notebook whose kernel is switched runs in the one that was chosen", { files: where, prepare: systemVenv, environment }, async ({ workspace, editor }) => {
    const venv = path.join(workspace.base, "venv");
    await runAll(editor, /\/venv\/.* in cellgate$/);
    assert.deepEqual(await written(workspace), [venv, "None"]);
    await editor.command("Notebook: Run All");
    assert.deepEqual(await written(workspace), [venv, "kept"]);
    await editor.page.locator(".kernel-label", { hasText: "venv" }).click();
    await editor.choose("Select Another Kernel...");
    await editor.choose("cellgate");
    await editor.choose(/^Python 3 \(ipykernel\) in cellgate$/);
    await editor.page.locator(".kernel-label", { hasText: "ipykernel" }).waitFor();
    await editor.command("Notebook: Run All");
    assert.deepEqual(await written(workspace), ["/usr", "None"]);
    await editor.command("Notebook: Run All");
    assert.deepEqual(await written(workspace), ["/usr", "kept"]);
});

scenario("a notebook on a machine that refuses the sandbox: the fix is shown, and a user may run it without", {
    files: where,
    prepare: withoutBubblewrap,
}, async ({ workspace, editor }) => {
    await runAll(editor);
    const dialog = editor.dialog("the sandbox needs bubblewrap");
    await dialog.getByText("apt install bubblewrap").waitFor();
    await editor.screenshot("offer");
    assert.equal(workspace.has("which"), false);
    await dialog.locator(".monaco-button", { hasText: "Run Unsandboxed in This Session" }).click();
    await written(workspace);
    await editor.statusItem("unsandboxed").waitFor();
});

scenario("a notebook's interpreter without ipykernel: the command that installs it is shown, and runs where it is seen", {
    files: where,
    prepare: bareVenv,
    environment,
}, async ({ workspace, editor }) => {
    await runAll(editor, /\/venv\/.* in cellgate$/);
    const dialog = editor.dialog("expected ipykernel in the interpreter");
    await dialog.getByText(/venv\/bin\/python\S* -m pip install ipykernel/).waitFor();
    await dialog.locator(".monaco-button", { hasText: "Install in a Terminal" }).click();
    assert.equal((await written(workspace))[0], path.join(workspace.base, "venv"));
});
