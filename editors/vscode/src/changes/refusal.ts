// `showRefusal` says which files prevented an undo, and why; each opens what was changed in it since.

import * as vscode from "vscode";
import type { Sidecar } from "../client/sidecar";
import type { PathProblem } from "../protocol/messages";
import { label } from "../text";
import type { Differences } from "./differences";
import { placeText } from "./labels";

export async function showRefusal(
    sidecar: Pick<Sidecar, "request">,
    differences: Differences,
    executionId: string,
    refused: readonly PathProblem[],
): Promise<void> {
    const { files } = await sidecar.request("changes/list", { executionId });
    const items = refused.map((problem) => ({ label: label(placeText(problem)), description: label(problem.why), path: problem.path }));
    const options = { title: "Nothing was undone", placeHolder: "Show what was changed since in which file?", ignoreFocusOut: true };
    const chosen = await vscode.window.showQuickPick(items, options);
    const file = files.find(({ path }) => path === chosen?.path);
    if (file) await differences.showSince(executionId, file);
}
