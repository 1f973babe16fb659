// These scenarios try how a user runs cells, by lens, key and command, what is reported of each, and how they are
// stopped.
import assert from "node:assert/strict";
import path from "node:path";
import { withExtension } from "./driver/extensions.mjs";
import { VERSION } from "./driver/installation.mjs";
import { notebookOf, runAll } from "./driver/notebooks.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const files = {
    "plan.py": "# %%\nopen('one', 'w').write('1')\n\n# %%\nopen('two', 'w').write('2')\n\n# %%\n1 / 0\n",
    // Runs until the test says so, and can be interrupted.
    "long.py": [
        "# %%\nimport os, time\nopen('begun', 'w').close()\nwhile not os.path.exists('end'): time.sleep(0.02)\n",
        "# %%\nopen('second', 'w').close()\n",
        "# %%\nopen('third', 'w').close()\n",
    ].join(""),
    "parts.py": "# %%\nlog = open('log', 'a', buffering=1)\n_ = log.write('a\\n')\nif log:\n    _ = log.write('b\\n')\n",
};

const present = (workspace, name) => until(() => workspace.has(name), `the file ${name} that a cell writes`);

scenario("cell_by_command: a cell runs by its lens, and the lens tells how it ended", { files }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
    assert.equal(await workspace.read("one"), "1");
    assert.equal(workspace.has("two"), false);
    await editor.lens("Run Cell").nth(2).click();
    await editor.lens(/\[2\] ZeroDivisionError/).waitFor();
    await editor.statusItem(/plan\.py-\w+ · idle/).waitFor();
    await editor.screenshot("lenses");
});

scenario("cell_by_key: Shift+Enter runs a cell and goes to the next, Ctrl+Enter stays", { files }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.goToLine(2);
    await editor.page.keyboard.press("Shift+Enter");
    await editor.lens(/\[1\]/).waitFor();
    await editor.statusItem("Ln 5, Col 1").waitFor();
    await editor.page.keyboard.press("Control+Enter");
    await editor.lens(/\[2\]/).waitFor();
    await editor.statusItem("Ln 5, Col 1").waitFor();
    assert.equal(await workspace.read("two"), "2");
});

scenario("what is above, what is below and everything run by command", { files }, async ({ editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Above").nth(1).click();
    await editor.lens(/\[2\]/).waitFor();
    await editor.lens("Run Below").nth(1).click();
    await editor.lens(/\[3\] \d/).waitFor();
    await editor.lens(/\[4\] ZeroDivisionError/).waitFor();
    await editor.command("cellgate: Run All Cells");
    await editor.lens(/\[7\] ZeroDivisionError/).waitFor();
    await editor.lens(/\[5\]/).waitFor();
    // A new kernel counts from one.
    await editor.command("cellgate: Restart Kernel and Run All Cells");
    await editor.dialog(/Restart the kernel of plan\.py-\w+\?/).locator(".monaco-button", { hasText: /^Restart$/ }).click();
    await editor.lens(/\[3\] ZeroDivisionError/).waitFor();
});

scenario("a selection runs, a line runs, a file runs", { files }, async ({ workspace, editor }) => {
    const log = (text) =>
        until(async () => workspace.has("log") && (await workspace.read("log")).replaceAll("\n", "") === text, async () =>
            `log to hold ${text}; it holds ${workspace.has("log") ? await workspace.read("log") : "nothing"}`);
    await editor.openFile("parts.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Run File as One Cell");
    await log("ab");
    await editor.goToLine(3);
    await editor.command("cellgate: Run Selection or Line");
    await log("aba");
    // From inside a block, with its indentation.
    await editor.goToLine(5);
    await editor.page.keyboard.press("Shift+End");
    await editor.statusItem(/Ln 5, Col \d+ \(\d+ selected\)/).waitFor();
    await editor.page.keyboard.press("Shift+Enter");
    await log("abab");
});

scenario("what runs can be interrupted, what waits can be cancelled", { files }, async ({ workspace, editor }) => {
    await editor.openFile("long.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Run All Cells");
    await present(workspace, "begun");
    await editor.lens("queued, 2 before it").waitFor();
    await editor.statusItem(/busy · 2 waiting/).waitFor();
    await editor.page.locator(".activitybar .action-label[aria-label^='cellgate']").click();
    const rows = editor.page.locator(".monaco-list-row[aria-level='2']");
    await until(async () => (await rows.count()) === 3, async () => `three executions in the view, there are ${await rows.count()}`);
    await editor.screenshot("queue");
    await editor.lens("Cancel").last().click();
    await editor.lens("cancelled").waitFor();
    await editor.lens("Interrupt").click();
    await editor.lens(/\[1\] (interrupted|KeyboardInterrupt)/).waitFor();
    await editor.statusItem(/long\.py-\w+ · idle/).waitFor();
    assert.equal(workspace.has("third"), false);
});

scenario("a cell that waits for an answer says so, and leads there", {
    files: { "ask.py": "# %%\nfrom mcptools.host import write_file\nwrite_file.run(path='note', content='x')\n" },
    prepare: (workspace) => workspace.cellgate("generate", "host"),
}, async ({ editor }) => {
    await editor.openFile("ask.py");
    await editor.lens("Run Cell").click();
    await editor.lens("1 call waits for you").click();
    await editor.frame("text=write_file on this machine", "the approvals view");
    await editor.lens("Interrupt").click();
    await editor.lens("[1]").waitFor();
    await editor.lens("waits for you").waitFor({ state: "hidden" });
});

scenario("a restart is asked about, until a user wants no more questions", { files }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Restart Kernel");
    await editor.notification("there is no kernel here yet").waitFor();
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\]/).waitFor();
    const dialog = editor.dialog(/Restart the kernel of plan\.py-\w+\? Its variables are gone then/);
    await editor.command("cellgate: Restart Kernel");
    await dialog.waitFor();
    await editor.screenshot("asked");
    await dialog.locator(".monaco-button", { hasText: "Cancel" }).click();
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[2\]/).waitFor();
    // "restarting" is in the status bar for too short a time to be waited for.
    const kernels = async () => (await workspace.processes()).filter(({ command }) => command.includes("/bootstrap.py -f ")).map(({ pid }) => pid);
    const before = await kernels();
    assert.notEqual(before.length, 0);
    await editor.command("cellgate: Restart Kernel");
    await dialog.locator(".monaco-button", { hasText: "Restart, and Don't Ask Again" }).click();
    await until(
        async () => {
            const now = await kernels();
            return now.length > 0 && before.some((pid) => !now.includes(pid)); // one is kept ready, and stays
        },
        async () => `another kernel; there is: ${JSON.stringify(await workspace.processes())}`,
    );
    await editor.statusItem(/plan\.py-\w+ · idle/).waitFor();
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\]/).waitFor();
    await editor.command("cellgate: Restart Kernel and Run All Cells");
    await editor.lens(/\[3\] ZeroDivisionError/).waitFor();
});

const held = {
    files,
    ...withExtension("python"),
    environment: (workspace) => ({ CHOSEN_PYTHON: "/usr/bin/python3", HOLD_PYTHON: path.join(workspace.base, "go") }),
};

scenario("code that waits for its kernel is shown at once, and can be cancelled", held, async ({ workspace, editor }) => {
    await editor.openFile("long.py");
    await editor.lens("Run Cell").nth(1).click();
    await editor.statusItem("cellgate: starting the kernel").waitFor();
    await editor.lens("Run Cell").nth(2).click();
    await until(async () => (await editor.lens("queued").count()) === 2, "two cells that wait");
    await editor.lens("Cancel").first().click();
    await editor.lens("did not run: cancelled before its kernel was there").waitFor();
    await workspace.write("../go", "");
    await present(workspace, "third");
    await editor.lens(/\[1\]/).waitFor();
    assert.equal(workspace.has("second"), false);
});

scenario("a start that takes long can be cancelled, and another one begun", held, async ({ workspace, editor }) => {
    await editor.openFile("long.py");
    await editor.lens("Run Cell").nth(1).click();
    const starting = editor.notification("starting the kernel");
    await starting.waitFor();
    await editor.screenshot("long");
    await starting.locator(".monaco-button", { hasText: "Cancel" }).click();
    await editor.lens("did not run: the start of its kernel was cancelled").waitFor();
    await workspace.write("../go", "");
    await editor.lens("Run Cell").nth(1).click();
    await present(workspace, "second");
});

scenario("input_is_asked: code that reads a line gets what is typed", {
    files: { "ask.py": "# %%\nopen('answer', 'w').write(input('name? [x](command:y) '))\n\n# %%\ninput()\n" },
}, async ({ workspace, editor }) => {
    await editor.openFile("ask.py");
    await editor.lens("Run Cell").first().click();
    const box = editor.page.locator(".quick-input-widget");
    await box.getByText("name? [x] (command:y)").waitFor();
    assert.equal(await box.locator("a", { hasText: "x" }).count(), 0, "a prompt of code makes no link");
    await editor.lens(/waits for input, \d+ s/).waitFor();
    await editor.screenshot("asked");
    await box.locator("input.input").fill("Ada");
    await box.locator("input.input").press("Enter");
    await editor.lens(/\[1\]/).waitFor();
    assert.equal(await workspace.read("answer"), "Ada");
    await editor.lens("Run Cell").nth(1).click();
    await box.getByText(/ask\.py, line 5 asks/).waitFor();
    await endInput(editor);
    await editor.lens(/\[2\] EOFError/).waitFor();
});

/** Presses Escape in the input box. In version 1.100 that hides the box and does not end the input. */
async function endInput(editor) {
    await editor.page.locator(".quick-input-widget input.input").press("Escape");
    if (VERSION !== "1.100") return;
    await editor.statusItem("waits for input").waitFor();
    await editor.command("cellgate: Send End of Input");
}

const asks = {
    "ask.py": "# %%\nopen('answer', 'w').write(input('name? '))\n",
    "last.py": "# %%\ninput('again? ')\n",
    "too.py": "# %%\nfrom getpass import getpass\nopen('secret', 'w').write(getpass('word? '))\n",
};

scenario("what code asks waits behind another input of the editor, and Escape there is no answer", { files: asks }, async ({ workspace, editor }) => {
    const { page } = editor;
    const box = page.locator(".quick-input-widget");
    const input = box.locator("input.input");
    await editor.openFile("ask.py");
    await editor.lens("Run Cell").first().click();
    await box.getByText("name?").waitFor();
    await input.fill("Ad");
    await editor.showPalette();
    await page.locator(".quick-input-list .monaco-list-row").first().waitFor();
    await editor.hidePalette();
    const waits = editor.statusItem("ask.py, line 2 waits for input");
    await waits.waitFor();
    await box.waitFor({ state: "hidden" });
    await editor.screenshot("waits");
    // Another session's question waits behind it.
    await editor.openFile("too.py");
    await editor.lens("Run Cell").first().click();
    await editor.statusItem("ask.py, line 2 waits for input, and 1 more").click();
    await box.getByText("name?").waitFor();
    assert.equal(await input.inputValue(), "Ad");
    await input.fill("Ada");
    await input.press("Enter");
    await box.getByText("word?").waitFor();
    assert.equal(await input.getAttribute("type"), "password");
    await editor.showPalette();
    await page.locator(".quick-input-list .monaco-list-row").first().waitFor();
    await editor.statusItem("too.py, line 2 waits for input").waitFor();
    await editor.hidePalette();
    await editor.command("cellgate: Answer Input Request…");
    await box.getByText("word?").waitFor();
    assert.equal(await input.getAttribute("type"), "password");
    await input.fill("psst");
    await input.press("Enter");
    const answers = async () => `${await workspace.read("answer")} ${await workspace.read("secret")}`;
    await until(async () => (await answers()) === "Ada psst", async () => `both answers; there is ${await answers()}`);
    await editor.openFile("last.py");
    await editor.lens("Run Cell").first().click();
    await box.getByText("again?").waitFor();
    await editor.showPalette();
    await page.locator(".quick-input-list .monaco-list-row").first().waitFor();
    await editor.hidePalette();
    await editor.statusItem("last.py, line 2 waits for input").click();
    await box.getByText("again?").waitFor();
    await endInput(editor);
    await editor.lens(/\[1\] EOFError/).waitFor();
});

scenario("all that waits is cancelled at once, and a row of the queue opens its cell", { files }, async ({ workspace, editor }) => {
    await editor.openFile("long.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Run All Cells");
    await present(workspace, "begun");
    await editor.lens("queued, 2 before it").waitFor();
    await editor.page.locator(".activitybar .action-label[aria-label^='cellgate']").click();
    await editor.page.locator(".monaco-list-row[aria-level='2']", { hasText: "third" }).click();
    await editor.statusItem("Ln 8, Col 1").waitFor();
    await editor.command("cellgate: Cancel All Queued Cells");
    await until(async () => (await editor.lens("cancelled").count()) === 2, "two cells that were cancelled");
    await editor.screenshot("cancelled");
    await workspace.write("end", "");
    await editor.lens(/\[1\]/).waitFor();
    assert.deepEqual([workspace.has("second"), workspace.has("third")], [false, false]);
});

scenario("without a folder a key says what is missing", { workspaceFile: null }, async ({ editor }) => {
    await editor.command("File: New Untitled Text File");
    await editor.textFocus();
    await editor.page.keyboard.type("print(1)");
    await editor.command("Change Language Mode");
    await editor.page.locator(".quick-input-widget input.input").fill("Python");
    await editor.choose("Python");
    await editor.page.locator(".statusbar-item", { hasText: "Python" }).waitFor();
    await editor.textFocus();
    await editor.page.keyboard.press("Control+;");
    await editor.page.keyboard.press("s");
    await editor.notification("cellgate works in a folder").locator(".monaco-button", { hasText: "Open Folder" }).waitFor();
});

scenario("of several folders the first has the kernels, and code of another one is not run there", {
    files: {
        "both.code-workspace": JSON.stringify({ folders: [{ path: "first" }, { path: "second" }] }),
        "first/one.py": "# %%\nopen('one', 'w').close()\n",
        "second/two.py": "# %%\nopen('two', 'w').close()\n",
        "second/three.ipynb": notebookOf("open('three', 'w').close()"),
    },
    workspaceFile: "both.code-workspace",
}, async ({ workspace, editor }) => {
    workspace.served = workspace.file("first");
    await editor.openFile("two.py");
    await editor.lens("Run Cell").click();
    const told = editor.notification("cellgate works in first, the first folder of this workspace, and did not run code of second");
    await told.locator(".monaco-button", { hasText: "Open second in a New Window" }).waitFor();
    await editor.screenshot("told");
    await editor.command("Notifications: Clear All Notifications");
    await runAll(editor, undefined, "three.ipynb");
    await told.waitFor();
    // The control: the same of the first folder runs, and it would have run after the other.
    await editor.openFile("one.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    const made = ["first/one", "first/two", "second/two", "first/three", "second/three"].map((name) => workspace.has(name));
    assert.deepEqual(made, [true, false, false, false, false]);
});
