// `sessionViews` registers everything about sessions in the editor: the view with what each runs and has queued, the status
// bar, and the commands on them.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { sessionCommands } from "./commands";
import { StatusBar } from "./statusBar";
import { SessionTree } from "./tree";

export function sessionViews(cellgate: Cellgate): vscode.Disposable {
    const tree = new SessionTree(cellgate);
    return vscode.Disposable.from(
        tree,
        new StatusBar(cellgate),
        tree.view,
        sessionCommands(cellgate),
    );
}
