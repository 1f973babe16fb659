// These scenarios try the package as a new user has it: installed into an editor that has nothing else.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { PACKAGE } from "./driver/extensions.mjs";
import { REPOSITORY } from "./driver/installation.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const files = { "plan.py": "# %%\nprint(1)\n" };
const ofThePackage = ({ program }) => /\/extensions\/cellgate\.cellgate-[^/]*\/bin\/cellgate$/.test(program);

scenario("opening a Python file starts the sidecar that the package holds", { files, whole: true }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await until(
        async () => (await workspace.processes()).some(({ command }) => command.includes("workspace-sidecar")),
        async () => `a sidecar; there is: ${JSON.stringify(await workspace.processes())}`,
    );
    const cellgates = (await workspace.processes()).filter(({ command }) => /^\S*cellgate /.test(command));
    assert.ok(cellgates.length > 0 && cellgates.every(ofThePackage), JSON.stringify(cellgates));
    // Where the scenarios run in a root of their own (in-root), that is the one.
    for (const { pid } of cellgates) {
        assert.equal(existsSync(`/proc/${pid}/root/made-with`), process.env.CELLGATE_E2E_ROOT !== undefined);
    }
    await editor.screenshot("started");
});

scenario("in an untrusted workspace nothing starts", { files, trusted: false, whole: true }, async ({ workspace, server, editor }) => {
    await editor.openFile("plan.py");
    await editor.statusItem("Restricted Mode").waitFor();
    // By then the editor has started what an opened file and its own start start.
    for (const event of ["'onLanguage'", "'onStartupFinished'"]) {
        await until(
            async () => (await server.extensionHostLog()).includes(event),
            async () => `an extension that starts with ${event}; the log is: ${await server.extensionHostLog()}`,
        );
    }
    assert.deepEqual((await workspace.processes()).filter(ofThePackage), []);
    await editor.screenshot("restricted");
});

// A program that leaves a trace when it is started, named in the settings of `file`.
const named = (file) => async (workspace) => {
    const program = path.join(workspace.base, "other");
    await writeFile(program, `#!/bin/sh\ntouch '${workspace.file("started")}'\n`, { mode: 0o755 });
    const settings = path.resolve(workspace.path, file);
    await mkdir(path.dirname(settings), { recursive: true });
    await writeFile(settings, JSON.stringify({ "cellgate.program": program }));
};

scenario("a workspace's settings do not choose the program", { files, prepare: named(".vscode/settings.json") }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    assert.equal(workspace.has("started"), false);
});

scenario("the settings of the machine do", { files, prepare: named("../user-data/Machine/settings.json") }, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await until(() => workspace.has("started"), "the start of the other program");
});

scenario("a workspace's settings do not have everything that is said written into the log", {
    files: { ...files, ".vscode/settings.json": JSON.stringify({ "cellgate.trace": "verbose", "cellgate.lingerSeconds": 0 }) },
}, async ({ server, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    const logs = (await server.logs((name) => name.endsWith("cellgate.log"))).map(({ text }) => text).join("");
    assert.match(logs, /connected to cellgate/);
    assert.doesNotMatch(logs, /Sending request/);
});

const run = promisify(execFile);

test("the documentation names the C library that the package needs", async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), "cge-package-"));
    t.after(() => rm(folder, { recursive: true }));
    await run("python3", ["-m", "zipfile", "-e", PACKAGE, folder]);
    const { stdout: names } = await run("find", [path.join(folder, "extension/bin"), path.join(folder, "extension/lib"), "-type", "f", "!", "-path", "*/licenses/*"]);
    const { stdout } = await run("objdump", ["-T", ...names.trim().split("\n")], { maxBuffer: 1 << 28 });
    const versions = [...stdout.matchAll(/\(GLIBC_([\d.]+)\)/g)].map(([, version]) => version);
    const [newest] = versions.sort((a, b) => b.localeCompare(a, undefined, { numeric: true }));
    for (const name of ["docs/vscode.md", "editors/vscode/README.md"]) {
        const text = (await readFile(path.join(REPOSITORY, name), "utf8")).replace(/\s+/g, " ");
        assert.deepEqual(/Linux on x86-64 with glibc ([\d.]+) or newer/.exec(text)?.[1], newest, name);
    }
});
