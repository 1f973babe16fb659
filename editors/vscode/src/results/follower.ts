// `ResultFollower` brings into view the result that the user asked for or ran last. Its cell is in the notebook a moment
// later.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { Execution } from "../executions";
import { showError } from "../notices";
import type { ResultsDocuments } from "./documents";
import type { OutputPages } from "./pages";
import { notebookType } from "./resultsUri";
import { revealResult, showResults } from "./reveal";

export class ResultFollower implements vscode.Disposable {
    private wanted: string | undefined;
    private readonly known: Set<string>;
    private readonly subscriptions: vscode.Disposable;

    constructor(
        private readonly cellgate: Cellgate,
        private readonly documents: ResultsDocuments,
        private readonly pages: OutputPages,
    ) {
        const { executions } = cellgate;
        this.known = new Set(executions.all().map(({ id }) => id));
        this.subscriptions = vscode.Disposable.from(
            executions.onDidChange((execution) => this.take(execution)),
            vscode.workspace.onDidChangeNotebookDocument(({ notebook, contentChanges }) => {
                if (notebook.notebookType !== notebookType || contentChanges.length === 0 || this.wanted === undefined) return;
                const editor = vscode.window.visibleNotebookEditors.find((each) => each.notebook === notebook);
                if (editor && revealResult(editor, this.wanted)) this.wanted = undefined;
            }),
        );
    }

    dispose(): void {
        this.subscriptions.dispose();
    }

    /** The results of the session, with this one in view. */
    async showResult(executionId: string): Promise<void> {
        const execution = this.cellgate.executions.get(executionId);
        if (!execution) return;
        const editor = await showResults(execution.sessionId);
        if (revealResult(editor, executionId)) return;
        // The journal has a result that is not kept here any more.
        if (this.documents.resultsOf(execution.sessionId).get(executionId)) this.wanted = executionId;
        else await this.pages.show(executionId);
    }

    /** Opens the results when this window runs a cell of a file. A notebook shows its own. */
    private take({ id, sessionId, state, cell, agent, code }: Execution): void {
        if (this.known.has(id)) return;
        this.known.add(id);
        const isOurs = state === "queued" && agent === undefined && code !== undefined;
        const inDocument = cell !== undefined && !cell.uri.startsWith("vscode-notebook-cell:");
        if (!isOurs || !inDocument || !vscode.workspace.getConfiguration("cellgate", this.cellgate.root).get<boolean>("results.openOnRun")) return;
        this.wanted = id;
        showResults(sessionId).then((editor) => revealResult(editor, id)).catch(showError);
    }
}
