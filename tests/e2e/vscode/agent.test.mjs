// These scenarios try the editor's own agent: what its chat is offered, and that the user sees what it does.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { withExtension } from "./driver/extensions.mjs";
import { cellgateProgram, TestWorkspace } from "./driver/workspace.mjs";
import { scenario } from "./driver/scenario.mjs";
import { VERSION } from "./driver/installation.mjs";
import { until } from "./driver/wait.mjs";

const EXTENSION = path.resolve(import.meta.dirname, "../../../editors/vscode");

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

test("what the chat is offered is what cellgate offers agents", async (t) => {
    const workspace = await TestWorkspace.make({});
    t.after(() => workspace.remove());
    const { languageModelTools } = JSON.parse(readFileSync(path.join(EXTENSION, "package.json"))).contributes;
    const tools = await toolsOfCellgate(workspace);
    for (const { name, modelDescription, inputSchema } of languageModelTools) {
        const tool = tools.find((each) => `cellgate_${each.name}` === name);
        assert.deepEqual({ modelDescription, inputSchema }, { modelDescription: tool.description, inputSchema: tool.inputSchema });
    }
});

/** As `cellgate mcp` lists them. */
async function toolsOfCellgate(workspace) {
    const child = spawn(cellgateProgram(), ["mcp", "--as", "all", "--root", workspace.path], {
        env: workspace.environment,
        stdio: ["pipe", "pipe", "ignore"],
    });
    const say = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "test", version: "1" };
    say({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
    say({ method: "notifications/initialized" });
    say({ id: 2, method: "tools/list", params: {} });
    try {
        for await (const line of createInterface({ input: child.stdout })) {
            const message = JSON.parse(line);
            if (message.id === 2) {
                return message.result.tools;
            }
        }
        throw new Error("cellgate mcp ended without an answer");
    } finally {
        child.stdin.end();
    }
}

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
