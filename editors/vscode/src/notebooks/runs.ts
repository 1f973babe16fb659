// `NotebookRuns` is the runs of one ordinary notebook. Its cells show the output of their executions, updated at most
// every 50 ms, including executions that were requested before a reload.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { Execution } from "../executions";
import { CellOutputs } from "../results/cellOutputs";
import { outputOf } from "../results/items";
import type { Result, SessionResults } from "../results/model/sessionResults";
import { timeoutOfCell } from "./cellTimeout";
import type { UnfinishedRuns } from "./unfinishedRuns";

const flushMilliseconds = 50;

interface Run {
    cellRun: vscode.NotebookCellExecution;
    outputs: CellOutputs;
    started: boolean;
}

export class NotebookRuns {
    private readonly runs = new Map<string, Run>();
    private readonly waiting = new Set<Result>();
    private timer: NodeJS.Timeout | undefined;
    private controller: vscode.NotebookController | undefined;
    private starting = false;

    constructor(
        private readonly cellgate: Cellgate,
        private readonly notebook: vscode.NotebookDocument,
        private readonly results: SessionResults,
        private readonly unfinished: UnfinishedRuns,
    ) {
        results.onDidExtend((result) => this.take(result));
        results.onDidChange((result) => this.take(result));
    }

    /** The notebook is closed: what runs goes on, and in its cells when it is opened again. */
    dispose(): void {
        clearTimeout(this.timer);
        this.waiting.clear();
        this.results.dispose();
        for (const { cellRun, started } of this.runs.values()) {
            try {
                if (!started) cellRun.start();
                cellRun.end(undefined);
            } catch {
                // The editor has ended it with its cell.
            }
        }
        this.runs.clear();
    }

    /** Whose kernel the notebook has: what runs in that already, or ended while no window was there, goes on in its cells. */
    resumeIn(controller: vscode.NotebookController): void {
        this.controller = controller;
        for (const result of this.results.all()) this.take(result);
    }

    run(controller: vscode.NotebookController, cell: vscode.NotebookCell, ready: Promise<unknown>): void {
        const cellRun = controller.createNotebookCellExecution(cell);
        const timeoutSeconds = timeoutOfCell(cell);
        this.starting = true;
        const { id } = this.cellgate.executions.execute(
            {
                sessionId: this.results.sessionId,
                code: cell.document.getText(),
                cell: { uri: cell.document.uri.toString(), line: 0 },
                ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
            },
            ready,
        );
        this.starting = false;
        this.begin(id, cellRun);
    }

    private begin(id: string, cellRun: vscode.NotebookCellExecution): void {
        this.unfinished.add(id);
        this.runs.set(id, { cellRun, outputs: new CellOutputs((shown) => outputOf(shown, id, "plain text too")), started: false });
    }

    private take(result: Result): void {
        if (!this.runs.has(result.execution.id)) this.adopt(result);
        if (!this.runs.has(result.execution.id)) return;
        this.waiting.add(result);
        this.timer ??= setTimeout(() => void this.flush(), flushMilliseconds);
    }

    private adopt({ execution, code }: Result): void {
        const { id, cell, over } = execution;
        if (this.starting || !this.controller || (over && !(this.unfinished.has(id) && this.isLast(execution)))) return;
        // Each window numbers cells from the start: the code has to be the same too.
        const same = this.notebook.getCells().find(({ document }) => document.uri.toString() === cell?.uri && document.getText() === code);
        if (!same) return;
        try {
            this.begin(id, this.controller.createNotebookCellExecution(same));
        } catch {
            // The cell runs something else by now, or the notebook has another kernel.
        }
    }

    /** What its cell ran after it is in the cell already. */
    private isLast({ id, cell }: Execution): boolean {
        const ofCell = this.cellgate.executions.all().filter((each) => each.cell?.uri === cell?.uri);
        return ofCell.at(-1)?.id === id;
    }

    private async flush(): Promise<void> {
        const waiting = [...this.waiting];
        this.waiting.clear();
        for (const result of waiting) {
            // A cell that is gone takes nothing any more.
            await this.show(result).catch(() => this.end(result.execution.id));
        }
        this.timer = this.waiting.size > 0 ? setTimeout(() => void this.flush(), flushMilliseconds) : undefined;
    }

    private async show({ execution, outputs, complete }: Result): Promise<void> {
        const run = this.runs.get(execution.id);
        const { state, startedAt, result } = execution;
        // Once it has ended nothing is shown before all is here: less than a window before showed would be a loss.
        if (!run || state === "queued" || (execution.over && !complete)) return;
        if (!run.started) run.cellRun.start(startedAt);
        run.started = true;
        await run.outputs.give(run.cellRun, outputs.shown);
        // One whose notebook closed meanwhile goes on when that is opened again.
        if (state !== "finished" || this.runs.get(execution.id) !== run) return;
        run.cellRun.executionOrder = result?.executionCount ?? undefined;
        run.cellRun.end(result?.status === "ok", startedAt === undefined || !result ? undefined : startedAt + result.durationSeconds * 1000);
        this.end(execution.id);
    }

    private end(id: string): void {
        this.runs.delete(id);
        this.unfinished.delete(id);
    }
}
