// These functions are about documents that are cells of ordinary notebooks: to the editor each cell is a document.

import * as vscode from "vscode";
import { ordinaryNotebooks } from "../active";
import { documentSelector } from "../cells/document";

/** Files that can have cells, and cells of notebooks. */
export const codeSelector: vscode.DocumentSelector = [documentSelector, { notebookType: ordinaryNotebooks }].flat();

/** The notebook whose cell the document is. */
export function notebookOf(document: vscode.TextDocument): vscode.NotebookDocument | undefined {
    return vscode.workspace.notebookDocuments.find((each) => each.getCells().some((cell) => cell.document === document));
}
