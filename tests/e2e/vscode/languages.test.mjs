// These scenarios try files of other languages than Python, and cells that name a language of their own.
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { Approvals } from "./driver/approvals.mjs";
import { filesWith, languages, withDeno } from "./driver/languages.mjs";
import { notebookIn, runAll } from "./driver/notebooks.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const files = {
    "setup.sh": "# %%\nx=said\necho $x by bash | tee one\n\n# %% [python]\nprint(open('two', 'w').write('2'))\n\n# %%\necho $x again; false\n",
};

scenario("a script runs in bash, and a cell that says so in Python", { files }, async ({ workspace, editor }) => {
    await editor.openFile("setup.sh");
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
    assert.equal(await workspace.read("one"), "said by bash\n");
    await editor.lens("Run Cell").nth(1).click();
    await editor.lens(/\[1\] [\d.]+ m?s/).nth(1).waitFor(); // each language's session counts by itself
    assert.equal(await workspace.read("two"), "2");
    await editor.lens("Run Cell").nth(2).click();
    await editor.lens(/\[2\] ExitStatus/).waitFor();
    await editor.screenshot("languages");
});

/** Opens the language's file, for what runs its cells. */
async function open(editor, { file }) {
    await editor.openFile(file);
    await editor.lens("Run Cell").first().waitFor();
}

scenario("language_runs: a cell prints, and one fails, in each language", { files: filesWith("prints", "raises"), prepare: withDeno }, async ({ editor }) => {
    for (const language of languages) {
        await open(editor, language);
        await editor.command("cellgate: Run All Cells");
        await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
        await editor.lens(new RegExp(`\\[2\\] ${language.error}`)).waitFor();
        await editor.frame("text=said 42");
        await editor.frame("text=wrong");
        await editor.screenshot(language.name);
        await editor.command("View: Close All Editors");
    }
});

/** What the cell `asks` wrote. */
async function asked(workspace) {
    await until(() => workspace.has("asked"), "the file that the cell writes");
    const text = await until(() => workspace.read("asked"), "its text");
    await rm(workspace.file("asked"));
    return text;
}

scenario("language_stops: a loop is interrupted and a kernel restarted, in each language", {
    files: filesWith("keeps", "loops", "asks"),
    prepare: withDeno,
}, async ({ workspace, editor }) => {
    for (const language of languages) {
        await open(editor, language);
        await editor.lens("Run Cell").nth(0).click();
        await editor.lens(/\[1\]/).waitFor();
        await editor.lens("Run Cell").nth(1).click();
        await until(() => workspace.has("begun"), "the loop");
        await editor.command("cellgate: Interrupt");
        await editor.lens(/\[2\] (interrupted|KeyboardInterrupt|Error)/).waitFor();
        await editor.lens("Run Cell").nth(2).click();
        assert.equal(await asked(workspace), "kept");
        await editor.command("cellgate: Restart Kernel");
        await editor.dialog(/Restart the kernel of live/).locator(".monaco-button", { hasText: /^Restart$/ }).click();
        await editor.statusItem(/live\.\w+-\w+ · idle/).waitFor();
        await editor.lens("Run Cell").nth(2).click();
        assert.equal(await asked(workspace), "gone");
        await rm(workspace.file("begun"));
        await editor.command("View: Close All Editors");
    }
});

scenario("language_completes: a name that the kernel knows, in each language", { files: filesWith("keeps", "prints"), prepare: withDeno }, async ({ editor }) => {
    const { page } = editor;
    for (const language of languages) {
        await open(editor, language);
        await editor.lens("Run Cell").first().click();
        await editor.lens(/\[1\]/).waitFor();
        await editor.statusItem(/live\.\w+-\w+ · idle/).waitFor();
        await editor.openFile(language.file);
        await editor.goToLine(6);
        await page.keyboard.type(language.typed);
        const suggestion = page.locator(".suggest-widget .monaco-list-row", { hasText: /kernel/ }).filter({ hasText: language.completed });
        await editor.pressUntil("Control+Space", () => suggestion.isVisible(), "what the kernel suggests");
        await editor.screenshot(language.name);
        await suggestion.click();
        const text = () => page.locator(".editor-group-container.active .view-lines").first().innerText();
        await until(async () => (await text()).split(/\s+/).includes(language.completed), async () => `the completed line; there is ${await text()}`);
        await editor.pressUntil("Control+S", async () => (await page.locator(".tab.dirty").count()) === 0, "the file to be saved");
        await editor.command("View: Close All Editors");
    }
});

scenario("language_call_waits: wrappers in the file's language, and a call at its line", {
    files: { ...filesWith("calls"), "notes.txt": "Five days in May." },
    prepare: withDeno,
}, async ({ editor }) => {
    for (const language of languages) {
        await open(editor, language);
        await editor.command("cellgate: Generate Wrappers of Tool Server…");
        await editor.choose("host");
        await editor.notification("Cells import from it").waitFor();
        await editor.lens("Run Cell").first().click();
        const approvals = await Approvals.of(editor);
        await approvals.block("notes.txt").waitFor();
        await approvals.block(`${language.file}:3`).waitFor();
        await editor.screenshot(language.name);
        await approvals.press(approvals.allow("this call"));
        await editor.lens(/\[1\]/).waitFor();
        await editor.frame("text=Five days in May.");
        await editor.command("Notifications: Clear All Notifications");
        await editor.command("View: Close All Editors");
    }
});

for (const { name, kernel, prints, raises, error, keeps, typed, completed } of languages) {
    scenario(`a notebook of ${name} offers the kernels of its language first, runs in one, and is completed by it`, {
        files: { "plan.ipynb": notebookIn(name, [keeps, prints, raises]) },
        prepare: withDeno,
    }, async ({ editor }) => {
        const first = editor.page.locator(".quick-input-list .monaco-list-row .label-name").first();
        await runAll(editor, kernel, "plan.ipynb", async () => {
            await until(async () => kernel.test(await first.innerText()), async () => `a kernel of ${name} first; it is ${await first.innerText()}`);
            await editor.screenshot("kernels");
        });
        await editor.frame("text=said 42");
        await editor.frame(`text=${error}`);
        await editor.screenshot("ran");
        await editor.statusItem(/plan\.ipynb-\w+ · idle/).waitFor();
        await editor.page.locator(".cell .monaco-editor .view-line").first().click();
        await editor.page.keyboard.press("Control+End");
        await editor.page.keyboard.press("Enter");
        await editor.page.keyboard.type(typed);
        const suggestion = editor.page.locator(".suggest-widget .monaco-list-row", { hasText: /kernel/ }).filter({ hasText: completed });
        await editor.pressUntil("Control+Space", () => suggestion.isVisible(), "what the kernel suggests");
        await editor.screenshot("completed");
    });
}
