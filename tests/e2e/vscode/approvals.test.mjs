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
    await editor.lens(/\[2\] [\d.]+ m?s/).waitFor();
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
    await text.fill(JSON.stringify({ path: "plan.txt" }));
    await approvals.frame.locator(".verdict", { hasText: "the argument content is missing" }).waitFor();
    // What only the server's own schema can tell comes back, and the question stays.
    await text.fill(JSON.stringify({ ...before, content: "seven days\n" }, null, 2));
    const allow = approvals.allow("Allow the edited call, once");
    await approvals.ready(allow);
    await editor.screenshot("edited");
    await approvals.press(allow);
    await editor.lens(/\[2\] [\d.]+ m?s/).waitFor();
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
    await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
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
    const outlier = approvals.frame.locator("tr.outlier");
    assert.equal(await outlier.count(), 1);
    assert.match(await outlier.innerText(), /"else\/keys\.txt"/);
    assert.match(await outlier.innerText(), /unlike the others: not read_text_file with path under data\//);
    await editor.screenshot("gathered");
    // What was not in view is not answered.
    const covers = () => approvals.allow("Allow: this call").locator(".count").innerText();
    await until(async () => (await covers()) !== "0 of 64", async () => `rows in view; there are ${await covers()}`);
    assert.match(await covers(), /^[1-5]?\d of 64$/);
    await outlier.getByRole("button", { name: "Only this" }).click();
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
