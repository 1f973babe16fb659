// These scenarios try how the editor shows what cells put out.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { Approvals } from "./driver/approvals.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const shows = `# %%
print("one", 1)

# %%
class Table:
    def _repr_html_(self):
        return "<table id='numbers'><tr><th>n</th></tr><tr><td>41</td></tr></table>"
Table()

# %%
import struct, zlib
from IPython.display import Image, JSON, Markdown, display
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = b"".join(b"\\0" + bytes([x * 2, 80, 160]) * 1 * 120 for x in range(60))
png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 120, 60, 8, 2, 0, 0, 0))
png += chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
Image(png)

# %%
display(Markdown("# A *heading* with <b>no HTML</b>"), JSON({"a": [1, {"deep": True}]}))

# %%
import time
for i in range(5):
    print(f"\\r{i * 25:3}%", end="", flush=True)
print("\\n\\x1b[31mred\\x1b[0m")

# %%
def fail():
    raise ValueError("on purpose")
fail()
`;

/** Opens the file, and gives what runs the cell at a line of it. */
async function plan(editor) {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    return async (line) => {
        await editor.goToLine(line);
        await editor.page.keyboard.press("Control+Enter");
    };
}

scenario("html_table, png, error_frames: what cells put out is shown beside them", { files: { "plan.py": shows } }, async ({ editor }) => {
    const run = await plan(editor);

    await run(2);
    await editor.frame("text=one 1");
    await run(5);
    const table = await editor.frame("#numbers td");
    assert.equal(await table.locator("#numbers td").innerText(), "41");
    await run(11);
    const picture = (await editor.frame("img")).locator("img").first();
    await until(async () => (await picture.evaluate((img) => img.naturalWidth)) === 120, "the picture");
    await editor.screenshot("table-and-picture");
    await run(21);
    const heading = await editor.frame("h1 em");
    assert.equal(await heading.locator("h1").innerText(), "A heading with <b>no HTML</b>");
    await editor.frame(".cellgate-json details");
    await run(24);
    await editor.frame("text=100%");
    assert.equal(await editor.inFrames("text=75%"), undefined);
    await run(30);
    const error = await editor.frame(".cellgate-error");
    await editor.screenshot("progress-and-error");

    // From the error to the line that raised it, and from the result to its cell.
    // (The notebook scrolls by itself, so that the driver cannot bring a button of it into view: it dispatches a click.)
    await error.locator(".cellgate-frames button", { hasText: "plan.py:31 in fail" }).dispatchEvent("click");
    await editor.statusItem("Ln 31,").waitFor();
    await editor.page.locator(".cell-status-item", { hasText: "plan.py:24" }).click();
    await editor.statusItem("Ln 24,").waitFor();

    // A notebook of results is never to be saved.
    assert.equal(await editor.page.locator(".tab.dirty").count(), 0);
});

const moves = `# %%
from IPython.display import clear_output
print("cleared")
clear_output()
print("until the next")
clear_output(wait=True)
print("kept")

# %%
up = "\\x1b[A"
for i in range(3):
    print(f"\\router {i + 1}/3", end="")
    for n in (50, 100):
        print(f"\\n\\rinner {n}%{up}", end="", flush=True)
print("\\n\\nboth are through")

# %%
import os, struct, zlib
from IPython.display import Image
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = b"".join(b"\\0" + os.urandom(1500) for _ in range(400))
png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 500, 400, 8, 2, 0, 0, 0))
Image(png + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""), width=250)
`;

scenario("what is cleared is gone, bars stay in their lines, and a large picture is fetched", { files: { "plan.py": moves } }, async ({ editor }) => {
    const run = await plan(editor);
    await run(2);
    await editor.frame("text=kept");
    assert.equal(await editor.inFrames("text=/^cleared|until the next/"), undefined);
    await run(11);
    const bars = await editor.frame("text=both are through");
    const printed = await bars.locator(".output_container .output", { hasText: "both are through" }).innerText();
    assert.deepEqual(printed.trim().split(/\n+/), ["outer 3/3", "inner 100%", "both are through"]);
    await run(19);
    const picture = (await editor.frame("img[alt^=Picture]")).locator("img[alt^=Picture]").first();
    await until(async () => (await picture.evaluate((img) => img.naturalWidth)) === 500, "the picture");
    await editor.screenshot("moves");
});

const counting = `# %%
import os, time
print("started")
i = 0
while not os.path.exists("stop"):
    print("line", i, flush=True)
    i += 1
    time.sleep(0.02)
print("ended after", i)
`;

// Else the editor shows the first and last lines of more than thirty.
const settings = { "notebook.output.scrolling": true };

scenario("stdout_live: a window that reloads while code runs misses nothing and doubles nothing", { files: { "plan.py": counting }, settings }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    await editor.frame("text=line 3");
    await editor.reload();
    // The notebook comes back by itself, with what was printed before, and goes on.
    await editor.frame("text=line 3");
    await editor.screenshot("after-the-reload");
    await workspace.write("stop", "");
    await editor.frame("text=/ended after \\d+/");
    const count = await until(async () => Number(/ended after (\d+)/.exec(await wholeOutput(editor))?.[1]), "the last line");
    const expected = ["started", ...Array.from({ length: count }, (_, i) => `line ${i}`), `ended after ${count}`];
    assert.deepEqual((await wholeOutput(editor)).trim().split("\n"), expected);
    await editor.lens(/\[1\] /).waitFor();
});

scenario("of twenty thousand lines both ends are shown, and a document has all", { files: {
    "plan.py": "# %%\nfor i in range(60000):\n    print('line', i)\nprint('the last line')\n",
} }, async ({ editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    await editor.frame("text=the last line");
    const omitted = await editor.frame("text=/\\d [kM]B not shown here/");
    await editor.screenshot("both-ends");
    await omitted.locator("button", { hasText: "Show All as Text" }).dispatchEvent("click");
    await editor.page.locator(".tab", { hasText: "output, page 1.txt" }).waitFor();
    await editor.page.locator(".view-line", { hasText: /^line\s0$/ }).first().waitFor();
    await editor.screenshot("as-a-document");
});

const data = (workspace) => path.join(workspace.home, "data.csv");

scenario("the remedy of a note is shown in full, and then applied: a file of the home is readable after a restart", {
    prepare: async (workspace) => {
        await writeFile(data(workspace), "first,second");
        await workspace.write("plan.py", `# %%\nprint(open(${JSON.stringify(data(workspace))}).read())\n`);
    },
}, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\] FileNotFoundError/).waitFor();
    const result = await editor.frame(".cellgate-remedy button");
    const remedy = result.locator(".cellgate-remedy", { hasText: "allow reading" });
    const apply = remedy.locator("button", { hasText: "Restart with It…" });
    await editor.screenshot("note");
    await apply.dispatchEvent("click");
    const dialog = editor.dialog(/Restart the kernel of plan\.py-\w+ with more in its sandbox\?/);
    await dialog.getByText(`Can be read: ${data(workspace)}`).waitFor();
    await editor.screenshot("what-it-does");
    // What is not confirmed changes nothing: the kernel is the same, and sees as little.
    await dialog.locator(".monaco-button", { hasText: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[2\] FileNotFoundError/).waitFor();
    const second = await editor.frame(".cellgate-remedy button");
    await second.locator(".cellgate-remedy button", { hasText: "Restart with It…" }).last().dispatchEvent("click");
    await dialog.locator(".monaco-button", { hasText: "Restart Kernel" }).click();
    await editor.notification("done for session plan.py-").waitFor();
    await editor.lens("Run Cell").first().click();
    await editor.frame("text=first,second");
    await editor.lens(/\[1\] \d/).waitFor();
});

scenario("a missing module's note installs its package: the exact command is asked about, and a no changes nothing", {
    prepare: (workspace) => workspace.write("plan.py", "# %%\nimport no_such_module_9\n"),
}, async ({ editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\] ModuleNotFoundError/).waitFor();
    const result = await editor.frame(".cellgate-remedy button");
    await editor.screenshot("missing-module");
    await result.locator(".cellgate-remedy button", { hasText: "Install no_such_module_9" }).dispatchEvent("click");
    const approvals = await Approvals.of(editor);
    await approvals.block("install packages").waitFor();
    assert.match(await approvals.text(), /argument: "no_such_module_9"/);
    await editor.screenshot("install-approval");
    await approvals.press(approvals.deny);
    await editor.notification("nothing was installed").waitFor();
});

/** The text of the first result's streams, as the notebook has it. */
async function wholeOutput(editor) {
    const frame = await editor.frame(".output-stream, .output");
    return frame.evaluate(() => [...document.querySelectorAll(".output_container .output")].map((each) => each.innerText).join(""));
}
