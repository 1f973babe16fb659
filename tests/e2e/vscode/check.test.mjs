// This scenario tries checks of code by the sidecar: what is found in a file, and what mends it.
import assert from "node:assert/strict";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const files = { "plan.py": "# %%\nprint(1)\n# %%\nrows = json.loads('[1]')\nimport nowhere_at_all\n# %% [bash]\nrm -rf /\n" };

scenario("code is checked by command, and a quick fix writes the missing import", { files }, async ({ workspace, editor }) => {
    const { page } = editor;
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Check Code");
    const problem = (text) => page.locator(".markers-panel .monaco-list-row", { hasText: text });
    await problem("json is not imported").waitFor();
    await problem("there is no module nowhere_at_all").waitFor();
    await problem("this removes everything").waitFor();
    await editor.screenshot("check");
    await problem("json is not imported").dblclick(); // then the editor has the focus
    const fix = page.locator(".action-widget .monaco-list-row", { hasText: /import json/ });
    await editor.pressUntil("Control+.", async () => (await fix.count()) > 0, "the quick fix");
    await fix.click();
    await editor.command("File: Save");
    await until(async () => (await workspace.read("plan.py")).includes("import json\nrows ="), "the import in the file");
    await until(async () => (await problem("json is not imported").count()) === 0, "the check on save"); // which finds it no more
    assert.equal(await problem("there is no module nowhere_at_all").count(), 1);
});
