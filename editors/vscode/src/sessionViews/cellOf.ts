// These functions find the cell that an execution runs: in a file, or in an ordinary notebook, where each cell is a
// document.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { Execution } from "../executions";
import { reveal } from "../results/reveal";
import { documentName } from "../uris";

type Position = NonNullable<Execution["cell"]>;

/** The notebook that is open and has it. */
function notebookCell(uri: string): vscode.NotebookCell | undefined {
    return vscode.workspace.notebookDocuments
        .flatMap((notebook) => notebook.getCells())
        .find(({ document }) => document.uri.toString() === uri);
}

/** Where it is, for a user. */
export function placeOf({ uri, line }: Position): string {
    const cell = notebookCell(uri);
    if (!cell) return `${documentName(uri)}:${line + 1}`;
    return `${vscode.workspace.asRelativePath(cell.notebook.uri)}, cell ${cell.index + 1}`;
}

/** Opens the document at the cell; in a file, at the line `index` of its code. */
export async function revealCell(cellgate: Cellgate, execution: Pick<Execution, "id" | "cell">, index = 0): Promise<void> {
    const cell = execution.cell && notebookCell(execution.cell.uri);
    if (!cell) return reveal(cellgate, execution, index);
    const range = new vscode.NotebookRange(cell.index, cell.index + 1);
    const editor = await vscode.window.showNotebookDocument(cell.notebook, { selections: [range] });
    editor.revealRange(range, vscode.NotebookEditorRevealType.InCenterIfOutsideViewport);
}
