// This scenario reads the view of the record.
import { Approvals } from "./driver/approvals.mjs";
import { filesystemSettings, writeWrappers } from "./driver/filesystem.mjs";
import { scenario } from "./driver/scenario.mjs";
import { press, row, unfold } from "./driver/views.mjs";

const reads = `# %%
from mcptools.filesystem import read_text_file
print(read_text_file.run(path="notes.txt").content)
`;

scenario("what a cell did is in the record, which verifies", { settings: filesystemSettings, prepare: writeWrappers, files: { "plan.py": reads, "notes.txt": "five days" } }, async ({ editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().click();
    const approvals = await Approvals.of(editor);
    await approvals.press(approvals.allow("Allow: this call"));
    await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
    const record = await unfold(editor, "Record");
    const cell = row(record, "from mcptools.filesystem import read_text_file").first();
    await cell.waitFor();
    await cell.click();
    await editor.page.keyboard.press("ArrowRight");
    await row(record, "allowed: read_text_file of filesystem").waitFor();
    await editor.screenshot("record");
    await press(record, "allowed: read_text_file of filesystem", "Show Entry");
    await editor.page.locator(".view-lines", { hasText: "argumentsText" }).waitFor();
    await editor.screenshot("entry");
    await record.locator(".pane-header").hover();
    await record.locator('.pane-header .action-label[aria-label^="Verify"]').click();
    await editor.notification(/\d+ entries, as they were written\./).waitFor();
    await editor.screenshot("verified");
});
