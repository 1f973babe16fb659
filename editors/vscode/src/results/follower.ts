// `ResultFollower` brings into view the result that the user asked for or ran last, and what is added to it. Its cell is in
// the notebook a moment later.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { Execution } from "../executions";
import { showError } from "../notices";
import type { ResultsDocuments } from "./documents";
import type { OutputPages } from "./pages";
import { notebookType } from "./resultsUri";
import { keepInView, revealResult, showResults } from "./reveal";

/** When the editor may have drawn an output: it does not say so, and only then knows how high it is. */
const soonMilliseconds = 100;
const laterMilliseconds = [500, 2500];

export class ResultFollower implements vscode.Disposable {
    private wanted: string | undefined;
    /** What was brought into view last. */
    private followed: string | undefined;
    /** The first cell that was in view with it. */
    private first: number | undefined;
    private soon: NodeJS.Timeout | undefined;
    private later: NodeJS.Timeout[] = [];
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
            vscode.workspace.onDidChangeNotebookDocument(({ notebook, contentChanges, cellChanges }) => {
                if (notebook.notebookType !== notebookType) return;
                const editor = vscode.window.visibleNotebookEditors.find((each) => each.notebook === notebook);
                if (!editor) return;
                if (contentChanges.length > 0 && this.wanted !== undefined && this.bring(editor, this.wanted)) this.wanted = undefined;
                const grown = cellChanges.some(({ cell, outputs }) => outputs && cell.metadata.executionId === this.followed);
                if (grown || contentChanges.length > 0) this.follow(editor);
            }),
        );
    }

    dispose(): void {
        this.subscriptions.dispose();
        [this.soon, ...this.later].forEach((timer) => clearTimeout(timer));
    }

    /** The results of the session, with this one in view. */
    async showResult(executionId: string): Promise<void> {
        const execution = this.cellgate.executions.get(executionId);
        if (!execution) return;
        const editor = await showResults(execution.sessionId);
        if (this.bring(editor, executionId)) return;
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
        showResults(sessionId).then((editor) => this.bring(editor, id)).catch(showError);
    }

    /** Returns whether the notebook has it. */
    private bring(editor: vscode.NotebookEditor, id: string): boolean {
        if (!revealResult(editor, id)) return false;
        this.followed = id;
        this.first = undefined;
        this.follow(editor);
        return true;
    }

    private follow(editor: vscode.NotebookEditor): void {
        const keep = () => {
            if (this.followed === undefined) return;
            const first = keepInView(editor, this.followed, this.first);
            // The user has scrolled up.
            if (this.first !== undefined && (first ?? -1) < this.first) this.followed = undefined;
            this.first = first;
        };
        // What grows all the time is not waited for.
        this.soon ??= setTimeout(() => {
            this.soon = undefined;
            keep();
        }, soonMilliseconds);
        this.later.forEach((timer) => clearTimeout(timer));
        this.later = laterMilliseconds.map((milliseconds) => setTimeout(keep, milliseconds));
    }
}
