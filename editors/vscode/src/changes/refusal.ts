// `showRefusal` says which files prevented an undo, and why; each opens what was changed in it since.

import * as vscode from "vscode";
import type { Sidecar } from "../client/sidecar";
import type { PathProblem } from "../protocol/messages";
import { label } from "../text";
import type { Differences } from "./differences";

export async function showRefusal(
    sidecar: Pick<Sidecar, "request">,
    differences: Differences,
    executionId: string,
    refused: readonly PathProblem[],
): Promise<void> {
    const { files } = await sidecar.request("changes/list", { executionId });
    const items = refused.map((problem) => ({ label: label(problem.path), description: label(problem.why), problem }));
    const title = `Nothing was undone: ${refused.length === 1 ? "a file is not as the cell left it" : `${refused.length} files are not as the cell left them`}`;
    const chosen = await vscode.window.showQuickPick(items, { title, placeHolder: "Show the difference of which file?" });
    const file = files.find(({ path }) => path === chosen?.problem.path);
    if (file) await differences.showSince(executionId, file);
}
