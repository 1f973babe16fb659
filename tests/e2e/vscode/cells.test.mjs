// Cells as a person runs them: by lens, by key and by command; what they are told of each, and how it is stopped.
import assert from "node:assert/strict";
import path from "node:path";
import { beside } from "./driver/extensions.mjs";
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

const present = (place, name) => until(() => place.has(name), `the file ${name} that a cell writes`);

scenario("cell_by_command: a cell runs by its lens, and the lens tells how it ended", { files }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
    assert.equal(await place.read("one"), "1");
    assert.equal(place.has("two"), false);
    await editor.lens("Run Cell").nth(2).click();
    await editor.lens(/\[2\] ZeroDivisionError/).waitFor();
    await editor.statusItem(/plan\.py-\w+ · idle/).waitFor();
    await editor.screenshot("lenses");
});

scenario("cell_by_key: Shift+Enter runs a cell and goes to the next, Ctrl+Enter stays", { files }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.goToLine(2);
    await editor.page.keyboard.press("Shift+Enter");
    await editor.lens(/\[1\]/).waitFor();
    await editor.statusItem("Ln 5, Col 1").waitFor();
    await editor.page.keyboard.press("Control+Enter");
    await editor.lens(/\[2\]/).waitFor();
    await editor.statusItem("Ln 5, Col 1").waitFor();
    assert.equal(await place.read("two"), "2");
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

scenario("a selection runs, a line runs, a file runs", { files }, async ({ place, editor }) => {
    const log = (text) =>
        until(async () => place.has("log") && (await place.read("log")).replaceAll("\n", "") === text, async () =>
            `log to hold ${text}; it holds ${place.has("log") ? await place.read("log") : "nothing"}`);
    await editor.openFile("parts.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Run File as One Cell");
    await log("ab");
    await editor.goToLine(3);
    await editor.command("cellgate: Run Selection or Line");
    await log("aba");
    // From inside a block, with its indentation.
    await editor.goToLine(5);
    await editor.page.keyboard.press("Home");
    await editor.page.keyboard.press("Home");
    await editor.page.keyboard.press("Shift+End");
    await editor.page.keyboard.press("Shift+Enter");
    await log("abab");
});

scenario("what runs can be interrupted, what waits can be cancelled", { files }, async ({ place, editor }) => {
    await editor.openFile("long.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Run All Cells");
    await present(place, "begun");
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
    assert.equal(place.has("third"), false);
});

scenario("a cell that waits for an answer says so, and leads there", {
    files: { "ask.py": "# %%\nfrom mcptools.host import write_file\nwrite_file.run(path='note', content='x')\n" },
    prepare: (place) => place.cellgate("generate", "host"),
}, async ({ editor }) => {
    await editor.openFile("ask.py");
    await editor.lens("Run Cell").click();
    await editor.lens("one call waits for you").click();
    await editor.frame("text=write_file on this machine", "the approvals view");
    await editor.lens("Interrupt").click();
    await editor.lens("[1]").waitFor();
    await editor.lens("waits for you").waitFor({ state: "hidden" });
});

scenario("a restart is asked about, until a person wants no more questions", { files }, async ({ place, editor }) => {
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
    // "restarting" stands in the status bar for too short a time to be waited for.
    const kernels = async () => (await place.processes()).filter(({ command }) => command.includes("/bootstrap.py -f ")).map(({ pid }) => pid);
    const before = await kernels();
    assert.notEqual(before.length, 0);
    await editor.command("cellgate: Restart Kernel");
    await dialog.locator(".monaco-button", { hasText: "Restart, and Don't Ask Again" }).click();
    await until(
        async () => {
            const now = await kernels();
            return now.length > 0 && !now.some((pid) => before.includes(pid));
        },
        async () => `another kernel; there is: ${JSON.stringify(await place.processes())}`,
    );
    await editor.statusItem(/plan\.py-\w+ · idle/).waitFor();
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\]/).waitFor();
    await editor.command("cellgate: Restart Kernel and Run All Cells");
    await editor.lens(/\[3\] ZeroDivisionError/).waitFor();
});

const held = {
    files,
    ...beside("python"),
    environment: (place) => ({ CHOSEN_PYTHON: "/usr/bin/python3", HOLD_PYTHON: path.join(place.root, "go") }),
};

scenario("code that waits for its kernel is shown at once, and can be cancelled", held, async ({ place, editor }) => {
    await editor.openFile("long.py");
    await editor.lens("Run Cell").nth(1).click();
    await editor.statusItem("cellgate: starting the kernel").waitFor();
    await editor.lens("Run Cell").nth(2).click();
    await until(async () => (await editor.lens("queued").count()) === 2, "two cells that wait");
    await editor.lens("Cancel").first().click();
    await editor.lens("did not run: cancelled before its kernel was there").waitFor();
    await place.write("../go", "");
    await present(place, "third");
    await editor.lens(/\[1\]/).waitFor();
    assert.equal(place.has("second"), false);
});

scenario("a start that takes long can be cancelled, and another one begun", held, async ({ place, editor }) => {
    await editor.openFile("long.py");
    await editor.lens("Run Cell").nth(1).click();
    const starting = editor.notification("starting the kernel");
    await starting.waitFor();
    await editor.screenshot("long");
    await starting.locator(".monaco-button", { hasText: "Cancel" }).click();
    await editor.lens("did not run: the start of its kernel was cancelled").waitFor();
    await place.write("../go", "");
    await editor.lens("Run Cell").nth(1).click();
    await present(place, "second");
});

scenario("input_is_asked: code that reads a line gets what is typed", {
    files: { "ask.py": "# %%\nopen('answer', 'w').write(input('name? [x](command:y) '))\n\n# %%\ninput()\n" },
}, async ({ place, editor }) => {
    await editor.openFile("ask.py");
    await editor.lens("Run Cell").first().click();
    const box = editor.page.locator(".quick-input-widget");
    await box.getByText("name? [x] (command:y)").waitFor();
    assert.equal(await box.locator("a", { hasText: "x" }).count(), 0, "a prompt of code makes no link");
    await editor.screenshot("asked");
    await box.locator("input.input").fill("Ada");
    await editor.page.keyboard.press("Enter");
    await editor.lens(/\[1\]/).waitFor();
    assert.equal(await place.read("answer"), "Ada");
    await editor.lens("Run Cell").nth(1).click();
    await box.getByText(/ask\.py, line 5 asks/).waitFor();
    await endInput(editor);
    await editor.lens(/\[2\] EOFError/).waitFor();
});

/** Escape in the box of a question. Version 1.100 does not tell it from a box that was taken away. */
async function endInput(editor) {
    await editor.page.keyboard.press("Escape");
    if (VERSION !== "1.100") return;
    await editor.statusItem("waits for a line").waitFor();
    await editor.command("cellgate: End the Input of Code");
}

const asks = {
    "ask.py": "# %%\nopen('answer', 'w').write(input('name? '))\n",
    "last.py": "# %%\ninput('again? ')\n",
    "too.py": "# %%\nfrom getpass import getpass\nopen('secret', 'w').write(getpass('word? '))\n",
};

scenario("what code asks waits behind another input of the editor, and Escape there is no answer", { files: asks }, async ({ place, editor }) => {
    const { page } = editor;
    const box = page.locator(".quick-input-widget");
    const input = box.locator("input.input");
    await editor.openFile("ask.py");
    await editor.lens("Run Cell").first().click();
    await box.getByText("name?").waitFor();
    await input.fill("Ad");
    await page.keyboard.press("F1");
    await page.locator(".quick-input-list .monaco-list-row").first().waitFor();
    await page.keyboard.press("Escape");
    const waits = editor.statusItem("ask.py, line 2 waits for a line");
    await waits.waitFor();
    await box.waitFor({ state: "hidden" });
    await editor.screenshot("waits");
    // Another session's question waits behind it.
    await editor.openFile("too.py");
    await editor.lens("Run Cell").first().click();
    await editor.statusItem("ask.py, line 2 waits for a line, and 1 more").click();
    await box.getByText("name?").waitFor();
    assert.equal(await input.inputValue(), "Ad");
    await input.fill("Ada");
    await page.keyboard.press("Enter");
    await box.getByText("word?").waitFor();
    assert.equal(await input.getAttribute("type"), "password");
    await page.keyboard.press("F1");
    await page.locator(".quick-input-list .monaco-list-row").first().waitFor();
    await editor.statusItem("too.py, line 2 waits for a line").waitFor();
    await page.keyboard.press("Escape");
    await editor.command("cellgate: Answer What Code Asks…");
    await box.getByText("word?").waitFor();
    assert.equal(await input.getAttribute("type"), "password");
    await input.fill("psst");
    await page.keyboard.press("Enter");
    const answers = async () => `${await place.read("answer")} ${await place.read("secret")}`;
    await until(async () => (await answers()) === "Ada psst", async () => `both answers; there is ${await answers()}`);
    await editor.openFile("last.py");
    await editor.lens("Run Cell").first().click();
    await box.getByText("again?").waitFor();
    await page.keyboard.press("F1");
    await page.locator(".quick-input-list .monaco-list-row").first().waitFor();
    await page.keyboard.press("Escape");
    await editor.statusItem("last.py, line 2 waits for a line").click();
    await box.getByText("again?").waitFor();
    await endInput(editor);
    await editor.lens(/\[1\] EOFError/).waitFor();
});

scenario("all that waits is cancelled at once, and a row of the queue leads to its cell", { files }, async ({ place, editor }) => {
    await editor.openFile("long.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Run All Cells");
    await present(place, "begun");
    await editor.lens("queued, 2 before it").waitFor();
    await editor.page.locator(".activitybar .action-label[aria-label^='cellgate']").click();
    await editor.page.locator(".monaco-list-row[aria-level='2']", { hasText: "third" }).click();
    await editor.statusItem("Ln 8, Col 1").waitFor();
    await editor.command("cellgate: Cancel All That Waits");
    await until(async () => (await editor.lens("cancelled").count()) === 2, "two cells that were cancelled");
    await editor.screenshot("cancelled");
    await place.write("end", "");
    await editor.lens(/\[1\]/).waitFor();
    assert.deepEqual([place.has("second"), place.has("third")], [false, false]);
});

scenario("without a folder a key says what is missing", { workspace: null }, async ({ editor }) => {
    await editor.command("File: New Untitled Text File");
    await editor.page.keyboard.type("print(1)");
    await editor.command("Change Language Mode");
    await editor.page.locator(".quick-input-widget input.input").fill("Python");
    await editor.choose("Python");
    await editor.page.locator(".statusbar-item", { hasText: "Python" }).waitFor();
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
    workspace: "both.code-workspace",
}, async ({ place, editor }) => {
    place.served = place.file("first");
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
    const made = ["first/one", "first/two", "second/two", "first/three", "second/three"].map((name) => place.has(name));
    assert.deepEqual(made, [true, false, false, false, false]);
});
