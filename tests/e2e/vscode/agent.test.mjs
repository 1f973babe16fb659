// These scenarios try the editor's own agent, and that the user sees what it does.
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { withExtension } from "./driver/extensions.mjs";
import { scenario } from "./driver/scenario.mjs";
import { VERSION } from "./driver/installation.mjs";
import { until } from "./driver/wait.mjs";

async function ask({ workspace, editor }, tool, input) {
    await rm(workspace.file("answer.json"), { force: true });
    await workspace.write("question.json", JSON.stringify({ tool, input }));
    await editor.command("Ask as the Chat Does");
}

/** Agrees to what the chat asks about, which shows this. */
async function agree({ editor }, title, text) {
    const dialog = editor.dialog(title);
    await dialog.getByText(text).waitFor();
    await editor.screenshot("asked");
    await dialog.locator(".monaco-button", { hasText: /^Yes$/ }).click();
    await dialog.waitFor({ state: "hidden" });
}

/** Runs code as the chat does, and agrees to it. */
async function execute(scene, code) {
    await ask(scene, "cellgate_execute", { code });
    await agree(scene, "Run this code in the agent's own kernel?", code.split("\n")[0]);
}

async function answer({ workspace }) {
    const text = await until(async () => workspace.has("answer.json") && (await workspace.read("answer.json")), "the tool's answer");
    return JSON.parse(text);
}

scenario("the chat runs code as an agent, and a user sees it", {
    files: { "plan.py": "# %%\nprint(1)\n" },
    ...withExtension("asker"),
}, async (scene) => {
    const { workspace, editor } = scene;
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").waitFor();
    await execute(scene, "x = 41\nprint('printed')");
    assert.deepEqual(await answer(scene), { text: "printed\n" });
    await execute(scene, "x + 1");
    assert.deepEqual(await answer(scene), { text: "42\n" });
    await execute(scene, "1 / 0");
    assert.match((await answer(scene)).text, /ZeroDivisionError/);

    await execute(scene, "import os, time\nwhile not os.path.exists('end'): time.sleep(0.02)");
    await editor.page.locator(".activitybar .action-label[aria-label^='cellgate']").click();
    const row = (text) => editor.page.locator(".monaco-list-row", { hasText: text });
    await row(/^agent-\w+ ?agent VS Code chat · busy/).waitFor();
    await row(/^import os, time ?agent VS Code chat/).waitFor();
    await editor.screenshot("seen");
    await workspace.write("end", "");
    assert.ok("text" in (await answer(scene)));
});

// Version 1.100 keeps this to itself.
if (VERSION !== "1.100") {
    scenario("cellgate is among the editor's MCP servers", {
        files: { "plan.py": "# %%\nprint(1)\n" },
        settings: { "chat.disableAIFeatures": false },
    }, async ({ editor }) => {
        await editor.openFile("plan.py");
        await editor.lens("Run Cell").waitFor();
        await editor.command("MCP: List Servers");
        await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "cellgate" }).waitFor();
        await editor.screenshot("listed");
    });
}
