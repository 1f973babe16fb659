// These functions find documents outside the folder that cellgate serves, which is the first one of the workspace.
// Their code is not run, since its paths would mean other files there.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { warn } from "../notices";

/** The folder of the document, if it is another one. */
export function folderNotServed({ root }: Pick<Cellgate, "root">, uri: vscode.Uri): vscode.WorkspaceFolder | undefined {
    const folder = vscode.workspace.getWorkspaceFolder(uri);
    return !folder || `${folder.uri.toString()}/`.startsWith(`${root.toString()}/`) ? undefined : folder;
}

/** Whether the document is in another folder; then the user is notified. */
export function isOtherFolder({ root }: Pick<Cellgate, "root">, uri: vscode.Uri): boolean {
    const folder = folderNotServed({ root }, uri);
    if (!folder) return false;
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
