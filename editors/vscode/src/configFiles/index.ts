// `configFiles` registers the command that opens cellgate's own configuration files.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { showError } from "../notices";
import { openConfigFile } from "./command";

export function configFiles(cellgate: Cellgate): vscode.Disposable {
    return vscode.commands.registerCommand("cellgate.openConfigFile", (name?: string) => openConfigFile(cellgate, name).catch(showError));
}
