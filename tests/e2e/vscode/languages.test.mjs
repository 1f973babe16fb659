// These scenarios try files of other languages than Python, and cells that name a language of their own.
import assert from "node:assert/strict";
import { scenario } from "./driver/scenario.mjs";

const files = {
    "setup.sh": "# %%\nx=said\necho $x by bash | tee one\n\n# %% [python]\nprint(open('two', 'w').write('2'))\n\n# %%\necho $x again; false\n",
};

scenario("languages: a script runs in bash, and a cell that says so in Python", { files }, async ({ workspace, editor }) => {
    await editor.openFile("setup.sh");
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
    assert.equal(await workspace.read("one"), "said by bash\n");
    await editor.lens("Run Cell").nth(1).click();
    await editor.lens(/\[1\] [\d.]+ m?s/).nth(1).waitFor(); // each language's session counts by itself
    assert.equal(await workspace.read("two"), "2");
    await editor.lens("Run Cell").nth(2).click();
    await editor.lens(/\[2\] ExitStatus/).waitFor();
    await editor.screenshot("languages");
});
