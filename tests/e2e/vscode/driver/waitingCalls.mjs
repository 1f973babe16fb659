// `waitingCalls` is what scenarios about waiting calls share: the filesystem server, and cells that call it.
import { Approvals } from "./approvals.mjs";
import { filesystemSettings, writeWrappers } from "./filesystem.mjs";
import { until } from "./wait.mjs";

export const common = { settings: filesystemSettings, prepare: writeWrappers };

export const reads = `# %%
from mcptools.filesystem import read_text_file

# %%
text = read_text_file.run(path="notes.txt")
open("seen.txt", "w").write(text.content)
`;
export const files = { "plan.py": reads, "notes.txt": "five days" };

/** Runs all cells; resolves when the view has come up. @param {import("./editor.mjs").Editor} editor */
export async function runAndShowApprovals(editor) {
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Run All Cells");
    return Approvals.of(editor);
}

/** @param {import("./workspace.mjs").TestWorkspace} workspace @param {string} name */
export const arrived = (workspace, name) => until(() => workspace.has(name), () => `the file ${name}`);
