// `NotebookItems` shows below the cells of results notebooks and of ordinary ones how many files their last execution
// changed.

import * as vscode from "vscode";
import { ordinaryNotebooks } from "../active";
import type { Cellgate } from "../cellgate";
import type { CellMetadata } from "../results/documents";
import { notebookType } from "../results/resultsUri";
import { changedText } from "./labels";

export class NotebookItems implements vscode.NotebookCellStatusBarItemProvider, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<void>();
    readonly onDidChangeCellStatusBarItems = this.changed.event;
    private readonly subscriptions: vscode.Disposable;

    constructor(private readonly cellgate: Cellgate) {
        this.subscriptions = vscode.Disposable.from(
            cellgate.changes.onDidChange(() => this.changed.fire()),
            ...[notebookType, ordinaryNotebooks].map((type) => vscode.notebooks.registerNotebookCellStatusBarItemProvider(type, this)),
        );
    }

    dispose(): void {
        this.subscriptions.dispose();
        this.changed.dispose();
    }

    provideCellStatusBarItems(cell: vscode.NotebookCell): vscode.NotebookCellStatusBarItem[] {
        const executionId = executionIdOf(this.cellgate, cell);
        const text = executionId === undefined ? undefined : changedText(this.cellgate.changes, executionId);
        if (text === undefined) return [];
        const item = new vscode.NotebookCellStatusBarItem(`$(diff) ${text}`, vscode.NotebookCellStatusBarAlignment.Left);
        item.command = { title: "Show Changes", command: "cellgate.showChanges", arguments: [executionId] };
        item.tooltip = "Shows the files, and undoes the changes";
        return [item];
    }
}

/** The last execution of a cell, of a results notebook or an ordinary one. */
export function executionIdOf({ executions }: Pick<Cellgate, "executions">, cell: vscode.NotebookCell): string | undefined {
    if (cell.notebook.notebookType === notebookType) return (cell.metadata as Partial<CellMetadata>).executionId;
    const uri = cell.document.uri.toString();
    return executions.all().findLast((each) => each.cell?.uri === uri)?.id;
}
