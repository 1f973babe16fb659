// Of a workspace of several folders cellgate serves the first: kernels, tool servers and rules are those of one folder.
// Code of another one is not run there unasked, where its paths would mean other files.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { warn } from "../notices";

/** The document is of another folder, and its person is told. */
export function isElsewhere({ root }: Pick<Cellgate, "root">, uri: vscode.Uri): boolean {
    const folder = vscode.workspace.getWorkspaceFolder(uri);
    if (!folder || `${folder.uri.toString()}/`.startsWith(`${root.toString()}/`)) return false;
    void tell(folder, vscode.workspace.getWorkspaceFolder(root)?.name ?? root.fsPath);
    return true;
}

async function tell(folder: vscode.WorkspaceFolder, served: string): Promise<void> {
    const answer = await warn(
        `cellgate works in ${served}, the first folder of this workspace, and did not run code of ${folder.name}. It runs in a window of its own.`,
        `Open ${folder.name} in a New Window`,
    );
    if (answer) await vscode.commands.executeCommand("vscode.openFolder", folder.uri, { forceNewWindow: true });
}
