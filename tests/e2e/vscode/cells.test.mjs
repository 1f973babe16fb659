// Cells as a person runs them: by lens and by key, what they are told of each, and how it is stopped.
import assert from "node:assert/strict";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const files = {
    "plan.py": "# %%\nopen('one', 'w').write('1')\n\n# %%\nopen('two', 'w').write('2')\n\n# %%\n1 / 0\n",
};

scenario("a cell runs by its lens, and the lens tells how it ended", { files }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
    assert.equal(await place.read("one"), "1");
    assert.equal(place.has("two"), false);
    await editor.lens("Run Cell").nth(2).click();
    await editor.lens(/\[2\] ZeroDivisionError/).waitFor();
    await editor.statusItem(/plan\.py-\w+ · idle/).waitFor();
    await editor.screenshot("lenses");
});

scenario("Shift+Enter runs a cell and goes to the next, Ctrl+Enter stays", { files }, async ({ place, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.goToLine(2);
    await editor.page.keyboard.press("Shift+Enter");
    await editor.lens(/\[1\]/).waitFor();
    await editor.statusItem("Ln 5, Col 1").waitFor();
    await editor.page.keyboard.press("Control+Enter");
    await editor.lens(/\[2\]/).waitFor();
    await editor.statusItem("Ln 5, Col 1").waitFor();
    assert.equal(await place.read("two"), "2");
});
