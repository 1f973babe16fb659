// `sessionSettings` registers the command that shows and changes the settings of a session.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { showError } from "../notices";
import { editSessionSettings } from "./command";

export function sessionSettings(cellgate: Cellgate): vscode.Disposable {
    return vscode.commands.registerCommand("cellgate.sessionSettings", () => editSessionSettings(cellgate).catch(showError));
}
