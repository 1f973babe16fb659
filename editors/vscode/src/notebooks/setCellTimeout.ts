// `setCellTimeout` asks for the timeout of the cell that is selected in the active notebook.

import * as vscode from "vscode";
import { ordinaryNotebooks } from "../active";
import { parseTimeout, timeoutOfCell, withTimeout } from "./cellTimeout";

export async function setCellTimeout(): Promise<void> {
    const editor = vscode.window.activeNotebookEditor;
    const index = editor?.selection.start ?? 0;
    if (editor?.notebook.notebookType !== ordinaryNotebooks || index >= editor.notebook.cellCount) return;
    const cell = editor.notebook.cellAt(index);
    const typed = await vscode.window.showInputBox({
        title: "Seconds after which this cell is interrupted",
        prompt: "Empty: as the session's limit says. Waiting for your answer does not count.",
        value: String(timeoutOfCell(cell) ?? ""),
        validateInput: (text) => (parseTimeout(text) ? undefined : "Expected seconds, such as 10 or 0.5"),
    });
    const parsed = typed === undefined ? undefined : parseTimeout(typed);
    if (!parsed) return;
    const edit = new vscode.WorkspaceEdit();
    edit.set(editor.notebook.uri, [vscode.NotebookEdit.updateCellMetadata(cell.index, withTimeout(cell.metadata, parsed.seconds))]);
    await vscode.workspace.applyEdit(edit);
}
