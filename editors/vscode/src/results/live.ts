// `Live` updates the cells of results notebooks while their executions run, through the editor's API for running cells:
// at most every 50 ms, and never before the editor has applied the last update.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { CellOutputs } from "./cellOutputs";
import type { ResultsDocuments } from "./documents";
import { outputOf } from "./items";
import type { Result, SessionResults } from "./model/sessionResults";
import { notebookType, sessionOf, uriOf } from "./resultsUri";

const flushMilliseconds = 50;

export class Live implements vscode.Disposable {
    private readonly controller: vscode.NotebookController;
    private readonly registrations: vscode.Disposable;
    private readonly selected = new Set<string>();
    private readonly waiting = new Set<Result>();
    private readonly running = new Map<Result, vscode.NotebookCellExecution>();
    private readonly started = new WeakSet<vscode.NotebookCellExecution>();
    private readonly given = new WeakMap<Result, CellOutputs>();
    private readonly sending = new Set<Result>();
    private timer: NodeJS.Timeout | undefined;
    private lastFlush = 0;

    constructor(
        private readonly cellgate: Cellgate,
        private readonly documents: ResultsDocuments,
    ) {
        this.controller = vscode.notebooks.createNotebookController("cellgate-results", notebookType, "cellgate");
        this.controller.supportsExecutionOrder = true;
        this.controller.executeHandler = (cells) => cells.forEach((cell) => this.runAgain(cell));
        this.controller.interruptHandler = async ({ uri }) => {
            const sessionId = sessionOf(uri);
            if (sessionId !== undefined) await cellgate.sessions.interrupt(sessionId);
        };
        this.registrations = vscode.Disposable.from(
            this.controller,
            this.controller.onDidChangeSelectedNotebooks(({ notebook, selected }) => {
                if (selected) this.selected.add(notebook.uri.toString());
                else this.selected.delete(notebook.uri.toString());
                this.schedule();
            }),
            documents.onDidOpen((results) => this.follow(results)),
            vscode.workspace.onDidChangeNotebookDocument(({ notebook, contentChanges }) => {
                if (notebook.notebookType === notebookType && contentChanges.length > 0) this.compare(notebook);
            }),
            // What came after the editor had read the file, and before there was a notebook of it.
            vscode.workspace.onDidOpenNotebookDocument((notebook) => {
                if (notebook.notebookType === notebookType) this.compare(notebook);
            }),
            vscode.workspace.onDidCloseNotebookDocument(({ uri }) => this.close(uri.toString())),
            vscode.window.onDidChangeVisibleNotebookEditors((editors) => editors.forEach((each) => this.select(each))),
        );
        vscode.window.visibleNotebookEditors.forEach((each) => this.select(each));
    }

    dispose(): void {
        clearTimeout(this.timer);
        this.registrations.dispose();
    }

    /** The editor changes outputs of a notebook only by a kernel that is selected for it; here there is but one. */
    private select(notebookEditor: vscode.NotebookEditor): void {
        const { notebook } = notebookEditor;
        if (notebook.notebookType !== notebookType || this.selected.has(notebook.uri.toString())) return;
        const { id } = this.cellgate.extension.extension;
        void vscode.commands.executeCommand("notebook.selectKernel", { notebookEditor, id: this.controller.id, extension: id });
    }

    private follow(results: SessionResults): void {
        results.onDidChange((result) => {
            this.waiting.add(result);
            this.schedule();
        });
    }

    /** The editor has read the file again: what changed since it was read, is given once more and whole. */
    private compare(notebook: vscode.NotebookDocument): void {
        for (const cell of notebook.getCells()) {
            const result = this.documents.resultOf(cell);
            if (!result) continue;
            this.outputsOf(result).forget();
            if (result.execution.state !== "finished" || !this.documents.isAsRead(result)) this.waiting.add(result);
        }
        this.schedule();
    }

    private schedule(): void {
        if (this.waiting.size === 0) return;
        this.timer ??= setTimeout(
            () => {
                this.timer = undefined;
                this.lastFlush = Date.now();
                for (const result of this.waiting) this.flush(result);
            },
            Math.max(0, this.lastFlush + flushMilliseconds - Date.now()),
        );
    }

    private flush(result: Result): void {
        if (this.sending.has(result)) return;
        const cell = this.cellOf(result);
        if (cell || !notebookOf(result)) this.waiting.delete(result);
        if (!cell) return;
        this.sending.add(result);
        this.show(result, cell)
            // The cell or its notebook went away meanwhile.
            .catch((error: unknown) => {
                this.cellgate.log.debug(`a result was not shown: ${String(error)}`);
                this.end(result);
            })
            .finally(() => {
                this.sending.delete(result);
                this.schedule();
            });
    }

    /** A cell that was running when its notebook closed could not be run when it is opened again. */
    private close(uri: string): void {
        for (const result of this.running.keys()) if (placeOf(result) === uri) this.end(result);
        for (const result of this.waiting) if (placeOf(result) === uri) this.waiting.delete(result);
    }

    /** Nothing more is shown of it as a run. */
    private end(result: Result, success?: boolean, endTime?: number): void {
        const run = this.running.get(result);
        this.running.delete(result);
        if (!run) return;
        try {
            if (!this.started.has(run)) run.start();
            run.end(success, endTime);
        } catch (error) {
            this.cellgate.log.debug(`a run was not ended: ${String(error)}`);
        }
    }

    private cellOf(result: Result): vscode.NotebookCell | undefined {
        if (!this.selected.has(placeOf(result))) return undefined;
        return notebookOf(result)?.getCells().findLast((cell) => cell.metadata.executionId === result.execution.id);
    }

    private outputsOf(result: Result): CellOutputs {
        let outputs = this.given.get(result);
        if (!outputs) {
            outputs = new CellOutputs((shown) => outputOf(shown, result.execution.id));
            this.given.set(result, outputs);
        }
        return outputs;
    }

    private async show(result: Result, cell: vscode.NotebookCell): Promise<void> {
        const { execution, outputs } = result;
        const run = this.running.get(result) ?? this.controller.createNotebookCellExecution(cell);
        this.running.set(result, run);
        if (execution.state === "queued") return;
        if (!this.started.has(run)) run.start(execution.startedAt);
        this.started.add(run);
        const ended = execution.state === "finished";
        await this.outputsOf(result).give(run, outputs.shown);
        if (!ended) return;
        run.executionOrder = execution.result?.executionCount ?? undefined;
        this.end(result, execution.result?.status === "ok", endOf(execution));
    }

    /** A user runs a result's cell: its code, once more, where it came from. */
    private runAgain(cell: vscode.NotebookCell): void {
        const result = this.documents.resultOf(cell);
        if (!result) return;
        const { executions, anchors } = this.cellgate;
        const { id, sessionId, cell: before } = result.execution;
        const place = before && placeNow(anchors, id, before);
        const again = executions.execute({ sessionId, code: result.code, cell: place });
        if (!place) return;
        // If the lines differ in the document by now, only the first one is known.
        const count = result.code.split("\n").length;
        const asBefore = Array.from({ length: count }, (_, index) => anchors.lineNow(place.uri, id, index)).every((line, index) => line === place.line + index);
        anchors.add(place.uri, again.id, place.line, asBefore ? count : 1);
    }
}

const placeOf = ({ execution }: Result) => uriOf(execution.sessionId).toString();
const notebookOf = (result: Result) => vscode.workspace.notebookDocuments.find(({ uri }) => uri.toString() === placeOf(result));

/** Where the code is by now; undefined when its line is gone. */
function placeNow(anchors: Cellgate["anchors"], id: string, cell: NonNullable<Result["execution"]["cell"]>): typeof cell | undefined {
    if (!anchors.knows(cell.uri, id)) return cell;
    const line = anchors.lineNow(cell.uri, id);
    return line === undefined ? undefined : { ...cell, line };
}

function endOf({ startedAt, result }: Result["execution"]): number | undefined {
    return startedAt === undefined || !result ? undefined : startedAt + result.durationSeconds * 1000;
}
