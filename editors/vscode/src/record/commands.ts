// `recordCommands` registers the commands of the view of the record, and those on its rows.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { fail, inform, showError, showProgress } from "../notices";
import type { CellPosition, Origin, RecordEntry } from "../protocol/messages";
import { revealCell } from "../sessionViews/cellOf";
import type { EntryDocuments } from "./documents";
import type { RecordEntries, Row } from "./entries";
import { kinds } from "./labels";

type EntryNode = Extract<Row, { entry: unknown }>;

export function recordCommands(cellgate: Cellgate, entries: RecordEntries, documents: EntryDocuments): vscode.Disposable {
    const commands: Record<string, (node: never) => Promise<void>> = {
        searchRecord: () => search(entries),
        filterRecord: () => filterByKind(entries),
        clearRecordFilter: () => entries.show({}),
        refreshRecord: () => entries.load(),
        loadOlderRecord: () => entries.loadOlder(),
        verifyRecord: () => verify(cellgate, documents),
        openRecordSource: (node: Row) => openSource(cellgate, node),
        showRecordResult: (node: Row) => showResult(cellgate, executionOf(node)),
        showRecordChanges: async (node: Row) => {
            await vscode.commands.executeCommand("cellgate.showChanges", executionOf(node));
        },
        showRecordEntry: ({ entry }: EntryNode) => documents.show(entry.seq),
        filterRecordToExecution: (node: Row) => entries.show({ executionId: executionOf(node) }),
    };
    return vscode.Disposable.from(
        ...Object.entries(commands).map(([name, action]) =>
            vscode.commands.registerCommand(`cellgate.${name}`, (node: never) => action(node).catch(showError)),
        ),
    );
}

const executionOf = (node: Row) => ("run" in node ? node.run.executionId : node.entry.executionId);

async function search(entries: RecordEntries): Promise<void> {
    const text = await vscode.window.showInputBox({
        title: "Search the record",
        prompt: "Text anywhere in an entry, in upper or lower case. Without text, all entries are shown.",
        value: entries.filter.text,
    });
    if (text === undefined) return;
    await entries.show({ ...entries.filter, text: text === "" ? undefined : text });
    await vscode.commands.executeCommand("cellgate.record.focus");
}

async function filterByKind(entries: RecordEntries): Promise<void> {
    const { types } = entries.filter;
    const items = Object.entries(kinds).map(([type, { title }]) => ({ label: title, description: type, type, picked: types?.includes(type) }));
    const chosen = await vscode.window.showQuickPick(items, { title: "Show entries of which kinds?", canPickMany: true });
    if (!chosen) return;
    const isAll = chosen.length === 0 || chosen.length === items.length;
    await entries.show({ ...entries.filter, types: isAll ? undefined : chosen.map(({ type }) => type) });
}

async function verify({ sidecar }: Cellgate, documents: EntryDocuments): Promise<void> {
    const result = await showProgress("cellgate: verifying the record", () => sidecar.request("record/verify", {}));
    const { ok, entries, problem, firstBadSeq } = result;
    if (ok) {
        await inform(`cellgate: ${entries === 1 ? "1 entry, as it was" : `${entries} entries, as they were`} written.`);
        return;
    }
    const open = "Open at That Entry";
    const text = `cellgate: the record is not as it was written${problem === undefined ? "." : `: ${problem}`}`;
    const chosen = await fail(text, ...(firstBadSeq === undefined ? [] : [open]));
    if (chosen === open && firstBadSeq !== undefined) await documents.show(firstBadSeq);
}

/** Opens the line that made the call; without one, the cell that ran. */
async function openSource(cellgate: Cellgate, node: Row): Promise<void> {
    const id = executionOf(node) ?? "";
    const origin = "entry" in node ? (node.entry.data as { origin?: Origin }).origin : undefined;
    const cell = await cellOf(cellgate, id, node);
    if (origin?.uri !== undefined && origin.uri !== cell?.uri) {
        await revealCell(cellgate, { id, cell: { uri: origin.uri, line: origin.line } });
    } else if (cell) {
        await revealCell(cellgate, { id, cell }, origin ? origin.line - cell.line : 0);
    } else {
        await inform("cellgate: this code was in no file.");
    }
}

/** Where an execution's code was: as the window knows it, else as the record has it, be it on no page that was read. */
async function cellOf({ executions, sidecar }: Cellgate, executionId: string, node: Row): Promise<CellPosition | undefined> {
    if (executionId === "") return undefined;
    const known = executions.get(executionId)?.cell;
    if (known) return known;
    const started = "run" in node && node.run.started ? [node.run.started] : await startedOf(sidecar, executionId);
    return (started[0]?.data as { cell?: CellPosition } | undefined)?.cell;
}

async function startedOf(sidecar: Cellgate["sidecar"], executionId: string): Promise<RecordEntry[]> {
    const { entries } = await sidecar.request("record/query", { executionId, types: ["execution.started"], limit: 1 });
    return entries;
}

async function showResult({ executions }: Cellgate, executionId = ""): Promise<void> {
    if (executions.get(executionId)) await vscode.commands.executeCommand("cellgate.showResult", executionId);
    else await inform("cellgate: the results of this execution are not here any more. Its entries say how it ended.");
}
