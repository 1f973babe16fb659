// `CellLenses` shows the lenses of a cell: its commands, and the state of its last execution.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { isElicitation } from "../approvals/elicitations";
import { waitText } from "../approvals/waiting";
import { changedText } from "../changes/labels";
import type { Execution } from "../executions";
import { cellAt, cellsOf, type Cell } from "./cells";
import { linesOf } from "./document";
import { stateOf, wholeProgress } from "./states";

export class CellLenses implements vscode.CodeLensProvider, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<void>();
    readonly onDidChangeCodeLenses = this.changed.event;
    private readonly subscriptions: vscode.Disposable;
    private clock: NodeJS.Timeout | undefined;

    constructor(private readonly cellgate: Cellgate) {
        this.subscriptions = vscode.Disposable.from(
            cellgate.executions.onDidChange(() => this.refresh()),
            cellgate.waiting.onDidChange(() => this.changed.fire()),
            cellgate.changes.onDidChange(() => this.changed.fire()),
            // An editor that is busy as it opens a file can lose the answer to its one question for lenses.
            cellgate.sidecar.onDidChangeState(() => this.changed.fire()),
            vscode.window.onDidChangeVisibleTextEditors(() => this.changed.fire()),
            vscode.workspace.onDidChangeConfiguration((event) => {
                if (event.affectsConfiguration("cellgate.codeLens")) this.changed.fire();
            }),
        );
    }

    dispose(): void {
        this.subscriptions.dispose();
        this.changed.dispose();
        clearInterval(this.clock);
    }

    provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
        if (!vscode.workspace.getConfiguration("cellgate", document).get<boolean>("codeLens")) return [];
        const cells = cellsOf(linesOf(document));
        const last = this.lastRuns(document, cells);
        return cells
            .filter((cell) => cell.kind === "code")
            .flatMap((cell) => this.lensesOf(document, cell, cell.line > 0, last.get(cell)));
    }

    private lensesOf(document: vscode.TextDocument, cell: Cell, hasAbove: boolean, run?: Execution): vscode.CodeLens[] {
        const range = new vscode.Range(cell.line, 0, cell.line, 0);
        const lens = (title: string, command: string, args: unknown[], tooltip?: string) =>
            new vscode.CodeLens(range, { title, command, arguments: args, tooltip });
        const place = [document.uri, cell.line];
        // What a user needs most is first, since a narrow editor cuts the line.
        const lenses = [lens("Run Cell", "cellgate.runCell", place)];
        if (run) {
            const waits = this.waitsText(run);
            if (waits !== undefined) lenses.push(lens(`$(bell) ${waits} for you`, "cellgate.approvals.focus", [], "Shows what waits"));
            const state = stateOf(run, Date.now());
            if (run.waitsForInput) lenses.push(lens(state, "cellgate.answerInput", [], "Shows what the code asks"));
            else lenses.push(lens(state, "cellgate.showResult", [run.id], `${run.progress ? `${wholeProgress(run.progress)}\n` : ""}Shows the result`));
            const changed = changedText(this.cellgate.changes, run.id);
            if (changed !== undefined) lenses.push(lens(`$(diff) ${changed}`, "cellgate.showChanges", [run.id], "Shows the files, and undoes the changes"));
            if (run.state !== "finished") {
                const title = run.state === "running" ? "$(debug-stop) Interrupt" : "$(close) Cancel";
                lenses.push(lens(title, "cellgate.cancelExecution", [run.id]));
            }
        }
        if (hasAbove) lenses.push(lens("Run Above", "cellgate.runAbove", place));
        lenses.push(lens("Run Below", "cellgate.runBelow", place, "Runs this cell and those below"));
        return lenses;
    }

    /** Undefined where nothing of it waits for the user. */
    private waitsText(run: Execution): string | undefined {
        const waits = this.cellgate.waiting.all().filter(({ executionId }) => executionId === run.id);
        const questions = waits.filter(isElicitation).length;
        return waits.length === 0 ? undefined : waitText(waits.length - questions, questions);
    }

    /** The latest run of each cell: the one whose code begins in it now. */
    private lastRuns(document: vscode.TextDocument, cells: Cell[]): Map<Cell, Execution> {
        const uri = document.uri.toString();
        const last = new Map<Cell, Execution>();
        for (const execution of this.cellgate.executions.all()) {
            if (execution.cell?.uri !== uri) continue;
            const line = this.cellgate.anchors.lineNow(uri, execution.id);
            const cell = line === undefined ? undefined : cellAt(cells, line);
            if (cell) last.set(cell, execution);
        }
        return last;
    }

    /** Now, and each second as long as something runs. */
    private refresh(): void {
        this.changed.fire();
        const runs = this.cellgate.executions.all().some((each) => each.state === "running");
        if (runs) this.clock ??= setInterval(() => this.changed.fire(), 1000);
        else {
            clearInterval(this.clock);
            this.clock = undefined;
        }
    }
}
