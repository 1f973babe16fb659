// `cells` registers everything about cells in files: the lenses above them, and the commands that run them.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { anchorUpdates } from "./anchorUpdates";
import { cellCommands } from "./cellCommands";
import { ContextKeys } from "./contextKeys";
import { documentSelector } from "./document";
import { kernelCommands } from "./kernelCommands";
import { CellLenses } from "./lenses";
import { CellRunner } from "./runner";

export function cells(cellgate: Cellgate): vscode.Disposable {
    const lenses = new CellLenses(cellgate);
    const runner = new CellRunner(cellgate);
    return vscode.Disposable.from(
        lenses,
        vscode.languages.registerCodeLensProvider(documentSelector, lenses),
        new ContextKeys(cellgate),
        anchorUpdates(cellgate),
        cellCommands(cellgate, runner),
        kernelCommands(cellgate, runner),
    );
}
