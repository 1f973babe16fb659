// These scenarios try what keeps a call from being answered by accident: what was not shown to its end, and what just moved.
import assert from "node:assert/strict";
import { Approvals } from "./driver/approvals.mjs";
import { filesystemSettings } from "./driver/filesystem.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";
import { arrived, common, files, runAndShowApprovals } from "./driver/waitingCalls.mjs";

const lines = (count, columns) => Array.from({ length: count }, (_, i) => `${i} `.padEnd(columns, "-")).join("\\n") + "\\n";
const long = `# %%
from concurrent.futures import ThreadPoolExecutor
from mcptools.filesystem import write_file

def write(path, text):
    write_file.run(path=path, content=text)

# %%
with ThreadPoolExecutor(2) as pool:
    list(pool.map(write, ["a.txt", "b.txt"], ["${lines(8, 40)}", "${lines(8, 39)}"]))

# %%
write("c.txt", "${lines(12, 72)}")

# %%
write("d.txt", "${lines(60, 20)}")
`;

scenario("what waits can be shown to its end in a view of any size, and cannot be allowed before", {
    ...common,
    settings: { ...filesystemSettings, "editor.fontSize": 14 },
    files: { "plan.py": long },
}, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.goToLine(2);
    await editor.page.keyboard.press("Shift+Enter");
    await editor.statusItem("Ln 9, Col 1").waitFor();
    await editor.page.keyboard.press("Shift+Enter");
    const approvals = await Approvals.of(editor);
    const allow = approvals.allow("Allow: this call");
    const state = () => allow.getAttribute("aria-disabled");

    await until(async () => (await approvals.rows.count()) === 2, "two calls in a table");
    await editor.screenshot("two-in-a-narrow-view");
    assert.equal(await state(), "true");
    // A no needs no look.
    assert.equal(await approvals.deny.getAttribute("aria-disabled"), "false");
    assert.equal(await approvals.deny.locator(".count").innerText(), "2 of 2");
    await approvals.scrollThrough(allow);
    await approvals.press(allow);
    await arrived(workspace, "b.txt");

    await editor.page.setViewportSize({ width: 1280, height: 330 });
    await editor.openFile("plan.py");
    await editor.goToLine(13);
    await editor.page.keyboard.press("Shift+Enter");
    await approvals.block('path: "c.txt"').waitFor();
    await editor.screenshot("long-lines-in-a-low-view");
    assert.equal(await state(), "true");
    await approvals.scrollThrough(allow);
    await approvals.press(allow);
    await arrived(workspace, "c.txt");

    await editor.page.setViewportSize({ width: 1280, height: 800 });
    await editor.openFile("plan.py");
    await editor.goToLine(16);
    await editor.page.keyboard.press("Shift+Enter");
    await approvals.block('path: "d.txt"').waitFor();
    await approvals.frame.locator('body[data-guard="open"]').waitFor();
    const payload = approvals.frame.locator(".payload");
    await payload.evaluate((box) => box.scrollTo(0, box.scrollHeight / 2));
    assert.equal(await state(), "true");
    await approvals.frame.getByRole("button", { name: "Show the rest" }).click();
    await until(async () => (await state()) === "false", "the end to be shown");
});

const twice = `# %%
from concurrent.futures import ThreadPoolExecutor
from mcptools.filesystem import read_text_file, write_file

with ThreadPoolExecutor(2) as pool:
    reads = pool.submit(read_text_file.run, path="notes.txt")
    writes = pool.submit(write_file.run, path="plan.txt", content="x")
open("ended", "w").close()
`;

scenario("buttons stay where they are, and where they move nothing answers", { ...common, files: { ...files, "plan.py": twice } }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndShowApprovals(editor);
    const blocks = approvals.frame.locator(".block:not(.decided)");
    await until(async () => (await blocks.count()) === 2, "two blocks");
    const [first, second] = [blocks.first(), blocks.nth(1)];
    const name = /read_text_file/.test(await first.innerText()) ? "write_file" : "read_text_file";
    const other = approvals.block(`tool ${name}`);
    const deny = first.locator("button.deny");
    await approvals.ready(deny);
    await deny.hover();
    const before = (await second.boundingBox()).y;
    await deny.click();
    await until(async () => (await blocks.count()) === 1, "an answer");
    assert.equal((await other.boundingBox()).y, before);
    await editor.screenshot("one-answered");

    const guard = (state) => approvals.frame.locator(`body[data-guard="${state}"]`).waitFor();
    await approvals.ready(other.locator("button.deny"));
    await approvals.stopClock();
    await guard("open");
    await editor.page.setViewportSize({ width: 1280, height: 700 });
    await guard("closed");
    await other.locator("button.deny").click();
    await approvals.pass(500);
    await guard("open");
    await approvals.frame.evaluate(() => document.documentElement.style.setProperty("--vscode-editor-font-size", "20px"));
    await guard("closed");
    await other.locator("button.deny").click();
    await editor.statusItem("1 call waits for your answer").waitFor();
    await approvals.startClock();
    await approvals.press(other.locator("button.deny"));
    await arrived(workspace, "ended");
});

scenario("a view that is hidden shows nothing, and answers nothing as it comes up", {
    ...common,
    settings: { ...filesystemSettings, "cellgate.showApprovals": false },
    files,
}, async ({ workspace, editor }) => {
    const icon = (label) => editor.page.locator(`.activitybar .action-label[aria-label^="${label}"]`);
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await icon("cellgate").click();
    const approvals = await Approvals.of(editor);
    await approvals.frame.locator('body[data-guard="open"]').waitFor();
    await icon("Explorer").click();
    await editor.page.locator(".explorer-folders-view .monaco-list-row").first().waitFor();
    await editor.page.locator(".view-line").first().click();
    await editor.command("cellgate: Run All Cells");
    const allow = approvals.allow("Allow: this call");
    await allow.waitFor({ state: "attached" });
    // Many frames later, and much more than half a second.
    await approvals.frame.evaluate(async () => {
        const end = performance.now() + 1000;
        while (performance.now() < end) await new Promise((resolve) => requestAnimationFrame(resolve));
    });
    assert.equal(await allow.getAttribute("aria-disabled"), "true");
    assert.equal(await approvals.frame.locator("body").getAttribute("data-guard"), "closed");
    await approvals.stopClock();
    await editor.statusItem("1 call waits for your answer").click();
    await until(async () => (await allow.getAttribute("aria-disabled")) === "false", "the call to be looked at");
    await allow.click();
    await editor.statusItem("1 call waits for your answer").waitFor();
    assert.equal(await approvals.frame.locator("body").getAttribute("data-guard"), "closed");
    assert.equal(workspace.has("seen.txt"), false);
    await approvals.startClock();
    await approvals.press(allow);
    await arrived(workspace, "seen.txt");
});

scenario("what is typed elsewhere in the file is no change of what waits", { ...common, files }, async ({ editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndShowApprovals(editor);
    await approvals.ready(approvals.allow("Allow: this call"));
    await approvals.frame.evaluate(() => {
        window.told = 0;
        addEventListener("message", ({ data }) => (window.told += Number(data.type === "waiting")));
    });
    await editor.goToLine(6);
    await editor.page.keyboard.press("End");
    await editor.statusItem(/Ln 6, Col (?!1\b)/).waitFor();
    await editor.page.keyboard.type("  # a word or two");
    await editor.page.locator(".view-line", { hasText: "a word or two" }).waitFor();
    // The control: the line itself, and what moves it.
    const told = (count) => until(async () => (await approvals.frame.evaluate(() => window.told)) === count, async () => `${count} changes; there were ${await approvals.frame.evaluate(() => window.told)}`);
    await editor.goToLine(1);
    await editor.page.keyboard.press("Enter");
    await approvals.frame.locator(".source button.link", { hasText: "plan.py:6" }).waitFor();
    await told(1);
    await editor.goToLine(6);
    await editor.page.keyboard.type("x");
    await approvals.frame.locator(".source .changed").waitFor();
    await told(2);
});
