// The package as a new user has it: installed into an editor that has nothing else.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const files = { "plan.py": "# %%\nprint(1)\n" };
const ofThePackage = ({ program }) => /\/extensions\/cellgate\.cellgate-[^/]*\/bin\/cellgate$/.test(program);

scenario("opening a Python file starts the sidecar that the package holds", { files, whole: true }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    await until(
        async () => (await place.processes()).some(({ command }) => command.includes("root-sidecar")),
        async () => `a sidecar; there is: ${JSON.stringify(await place.processes())}`,
    );
    const cellgates = (await place.processes()).filter(({ command }) => /^\S*cellgate /.test(command));
    assert.ok(cellgates.length > 0 && cellgates.every(ofThePackage), JSON.stringify(cellgates));
    // Where the scenarios run in a root of their own (in-root), that is the one.
    for (const { pid } of cellgates) {
        assert.equal(existsSync(`/proc/${pid}/root/made-with`), process.env.CELLGATE_E2E_ROOT !== undefined);
    }
    await editor.screenshot("started");
});

scenario("in a workspace that nobody trusts nothing starts", { files, trusted: false, whole: true }, async ({ place, server, editor }) => {
    await editor.openFile("plan.py");
    await editor.statusItem("Restricted Mode").waitFor();
    // By then the editor has started what an opened file and its own start start.
    for (const event of ["'onLanguage'", "'onStartupFinished'"]) {
        await until(
            async () => (await server.extensionHostLog()).includes(event),
            async () => `an extension that starts with ${event}; the log is: ${await server.extensionHostLog()}`,
        );
    }
    assert.deepEqual((await place.processes()).filter(ofThePackage), []);
    await editor.screenshot("restricted");
});

// A program that leaves a trace when it is started, named in the settings of `file`.
const named = (file) => async (place) => {
    const program = path.join(place.root, "other");
    await writeFile(program, `#!/bin/sh\ntouch '${place.file("started")}'\n`, { mode: 0o755 });
    const settings = path.resolve(place.workspace, file);
    await mkdir(path.dirname(settings), { recursive: true });
    await writeFile(settings, JSON.stringify({ "cellgate.program": program }));
};

scenario("a workspace's settings do not choose the program", { files, prepare: named(".vscode/settings.json") }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    assert.equal(place.has("started"), false);
});

scenario("the settings of the machine do", { files, prepare: named("../user-data/Machine/settings.json") }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    await until(() => place.has("started"), "the start of the other program");
});
