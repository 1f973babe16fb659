// These scenarios try what sessions are created with, the command that changes it, and timeouts of single cells.
import assert from "node:assert/strict";
import { notebookOf, runAll } from "./driver/notebooks.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const tells = "# %%\nimport os, resource\nwords = os.environ.get('A'), os.path.basename(os.getcwd()), resource.getrlimit(resource.RLIMIT_NOFILE)[0]\nopen('../seen', 'w').write(' '.join(map(str, words)))\n";

const files = {
    "plan.py": `${tells}\n# %% timeout=1\nwhile True: pass\n`,
    "data/notes.txt": "",
    // A folder says nothing about sessions.
    ".vscode/settings.json": JSON.stringify({ "cellgate.session.env": { A: "folder" }, "cellgate.session.limits": {} }),
};

const settings = { "cellgate.session.env": { A: "first" }, "cellgate.session.cwd": "data", "cellgate.session.limits": { openFiles: 200 } };

/** Types into the input box of this title. */
async function type(editor, title, text) {
    await editor.page.locator(".quick-input-title", { hasText: title }).waitFor();
    const input = editor.page.locator(".quick-input-widget input.input");
    await input.fill(text);
    await input.press("Enter");
    await editor.page.locator(".quick-input-title", { hasText: title }).waitFor({ state: "hidden" });
}

scenario("a session is created with the user's settings, and changed by the command", { files, settings }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\]/).waitFor();
    assert.equal(await workspace.read("seen"), "first data 200");
    await editor.lens("Run Cell").nth(1).click();
    await editor.lens(/timeout, /).waitFor();
    await editor.command("cellgate: Session Settings…");
    await editor.choose("Time of each execution");
    await type(editor, "Time of each execution", "30");
    const shown = editor.page.locator(".quick-input-list .monaco-list-row", { hasText: /Time of each execution/ });
    await until(async () => {
        await editor.command("cellgate: Session Settings…");
        await shown.waitFor();
        const isSet = /30 s/.test(await shown.textContent());
        if (!isSet) await editor.page.keyboard.press("Escape"); // the limit was not set yet when the list was made
        return isSet;
    }, "the limit in the list");
    await editor.screenshot("settings");
    await editor.choose("Environment Variables");
    await type(editor, "Environment variables of", "A=second");
    await editor.dialog(/Close the session plan\.py-\w+\?/).locator(".monaco-button", { hasText: "Close Session" }).click();
    await editor.statusItem(/plan\.py-\w+ · idle/).waitFor({ state: "detached" });
    await editor.lens("Run Cell").first().click();
    await until(async () => (await workspace.read("seen")) === "second data 200", "the variable in the new kernel");
});

const endless = { "plan.ipynb": notebookOf("import time\nwhile True: time.sleep(0.1)") };

scenario("a cell of a notebook has a timeout, which is kept in its file", { files: endless }, async ({ workspace, editor }) => {
    await editor.openFile("plan.ipynb");
    await editor.command("cellgate: Set Cell Timeout…");
    await type(editor, "Seconds after which this cell is interrupted", "1");
    const isSaved = async () => (await workspace.read("plan.ipynb")).includes("timeoutSeconds");
    await editor.pressUntil("Control+S", isSaved, "the saved notebook");
    assert.deepEqual(JSON.parse(await workspace.read("plan.ipynb")).cells[0].metadata.cellgate, { timeoutSeconds: 1 });
    await runAll(editor);
    await editor.page.locator(".cell-status-item .codicon-notebook-state-error").waitFor();
    await editor.screenshot("ended");
});

scenario("what a session may do is one list, and its lines open what changes them", { files: { "plan.py": "# %%\nprint(1)\n" } }, async ({ editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    const list = async () => editor.command("cellgate: Show What a Session May Do");
    const title = (text) => editor.page.locator(".quick-input-title", { hasText: text });
    await list();
    await title("may do").waitFor();
    await editor.screenshot("permissions");
    await editor.choose("Network: any host");
    await type(editor, "Add Rule", "deny network example.org");
    await title("Where does it hold?").waitFor();
    await editor.choose("This workspace");
    await editor.dialog(/example\.org/).locator(".monaco-button", { hasText: "Add Rule" }).click();
    await until(async () => {
        await list();
        await title("may do").waitFor();
        const isThere = (await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "example.org" }).count()) === 1;
        if (!isThere) await editor.page.keyboard.press("Escape");
        return isThere;
    }, "the rule in the list");
    await editor.choose("Sandbox: held by bwrap");
    await editor.page.locator(".settings-editor", { hasText: "Sandbox Launcher" }).waitFor();
});

const configured = {
    "plan.py": "# %%\nprint(1)\n",
    "../home/.config/cellgate/config.toml": "# What I like.\n[run]\ntimeout = 20\n",
};

scenario("cellgate's configuration files are listed with what they set, and opened; profiles say what they give", { files: configured }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    const title = (text) => editor.page.locator(".quick-input-title", { hasText: text });
    const tab = (name) => editor.page.locator(`.tab.active[data-resource-name="${name}"]`);
    const list = async () => {
        await editor.command("cellgate: Open Configuration File…");
        await title("cellgate's configuration files").waitFor();
    };
    await list();
    await editor.screenshot("files");
    await editor.choose("run.timeout");
    await tab("config.toml").waitFor();
    await editor.statusItem("Ln 3, Col 1").waitFor();
    await list();
    await editor.choose("profiles.json");
    await tab("profiles.json").waitFor();
    await editor.screenshot("skeleton");
    const profiles = "../home/.config/cellgate/profiles.json";
    assert.equal(workspace.has(profiles), false);
    const isSaved = async () => workspace.has(profiles) && /^\{\s*"profiles": \{\}\s*\}\s*$/.test(await workspace.read(profiles));
    await editor.pressUntil("Control+S", isSaved, "the saved file");

    await editor.openFile("plan.py");
    await editor.command("cellgate: Session Settings…");
    await title(/Settings|settings/).first().waitFor();
    await editor.screenshot("settings");
    await editor.choose("Profile");
    await title("Profile of plan.py").waitFor();
    await editor.screenshot("profiles");
    await editor.choose("Open profiles.json");
    await tab("profiles.json").waitFor();

    await workspace.write(profiles, "{");
    await list();
    await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: /profiles of sessions.*expected/s }).waitFor();
    await editor.screenshot("wrong");
});
