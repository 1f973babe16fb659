// These scenarios try what survives a window or a sidecar, and what is reported as lost.
import assert from "node:assert/strict";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { cellgateProgram } from "./driver/workspace.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const files = {
    "long.py": [
        "# %%\nimport os, time\nkept = 'kept'\nopen('begun', 'w').close()\n",
        "while not os.path.exists('end'): time.sleep(0.02)\n",
        "# %%\nopen('second', 'w').write(kept)\n",
    ].join(""),
};

async function runAll({ workspace, editor }) {
    await editor.openFile("long.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Run All Cells");
    await until(() => workspace.has("begun"), "the first cell to run");
}

scenario("a window that reloads in the middle of a run finds it where it is", { files }, async ({ workspace, editor }) => {
    await runAll({ workspace, editor });
    await editor.reload();
    await editor.lens("running").waitFor();
    await editor.lens(/queued/).waitFor();
    await editor.statusItem(/long\.py-\w+ · busy · 1 waiting/).waitFor();
    await workspace.write("end", "");
    await editor.lens(/\[1\]/).waitFor();
    await editor.lens(/\[2\]/).waitFor();
    await until(async () => workspace.has("second") && (await workspace.read("second")) === "kept", "the variable of the first cell");
    await editor.screenshot("after");
});

scenario("sidecar_killed: a sidecar that is killed is started again, and what was lost is said", { files }, async ({ workspace, editor }) => {
    await runAll({ workspace, editor });
    const sidecar = (await workspace.processes()).find(({ command }) => command.includes("workspace-sidecar"));
    process.kill(sidecar.pid, "SIGKILL");
    const told = editor.notification("ended unexpectedly");
    await told.getByText(/the variables of one session are gone \(long\.py-\w+\); one cell was interrupted/).waitFor();
    await editor.lens("kernel ended").waitFor();
    await editor.lens("cancelled").waitFor();
    await editor.screenshot("told");
    await workspace.write("end", "");
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\]/).waitFor();
});

scenario("a kernel that dies is started again, and that its variables are gone is said", {
    files: { "die.py": "# %%\nx = 1\n# %%\nimport os\nos._exit(3)\n# %%\nopen('x', 'w').write(str('x' in globals()))\n" },
}, async ({ workspace, editor }) => {
    await editor.openFile("die.py");
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\]/).waitFor();
    await editor.lens("Run Cell").nth(1).click();
    await editor.notification(/The kernel of die\.py-\w+ has ended, and its variables are gone/).waitFor();
    await editor.lens("kernel ended: the kernel died: exit code 3").waitFor();
    await editor.screenshot("told");
    await editor.lens("Run Cell").nth(2).click();
    await until(() => workspace.has("x"), "the third cell to run");
    assert.equal(await workspace.read("x"), "False");
});

scenario("where there is no cellgate it is said, until there is one", {
    files,
    prepare: async (workspace) => {
        const settings = path.join(workspace.base, "user-data/Machine/settings.json");
        await mkdir(path.dirname(settings), { recursive: true });
        await writeFile(settings, JSON.stringify({ "cellgate.program": path.join(workspace.base, "cellgate") }));
    },
}, async ({ workspace, editor }) => {
    await editor.openFile("long.py");
    const told = editor.notification("cellgate cannot be reached: the setting cellgate.program names");
    await told.waitFor();
    await editor.statusItem("cellgate: not connected").waitFor();
    await editor.screenshot("told");
    await symlink(cellgateProgram(), path.join(workspace.base, "cellgate"));
    await told.locator(".monaco-button", { hasText: "Reconnect" }).click();
    await editor.lens("Run Cell").first().click();
    await until(() => workspace.has("begun"), "the first cell to run");
    await editor.statusItem("cellgate: not connected").waitFor({ state: "hidden" });
    await workspace.write("end", "");
    await editor.lens(/\[1\]/).waitFor();
});

// A program in cellgate's workspace, until the real one is put there.
const playedBy = (lines) => async (workspace) => {
    const program = path.join(workspace.base, "cellgate");
    await writeFile(program, ["#!/usr/bin/python3", "import json, os, sys, time", ...lines].join("\n"), { mode: 0o755 });
    const settings = path.join(workspace.base, "user-data/Machine/settings.json");
    await mkdir(path.dirname(settings), { recursive: true });
    await writeFile(settings, JSON.stringify({ "cellgate.program": program }));
};

async function putInPlace(workspace) {
    await rm(path.join(workspace.base, "cellgate"));
    await symlink(cellgateProgram(), path.join(workspace.base, "cellgate"));
}

scenario("a cellgate that does not answer is seen, and a click tries again", {
    files,
    prepare: playedBy(["if 'connect' in sys.argv: time.sleep(1000)"]),
}, async ({ workspace, editor }) => {
    await editor.openFile("long.py");
    const item = editor.statusItem("cellgate: connecting");
    await item.waitFor();
    await editor.screenshot("connecting");
    await putInPlace(workspace);
    await item.click();
    await editor.lens("Run Cell").first().click();
    await until(() => workspace.has("begun"), "the first cell to run");
    await item.waitFor({ state: "hidden" });
    await workspace.write("end", "");
    await editor.lens(/\[1\]/).waitFor();
});

const refuses = [
    "if 'connect' not in sys.argv: sys.exit()",
    "here = os.path.dirname(__file__)",
    "open(here + '/attempts', 'a').write('one ')",
    "length = int(sys.stdin.buffer.readline().split(b':')[1]); sys.stdin.buffer.readline()",
    "request = json.loads(sys.stdin.buffer.read(length))",
    "error = {'code': 1021, 'message': 'this folder cannot be a workspace', 'data': {'kind': 'configInvalid', 'hint': 'Use a folder of its own.'}}",
    "body = json.dumps({'jsonrpc': '2.0', 'id': request['id'], 'error': error})",
    "print(f'Content-Length: {len(body)}\\r\\n\\r\\n{body}', end='', flush=True)",
    "time.sleep(1000)",
];

scenario("what cellgate itself says against a start is said at once, with what to do, and is not tried again unasked", {
    files,
    prepare: playedBy(refuses),
}, async ({ workspace, editor }) => {
    await editor.openFile("long.py");
    const told = editor.notification("cellgate cannot be reached: this folder cannot be a workspace. Use a folder of its own.");
    await told.waitFor();
    await editor.statusItem("cellgate: not connected").waitFor();
    await editor.screenshot("told");
    assert.equal(await workspace.read("../attempts"), "one ");
    await putInPlace(workspace);
    await told.locator(".monaco-button", { hasText: "Reconnect" }).click();
    await editor.lens("Run Cell").first().click();
    await until(() => workspace.has("begun"), "the first cell to run");
    await workspace.write("end", "");
    await editor.lens(/\[1\]/).waitFor();
});
