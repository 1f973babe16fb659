// These scenarios try the table of calls of one tool, in the view and in an editor tab.
import assert from "node:assert/strict";
import { Approvals } from "./driver/approvals.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";
import { arrived, common, runAndShowApprovals } from "./driver/waitingCalls.mjs";

const gathers = `# %%
import os, time
from concurrent.futures import ThreadPoolExecutor
from mcptools import ApprovalDenied
from mcptools.filesystem import read_text_file

def read(path):
    try:
        return read_text_file.run(path=path).content
    except ApprovalDenied as denied:
        return f"{path}: {denied}"

paths = [f"data/{i:03}.txt" for i in range(199)]
paths.insert(20, "else/keys.txt")
with ThreadPoolExecutor(200) as pool:
    first = [pool.submit(read, path) for path in paths[:30]]
    while not os.path.exists("go"):
        time.sleep(0.01)
    rest = [pool.submit(read, path) for path in paths[30:]]
open("all.txt", "w").write("\\n".join(each.result() for each in first + rest))
`;
const data = Object.fromEntries(Array.from({ length: 199 }, (_, i) => [`data/${String(i).padStart(3, "0")}.txt`, `text ${i}`]));

scenario("gathered_calls_one_outlier", { ...common, files: { "plan.py": gathers, ...data, "else/keys.txt": "keys" } }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndShowApprovals(editor);
    const shown = (count) => until(async () => (await approvals.rows.count()) === count, async () => `${count} rows; there are ${await approvals.rows.count()}: ${await approvals.text()}`);
    await shown(30);
    await workspace.write("go", "");
    // No more than 64 are asked at a time.
    await shown(64);
    await editor.statusItem("64 calls wait for your answer").waitFor();
    const outlier = approvals.frame.locator("tr.outlier:not(.decided)");
    assert.equal(await outlier.count(), 1);
    assert.match(await outlier.innerText(), /"else\/keys\.txt"/);
    assert.match(await outlier.innerText(), /unlike the others: not read_text_file under data\/, until the cell ends/);
    await editor.screenshot("gathered");
    // What was not in view is not answered.
    const covers = () => approvals.allow("Allow: this call").locator(".count").innerText();
    await until(async () => (await covers()) !== "0 of 64", async () => `rows in view; there are ${await covers()}`);
    assert.match(await covers(), /^[1-5]?\d of 64$/);
    await outlier.getByRole("button", { name: /^Only call/ }).click();
    await approvals.frame.locator("input.reason").fill("keys are not data");
    await approvals.press(approvals.deny);
    await outlier.waitFor({ state: "detached" });
    await shown(64);
    await approvals.frame.getByRole("button", { name: "Choose all" }).click();
    await approvals.press(approvals.allow("read_text_file under data/, until the cell ends"));
    await arrived(workspace, "all.txt");
    await editor.lens(/\[1\]/).waitFor();
    const lines = (await workspace.read("all.txt")).split("\n");
    assert.equal(lines[20], "else/keys.txt: keys are not data");
    assert.deepEqual(lines.toSpliced(20, 1), Object.values(data));
    await approvals.empty();
});

const three = `# %%
import os, time
from concurrent.futures import ThreadPoolExecutor
from mcptools.filesystem import read_text_file

def read(name):
    text = read_text_file.run(path=f"data/{name}.txt").content
    open(name, "w").write(text)

with ThreadPoolExecutor(4) as pool:
    first = [pool.submit(read, name) for name in "abc"]
    while not os.path.exists("go"):
        time.sleep(0.01)
    pool.submit(read, "d")
`;
const letters = Object.fromEntries(["a", "b", "c", "d"].map((name) => [`data/${name}.txt`, name]));

scenario("a call that comes after a user chose is not answered with the others", { ...common, files: { "plan.py": three, ...letters } }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndShowApprovals(editor);
    const shown = (count) => until(async () => (await approvals.rows.count()) === count, async () => `${count} rows: ${await approvals.text()}`);
    await shown(3);
    const allow = approvals.allow("Allow: this call");
    const count = (words) => allow.locator(".count", { hasText: words }).waitFor();
    const row = (name) => approvals.rows.filter({ hasText: `data/${name}.txt` });
    const box = row("a").getByRole("checkbox");
    // What a row is called is short, and what it is about is at hand.
    assert.match(await box.getAttribute("aria-label"), /^Call \d$/);
    const about = await box.evaluate((each) => document.getElementById(each.getAttribute("aria-describedby")).textContent);
    assert.equal(about, 'path: "data/a.txt"');
    await row("a").getByRole("button", { name: "Only" }).click();
    await count("1 of 3");
    await workspace.write("go", "");
    await shown(4);
    await count("1 of 4");
    assert.equal(await row("d").getByRole("checkbox").isChecked(), false);
    await editor.screenshot("one-of-four");
    await approvals.press(allow);
    await arrived(workspace, "a");
    await shown(3);
    await count("0 of 3");

    // The editor of one of several calls closes with the call.
    await row("b").getByRole("button", { name: "Only" }).click();
    await approvals.frame.getByRole("button", { name: "Edit…" }).click();
    const text = approvals.frame.locator("textarea.arguments");
    await text.fill('{"path": "data/d.txt"}');
    await approvals.press(approvals.allow("Allow the edited call, once"));
    await arrived(workspace, "b");
    await until(async () => (await workspace.read("b")) === "d", "what the edited call read");
    await shown(2);
    await text.waitFor({ state: "hidden" });
    // Keys are with what waits, and with nothing that answers.
    const focused = () => approvals.frame.evaluate(() => document.activeElement.className);
    await until(async () => (await focused()) === "block", async () => `focus on the block; it is on ${await focused()}`);
    assert.deepEqual([workspace.has("c"), workspace.has("d")], [false, false]);
    await approvals.frame.getByRole("button", { name: "Choose all" }).click();
    await approvals.press(approvals.deny);
    await approvals.empty();
});

const twelve = `# %%
import os, time
from concurrent.futures import ThreadPoolExecutor
from mcptools.filesystem import read_text_file

def read(i):
    return read_text_file.run(path=f"data/{i:03}.txt").content

with ThreadPoolExecutor(12) as pool:
    first = [pool.submit(read, i) for i in range(3)]
    while not os.path.exists("go"):
        time.sleep(0.01)
    rest = [pool.submit(read, i) for i in range(3, 12)]
open("all.txt", "w").write("\\n".join(each.result() for each in first + rest))
`;

scenario("many waiting calls are offered as an editor tab, which never opens by itself", { ...common, files: { "plan.py": twelve, ...data } }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    const view = await runAndShowApprovals(editor);
    const shown = (page, count) => until(async () => (await page.rows.count()) === count, async () => `${count} rows: ${await page.text()}`);
    const tab = editor.page.locator(".tab", { hasText: "Approvals" });
    const offer = view.frame.getByRole("button", { name: "Open in Editor" });
    await shown(view, 3);
    assert.equal(await offer.isVisible(), false);
    // A user who types goes on typing where they typed.
    await editor.goToLine(15);
    await workspace.write("go", "");
    await shown(view, 12);
    await offer.waitFor();
    await editor.notification("many calls wait for your answer").waitFor();
    for (const key of ["y", "1", "Space", "Enter"]) await editor.page.keyboard.press(key);
    await editor.page.locator(".view-line", { hasText: /^y1\s*$/ }).waitFor();
    assert.equal(await tab.count(), 0);
    await editor.screenshot("offered");

    await offer.click();
    await tab.waitFor();
    const page = new Approvals(editor, await editor.frame('body[data-host="editor"] main.blocks', "the editor tab"));
    await shown(page, 12);
    // Beside the results a tab is too narrow for the buttons to be beside the table.
    await editor.command("View: Close Editors in Other Groups");
    await page.frame.locator("body:not(.narrow)").waitFor();
    assert.equal(await page.frame.getByRole("button", { name: "Open in Editor" }).isVisible(), false);
    // The whole table has room: none of its rows is cut off by a box.
    assert.ok(await page.frame.locator(".scroll").evaluate((box) => box.scrollHeight <= box.clientHeight));
    await editor.screenshot("in-the-editor");

    // The guard of the tab is the one of the view.
    const allow = page.allow("Allow: this call");
    await page.ready(allow);
    await page.stopClock();
    await page.rows.first().getByRole("button", { name: /^Only call/ }).click();
    await page.frame.locator('body[data-guard="closed"]').waitFor();
    await allow.click();
    await page.pass(500);
    await page.frame.locator('body[data-guard="open"]').waitFor();
    await editor.statusItem("12 calls wait for your answer").waitFor();
    await page.startClock();

    // An answer in the tab resolves in the view, and the other way round.
    await page.press(allow);
    await shown(page, 11);
    await shown(view, 11);
    await view.frame.getByRole("button", { name: "Choose all" }).click();
    await view.press(view.allow("read_text_file under data/, until the cell ends"));
    await arrived(workspace, "all.txt");
    await view.empty();
    await page.empty();
});

scenario("approvals in an editor tab by command, also where nothing waits", { ...common, files: { "plan.py": twelve, ...data } }, async ({ editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Open Approvals in Editor");
    const tab = editor.page.locator(".tab", { hasText: "Approvals" });
    await tab.waitFor();
    const page = new Approvals(editor, await editor.frame('body[data-host="editor"] p.empty', "the editor tab"));
    await page.empty();
    // The same command shows the tab that is open.
    await editor.openFile("plan.py");
    await editor.command("cellgate: Open Approvals in Editor");
    await editor.page.locator(".tab.active", { hasText: "Approvals" }).waitFor();
    assert.equal(await tab.count(), 1);
});
