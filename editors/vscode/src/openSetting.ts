// `openSetting` shows a setting in the settings editor. Those of this extension are the machine's: where VS Code is connected
// to one, the user's own tab does not have them.

import * as vscode from "vscode";

export async function openSetting(name: string): Promise<void> {
    if (vscode.env.remoteName === undefined) await vscode.commands.executeCommand("workbench.action.openSettings", name);
    else await vscode.commands.executeCommand("workbench.action.openRemoteSettings", { query: name });
}
