// Results that become a notebook, and ordinary notebooks that run in cellgate's kernels.
import assert from "node:assert/strict";
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

scenario("results are exported whole, as a notebook of Jupyter", { files: { "plan.py": cells } }, async ({ place, editor }) => {
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
    await editor.page.keyboard.press("Enter");
    await editor.notification("the results are in plan.ipynb").waitFor();
    const notebook = JSON.parse(await place.read("plan.ipynb"));
    assert.deepEqual([notebook.nbformat, notebook.nbformat_minor, notebook.metadata.language_info.name], [4, 5, "python"]);
    const [first, second, third] = notebook.cells;
    assert.deepEqual(first.outputs, [{ output_type: "stream", name: "stdout", text: "ab\n" }]);
    assert.equal(second.outputs[0].data["text/html"], "<i id='italic'>italic</i>");
    assert.equal(second.outputs[0].transient, undefined);
    assert.deepEqual([third.execution_count, third.outputs[0].data["text/plain"].length], [3, 300_002]);
    await editor.screenshot("exported");
});

function notebookOf(...sources) {
    const cells = sources.map((source, index) => ({ cell_type: "code", id: `c${index}`, metadata: {}, source, execution_count: null, outputs: [] }));
    return JSON.stringify({ cells, metadata: { language_info: { name: "python" } }, nbformat: 4, nbformat_minor: 5 });
}

async function runAll(editor) {
    await editor.openFile("plan.ipynb");
    await editor.page.locator(".kernel-label", { hasText: "Select Kernel" }).click();
    await editor.choose("cellgate");
    await editor.choose(/ in cellgate$/);
    await editor.page.locator(".kernel-label", { hasText: "in cellgate" }).waitFor();
    await editor.command("Notebook: Run All");
}

const ordinary = {
    "plan.ipynb": notebookOf(
        "import time\nfor i in range(3):\n    print('step', i, flush=True)",
        "class T:\n    def _repr_html_(self): return '<script>owned</script><u id=under>n</u>'\nT()",
    ),
};

scenario("an ordinary notebook runs in a kernel of cellgate", { files: ordinary }, async ({ place, editor }) => {
    await runAll(editor);
    await editor.frame("text=step 2");
    const html = await editor.frame("#under");
    assert.equal(await html.locator("script").count(), 0);
    await editor.screenshot("run");
    await editor.page.keyboard.press("Control+S");
    await until(async () => (await place.read("plan.ipynb")).includes("step 2"), "the saved notebook");
    const [, second] = JSON.parse(await place.read("plan.ipynb")).cells;
    assert.equal(second.execution_count, 2);
    assert.ok("text/plain" in second.outputs[0].data);
});

const long = {
    "plan.ipynb": notebookOf(
        "import os, time\nprint(*'before', flush=True)\nwhile not os.path.exists('end'): time.sleep(0.02)\nprint(*'after')",
        "print(*'second')",
    ),
};

scenario("the cells of an ordinary notebook go on where they are after a reload", { files: long }, async ({ place, editor }) => {
    await runAll(editor);
    await editor.frame("text=b e f o r e");
    await editor.reload();
    for (const state of ["executing", "pending"]) await editor.page.locator(`.cell-status-item .codicon-notebook-state-${state}`).waitFor();
    await place.write("end", "");
    await editor.frame("text=a f t e r");
    await editor.frame("text=s e c o n d");
    await editor.screenshot("after-reload");
    await editor.page.keyboard.press("Control+S");
    await until(async () => (await place.read("plan.ipynb")).includes("s e c o n d"), "the saved notebook");
    const saved = JSON.parse(await place.read("plan.ipynb")).cells;
    assert.deepEqual(saved.map(({ outputs }) => outputs[0].text.join("")), ["b e f o r e\na f t e r\n", "s e c o n d\n"]);
    assert.deepEqual(saved.map(({ execution_count }) => execution_count), [1, 2]);
});
