// `changeViews` registers everything about changed files in the editor: how many a cell changed, their differences, and
// their undo.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { ask, inform, showError } from "../notices";
import type { ChangesFoundParams } from "../protocol/messages";
import { CellItems, type CellItem } from "../notebooks/cellItems";
import { placeOf } from "../sessionViews/cellOf";
import { label } from "../text";
import { agentEdits } from "./agentEdits";
import { Differences } from "./differences";
import { FileList } from "./fileList";
import { changedText } from "./labels";
import { showRefusal } from "./refusal";
import { Undo } from "./undo";

export function changeViews(cellgate: Cellgate): vscode.Disposable {
    const { sidecar, root } = cellgate;
    const differences = new Differences(sidecar, root);
    const undo = new Undo(sidecar, {
        confirm: async ({ question, detail, action }) => (await ask(question, detail, action)) === action,
        report: async (message) => (await inform(`cellgate: ${message}`, "Undo the Undo")) !== undefined,
        showRefused: (executionId, refused) => showRefusal(sidecar, differences, executionId, refused),
    });
    const list = new FileList(sidecar, differences, undo);
    const commands: Record<string, { title: string; run: (executionId: string) => Promise<void> }> = {
        showChanges: { title: "Show the files that were changed by…", run: (id) => list.show(id) },
        undoChanges: { title: "Undo the changes of…", run: (id) => undo.run(id) },
    };
    return vscode.Disposable.from(
        differences,
        new CellItems(cellgate.executions, cellgate.changes.onDidChange, (executionId) => changedItem(cellgate.changes, executionId)),
        agentEdits(cellgate, differences, list, undo),
        ...Object.entries(commands).map(([name, { title, run }]) =>
            vscode.commands.registerCommand(`cellgate.${name}`, async (given?: string) => {
                try {
                    const executionId = given ?? (await pickExecution(cellgate, title));
                    if (executionId !== undefined) await run(executionId);
                } catch (error) {
                    showError(error);
                }
            }),
        ),
    );
}

/** How many files it changed. */
function changedItem(changes: Cellgate["changes"], executionId: string): CellItem | undefined {
    const text = changedText(changes, executionId);
    if (text === undefined) return undefined;
    const command = { title: "Show Changes", command: "cellgate.showChanges", arguments: [executionId] };
    return { text: `$(diff) ${text}`, tooltip: "Shows the files, and undoes the changes", command };
}

/** Of those that the window knows; their undos too. */
async function pickExecution(cellgate: Cellgate, title: string): Promise<string | undefined> {
    const { changes, executions } = cellgate;
    const known = changes.all().filter((found) => executions.get(originOf(cellgate, found)));
    if (known.length === 0) {
        void inform("cellgate: nothing that ran in this window has changed files.");
        return undefined;
    }
    const items = await Promise.all(known.map((found) => itemOf(cellgate, found)));
    return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true }))?.executionId;
}

/** The execution behind an undo, or an undo of one. */
function originOf(cellgate: Cellgate, { executionId, undoOf }: ChangesFoundParams): string {
    const undone = undoOf === undefined ? undefined : cellgate.changes.get(undoOf);
    return undone ? originOf(cellgate, undone) : (undoOf ?? executionId);
}

async function itemOf(cellgate: Cellgate, found: ChangesFoundParams): Promise<vscode.QuickPickItem & { executionId: string }> {
    const { changes, executions } = cellgate;
    const { executionId, agent, undoOf } = found;
    const execution = executions.get(originOf(cellgate, found));
    const code = execution && (await executions.codeOf(execution).catch(() => undefined));
    const first = code?.split("\n").find((line) => line.trim() !== "") ?? "a cell";
    const place = execution?.cell && placeOf(execution.cell);
    const parts = [changedText(changes, executionId), place, agent === undefined ? undefined : `agent ${label(agent, 60)}`];
    return { label: `${undoOf === undefined ? "" : "$(discard) Undo of "}${label(first, 80)}`, description: parts.filter(Boolean).join(" · "), executionId };
}
