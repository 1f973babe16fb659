// `InputItems` says below the cells of results notebooks and of ordinary ones that their code waits for input.

import * as vscode from "vscode";
import { ordinaryNotebooks } from "../active";
import type { Cellgate } from "../cellgate";
import { executionIdOf } from "../changes/notebookItems";
import { notebookType } from "../results/resultsUri";

export class InputItems implements vscode.NotebookCellStatusBarItemProvider, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<void>();
    readonly onDidChangeCellStatusBarItems = this.changed.event;
    private readonly subscriptions: vscode.Disposable;

    constructor(private readonly cellgate: Pick<Cellgate, "executions">) {
        this.subscriptions = vscode.Disposable.from(
            cellgate.executions.onDidChange(() => this.changed.fire()),
            ...[notebookType, ordinaryNotebooks].map((type) => vscode.notebooks.registerNotebookCellStatusBarItemProvider(type, this)),
        );
    }

    dispose(): void {
        this.subscriptions.dispose();
        this.changed.dispose();
    }

    provideCellStatusBarItems(cell: vscode.NotebookCell): vscode.NotebookCellStatusBarItem[] {
        const executionId = executionIdOf(this.cellgate, cell);
        if (executionId === undefined || !this.cellgate.executions.get(executionId)?.waitsForInput) return [];
        const item = new vscode.NotebookCellStatusBarItem("$(edit) waits for input", vscode.NotebookCellStatusBarAlignment.Left);
        item.command = "cellgate.answerInput";
        item.tooltip = "Shows what the code asks";
        return [item];
    }
}
