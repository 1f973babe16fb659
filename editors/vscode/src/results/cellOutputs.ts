// `CellOutputs` is what a notebook's cell was given, so that of an output that grew only the addition is sent.

import type * as vscode from "vscode";
import { additionTo, isSame, type Shown } from "./model/shown";

export class CellOutputs {
    private given: { shown: Shown; output: vscode.NotebookCellOutput }[] | undefined;

    constructor(private readonly make: (shown: Shown) => vscode.NotebookCellOutput) {}

    /** The cell was changed by others: what comes next is given whole. */
    forget(): void {
        this.given = undefined;
    }

    async give(run: vscode.NotebookCellExecution, shown: Shown[]): Promise<void> {
        const before = this.given;
        if (!before?.every((each, index) => each.shown.key === shown[index]?.key)) {
            const all = shown.map((each) => ({ shown: each, output: this.make(each) }));
            this.given = all;
            await run.replaceOutput(all.map(({ output }) => output));
            return;
        }
        const added = shown.slice(before.length).map((each) => ({ shown: each, output: this.make(each) }));
        const changes: Thenable<void>[] = [];
        for (const [index, each] of before.entries()) {
            const now = shown[index];
            if (!now || isSame(each.shown, now)) continue;
            const addition = additionTo(each.shown, now);
            if (addition) changes.push(run.appendOutputItems(this.make(addition).items, each.output));
            else changes.push(run.replaceOutputItems(this.make(now).items, each.output));
            each.shown = now;
        }
        if (added.length > 0) changes.push(run.appendOutput(added.map(({ output }) => output)));
        before.push(...added);
        await Promise.all(changes);
    }
}
