// This scenario saves a function of a cell as a tool, and calls it from the next cell.
import assert from "node:assert/strict";
import { Approvals } from "./driver/approvals.mjs";
import { scenario } from "./driver/scenario.mjs";

const cells = `# %%
def double(n: int) -> int:
    "Doubles a number."
    return 2 * n

# %%
from mcptools.saved import double
print("it is", double.run(n=21).result)
`;

scenario("a function that ran is saved as a tool once the user has seen its code, and cells call it", { files: { "plan.py": cells } }, async ({ editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\] \d/).waitFor();
    await editor.command("cellgate: Save Function as Tool…");
    const approvals = await Approvals.of(editor);
    await approvals.block("def double(n: int) -> int:").waitFor();
    await approvals.ready(approvals.allow("Allow: this call"));
    await editor.screenshot("question");
    await approvals.press(approvals.allow("Allow: this call"));
    await editor.notification("double is saved as saved/double").locator(".monaco-button", { hasText: "Generate Wrappers" }).click();
    await editor.notification("mcptools.saved has 1 module").waitFor();
    await editor.lens("Run Cell").nth(1).click();
    await approvals.block("tool double of saved").waitFor();
    await approvals.press(approvals.allow("Allow: this call"));
    await editor.lens(/\[2\] \d/).waitFor();
    await editor.screenshot("called");
    assert.equal(await editor.notification("has ended").count(), 0);
});
