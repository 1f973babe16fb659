// The package as a new user has it: installed into an editor that has nothing else.
import assert from "node:assert/strict";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const files = { "plan.py": "# %%\nprint(1)\n" };
const ofThePackage = ({ program }) => /\/extensions\/cellgate\.cellgate-[^/]*\/bin\/cellgate$/.test(program);

scenario("opening a Python file starts the sidecar that the package holds", { files }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    await until(
        async () => (await place.processes()).some(({ command }) => command.includes("root-sidecar")),
        async () => `a sidecar; there is: ${JSON.stringify(await place.processes())}`,
    );
    const cellgates = (await place.processes()).filter(({ command }) => /^\S*cellgate /.test(command));
    assert.ok(cellgates.length > 0 && cellgates.every(ofThePackage), JSON.stringify(cellgates));
    await editor.screenshot("started");
});

scenario("in a workspace that nobody trusts nothing starts", { files, trusted: false }, async ({ place, server, editor }) => {
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
