// `CellItems` shows an item below the cells of results notebooks and of ordinary ones, for their last execution.

import * as vscode from "vscode";
import { ordinaryNotebooks } from "../active";
import type { Cellgate } from "../cellgate";
import type { CellMetadata } from "../results/documents";
import { notebookType } from "../results/resultsUri";

export interface CellItem {
    readonly text: string;
    readonly tooltip: string;
    readonly command: vscode.Command | string;
}

export class CellItems implements vscode.NotebookCellStatusBarItemProvider, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<void>();
    readonly onDidChangeCellStatusBarItems = this.changed.event;
    private readonly subscriptions: vscode.Disposable;

    /** `onDidChange`: when items may be others. */
    constructor(
        private readonly executions: Cellgate["executions"],
        onDidChange: (listener: () => void) => vscode.Disposable,
        private readonly itemOf: (executionId: string) => CellItem | undefined,
    ) {
        this.subscriptions = vscode.Disposable.from(
            onDidChange(() => this.changed.fire()),
            ...[notebookType, ordinaryNotebooks].map((type) => vscode.notebooks.registerNotebookCellStatusBarItemProvider(type, this)),
        );
    }

    dispose(): void {
        this.subscriptions.dispose();
        this.changed.dispose();
    }

    provideCellStatusBarItems(cell: vscode.NotebookCell): vscode.NotebookCellStatusBarItem[] {
        const executionId = this.executionIdOf(cell);
        const found = executionId === undefined ? undefined : this.itemOf(executionId);
        if (!found) return [];
        const item = new vscode.NotebookCellStatusBarItem(found.text, vscode.NotebookCellStatusBarAlignment.Left);
        item.command = found.command;
        item.tooltip = found.tooltip;
        return [item];
    }

    private executionIdOf(cell: vscode.NotebookCell): string | undefined {
        if (cell.notebook.notebookType === notebookType) return (cell.metadata as Partial<CellMetadata>).executionId;
        const uri = cell.document.uri.toString();
        return this.executions.all().findLast((each) => each.cell?.uri === uri)?.id;
    }
}
