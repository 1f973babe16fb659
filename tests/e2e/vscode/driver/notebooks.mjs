// These functions open and run ordinary notebooks as a user does.

/** A notebook's file with these cells, of Python. @param {string[]} sources */
export function notebookOf(...sources) {
    return notebookIn("python", sources);
}

/** The same of another language. @param {string} language @param {string[]} sources */
export function notebookIn(language, sources) {
    const cells = sources.map((source, index) => ({ cell_type: "code", id: `c${index}`, metadata: {}, source, execution_count: null, outputs: [] }));
    return JSON.stringify({ cells, metadata: { language_info: { name: language } }, nbformat: 4, nbformat_minor: 5 });
}

/** Opens the notebook, selects one of cellgate's kernels and runs all cells. `whileChoosing`: when these are listed. */
export async function runAll(editor, kernel = /Python.* in cellgate$/, name = "plan.ipynb", whileChoosing = async () => undefined) {
    await editor.openFile(name);
    await editor.page.locator(".kernel-label", { hasText: "Select Kernel" }).click();
    await editor.choose("cellgate");
    await whileChoosing();
    await editor.choose(kernel);
    await editor.page.locator(".kernel-label", { hasText: kernel }).waitFor();
    await editor.command("Notebook: Run All");
}
