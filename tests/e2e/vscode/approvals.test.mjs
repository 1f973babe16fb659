// Calls that wait for a person, and how they are answered in the view Approvals.
import assert from "node:assert/strict";
import path from "node:path";
import { Agent } from "./driver/agent.mjs";
import { Approvals } from "./driver/approvals.mjs";
import { filesystemSettings, writeWrappers } from "./driver/filesystem.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const common = { settings: filesystemSettings, prepare: writeWrappers };

const reads = `# %%
from mcptools.filesystem import read_text_file

# %%
text = read_text_file.run(path="notes.txt")
open("seen.txt", "w").write(text.content)
`;
const files = { "plan.py": reads, "notes.txt": "five days" };

/** Runs all cells; resolves when the view has come up. */
async function runAndLook(editor) {
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Run All Cells");
    return Approvals.of(editor);
}

/** What decorations write behind lines. */
const marks = (editor) =>
    editor.page.evaluate(() =>
        [...document.querySelectorAll(".view-line span")]
            .map((span) => getComputedStyle(span, "::after").content)
            .filter((text) => text.includes("waits for you"))
            .join(),
    );

const arrived = (place, name) => until(() => place.has(name), () => `the file ${name}`);

scenario("call_waits_then_allowed", { ...common, files }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndLook(editor);
    const block = approvals.block("tool read_text_file of filesystem");
    await block.waitFor();
    assert.match(await block.innerText(), /path: "notes\.txt"/);
    assert.match(await block.innerText(), /plan\.py:5\s+reported by the code:\s+text = read_text_file\.run\(path="notes\.txt"\)/);
    await editor.statusItem("1 call waits for your answer").waitFor();
    await editor.page.locator(".activitybar .action-item", { has: editor.page.locator('[aria-label^="cellgate"]') }).locator(".badge-content", { hasText: "1" }).waitFor();
    const marked = (text) => until(async () => (await marks(editor)).includes(text), async () => `the mark ${text}; there are ${await marks(editor)}`);
    await marked("waits for you: tool read_text_file of filesystem");
    assert.equal(place.has("seen.txt"), false);
    await approvals.ready(approvals.allow("Allow: this call"));
    await editor.screenshot("waits");
    await approvals.press(approvals.allow("Allow: this call"));
    await editor.lens(/\[2\] \d/).waitFor();
    assert.equal(await place.read("seen.txt"), "five days");
    await approvals.empty();
    await editor.statusItem("waits for your answer").waitFor({ state: "detached" });
    await until(async () => (await marks(editor)) === "", async () => `no marks; there are ${await marks(editor)}`);
    await editor.screenshot("allowed");
});

const hostile = "<img src=x><style>*{display:none}</style>\u202etxt";
const tries = reads.replace(
    'text = read_text_file.run(path="notes.txt")',
    `import traceback
try:
    text = read_text_file.run(path=${JSON.stringify(hostile)})
except Exception:
    open("why.txt", "w").write(traceback.format_exc())
    raise`,
);

scenario("call_denied_with_reason", { ...common, files: { ...files, "plan.py": tries } }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndLook(editor);
    await approvals.block("tool read_text_file of filesystem").waitFor();
    // What the code says is text, and hides nothing.
    assert.ok((await approvals.text()).includes('path: "<img src=x><style>*{display:none}</style>\\u{202e}txt"'), await approvals.text());
    assert.equal(await approvals.frame.locator("main img, main style").count(), 0);
    await approvals.frame.locator("input.reason").fill("not today");
    await approvals.press(approvals.deny);
    await editor.lens(/\[2\] ApprovalDenied/).waitFor();
    assert.match(await place.read("why.txt"), /ApprovalDenied: not today/);
    assert.equal(place.has("seen.txt"), false);
    await approvals.empty();
});

const writes = `# %%
from mcptools.filesystem import write_file

# %%
write_file.run(path="plan.txt", content="six days\\n")
`;

scenario("call_edited", { ...common, files: { "plan.py": writes } }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndLook(editor);
    await approvals.block("write_file").waitFor();
    await approvals.frame.getByRole("button", { name: "Edit…" }).click();
    const text = approvals.frame.locator("textarea.arguments");
    await text.waitFor();
    const before = JSON.parse(await text.inputValue());
    assert.deepEqual(before, { path: "plan.txt", content: "six days\n" });
    const outline = approvals.frame.locator(".outline");
    await outline.getByText("content string, required").waitFor();
    // Whether they fit the tool cellgate says, at the text as it was written.
    const short = JSON.stringify({ path: "plan.txt" });
    await text.fill(short);
    const allow = approvals.allow("Allow the edited call, once");
    await approvals.press(allow);
    await approvals.frame.locator(".verdict.wrong", { hasText: /content/ }).waitFor();
    assert.equal(await text.inputValue(), short);
    assert.equal(place.has("plan.txt"), false);
    await editor.screenshot("refused");
    await text.fill(JSON.stringify({ ...before, content: "seven days\n" }, null, 2));
    await approvals.ready(allow);
    await editor.screenshot("edited");
    await approvals.press(allow);
    await editor.lens(/\[2\] \d/).waitFor();
    assert.equal(await place.read("plan.txt"), "seven days\n");
    await approvals.empty();
});

// A server that keeps what it was sent, byte by byte.
const FIXTURE = path.resolve(import.meta.dirname, "../../fixtures/mcp_server.py");
const keeping = (place) => ["/usr/bin/python3", FIXTURE, "--log", place.file("received")];
const keepsWhatItWasSent = {
    settings: (place) => ({ "cellgate.mcpServers": { keeper: { command: keeping(place)[0], args: keeping(place).slice(1) } } }),
    prepare: (place) => place.cellgate("generate", "keeper", "--", ...keeping(place)),
};
const numbers = `# %%
from mcptools.keeper import tool_2
tool_2.run(s="x", delay=0.0)
`;

scenario("what runs has the numbers that were shown and written", { ...keepsWhatItWasSent, files: { "plan.py": numbers } }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndLook(editor);
    await approvals.block("tool_2").waitFor();
    await approvals.frame.getByRole("button", { name: "Edit…" }).click();
    const text = approvals.frame.locator("textarea.arguments");
    await text.waitFor();
    assert.equal(await text.inputValue(), '{\n  "s": "x",\n  "delay": 0.0\n}');
    await text.fill('{"s": "x", "delay": 0.0, "s": "y"}');
    await approvals.frame.locator(".verdict", { hasText: "the name s is given twice" }).waitFor();
    const written = '{"s": "x", "delay": 0.0, "huge": 1e400, "long": 9223372036854775809, "one": 1.0}';
    await text.fill(written);
    await approvals.ready(approvals.allow("Allow the edited call, once"));
    await editor.screenshot("numbers");
    await approvals.press(approvals.allow("Allow the edited call, once"));
    await editor.lens(/\[1\] \d/).waitFor();
    const received = await place.read("received");
    assert.ok(received.includes(written), received);
});

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

scenario("gathered_calls_one_outlier", { ...common, files: { "plan.py": gathers, ...data, "else/keys.txt": "keys" } }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndLook(editor);
    const shown = (count) => until(async () => (await approvals.rows.count()) === count, async () => `${count} rows; there are ${await approvals.rows.count()}: ${await approvals.text()}`);
    await shown(30);
    await place.write("go", "");
    // No more than 64 are asked at a time.
    await shown(64);
    await editor.statusItem("64 calls wait for your answer").waitFor();
    const outlier = approvals.frame.locator("tr.outlier:not(.decided)");
    assert.equal(await outlier.count(), 1);
    assert.match(await outlier.innerText(), /"else\/keys\.txt"/);
    assert.match(await outlier.innerText(), /unlike the others: not read_text_file with path under data\//);
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
    await approvals.press(approvals.allow("read_text_file with path under data/"));
    await arrived(place, "all.txt");
    await editor.lens(/\[1\]/).waitFor();
    const lines = (await place.read("all.txt")).split("\n");
    assert.equal(lines[20], "else/keys.txt: keys are not data");
    assert.deepEqual(lines.toSpliced(20, 1), Object.values(data));
    await approvals.empty();
});

scenario("interrupt_while_waiting", { ...common, files }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndLook(editor);
    await approvals.block("read_text_file").waitFor();
    await editor.lens("Interrupt").click();
    await editor.lens(/\[2\] interrupted/).waitFor();
    await approvals.empty();
    assert.equal(place.has("seen.txt"), false);
});

const asksOnGo = reads.replace("# %%\ntext", '# %%\nimport os, time\nwhile not os.path.exists("go"):\n    time.sleep(0.01)\ntext');

scenario("stray_keys_answer_nothing", { ...common, files: { ...files, "plan.py": asksOnGo } }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    await editor.page.locator(".activitybar .action-label[aria-label^=cellgate]").click();
    const approvals = await Approvals.of(editor);
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Run All Cells");
    await approvals.stopClock();
    await editor.goToLine(10);
    await place.write("go", "");
    await approvals.block("read_text_file").waitFor();
    // A person who types goes on typing where they typed.
    for (const key of ["y", "1", "Space", "Enter", "a"]) await editor.page.keyboard.press(key);
    await editor.page.locator(".view-line", { hasText: /^y1\s*$/ }).waitFor();
    // Clicks and keys within half a second, by the page's own clock, which stands still.
    const allow = approvals.allow("Allow: this call");
    await until(async () => (await allow.getAttribute("aria-disabled")) === "false", async () => `all in view: ${await approvals.text()}`);
    await allow.click();
    for (const key of ["Enter", "Space"]) await allow.press(key);
    await approvals.pass(499);
    await allow.click();
    // An answer would have been on its way before this.
    await approvals.frame.locator("button.link", { hasText: "plan.py:" }).click();
    await editor.statusItem(/Ln 8, Col 1/).waitFor();
    await editor.statusItem("1 call waits for your answer").waitFor();
    assert.equal(place.has("seen.txt"), false);
    assert.equal(await approvals.frame.locator("body").getAttribute("data-guard"), "closed");
    // The control: the same click, when it is time.
    await approvals.pass(500);
    await approvals.press(allow);
    await arrived(place, "seen.txt");
});

scenario("agent_answered_here", { ...common, files }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    // The agent comes to the sidecar that the editor has.
    await until(async () => (await place.processes()).some(({ command }) => command.includes("root-sidecar")), "a sidecar");
    const agent = await Agent.start(place, "claude\u202e");
    const code = 'from mcptools.filesystem import read_text_file\nprint(read_text_file.run(path="notes.txt").content)';
    const answer = agent.call("execute", { code });
    const approvals = await Approvals.of(editor);
    await approvals.block("tool read_text_file of filesystem").waitFor();
    await approvals.frame.locator(".card .agent", { hasText: "by agent claude" }).waitFor();
    assert.ok(!(await approvals.text()).includes("\u202e"));
    // All of its code can be read, at the line that calls.
    await approvals.frame.getByRole("button", { name: "Open code" }).click();
    await editor.page.locator(".tab.active", { hasText: "code.py" }).waitFor();
    await editor.page.locator(".editor-group-container.active .view-line", { hasText: "from mcptools.filesystem import read_text_file" }).waitFor();
    await editor.statusItem("Ln 2, Col 1").waitFor();
    await editor.page.keyboard.type("x");
    await editor.page.locator(".monaco-editor-overlaymessage", { hasText: "Cannot edit in read-only editor" }).waitFor();
    await editor.screenshot("agent");
    await approvals.press(approvals.allow("Allow: this call"));
    assert.match(await answer, /five days/);
    await approvals.empty();
    await agent.end();
});

scenario("the calling line is followed, and it is said when it is another one", { ...common, files }, async ({ editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndLook(editor);
    const source = approvals.frame.locator(".source");
    await source.locator("button.link", { hasText: "plan.py:5" }).waitFor();
    await editor.goToLine(1);
    await editor.page.keyboard.press("Enter");
    await source.locator("button.link", { hasText: "plan.py:6" }).waitFor();
    assert.equal(await source.locator(".changed").count(), 0);
    await editor.goToLine(6);
    await editor.page.keyboard.type("x");
    await source.locator(".changed", { hasText: "changed since" }).waitFor();
    assert.match(await source.innerText(), /text = read_text_file/);
    await until(async () => (await marks(editor)) === "", async () => `no marks; there are ${await marks(editor)}`);
    await editor.screenshot("changed");
});

for (const theme of ["Default Dark Modern", "Default High Contrast", "Default High Contrast Light"]) {
    const settings = { ...filesystemSettings, "workbench.colorTheme": theme };
    scenario(`a question can be read in the theme ${theme}`, { ...common, settings, files: { ...files, "plan.py": writes } }, async ({ editor }) => {
        await editor.openFile("plan.py");
        const approvals = await runAndLook(editor);
        await approvals.ready(approvals.allow("Allow: this call"));
        await approvals.frame.getByRole("button", { name: "Edit…" }).click();
        await approvals.frame.locator(".verdict").waitFor();
        await editor.screenshot("question");
    });
}

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

scenario("what waits can be looked through in a view of any size, and a jump past it is no look", {
    ...common,
    settings: { ...filesystemSettings, "editor.fontSize": 14 },
    files: { "plan.py": long },
}, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.goToLine(2);
    await editor.page.keyboard.press("Shift+Enter");
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
    await approvals.lookThrough(allow);
    await approvals.press(allow);
    await arrived(place, "b.txt");

    await editor.page.setViewportSize({ width: 1280, height: 330 });
    await editor.openFile("plan.py");
    await editor.goToLine(13);
    await editor.page.keyboard.press("Shift+Enter");
    await approvals.block('path: "c.txt"').waitFor();
    await editor.screenshot("long-lines-in-a-low-view");
    assert.equal(await state(), "true");
    await approvals.lookThrough(allow);
    await approvals.press(allow);
    await arrived(place, "c.txt");

    await editor.page.setViewportSize({ width: 1280, height: 800 });
    await editor.openFile("plan.py");
    await editor.goToLine(16);
    await editor.page.keyboard.press("Shift+Enter");
    await approvals.block('path: "d.txt"').waitFor();
    const payload = approvals.frame.locator(".payload");
    await approvals.frame.locator('body[data-guard="open"]').waitFor();
    await payload.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await approvals.frame.locator('body[data-guard="closed"]').waitFor();
    await approvals.frame.locator('body[data-guard="open"]').waitFor();
    assert.equal(await state(), "true");
    // What was gone past is found again.
    const rest = approvals.frame.getByRole("button", { name: "Show the rest" });
    await until(async () => {
        if (await rest.isVisible()) await rest.click();
        return (await state()) === "false";
    }, "the rest to be shown");
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

scenario("a call that comes after a person chose is not answered with the others", { ...common, files: { "plan.py": three, ...letters } }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndLook(editor);
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
    await place.write("go", "");
    await shown(4);
    await count("1 of 4");
    assert.equal(await row("d").getByRole("checkbox").isChecked(), false);
    await editor.screenshot("one-of-four");
    await approvals.press(allow);
    await arrived(place, "a");
    await shown(3);
    await count("0 of 3");

    // The editor of one of several calls goes with the call.
    await row("b").getByRole("button", { name: "Only" }).click();
    await approvals.frame.getByRole("button", { name: "Edit…" }).click();
    const text = approvals.frame.locator("textarea.arguments");
    await text.fill('{"path": "data/d.txt"}');
    await approvals.press(approvals.allow("Allow the edited call, once"));
    await arrived(place, "b");
    await until(async () => (await place.read("b")) === "d", "what the edited call read");
    await shown(2);
    await text.waitFor({ state: "hidden" });
    // Keys are with what waits, and with nothing that answers.
    const focused = () => approvals.frame.evaluate(() => document.activeElement.className);
    await until(async () => (await focused()) === "block", async () => `focus on the block; it is on ${await focused()}`);
    assert.deepEqual([place.has("c"), place.has("d")], [false, false]);
    await approvals.frame.getByRole("button", { name: "Choose all" }).click();
    await approvals.press(approvals.deny);
    await approvals.empty();
});

const twice = `# %%
from concurrent.futures import ThreadPoolExecutor
from mcptools.filesystem import read_text_file, write_file

with ThreadPoolExecutor(2) as pool:
    reads = pool.submit(read_text_file.run, path="notes.txt")
    writes = pool.submit(write_file.run, path="plan.txt", content="x")
open("ended", "w").close()
`;

scenario("buttons stay where they are, and where they move nothing answers", { ...common, files: { ...files, "plan.py": twice } }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndLook(editor);
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
    await arrived(place, "ended");
});

scenario("a view that is hidden shows nothing, and answers nothing as it comes up", {
    ...common,
    settings: { ...filesystemSettings, "cellgate.showApprovals": false },
    files,
}, async ({ place, editor }) => {
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
    assert.equal(place.has("seen.txt"), false);
    await approvals.startClock();
    await approvals.press(allow);
    await arrived(place, "seen.txt");
});

scenario("what is typed elsewhere in the file is no change of what waits", { ...common, files }, async ({ editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndLook(editor);
    await approvals.ready(approvals.allow("Allow: this call"));
    await approvals.frame.evaluate(() => {
        window.told = 0;
        addEventListener("message", ({ data }) => (window.told += Number(data.type === "waiting")));
    });
    await editor.goToLine(6);
    await editor.page.keyboard.press("End");
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

const printing = `# %%
import os, time
from mcptools.filesystem import read_text_file
kept = "kept"
for i in range(50):
    print("line", i, flush=True)
    time.sleep(0.02)
text = read_text_file.run(path="notes.txt").content
print("ended with", text)

# %%
open("second", "w").write(kept)
`;

scenario("reload_mid_run", {
    ...common,
    settings: { ...filesystemSettings, "notebook.output.scrolling": true },
    files: { ...files, "plan.py": printing },
}, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    await editor.frame("text=line 3");
    await editor.reload();
    const approvals = await Approvals.of(editor);
    await approvals.block("tool read_text_file of filesystem").waitFor();
    assert.match(await approvals.text(), /path: "notes\.txt"/);
    await editor.statusItem("1 call waits for your answer").waitFor();
    const allow = approvals.allow("Allow: this call");
    await approvals.ready(allow);
    // And once more, while it waits: the same question, which looking has not answered.
    await editor.reload();
    const again = await Approvals.of(editor);
    await again.block("tool read_text_file of filesystem").waitFor();
    await editor.statusItem("1 call waits for your answer").waitFor();
    await editor.screenshot("after-the-reload");
    await again.press(again.allow("Allow: this call"));
    await editor.lens(/\[1\] /).waitFor();
    const output = await editor.frame("text=ended with five days");
    const text = await output.locator("body").innerText();
    const expected = [...Array.from({ length: 50 }, (_, i) => `line ${i}`), "ended with five days"];
    assert.deepEqual(text.split("\n").filter((line) => /^(line|ended)/.test(line)), expected);
    await editor.lens("Run Cell").nth(1).click();
    await until(async () => place.has("second") && (await place.read("second")) === "kept", "the variable of the first cell");
});
