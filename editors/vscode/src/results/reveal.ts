// These functions show a result in the results notebook of its session, and a line of a cell in its document.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { Execution } from "../executions";
import { serialQueue } from "../serialQueue";
import { documentUri } from "../uris";
import { uriOf } from "./resultsUri";

// Opening an editor while another one is opening in the same group makes the other one fail: as when cells run together.
const openQueue = serialQueue();

/** Where the notebook is open already, otherwise in the column next to the active editor, which keeps the focus. */
export function showResults(sessionId: string): Promise<vscode.NotebookEditor> {
    return openQueue(() => openResults(sessionId));
}

async function openResults(sessionId: string): Promise<vscode.NotebookEditor> {
    const uri = uriOf(sessionId);
    const visible = vscode.window.visibleNotebookEditors.find(({ notebook }) => notebook.uri.toString() === uri.toString());
    if (visible) return visible;
    const group = vscode.window.tabGroups.all.find(({ tabs }) =>
        tabs.some(({ input }) => input instanceof vscode.TabInputNotebook && input.uri.toString() === uri.toString()),
    );
    const notebook = await vscode.workspace.openNotebookDocument(uri);
    return vscode.window.showNotebookDocument(notebook, {
        viewColumn: group?.viewColumn ?? vscode.ViewColumn.Beside,
        preserveFocus: true,
        preview: false,
    });
}

/** Returns whether the notebook has a cell for it. */
export function revealResult(editor: vscode.NotebookEditor, executionId: string): boolean {
    const cell = cellOf(editor, executionId);
    if (!cell) return false;
    const range = new vscode.NotebookRange(cell.index, cell.index + 1);
    editor.selection = range;
    editor.revealRange(range, vscode.NotebookEditorRevealType.Default);
    return true;
}

/**
 * Scrolls down to the end of a result that has grown, at most until it begins at the top. Returns the first cell in view;
 * undefined when the result is not in view. Nothing is done when that is before `first`: the user has scrolled up.
 */
export function keepInView(editor: vscode.NotebookEditor, executionId: string, first = 0): number | undefined {
    const cell = cellOf(editor, executionId);
    const range = cell && editor.visibleRanges.find(({ start, end }) => start <= cell.index && cell.index < end);
    // What begins at the top stays there, also when the user scrolls down in it.
    if (range && range.start >= first && range.start < cell.index) {
        editor.revealRange(new vscode.NotebookRange(cell.index, cell.index + 1), vscode.NotebookEditorRevealType.Default);
    }
    return range?.start;
}

function cellOf(editor: vscode.NotebookEditor, executionId: string): vscode.NotebookCell | undefined {
    return editor.notebook.getCells().findLast((each) => each.metadata.executionId === executionId);
}

/** Opens the document at a line of the execution's code, where that line is now. */
export async function reveal({ anchors }: Cellgate, { id, cell }: Pick<Execution, "id" | "cell">, index: number): Promise<void> {
    if (!cell) return;
    const uri = documentUri(cell.uri);
    const line = anchors.lineNow(cell.uri, id, index) ?? cell.line + index;
    const open = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
    const editor = await vscode.window.showTextDocument(uri, { viewColumn: open?.viewColumn ?? vscode.ViewColumn.One });
    const position = new vscode.Position(Math.min(line, editor.document.lineCount - 1), 0);
    editor.selection = new vscode.Selection(position, position);
    editor.revealRange(new vscode.Range(position, position), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
