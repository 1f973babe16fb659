// These scenarios try which kernel a file's cells run in, and what happens when it cannot start.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { withExtension } from "./driver/extensions.mjs";
import { bareVenv, withoutBubblewrap } from "./driver/machines.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const files = {
    "one.py": "# %%\nx = 'of one'\n",
    "two.py": "# %%\nopen('seen', 'w').write(globals().get('x', 'nothing'))\n",
};

scenario("a file has a session of its own, until it is attached to another", { files }, async ({ workspace, editor }) => {
    await editor.openFile("one.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    await editor.openFile("two.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    assert.equal(await workspace.read("seen"), "nothing");
    await editor.command("cellgate: Attach File to Session…");
    const row = editor.page.locator(".quick-input-list .monaco-list-row", { hasText: /^one\.py-/ });
    await row.getByText("you, idle").waitFor();
    await row.click();
    await editor.statusItem(/one\.py-\w+ · idle/).waitFor();
    await editor.lens("Run Cell").click();
    await editor.lens(/\[2\]/).waitFor();
    assert.equal(await workspace.read("seen"), "of one");
});

scenario("a settings file of the user's says what new sessions see", {
    settings: (workspace) => ({ "cellgate.sandboxConfig": path.join(workspace.base, "sandbox.json") }),
    prepare: async (workspace) => {
        const data = path.join(workspace.base, "data.csv");
        await writeFile(data, "first,second");
        await workspace.write("look.py", `# %%\nopen('seen', 'w').write(open(${JSON.stringify(data)}).read())\n`);
        const filesystem = { denyRead: [], allowRead: [data], allowWrite: ["."], denyWrite: [] };
        await writeFile(path.join(workspace.base, "sandbox.json"), JSON.stringify({ filesystem, network: { allowedDomains: [], deniedDomains: [] } }));
    },
}, async ({ workspace, editor }) => {
    await editor.openFile("look.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    assert.equal(await workspace.read("seen"), "first,second");
});

scenario("a setting of the user's chooses the launcher of new sessions", {
    settings: () => ({ "cellgate.sandboxLauncher": "gvisor" }),
    files: { "look.py": "# %%\nimport os\nopen('seen', 'w').write(os.uname().version)\n" },
}, async ({ workspace, editor }) => {
    await editor.openFile("look.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    assert.match(await workspace.read("seen"), /^#1 SMP Sun Jan 10 15:06:54 PST 2016/);
});

scenario("the interpreter that was chosen in the Python extension is used", {
    files: { "which.py": "# %%\nimport sys\nopen('which', 'w').write(sys.prefix)\n" },
    ...withExtension("python"),
    environment: (workspace) => {
        const venv = path.join(workspace.base, "venv");
        execFileSync("/usr/bin/python3", ["-m", "venv", "--without-pip", "--system-site-packages", venv]);
        return { CHOSEN_PYTHON: path.join(venv, "bin/python") };
    },
}, async ({ workspace, editor }) => {
    await editor.openFile("which.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    assert.equal(await workspace.read("which"), path.join(workspace.base, "venv"));
});

scenario("another interpreter in the Python extension is noticed, and a restart with it offered", {
    files: { "which.py": "# %%\nimport sys\nopen('which', 'w').write(sys.prefix)\n" },
    ...withExtension("python"),
    environment: (workspace) => {
        const venv = path.join(workspace.base, "venv");
        execFileSync("/usr/bin/python3", ["-m", "venv", "--without-pip", "--system-site-packages", venv]);
        return { CHOSEN_PYTHON: "/usr/bin/python3", OTHER_PYTHON: path.join(venv, "bin/python") };
    },
}, async ({ workspace, editor }) => {
    await editor.openFile("which.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    assert.equal(await workspace.read("which"), "/usr");
    await editor.command("Choose the Other Interpreter");
    const told = editor.notification("The Python extension has another interpreter now");
    await told.waitFor();
    await editor.screenshot("told");
    await told.locator(".monaco-button", { hasText: "Restart with It" }).click();
    await editor.lens("Run Cell").click();
    const venv = path.join(workspace.base, "venv");
    await until(async () => (await workspace.read("which")) === venv, async () => `${venv}; it is ${await workspace.read("which")}`);
});

/** How often the sidecars of the workspace have logged this. */
async function timesLogged(workspace, text) {
    return (await workspace.sidecarLogs()).reduce((sum, { text: log }) => sum + log.split(text).length - 1, 0);
}

/** Runs the first cell of both files, and restarts the second one's kernel, each after `meanwhile`. */
async function startThreeKernels(editor, meanwhile = async () => undefined) {
    await editor.openFile("one.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    await meanwhile(1);
    await editor.openFile("two.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    await meanwhile(2);
    await editor.command("cellgate: Restart Kernel");
    await editor.dialog("Restart the kernel").locator(".monaco-button", { hasText: /^Restart$/ }).click();
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
}

scenario("the next file's first cell, and a restart, have the kernel that is kept ready", { files }, async ({ workspace, editor }) => {
    const { page } = editor;
    await startThreeKernels(editor, async (count) => {
        await until(async () => (await timesLogged(workspace, "a spare kernel is ready")) === count, `the spare kernel ${count}`);
        if (count > 1) return;
        await page.locator(".activitybar .action-label[aria-label^='cellgate']").click();
        await page.getByText(/kept\sready:\s[\d.]+\sMiB/).first().waitFor();
        await editor.screenshot("ready");
    });
    assert.equal(await workspace.read("seen"), "nothing");
    await until(async () => (await timesLogged(workspace, "has the spare kernel")) === 2, "two sessions that have it");
});

scenario("none is kept ready where its user wants none", { files, settings: { "cellgate.spareKernel": false } }, async ({ workspace, editor }) => {
    await startThreeKernels(editor);
    assert.equal(await timesLogged(workspace, "spare kernel"), 0);
});

/** Opens the menu of the row with the focus, in which `others` are too, and chooses an entry of it by keys. */
async function chooseFromMenu(editor, text, others = []) {
    const { page } = editor;
    const entry = (each) => page.locator(".monaco-menu .action-item", { hasText: each });
    await editor.pressUntil("Shift+F10", () => entry(text).isVisible(), "the menu of the row");
    for (const each of others) await entry(each).waitFor();
    await editor.screenshot("menu");
    // The editors differ in whether the first entry has the focus at once.
    const chosen = page.locator(".monaco-menu .action-item.focused", { hasText: text });
    for (let i = 0; i < 7 && (await chosen.count()) === 0; i++) await page.keyboard.press("ArrowDown");
    await chosen.waitFor();
    await page.keyboard.press("Enter");
}

scenario("what a row of a view offers, its menu offers to keys", { files }, async ({ editor }) => {
    const { page } = editor;
    await editor.openFile("one.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    await page.locator(".activitybar .action-label[aria-label^='cellgate']").click();
    const row = page.locator(".monaco-list-row[aria-label^='session one.py']");
    await row.click();
    await chooseFromMenu(editor, "Close Session", ["Interrupt", "Restart Kernel", "Set Limits…"]);
    await editor.dialog("Close the session").locator(".monaco-button", { hasText: "Close Session" }).click();
    await row.waitFor({ state: "detached" });
});

scenario("what a session uses is plotted, and a limit is set from its menu", {
    files: { "one.py": "# %%\nx = bytes(50_000_000)\n# %%\nwhile True: pass\n" },
}, async ({ editor }) => {
    const { page } = editor;
    await editor.openFile("one.py");
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\]/).waitFor();
    await page.locator(".activitybar .action-label[aria-label^='cellgate']").click();
    const row = page.locator(".monaco-list-row[aria-label^='session one.py']");
    await page.getByText(/\d+ % [▁-█]{2,} [\d.]+ MiB [▁-█]{2,}/).first().waitFor();
    await editor.screenshot("figures");
    await row.click();
    await chooseFromMenu(editor, "Set Limits…");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "Time of each execution" }).click();
    const input = page.locator(".quick-input-widget input").first();
    await input.fill("1m");
    await page.locator(".quick-input-message", { hasText: "Expected seconds" }).waitFor();
    await editor.screenshot("limit");
    await input.fill("1.5");
    await input.press("Enter");
    await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    await editor.lens("Run Cell").nth(1).click();
    await editor.lens(/timeout, \d+\.\d s/).waitFor();
    await editor.screenshot("timeout");
});

scenario("a file that gets another name keeps its session", { files }, async ({ workspace, editor }) => {
    await editor.openFile("one.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    await editor.page.locator(".explorer-folders-view .monaco-list-row[aria-label^='one.py']").click();
    const name = editor.page.locator(".explorer-item input");
    await editor.pressUntil("F2", () => name.isVisible(), "the box of the new name");
    await name.fill("three.py");
    await name.press("Enter");
    await editor.page.locator(".tab", { hasText: "three.py" }).waitFor();
    await workspace.write("three.py", "# %%\nopen('seen', 'w').write(globals().get('x', 'nothing'))\n");
    await editor.page.locator(".view-line", { hasText: "seen" }).first().waitFor();
    await editor.lens("Run Cell").click();
    await editor.lens(/\[2\]/).waitFor();
    assert.equal(await workspace.read("seen"), "of one");
});

const prepare = bareVenv;
const environment = (workspace) => ({ VIRTUAL_ENV: path.join(workspace.base, "venv") });

scenario("an interpreter without ipykernel: the command that installs it is shown, and runs where it is seen", {
    files, prepare, environment,
}, async ({ editor }) => {
    await editor.openFile("one.py");
    await editor.lens("Run Cell").click();
    const dialog = editor.dialog("expected ipykernel in the interpreter");
    await dialog.getByText(/venv\/bin\/python\S* -m pip install ipykernel/).waitFor();
    await editor.screenshot("offer");
    await dialog.locator(".monaco-button", { hasText: "Install in a Terminal" }).click();
    await editor.lens(/\[1\]/).waitFor();
    await editor.screenshot("installed");
});

scenario("an interpreter of the workspace without ipykernel: that code may have put it there is said before anything runs it", {
    files, prepare: (workspace) => bareVenv(workspace, workspace.file(".venv")),
}, async ({ workspace, editor }) => {
    await editor.openFile("one.py");
    await editor.lens("Run Cell").click();
    const dialog = editor.dialog("expected ipykernel in the interpreter");
    await dialog.getByText("where code in a kernel may have put it, and this runs it outside the sandbox").waitFor();
    assert.equal(await dialog.locator(".monaco-button", { hasText: "Install in a Terminal" }).count(), 0);
    await editor.screenshot("offer");
    await dialog.locator(".monaco-button", { hasText: "Install Outside the Sandbox" }).click();
    await until(() => execFileSync("find", [workspace.file(".venv"), "-name", "system.pth"]).length > 0, "what its pip leaves");
});

scenario("a terminal that does not open for the install ends the offer, and the cell says why", {
    files, prepare, environment,
    settings: { "terminal.integrated.automationProfile.linux": { path: "/nowhere/sh" } },
}, async ({ editor }) => {
    await editor.openFile("one.py");
    await editor.lens("Run Cell").click();
    await editor.dialog("expected ipykernel").locator(".monaco-button", { hasText: "Install in a Terminal" }).click();
    await editor.lens("did not run: expected ipykernel").waitFor();
});

scenario("an interpreter without ipykernel: another one can be chosen", { files, prepare, environment }, async ({ editor }) => {
    await editor.openFile("one.py");
    await editor.lens("Run Cell").click();
    await editor.dialog("expected ipykernel").locator(".monaco-button", { hasText: "Select Another Interpreter" }).click();
    await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "/usr/bin/python3" }).first().click();
    await editor.lens(/\[1\]/).waitFor();
});

scenario("an offer that is not taken starts nothing, and the cell says why", { files, prepare, environment }, async ({ editor }) => {
    await editor.openFile("one.py");
    await editor.lens("Run Cell").click();
    await editor.dialog("expected ipykernel").locator(".monaco-button", { hasText: "Cancel" }).click();
    await editor.lens("did not run: expected ipykernel").waitFor();
});

scenario("a machine that refuses the sandbox: the fix is shown, and nothing runs without a user's choice", {
    files,
    prepare: withoutBubblewrap,
}, async ({ workspace, editor }) => {
    await editor.openFile("two.py");
    await editor.lens("Run Cell").click();
    const dialog = editor.dialog("the sandbox needs bubblewrap");
    await dialog.getByText("apt install bubblewrap").waitFor();
    await editor.screenshot("offer");
    await dialog.locator(".monaco-button", { hasText: "Cancel" }).click();
    await editor.lens("did not run: the sandbox needs bubblewrap").waitFor();
    assert.equal(workspace.has("seen"), false);
    await editor.lens("Run Cell").click();
    await dialog.locator(".monaco-button", { hasText: "Run Unsandboxed in This Session" }).click();
    await editor.lens(/\[1\]/).waitFor();
    await editor.statusItem("unsandboxed").waitFor();
    await until(() => workspace.has("seen"), "the file that the cell writes");
    await editor.screenshot("unsandboxed");
});

scenario("a machine that refuses the sandbox: a user may choose the weaker one, and is warned", {
    files: { "try.py": "# %%\ntry:\n    open('/etc/cellgate-was-here', 'w')\nexcept OSError as error:\n    print(error)\nopen('seen', 'w')\n" },
    prepare: withoutBubblewrap,
}, async ({ workspace, editor }) => {
    await editor.openFile("try.py");
    await editor.lens("Run Cell").click();
    await editor
        .dialog("the sandbox needs bubblewrap")
        .locator(".monaco-button", { hasText: "Weaker Sandbox in This Session" })
        .click();
    await editor.lens(/\[1\]/).waitFor();
    await editor.statusItem("weaker sandbox").waitFor();
    await until(() => workspace.has("seen"), "the file that the cell writes");
    assert.equal(existsSync("/etc/cellgate-was-here"), false);
    await editor.screenshot("weaker");
});
