// These scenarios try the views of rules and of tool servers.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { Approvals } from "./driver/approvals.mjs";
import { filesystemFile, filesystemSettings, writeWrappers } from "./driver/filesystem.mjs";
import { scenario } from "./driver/scenario.mjs";
import { press, row, unfold } from "./driver/views.mjs";
import { until } from "./driver/wait.mjs";

const reads = `# %%
from mcptools.filesystem import read_text_file
open("seen.txt", "a").write(read_text_file.run(path="notes.txt").content)
`;
const files = { "plan.py": reads, "notes.txt": "five days. " };

scenario("a rule that an answer made is shown, decides, explains and goes", { settings: filesystemSettings, prepare: writeWrappers, files }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    const approvals = await Approvals.of(editor);
    await approvals.press(approvals.allow("any read_text_file of filesystem, this workspace"));
    await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
    const rules = await unfold(editor, "Rules");
    await row(rules, "In this workspace").waitFor();
    await row(rules, "allow read_text_file of filesystem").waitFor();
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[2\] [\d.]+ m?s/).waitFor();
    assert.equal(await workspace.read("seen.txt"), "five days. five days. ");

    await row(rules, "Decision history").click();
    await row(rules, /read_text_file of filesystem.*allowed by a user, with a rule: In this workspace/).waitFor();
    await press(rules, "allowed by a rule: In this workspace", "Why?");
    await editor.notification("read_text_file of filesystem: allowed by the rule “allow read_text_file of filesystem” (In this workspace); it succeeded.").waitFor();
    await editor.screenshot("rules");
    await press(rules, "allow read_text_file of filesystem", "Revoke Rule");
    await row(rules, "allow read_text_file of filesystem").waitFor({ state: "detached" });
    await press(rules, "allowed by a rule: In this workspace", "Why?");
    await editor.notification(/allowed by the rule .*\. Now it would be asked about: /).waitFor();
    await editor.lens("Run Cell").first().click();
    await approvals.block("read_text_file").waitFor();
});

const folder = {
    ...files,
    ".mcp.json": filesystemFile,
    // Settings are no way around the question: these are not a folder's to give.
    ".vscode/settings.json": JSON.stringify({ "cellgate.mcpServers": { sneaked: { command: "/bin/sh" } } }),
};

scenario("a rule that is typed says what it covers, and then decides", { settings: filesystemSettings, prepare: writeWrappers, files }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    const approvals = await Approvals.of(editor);
    await approvals.press(approvals.allow("this call"));
    await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
    await editor.command("cellgate: Add Rule…");
    const input = editor.page.locator(".quick-input-widget input").first();
    await input.fill("forbid filesystem/read_text_file");
    await editor.page.locator(".quick-input-message", { hasText: "expected a rule that begins with allow, ask or deny" }).waitFor();
    await input.fill("deny filesystem/read_text_file");
    await editor.page.locator(".quick-input-message", { hasText: "deny tool read_text_file of filesystem" }).waitFor();
    await editor.screenshot("typed");
    await input.press("Enter");
    await editor.choose("This workspace");
    const dialog = editor.dialog("deny tool read_text_file of filesystem, this workspace");
    await dialog.waitFor();
    assert.match(await dialog.innerText(), /covers 1 action that was allowed and 0 actions that were denied/);
    await editor.screenshot("preview");
    await dialog.getByText("Add Rule", { exact: true }).click();
    const rules = await unfold(editor, "Rules");
    await row(rules, "deny read_text_file of filesystem").waitFor();
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[2\] .*ApprovalDenied/).waitFor();
    assert.equal(await workspace.read("seen.txt"), "five days. ");
});

scenario("a server that a file of the workspace names waits for an agreement to what it runs", { files: folder }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.page.locator(".activitybar .action-label[aria-label^=cellgate]").click();
    const servers = await unfold(editor, "Tool Servers");
    await row(servers, /filesystem.*waits for your agreement · from .mcp.json/).waitFor();
    await row(servers, /program: "\S+\/mcp-server-filesystem"/).waitFor();
    await row(servers, "outside the sandbox, with all your rights").waitFor();
    assert.equal(await row(servers, "sneaked").count(), 0);
    await editor.screenshot("pending");
    await press(servers, "waits for your agreement", "Generate Wrappers");
    const approvals = await Approvals.of(editor);
    await approvals.block("start the tool server filesystem, outside the sandbox").waitFor();
    assert.equal(workspace.has("mcptools/filesystem"), false);
    await approvals.press(approvals.allow("start exactly this program, this workspace"));
    await editor.notification(/mcptools\.filesystem has \d+ modules/).waitFor();
    assert.ok(workspace.has("mcptools/filesystem/read_text_file.py"));
    const running = /filesystem.*running, 14 tools · from .mcp.json/;
    await row(servers, running).waitFor();
    await editor.screenshot("running");
    await press(servers, running, "Show Log of Tool Server");
    await editor.page.locator(".output-view .view-lines", { hasText: spaced("Secure MCP Filesystem Server running on stdio") }).waitFor();
    await editor.screenshot("log");
    const before = await serverProcess(workspace);
    await press(servers, running, "Restart Tool Server");
    await until(async () => ((await serverProcess(workspace)) ?? before) !== before, async () => `another process; there is ${await serverProcess(workspace)}`);
    await approvals.empty();
});

// A server that says what it has once it may.
const slowServer = `import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request: continue
    result = {}
    if request["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "slow", "version": "1"}}
    if request["method"] == "tools/list":
        while not os.path.exists("go"): time.sleep(0.02)
        result = {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
print("the last word", file=sys.stderr)
`;

scenario("a server of .vscode/mcp.json is asked about, and that its wrappers are being written is seen and can be cancelled", {
    files: {
        "plan.py": "# %%\n",
        "slow.py": slowServer,
        ".vscode/mcp.json": JSON.stringify({ servers: { slow: { command: "/usr/bin/python3", args: ["slow.py"] } } }),
    },
}, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.page.locator(".activitybar .action-label[aria-label^=cellgate]").click();
    const servers = await unfold(editor, "Tool Servers");
    await row(servers, /slow.*waits for your agreement · from .vscode\/mcp.json/).waitFor();
    await press(servers, "waits for your agreement", "Generate Wrappers");
    const approvals = await Approvals.of(editor);
    await approvals.press(approvals.allow("start exactly this program, this workspace"));
    const progress = editor.notification("Writing the wrappers of slow");
    await progress.waitFor();
    await editor.screenshot("progress");
    assert.equal(workspace.has("mcptools/slow"), false);
    await progress.locator(".monaco-button", { hasText: "Cancel" }).click();
    await progress.waitFor({ state: "hidden" });
    await workspace.write("go", "");
    await editor.command("cellgate: Generate Wrappers of Tool Server…");
    await editor.choose("slow");
    await editor.notification("mcptools.slow has 1 module").waitFor();
    assert.ok(workspace.has("mcptools/slow/look.py"));
});

/** An MCP server over HTTP; its port is known once it listens. */
async function serverOverHttp(workspace) {
    const fixture = path.resolve(import.meta.dirname, "../../fixtures/mcp_http_server.py");
    const server = spawn("/usr/bin/python3", ["-B", fixture], { stdio: ["pipe", "pipe", "inherit"] });
    const [port] = await once(server.stdout, "data");
    const url = `http://127.0.0.1:${String(port).trim()}/waits?${workspace.file("go")}`;
    await workspace.write(".mcp.json", JSON.stringify({ mcpServers: { web: { url, headers: { "X-Key": "${NO:-1}" } } } }));
    return server;
}

let web;
scenario("server_at_a_url: a server that runs elsewhere is asked about by its URL, and how far its call is can be seen", {
    files: { "plan.py": "# %%\nfrom mcptools.web import t_g\nprint(t_g.run())\n" },
    prepare: async (workspace) => { web = await serverOverHttp(workspace); },
}, async ({ workspace, editor }) => {
    try {
        await editor.openFile("plan.py");
        await editor.command("cellgate: Generate Wrappers of Tool Server…");
        await editor.choose("web");
        const approvals = await Approvals.of(editor);
        await approvals.block("use the tool server web, which runs elsewhere").waitFor();
        await approvals.block('with the header X-Key: "${NO:-1}"').waitFor();
        await editor.screenshot("asked");
        await approvals.press(approvals.allow("use it once"));
        await editor.notification("mcptools.web has 1 module").waitFor();
        await editor.lens("Run Cell").first().click();
        await approvals.press(approvals.allow("this call"));
        await editor.lens(/\d s, web, täg: 2 of 5: reading/).waitFor();
        await editor.screenshot("progress");
        await workspace.write("go", "");
        await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
    } finally {
        web.stdin.end("\n");
    }
});

/** The editor writes spaces of a text as no-break ones. */
const spaced = (text) => new RegExp(text.replaceAll(" ", "\\s"));

async function serverProcess(workspace) {
    return (await workspace.processes()).find(({ command }) => /^\S*node \S*mcp-server-filesystem/.test(command))?.pid;
}
