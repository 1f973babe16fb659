// These scenarios try how waiting calls are answered in the view Approvals.
import assert from "node:assert/strict";
import path from "node:path";
import { Agent } from "./driver/agent.mjs";
import { Approvals } from "./driver/approvals.mjs";
import { filesystemSettings } from "./driver/filesystem.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";
import { arrived, common, files, reads, runAndShowApprovals } from "./driver/waitingCalls.mjs";

/** What decorations write behind lines. */
const marks = (editor) =>
    editor.page.evaluate(() =>
        [...document.querySelectorAll(".view-line span")]
            .map((span) => getComputedStyle(span, "::after").content)
            .filter((text) => text.includes("waits for you"))
            .join(),
    );

scenario("call_waits_then_allowed", { ...common, files }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndShowApprovals(editor);
    const block = approvals.block("tool read_text_file of filesystem");
    await block.waitFor();
    assert.match(await block.innerText(), /path: "notes\.txt"/);
    assert.match(await block.innerText(), /plan\.py:5\s+reported by the code:\s+text = read_text_file\.run\(path="notes\.txt"\)/);
    await editor.statusItem("1 call waits for your answer").waitFor();
    await editor.page.locator(".activitybar .action-item", { has: editor.page.locator('[aria-label^="cellgate"]') }).locator(".badge-content", { hasText: "1" }).waitFor();
    const marked = (text) => until(async () => (await marks(editor)).includes(text), async () => `the mark ${text}; there are ${await marks(editor)}`);
    await marked("waits for you: tool read_text_file of filesystem");
    assert.equal(workspace.has("seen.txt"), false);
    await approvals.ready(approvals.allow("Allow: this call"));
    await editor.screenshot("waits");
    await approvals.press(approvals.allow("Allow: this call"));
    await editor.lens(/\[2\] \d/).waitFor();
    assert.equal(await workspace.read("seen.txt"), "five days");
    await approvals.empty();
    await editor.statusItem("waits for your answer").waitFor({ state: "detached" });
    await until(async () => (await marks(editor)) === "", async () => `no marks; there are ${await marks(editor)}`);
    await editor.screenshot("allowed");
});

const asking = { files: { "plan.py": '# %%\n!git --version\n' }, settings: { "cellgate.session.profile": "ask-programs" } };

scenario("a program is asked about where the profile says so", asking, async ({ editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndShowApprovals(editor);
    const block = approvals.block("start a program in the sandbox: git --version");
    await block.waitFor();
    assert.match(await block.innerText(), /plan\.py:2\s+reported by the code:\s+!git --version/);
    await approvals.ready(approvals.allow("Allow: this call"));
    await editor.screenshot("program");
    await approvals.press(approvals.allow("Allow: this call"));
    await editor.lens(/\[1\] \d/).waitFor();
    await approvals.empty();
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

scenario("call_denied_with_reason", { ...common, files: { ...files, "plan.py": tries } }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndShowApprovals(editor);
    await approvals.block("tool read_text_file of filesystem").waitFor();
    // What the code says is text, and hides nothing.
    assert.ok((await approvals.text()).includes('path: "<img src=x><style>*{display:none}</style>\\u{202e}txt"'), await approvals.text());
    assert.equal(await approvals.frame.locator("main img, main style").count(), 0);
    await approvals.frame.locator("input.reason").fill("not today");
    await approvals.press(approvals.deny);
    await editor.lens(/\[2\] ApprovalDenied/).waitFor();
    assert.match(await workspace.read("why.txt"), /ApprovalDenied: not today/);
    assert.equal(workspace.has("seen.txt"), false);
    await approvals.empty();
});

const writes = `# %%
from mcptools.filesystem import write_file

# %%
write_file.run(path="plan.txt", content="six days\\n")
`;

scenario("call_edited", { ...common, files: { "plan.py": writes } }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndShowApprovals(editor);
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
    assert.equal(workspace.has("plan.txt"), false);
    await editor.screenshot("refused");
    await text.fill(JSON.stringify({ ...before, content: "seven days\n" }, null, 2));
    await approvals.ready(allow);
    await editor.screenshot("edited");
    await approvals.press(allow);
    await editor.lens(/\[2\] \d/).waitFor();
    assert.equal(await workspace.read("plan.txt"), "seven days\n");
    await approvals.empty();
});

// A server that keeps what it was sent, byte by byte.
const FIXTURE = path.resolve(import.meta.dirname, "../../fixtures/mcp_server.py");
const keeping = (workspace) => ["/usr/bin/python3", FIXTURE, "--log", workspace.file("received")];
const keepsWhatItWasSent = {
    settings: (workspace) => ({ "cellgate.mcpServers": { keeper: { command: keeping(workspace)[0], args: keeping(workspace).slice(1) } } }),
    prepare: (workspace) => workspace.cellgate("generate", "keeper", "--", ...keeping(workspace)),
};
const numbers = `# %%
from mcptools.keeper import tool_2
tool_2.run(s="x", delay=0.0)
`;

scenario("what runs has the numbers that were shown and written", { ...keepsWhatItWasSent, files: { "plan.py": numbers } }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndShowApprovals(editor);
    await approvals.block("tool_2").waitFor();
    await approvals.frame.getByRole("button", { name: "Edit…" }).click();
    const text = approvals.frame.locator("textarea.arguments");
    await text.waitFor();
    assert.equal(await text.inputValue(), '{\n  "s": "x",\n  "delay": 0.0\n}');
    await text.fill('{"s": "x", "delay": 0.0, "s": "y"}');
    await approvals.press(approvals.allow("Allow the edited call, once"));
    await approvals.frame.locator(".verdict.wrong", { hasText: 'line 1: expected JSON, found the key "s" twice' }).waitFor();
    const written = '{"s": "x", "delay": 0.0, "huge": 1e400, "long": 9223372036854775809, "one": 1.0}';
    await text.fill(written);
    await approvals.ready(approvals.allow("Allow the edited call, once"));
    await editor.screenshot("numbers");
    await approvals.press(approvals.allow("Allow the edited call, once"));
    await editor.lens(/\[1\] \d/).waitFor();
    const received = await workspace.read("received");
    assert.ok(received.includes(written), received);
});

scenario("interrupt_while_waiting", { ...common, files }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    const approvals = await runAndShowApprovals(editor);
    await approvals.block("read_text_file").waitFor();
    await editor.lens("Interrupt").click();
    await editor.lens(/\[2\] interrupted/).waitFor();
    await approvals.empty();
    assert.equal(workspace.has("seen.txt"), false);
});

const asksOnGo = reads.replace("# %%\ntext", '# %%\nimport os, time\nwhile not os.path.exists("go"):\n    time.sleep(0.01)\ntext');

scenario("stray_keys_answer_nothing", { ...common, files: { ...files, "plan.py": asksOnGo } }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.page.locator(".activitybar .action-label[aria-label^=cellgate]").click();
    const approvals = await Approvals.of(editor);
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Run All Cells");
    await approvals.stopClock();
    await editor.goToLine(10);
    await workspace.write("go", "");
    await approvals.block("read_text_file").waitFor();
    // A user who types goes on typing where they typed.
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
    assert.equal(workspace.has("seen.txt"), false);
    assert.equal(await approvals.frame.locator("body").getAttribute("data-guard"), "closed");
    // The control: the same click, when it is time.
    await approvals.pass(500);
    await approvals.press(allow);
    await arrived(workspace, "seen.txt");
});

scenario("agent_answered_here", { ...common, files }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    // The agent comes to the sidecar that the editor has.
    await until(async () => (await workspace.processes()).some(({ command }) => command.includes("workspace-sidecar")), "a sidecar");
    const agent = await Agent.start(workspace, "claude\u202e");
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
    await editor.textFocus();
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
    const approvals = await runAndShowApprovals(editor);
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
        const approvals = await runAndShowApprovals(editor);
        await approvals.ready(approvals.allow("Allow: this call"));
        await approvals.frame.getByRole("button", { name: "Edit…" }).click();
        await approvals.frame.locator(".verdict").waitFor();
        await editor.screenshot("question");
    });
}

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
}, async ({ workspace, editor }) => {
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
    await until(async () => workspace.has("second") && (await workspace.read("second")) === "kept", "the variable of the first cell");
});
